"""Every recorded round in memory: as written, exact to the microcent, and proof against repeats and loss."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from services.runtime.memory import MemoryHouse
from services.runtime.stepping import Input
from tests.support.playing import play, written
from tests.support.recorded import ROUNDS, recorded
from tests.support.worlds import MemoryWorld

STREAMS = ("rounds", "wagers", "jackpots", "accounts")
COMMANDS = ("round-commands", "jackpot-commands", "account-commands")

Topics = dict[tuple[str, int], list[Input]]


@pytest.fixture(params=ROUNDS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def played(path: Path) -> MemoryWorld:
    world = MemoryWorld()
    play(world, written(path, "m"), "m")
    return world


@cache
def finished(path: Path) -> MemoryHouse:
    """The house behind a round, for tests that only look at it."""
    return played(path).house


def logs(world: MemoryWorld) -> Topics:
    return {place: list(held) for place, held in world.house.topics.items() if place[0] in STREAMS}


def states(world: MemoryWorld) -> dict[tuple[str, str], Any]:
    memories = world.house.memories.items()
    return {(name, key): known.state for (name, _), memory in memories for key, known in memory.keys.items()}


@pytest.mark.parametrize("path", recorded())
def test_it_ends_as_written(path: Path) -> None:
    finished(path)


@pytest.mark.law("605a.7 and 605a.8, transfer and adjustment of meters")
def test_every_level_accounts_for_every_microcent(path: Path) -> None:
    house = finished(path)
    for progressive_id in house.keys("jackpots"):
        progressive = house.fold("jackpots", progressive_id)
        for level in progressive.levels:
            there = level.meter.total + level.won_cents * 1_000_000 + level.transferred_out
            assert there == level.seeded + level.contributed + level.transferred_in, level
            assert progressive.end is not None or level.terms.reset <= level.meter.value <= level.terms.limit, level


def test_every_account_is_what_its_entries_add_up_to(path: Path) -> None:
    house = finished(path)
    signs = {"Deposited": 1, "Withdrawn": -1, "HoldPosted": -1, "WinningsCredited": 1, "StakeReturned": 1}
    signs["WinningsTakenBack"] = -1
    for account_id in house.keys("accounts"):
        account = house.fold("accounts", account_id)
        events = [record.event for record in house.records("accounts", account_id)]
        moved = sum(signs.get(type(event).__name__, 0) * getattr(event, "amount_cents", 0) for event in events)
        assert account.balance_cents == moved
        assert not account.holds, "a stake is still held when the round is over"


def test_nothing_of_the_path_is_left_waiting(path: Path) -> None:
    house = finished(path)
    assert ("dead-letters", 0) not in house.topics
    for name, stepper in house.steppers.items():
        for (topic, partition), held in house.topics.items():
            if topic == stepper.stream.input:
                assert house.memories[name, partition].position == len(held)


def test_folding_the_logs_again_gives_what_the_processors_know(path: Path) -> None:
    house = finished(path)
    for (name, _), memory in house.memories.items():
        for key, known in memory.keys.items():
            folded = house.fold("rounds" if name == "wagers" else name, key)
            assert known.state == (house.steppers[name].processor.initial if folded is None else folded)


def test_every_command_twice_changes_nothing(path: Path) -> None:
    world = played(path)
    before = logs(world)
    for topic, partition in list(world.house.topics):
        if topic in COMMANDS:
            for item in list(world.house.topics[topic, partition]):
                world.house.append(topic, item.key, item.value)
    world.house.run()
    assert logs(world) == before


def test_the_same_inputs_give_the_same_bytes(path: Path) -> None:
    assert played(path).house.topics == finished(path).topics


def test_a_processor_that_lost_its_snapshots_says_nothing_new(path: Path) -> None:
    world = played(path)
    before, known = logs(world), states(world)
    for name in STREAMS:
        world.house.forget(name)
        assert logs(world) == before, name
        assert states(world) == known, name
