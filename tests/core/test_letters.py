"""What people decide of letters, as the log has it: a letter is closed once, and one replay of it is under way."""

import pytest

from services.core.letters import (
    REPLAY_MS,
    Event,
    LetterDiscarded,
    LetterPutAside,
    LetterReplayBegun,
    LetterReplayed,
    Letters,
    LetterState,
    Origin,
    SkipOrdered,
)

WHERE = Origin("round-commands", 3, 17)
CAME = LetterPutAside("table-1", b"\xff", 5, "no protobuf", 1, b"\1" * 32)


def folded(*events: Event, at_ms: tuple[int, ...] = ()) -> Letters:
    """The letters behind some events of one origin, at these times or a millisecond apart."""
    known = Letters()
    for at, event in enumerate(events):
        known.add(at, at_ms[at] if at_ms else 100 + at, WHERE, event)
    return known


def test_a_letter_is_open_until_somebody_decides() -> None:
    assert [letter.put_aside for letter in folded(CAME).open()] == [CAME]
    assert not list(folded(CAME, LetterDiscarded("manager", "a test")).open())
    assert not list(folded(CAME, LetterReplayed("manager", 20)).open())


def test_who_discarded_it_when_and_why_stays() -> None:
    letter = folded(CAME, LetterDiscarded("manager", "a test")).letters[WHERE]
    assert (letter.state, letter.actor, letter.closed_ms, letter.reason) == (
        LetterState.DISCARDED, "manager", 101, "a test",
    )  # fmt: skip
    assert letter.put_aside == CAME and letter.put_aside_ms == 100


@pytest.mark.parametrize("late", [LetterDiscarded("other", "late"), LetterReplayed("other", 99), CAME])
def test_the_first_decision_stands(late: Event) -> None:
    for first in (LetterDiscarded("manager", "a test"), LetterReplayed("manager", 20)):
        assert folded(CAME, first, late).letters == folded(CAME, first).letters


def test_a_letter_that_was_put_aside_twice_is_one() -> None:
    assert folded(CAME, CAME).letters == folded(CAME).letters


def test_what_is_decided_of_a_letter_that_is_not_there_says_nothing() -> None:
    assert folded(LetterDiscarded("manager", "a test"), CAME).letters[WHERE].state is LetterState.OPEN


def test_of_two_who_replay_it_the_first_does_until_it_was_interrupted() -> None:
    one, other = LetterReplayBegun("one"), LetterReplayBegun("other")
    assert folded(CAME, one, other).replaying[WHERE].actor == "one"
    within, after = (100, 200, 200 + REPLAY_MS), (100, 200, 201 + REPLAY_MS)
    assert folded(CAME, one, other, at_ms=within).replaying[WHERE].actor == "one"
    assert folded(CAME, one, other, at_ms=after).replaying[WHERE].actor == "other"
    assert WHERE not in folded(CAME, one, LetterReplayed("one", 20)).replaying


def test_of_several_orders_to_pass_over_an_input_the_first_holds() -> None:
    one, other = SkipOrdered("one", "first", b"\1" * 32), SkipOrdered("other", "later", b"\1" * 32)
    of_other_bytes = SkipOrdered("other", "later", b"\2" * 32)
    assert folded(one, other, of_other_bytes).skips == {(WHERE, b"\1" * 32): one, (WHERE, b"\2" * 32): of_other_bytes}


@pytest.mark.parametrize(
    "text", ["", "round-commands", "round-commands-3", "round-commands-3-x", "a-1-2 ", "-1-2", "A-1-2"]
)
def test_what_is_no_origin_is_none(text: str) -> None:
    assert Origin.parse(text) is None
    assert Origin.parse("round-commands-3-17") == WHERE and str(WHERE) == "round-commands-3-17"
