"""The comparison itself: every way in which a log can contradict what a client was told is found, and named."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import monotonic

import pytest

from services.flow import STREAMS
from services.wire.records import Record
from tests.chaos.compared import differences
from tests.chaos.witness import Told
from tests.support.audit import Audit
from tests.support.worlds import MemoryWorld

TABLE = {"command": "OpenTable", "game": "cajun_stud", "seats": 6, "rules": "demo-cajun-stud"}
ROUND = {"command": "OpenRound"}
ANTE = {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500}
VOID = {"command": "VoidRound", "reason": "a card was exposed"}


def asked(world: MemoryWorld, body: Mapping[str, object], key: str) -> Told:
    answer = world.post("/tables/table-1/commands", body, key)
    return Told("rounds", "table-1", key, body, "a fault", monotonic(), monotonic(), answer)


@pytest.fixture
def heard() -> tuple[list[Told], Audit]:
    """A round that is opened, refused a second time, wagered in and void; what was told, and the log."""
    world = MemoryWorld()
    bodies: tuple[Mapping[str, object], ...] = (TABLE, ROUND, ROUND, ANTE, VOID)
    told = [asked(world, body, f"key-{number}") for number, body in enumerate(bodies)]
    assert [one.answer and one.answer[0] for one in told] == [200, 200, 409, 200, 200]
    logs = {
        stream.name: {key: list(world.house.records(stream.name, key)) for key in world.house.keys(stream.name)}
        for stream in STREAMS
    }
    return told, Audit(logs)


def words(told: list[Told], audit: Audit) -> list[str]:
    return [sentence for _, sentence in differences(told, audit)]


def test_what_was_told_stands_in_the_log(heard: tuple[list[Told], Audit]) -> None:
    assert words(*heard) == []


def test_a_command_without_an_answer_may_stand_there_whole_or_not_at_all(heard: tuple[list[Told], Audit]) -> None:
    told, audit = heard
    told[4].answer = None
    assert words(told, audit) == []
    del audit.records["rounds"]["table-1"][4:]
    assert words(told, audit) == []


Change = Callable[[list[Record]], None]


def lose(records: list[Record]) -> None:
    del records[3]


def double(records: list[Record]) -> None:
    records.append(replace(records[3], sequence=len(records) + 1))


def tear(records: list[Record]) -> None:
    records[3] = replace(records[3], count=2)


def shift(records: list[Record]) -> None:
    records[3] = replace(records[3], sequence=7)


def alter(records: list[Record]) -> None:
    records[3] = replace(records[3], event=replace(records[3].event, amount_cents=600))


def invent(records: list[Record]) -> None:
    records.append(replace(records[3], command_id="key-99", sequence=len(records) + 1))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lose, "rounds/table-1: PlaceWager key-3 was answered 200 at 4, and is lost"),
        (double, "rounds/table-1: PlaceWager key-3 was carried out 2 times, at 4, 6"),
        (tear, "rounds/table-1: PlaceWager key-3 is torn: [(0, 2)]"),
        (shift, "'sequence': 7"),
        (alter, "'amount_cents': 600"),
        (invent, "rounds/table-1: key-99 stands at 6, and nobody sent it"),
    ],
)
def test_a_contradiction_is_found(heard: tuple[list[Told], Audit], change: Change, said: str) -> None:
    told, audit = heard
    change(audit.records["rounds"]["table-1"])
    (found,) = words(told, audit)
    assert said in found


def test_a_command_that_was_not_answered_must_not_be_torn_or_doubled(heard: tuple[list[Told], Audit]) -> None:
    told, audit = heard
    told[3].answer = None
    double(audit.records["rounds"]["table-1"])
    tear(audit.records["rounds"]["table-1"])
    assert [sentence.split("key-3 ")[1] for sentence in words(told, audit)] == [
        "was carried out 2 times, at 4, 6",
        "is torn: [(0, 2)]",
    ]


def test_a_second_answer_unlike_the_first_is_found(heard: tuple[list[Told], Audit]) -> None:
    told, audit = heard
    told[3].strange.append("was answered 200, and then 409")
    assert words(told, audit) == ["rounds/table-1: PlaceWager key-3 was answered 200, and then 409"]
