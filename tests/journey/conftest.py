"""A house that asks everybody for a token, as that of `make run` does."""

from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.support import parts
from tests.support.house import COMMAND_SERVICES, House


@pytest.fixture(scope="package")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The four services on parts of their own, ready, and the tokens of the house in `tokens`."""
    with parts.broker() as kafka, parts.database() as postgres:
        tokens = tmp_path_factory.mktemp("tokens")
        house = House(cast(Any, kafka), cast(Any, postgres), postgres.dsn, tokens=tokens)
        house.start(*COMMAND_SERVICES)
        yield house
        house.close()
