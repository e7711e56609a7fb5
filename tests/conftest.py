"""One broker, one database and one house of four services for all tests of a session that need them."""

import itertools
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support import parts
from tests.support.house import COMMAND_SERVICES, House
from tests.support.worlds import RULES

CONNECTED = {"connected", "journey"}

_numbers = itertools.count(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of these rooms is `connected`; nobody has to remember to say so."""
    rooms = {Path(__file__).parent / name for name in CONNECTED}
    for item in items:
        if rooms & set(item.path.parents):
            item.add_marker(pytest.mark.connected)


@pytest.fixture(scope="session")
def kafka() -> Iterator[parts.Broker]:
    """A broker that answers, at `bootstrap`."""
    with parts.broker() as broker:
        yield broker


@pytest.fixture(scope="session")
def postgres() -> Iterator[parts.Database]:
    """A database that answers, at `dsn`."""
    with parts.database() as database:
        yield database


@pytest.fixture(scope="session")
def house(kafka: parts.Broker, postgres: parts.Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The four services, ready. Shared: leave them running, and use ids that are `unique`."""
    rules = tmp_path_factory.mktemp("rules")
    for folder in RULES:
        for path in folder.glob("*.yaml"):
            shutil.copy(path, rules)
    # A house asks its broker only for its address.
    house = House(cast(Any, kafka), cast(Any, postgres), postgres.dsn, rules)
    house.start(*COMMAND_SERVICES)
    yield house
    house.close()


@pytest.fixture
def unique() -> str:
    """A word that no other test of the session has, for ids and Idempotency-Keys."""
    return f"t{next(_numbers)}"
