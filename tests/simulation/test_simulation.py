"""Whole houses under a seed each, hurt in every way, and houses that are built wrong, which must be found out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.broken import WAYS
from tests.simulation.house import House
from tests.simulation.world import Broken, digest, live

ROOT = Path(__file__).parents[2]
WORLDS, GROUPS = 1_200, 24
STEPS = (12, 18, 25, 40, 100)
"""Short worlds begin and end often, which is where most goes wrong; long ones play rounds to their end."""


@pytest.mark.parametrize("group", range(GROUPS))
def test_nothing_is_lost_and_nothing_comes_twice_whatever_goes_wrong(group: int) -> None:
    for seed in range(group, WORLDS, GROUPS):
        live(seed, STEPS[seed // GROUPS % len(STEPS)])


def test_the_worlds_do_what_they_are_for() -> None:
    """Over some long worlds together: whatever may go wrong does, and play comes as far as claims and Envy Bonuses."""
    happened: set[str] = set()
    events: set[str] = set()
    for seed in range(5_000, 5_025):
        house = live(seed, 160)
        happened |= {word for line in house.network.history for word in line.split()}
        events |= {type(record.event).__name__ for known in house.auditor.keys.values() for record in known.records}
    fates = {"killed_before", "killed_after", "paused_before", "paused_after", "failed_before", "failed_after", "slow"}
    assert {*fates, "strays", "dealt", "version", "put", "wakes", "killed", "paused"} <= happened
    assert {
        "RoundVoided", "HandReplaced", "LevelHit", "PayoutClaimed", "PayoutRejected", "PayoutPaid", "EnvyBonusDue",
        "EnvyBonusPaid", "ContributionTakenBack", "ParametersChanged", "ProgressiveClosed", "CommandForwarded",
        "HoldPosted", "HoldReleased", "HoldDeclined", "WinningsCredited", "WagersForfeited", "TableClosed",
    } <= events  # fmt: skip


def test_a_seed_replays_exactly_in_another_process() -> None:
    told = "from tests.simulation.world import digest, live; print(digest(live(7, 80)))"
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}
    ran = subprocess.run([sys.executable, "-c", told], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == [digest(live(7, 80))]


FOUND_BY = 120
"""Seeds within which each wrong way of building is found out; most are by the tenth."""
SELDOM = {"what follows is sent before its records", "rows of another shape are half dropped"}
"""Ways that do harm only where a version falls at one moment and another takes over: `make simulate` has more seeds."""


@pytest.mark.parametrize("way", [way for way in WAYS if way not in SELDOM])
def test_a_house_that_is_built_wrong_is_found_out(way: str) -> None:
    hurt, patched = WAYS[way]
    with pytest.raises(Broken) as raised, patched():
        for seed in range(FOUND_BY):
            live(seed, 50, hurt)
    assert f"make simulate SEED={raised.value.seed} STEPS=50" in str(raised.value)


def test_a_house_without_anything_wrong_writes_no_record_twice() -> None:
    def unhurt(house: House) -> None:
        house.calm_down()
        house.open = lambda: [house.start(each) for each in house.instances]  # type: ignore[assignment, method-assign, func-returns-value]

    houses = [live(seed, 60, unhurt) for seed in range(5)]
    assert [house.auditor.duplicates for house in houses] == [0] * 5
    assert sum(len(known.records) for house in houses for known in house.auditor.keys.values()) > 100
