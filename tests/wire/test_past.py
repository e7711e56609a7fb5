"""What earlier versions wrote is read for ever: it means what it meant, and the house goes on from it."""

from functools import cache
from typing import Any

import pytest

from services.core import rounds
from services.flow import STREAMS, command_topics, logs
from services.runtime.memory import MemoryHouse, Place
from services.runtime.stepping import Input
from services.wire.records import CONTRACTS
from tests.support.playing import differences
from tests.support.worlds import PROCESSORS, MemoryWorld, ticking
from tests.wire.past import PASTS, Past
from tests.wire.schema import PACKAGES

UNPLAYED = {PASTS[0].folder.name: {"dealer_hand_revealed", "all_six_card_revealed"}}
"""Events that a version's schema had, and none of its games."""
LATER_MS = 2_000_000_000_000

every_past = pytest.mark.parametrize("past", PASTS, ids=lambda past: past.folder.name)


@cache
def taken_up(past: Past) -> MemoryHouse:
    """A house of today on the logs of then, for tests that only look at it."""
    return MemoryHouse(PROCESSORS, past.book, ticking(LATER_MS).__next__, past.topics)


def held(topics: dict[Place, list[Input]], topic: str) -> dict[Place, list[Input]]:
    return {place: items for place, items in topics.items() if place[0] == topic}


def stored(past: Past, topic: str) -> list[bytes]:
    return [item.value for items in held(past.topics, topic).values() for item in items]


def test_there_is_a_past() -> None:
    assert len(PASTS) >= 2


@every_past
def test_a_record_is_read_and_written_as_it_was(past: Past) -> None:
    for topic in logs():
        for value in stored(past, topic):
            assert CONTRACTS[topic].encode_record(CONTRACTS[topic].decode_record(value)) == value


@every_past
def test_a_command_is_read_and_written_as_it_was(past: Past) -> None:
    contracts = {stream.commands: CONTRACTS[stream.name] for stream in STREAMS if stream.commands is not None}
    assert contracts.keys() == set(command_topics())
    for topic, contract in contracts.items():
        for value in stored(past, topic):
            assert contract.encode_command(contract.decode_command(value)) == value


@every_past
def test_every_event_that_it_could_write_is_there(past: Past) -> None:
    could, wrote = set(), set()
    for file in past.schema.file:
        stream = file.package.split(".")[1]
        name = f"{stream.capitalize()}Record"
        (envelope,) = (each for each in file.message_type if each.name == name)
        could |= {(stream, field.name) for field in envelope.field if field.HasField("oneof_index")}
        message: Any = getattr(PACKAGES[stream], name)
        wrote |= {(stream, message.FromString(value).WhichOneof("event")) for value in stored(past, stream)}
    unplayed = UNPLAYED.get(past.folder.name, set())
    assert wrote == {(stream, event) for stream, event in could if event not in unplayed}


@every_past
def test_the_logs_say_what_they_said(past: Past) -> None:
    house = taken_up(past)
    for read in past.reads:
        assert not differences(read["answers"], house.read(read["get"])), read["get"]


@every_past
def test_whoever_takes_it_up_says_nothing_new(past: Past) -> None:
    house = taken_up(past)
    for topic in logs():
        assert held(house.topics, topic) == held(past.topics, topic)
    assert not held(house.topics, "dead-letters")


@every_past
def test_every_level_accounts_for_every_microcent(past: Past) -> None:
    house = taken_up(past)
    for key in house.keys("jackpots"):
        for level in house.fold("jackpots", key).levels:
            assert level.imbalance == 0, (key, level)


@every_past
def test_every_table_plays_on(past: Past) -> None:
    """A round of today behind the last of then: an ante of five dollars, and a void that gives it back."""
    world = MemoryWorld(past.book, topics=past.topics)
    tables = {key: world.house.fold("rounds", key) for key in world.house.keys("rounds")}
    idle = {key: state for key, state in tables.items() if _is_idle(state)}
    assert len(idle) >= len(tables) / 2
    for key, state in idle.items():
        for number, body in enumerate((
            {"command": "OpenRound"},
            {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500},
            {"command": "VoidRound", "reason": "A drink went over the layout."},
        )):  # fmt: skip
            status, answer = world.post(f"/tables/{key}/commands", body, f"{key}-on-{number}", "floorperson")
            assert status == 200, answer
        (row,) = world.get(f"/rounds/{key}-{state.rounds_opened + 1}")["wagers"]
        assert (row["wager"], row["result"], row["returned_cents"]) == ("ante", "returned", 500)


def _is_idle(state: rounds.State) -> bool:
    over = (rounds.Phase.CLOSED, rounds.Phase.VOID)
    return state.game is not None and state.round is not None and state.round.phase in over
