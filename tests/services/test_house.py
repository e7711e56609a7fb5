"""The house of one machine: one at a time on a folder, and a floor that is told numbers it can play."""

from pathlib import Path

import pytest

from services.floor.settings import read
from services.runtime.house import locked


def test_a_folder_has_one_house_at_a_time(tmp_path: Path) -> None:
    first = locked(tmp_path / "data")
    assert first is not None
    assert locked(tmp_path / "data") is None, "a second broker on the folder would destroy it"
    first.close()
    again = locked(tmp_path / "data")
    assert again is not None
    again.close()


@pytest.mark.parametrize("odd", ["--tables 0", "--tables -1", "--rounds -3", "--pace -1", "--pace nan", "--pace inf"])
def test_the_floor_refuses_numbers_that_nobody_can_play(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(odd.split(), {})
    assert ended.value.code == 2
    assert odd.split()[0] + " must be" in capsys.readouterr().err


def test_the_floor_takes_numbers_that_can_be_played() -> None:
    settings = read(["--tables", "1", "--rounds", "0", "--pace", "0"], {})
    assert (settings.tables, settings.rounds, settings.pace) == (1, 0, 0)
