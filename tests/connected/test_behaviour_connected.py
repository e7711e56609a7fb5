"""The behaviour suite over HTTP, on a real Kafka and PostgreSQL."""

from collections.abc import Iterator

import pytest

from tests.support.behaviour import Behaviour, Client
from tests.support.house import House
from tests.support.worlds import HouseWorld


class TestConnected(Behaviour):
    @pytest.fixture
    def client(self, house: House, unique: str) -> Iterator[Client]:  # type: ignore[override]
        yield Client(HouseWorld(house), unique)
