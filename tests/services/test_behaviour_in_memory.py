"""The behaviour suite on the house in memory."""

from collections.abc import Iterator

import pytest

from tests.support.behaviour import Behaviour, Client
from tests.support.worlds import MemoryWorld


class TestInMemory(Behaviour):
    @pytest.fixture
    def client(self) -> Iterator[Client]:
        yield Client(MemoryWorld(), "m")
