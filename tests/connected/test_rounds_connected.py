"""Every recorded round over HTTP, on a real Kafka and PostgreSQL."""

from pathlib import Path

import pytest

from tests.support.house import House
from tests.support.playing import play, written
from tests.support.recorded import recorded
from tests.support.worlds import HouseWorld


@pytest.mark.parametrize("path", recorded())
def test_a_recorded_round_ends_as_written(house: House, unique: str, path: Path) -> None:
    play(HouseWorld(house), written(path, unique), unique)
