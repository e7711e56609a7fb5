"""Steps without IO: duplicates, contradictions, dead letters, decisions that fail, and taking up a partition again."""

import re
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from services.core import accounts, rounds, wagers
from services.core.asking import Asking
from services.core.chain import GENESIS, Head
from services.core.letters import LetterPutAside, Origin, SkipOrdered
from services.core.refusal import Refused
from services.core.rules import RuleBook
from services.runtime.forms import COMMAND_ID_PATTERN
from services.runtime.memory import MemoryHouse
from services.runtime.stepping import (
    HASHES_REMEMBERED,
    Chain,
    Contradiction,
    Input,
    KeyMemory,
    PartitionMemory,
    Processor,
    Stepper,
    Undecidable,
)
from services.wire.letters import decode_letters
from services.wire.records import CONTRACTS, Asked, Record
from services.wire.snapshots import decode_state, encode_state
from tests.support.given import AT_MS
from tests.support.playing import play, written
from tests.support.worlds import BOOK, PROCESSORS, MemoryWorld

BY_STREAM = {processor.stream.name: processor for processor in PROCESSORS}
ROUNDS, WAGERS = BY_STREAM["rounds"], BY_STREAM["wagers"]
PLAYED = Path(__file__).parents[1] / "rounds" / "ms-fold-survival.yaml"


@cache
def house() -> MemoryHouse:
    """A house in which one round with everything in it was played."""
    world = MemoryWorld()
    play(world, written(PLAYED, "s"), "s")
    return world.house


@cache
def inputs_of(stream: str) -> tuple[Input, ...]:
    """All inputs of one partition of a processor that has many."""
    held = [held for (topic, _), held in house().topics.items() if topic == BY_STREAM[stream].stream.input]
    return tuple(max(held, key=len))


def asked(offset: int, command: Any, command_id: str | None = None) -> Input:
    value = CONTRACTS["rounds"].encode_command(Asked(command_id or f"key-{offset}", "dealer", b"\1" * 32, command))
    return Input(offset, AT_MS, "table-1", value)


def fresh() -> PartitionMemory:
    return PartitionMemory(0, 0, 0, 0)


def log_of(*outcomes: Any) -> list[tuple[str, bytes]]:
    return [record for outcome in outcomes for group in outcome.groups for record in group]


def events_of(outcome: Any, stream: str = "rounds") -> list[Any]:
    return [CONTRACTS[stream].decode_record(stored).event for _, stored in log_of(outcome)]


OPEN_TABLE = rounds.OpenTable("mississippi_stud", 6, "demo-mississippi-stud", "progressive-2", "demo-mississippi-stud")
COMMANDS = (OPEN_TABLE, rounds.OpenRound(), rounds.PlaceWager(1, "ante", 500))


# One log, checked as it is read --------------------------------------------------------------------------


def record(sequence: int, previous_hash: bytes, actor: str = "dealer") -> tuple[Record, bytes]:
    _, stored = log_of(Stepper(ROUNDS, BOOK).step(fresh(), [asked(0, OPEN_TABLE)]))[0]
    made = CONTRACTS["rounds"].decode_record(stored)
    made = replace(made, sequence=sequence, previous_hash=previous_hash, actor=actor)
    return made, CONTRACTS["rounds"].encode_record(made)


def test_the_first_record_carries_the_genesis_hash() -> None:
    assert Chain("rounds/table-1").fits(*record(1, GENESIS))
    with pytest.raises(Contradiction, match="hash of the record before it"):
        Chain("rounds/table-1").fits(*record(1, b"\1" * 32))


def test_a_gap_in_a_log_stops_its_reader() -> None:
    with pytest.raises(Contradiction, match="after sequence 0 comes 2; a record is missing"):
        Chain("rounds/table-1").fits(*record(2, GENESIS))


def test_a_duplicate_is_dropped_when_its_bytes_agree_and_stops_the_reader_when_not() -> None:
    chain, (made, stored) = Chain("rounds/table-1"), record(1, GENESIS)
    chain.advance(stored)
    assert chain.head == Head().after(stored)
    assert not chain.fits(made, stored)
    with pytest.raises(Contradiction, match="two different records claim sequence 1"):
        chain.fits(*record(1, GENESIS, actor="another"))


def test_a_duplicate_can_be_told_from_a_contradiction_for_a_while() -> None:
    chain, (made, stored) = Chain("rounds/table-1"), record(1, GENESIS)
    chain.advance(stored)
    for _ in range(HASHES_REMEMBERED - 1):
        chain.advance(b"another")
    with pytest.raises(Contradiction):
        chain.fits(*record(1, GENESIS, actor="another"))
    chain.advance(b"one more")
    assert not chain.fits(made, stored)


# Inputs that come twice, or wrong ------------------------------------------------------------------------


def renumbered(items: list[Input]) -> list[Input]:
    return [replace(item, offset=offset) for offset, item in enumerate(items)]


def test_a_record_that_comes_twice_is_settled_once() -> None:
    items = list(inputs_of("wagers"))
    memory = fresh()
    once = Stepper(WAGERS, BOOK).step(fresh(), items)
    twice = Stepper(WAGERS, BOOK).step(memory, renumbered(items + items[-20:]))
    assert twice.stopped is None
    assert memory.position == len(items) + 20
    assert events_of(twice, "wagers") == events_of(once, "wagers")


@pytest.mark.parametrize("wrong", ["gap", "hash", "bytes", "newer"])
def test_an_input_log_that_is_not_what_it_must_be_stops_the_partition(wrong: str) -> None:
    items = list(inputs_of("wagers"))
    made = CONTRACTS["rounds"].decode_record(items[10].value)
    values = {
        "gap": items[11].value,
        "hash": CONTRACTS["rounds"].encode_record(replace(made, previous_hash=b"\1" * 32)),
        "bytes": CONTRACTS["rounds"].encode_record(replace(made, sequence=made.sequence - 1)),
        "newer": b"\xfa\x7c\x02\x08\x01",
    }
    memory = fresh()
    outcome = Stepper(WAGERS, BOOK).step(memory, [*items[:10], replace(items[10], value=values[wrong]), *items[11:]])
    assert isinstance(outcome.stopped, Contradiction)
    assert memory.position == 10
    # What came before is kept, and the right record is taken where the wrong one stood.
    rest = Stepper(WAGERS, BOOK).step(memory, items[10:])
    assert log_of(outcome, rest) == log_of(Stepper(WAGERS, BOOK).step(fresh(), items))


NEWER = {
    "an unknown event": (b"\xfa\x7c\x02\x08\x01", "no event that this version knows"),
    "an unknown field": (None, "a field that this version does not know"),
}
newer_writers = pytest.mark.parametrize(("value", "said"), NEWER.values(), ids=NEWER)


@newer_writers
def test_a_log_of_a_newer_writer_is_not_taken_over(value: bytes | None, said: str) -> None:
    stepper = Stepper(ROUNDS, BOOK)
    written = log_of(stepper.step(fresh(), [asked(number, command) for number, command in enumerate(COMMANDS)]))
    key, last = written[-1]
    log = [*written[:-1], (key, last + NEWER["an unknown event"][0] if value is None else value)]
    with pytest.raises(Contradiction, match=f"rounds/table-1: .*{said}; a newer writer is at work"):
        stepper.adopt(fresh(), log)


@newer_writers
def test_an_input_of_a_newer_writer_stops_who_reads_it(value: bytes | None, said: str) -> None:
    items, memory = list(inputs_of("wagers")), fresh()
    spoilt = items[10].value + NEWER["an unknown event"][0] if value is None else value
    outcome = Stepper(WAGERS, BOOK).step(memory, [*items[:10], replace(items[10], value=spoilt), *items[11:]])
    assert f"{said}; a newer writer is at work" in str(outcome.stopped)
    assert "rounds-0 offset 10" in str(outcome.stopped) and memory.position == 10


def test_a_persons_command_that_comes_twice_is_carried_out_once() -> None:
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    again = asked(3, rounds.OpenRound(), "key-1")
    outcome = Stepper(ROUNDS, BOOK).step(fresh(), [*items, again])
    assert [type(event).__name__ for event in events_of(outcome)] == ["TableOpened", "RoundOpened", "WagerPlaced"]


def test_a_refused_command_that_comes_twice_is_refused_once() -> None:
    items = [asked(0, rounds.OpenRound(), "key-0"), asked(1, OPEN_TABLE), asked(2, rounds.OpenRound(), "key-0")]
    outcome = Stepper(ROUNDS, BOOK).step(fresh(), items)
    assert [type(event).__name__ for event in events_of(outcome)] == ["Refused", "TableOpened"]
    assert outcome.refusals == [("OpenRound", None)]


def test_a_processors_older_command_is_one_that_was_carried_out() -> None:
    items = [*(asked(number, command) for number, command in enumerate(COMMANDS)),
             asked(3, rounds.ConfirmWager(99), "accounts/account-3/5/0"),
             asked(4, rounds.WithdrawWager(1, "ante"), "accounts/account-3/6/1"),
             asked(5, rounds.PlaceWager(1, "ante", 500), "accounts/account-3/6/0"),
             asked(6, rounds.PlaceWager(1, "ante", 500), "accounts/account-4/6/0")]  # fmt: skip
    names = [type(event).__name__ for event in events_of(Stepper(ROUNDS, BOOK).step(fresh(), items))]
    assert names[3:] == ["WagerWithdrawn", "WagerPlaced"]


def test_bytes_that_no_schema_reads_go_to_the_dead_letters() -> None:
    memory = fresh()
    dead = [Input(1, AT_MS, "table-1", b"\xff"), Input(2, AT_MS, "table-1", b"")]
    outcome = Stepper(ROUNDS, BOOK).step(memory, [asked(0, OPEN_TABLE), *dead, asked(3, rounds.OpenRound())])
    whys = ("not a roundlog.rounds.v1.RoundsCommand", "a command without an id")
    for letter, item, why in zip(outcome.dead, dead, whys, strict=True):
        known = decode_letters(*letter)
        assert known is not None and isinstance(known[1], LetterPutAside)
        hashed = sha256(item.value).digest()
        said = LetterPutAside("table-1", item.value, AT_MS, known[1].reason, len(item.value), hashed)
        assert known == (Origin("round-commands", 0, item.offset), said) and why in said.reason
    assert memory.position == 4
    assert [type(event).__name__ for event in events_of(outcome)] == ["TableOpened", "RoundOpened"]


# Decisions that fail -------------------------------------------------------------------------------------


def failing_at(kind: type) -> Processor:
    def decide(state: Any, command: Any, asking: Asking) -> tuple[Any, ...]:
        if isinstance(command, kind):
            raise ZeroDivisionError("a defect of ours")
        return rounds.decide(state, command, asking)

    return replace(ROUNDS, decide=decide)


def test_a_decision_that_fails_stops_before_its_input_and_keeps_what_came_before() -> None:
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    memory = fresh()
    outcome = Stepper(failing_at(rounds.OpenRound), BOOK).step(memory, items)
    assert isinstance(outcome.stopped, Undecidable)
    assert "offset 1" in str(outcome.stopped) and "a defect of ours" in str(outcome.stopped)
    assert memory.position == 1
    assert [type(event).__name__ for event in events_of(outcome)] == ["TableOpened"]
    mended = Stepper(ROUNDS, BOOK).step(memory, items[1:])
    assert log_of(outcome, mended) == log_of(Stepper(ROUNDS, BOOK).step(fresh(), items))


def test_a_submission_that_is_not_held_stops_the_partition() -> None:
    memory = fresh()
    items = list(inputs_of("wagers"))
    outcome = Stepper(WAGERS, RuleBook(())).step(memory, items)
    assert isinstance(outcome.stopped, Undecidable)
    assert 0 < memory.position < len(items)
    rest = Stepper(WAGERS, BOOK).step(memory, items[memory.position :])
    assert log_of(outcome, rest) == log_of(Stepper(WAGERS, BOOK).step(fresh(), items))


# Passing over what cannot be decided ----------------------------------------------------------------------


def undecidable(stream: str, kind: type) -> Stepper:
    """A processor whose decision fails for one kind of input."""

    def decide(state: Any, subject: Any, asking: Asking) -> tuple[Any, ...]:
        if isinstance(subject, kind):
            raise ZeroDivisionError("a defect of ours")
        return BY_STREAM[stream].decide(state, subject, asking)

    return Stepper(replace(BY_STREAM[stream], decide=decide), BOOK)


def ordered(stepper: Stepper, item: Input, reason: str = "mended tomorrow") -> None:
    """Somebody orders to pass over an input of partition 0."""
    place = Origin(stepper.stream.input, 0, item.offset), sha256(item.value).digest()
    stepper.skips[place] = SkipOrdered("manager", reason, place[1])


def test_a_command_that_is_passed_over_is_in_the_log_and_changes_nothing() -> None:
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    stepper, memory = undecidable("rounds", rounds.OpenRound), fresh()
    first = stepper.step(memory, items)
    assert isinstance(first.stopped, Undecidable) and "`roundlog skip round-commands-0-1`" in str(first.stopped)
    ordered(stepper, items[1])
    rest = stepper.step(memory, items[1:])
    assert rest.stopped is None and memory.position == 3
    events = events_of(first) + events_of(rest)
    assert events[1] == rounds.Skipped("OpenRound", "mended tomorrow", "manager")
    assert isinstance(events[2], rounds.Refused), "no round was opened, so no wager is taken"
    skipped = CONTRACTS["rounds"].decode_record(log_of(rest)[0][1])
    assert (skipped.command_id, skipped.actor, skipped.request_hash) == ("key-1", "dealer", b"\1" * 32), (
        "its caller is told"
    )
    assert memory.keys["table-1"].seen.has("key-1")


def test_an_order_to_pass_over_what_can_be_decided_makes_no_difference() -> None:
    """So two workers agree, whichever of them has seen the order."""
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    stepper = Stepper(ROUNDS, BOOK)
    for item in items:
        ordered(stepper, item)
    assert log_of(stepper.step(fresh(), items)) == log_of(Stepper(ROUNDS, BOOK).step(fresh(), items))


def test_an_order_is_for_these_bytes_alone() -> None:
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    stepper = undecidable("rounds", rounds.OpenRound)
    ordered(stepper, replace(items[1], value=items[2].value))
    assert isinstance(stepper.step(fresh(), items).stopped, Undecidable)


def test_two_workers_and_a_later_version_agree_on_what_was_passed_over() -> None:
    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    one, other = undecidable("rounds", rounds.OpenRound), undecidable("rounds", rounds.OpenRound)
    for stepper in (one, other):
        ordered(stepper, items[1])
    log = log_of(one.step(fresh(), items))
    assert log_of(other.step(fresh(), items)) == log

    # A version that could decide it reads the log first, and finds that it was passed over.
    mended, memory = Stepper(ROUNDS, BOOK), fresh()
    assert mended.adopt(memory, log[:2]) == [] and memory.position == 2
    assert log[:2] + log_of(mended.step(memory, items[memory.position :])) == log


def test_a_record_that_cannot_be_settled_is_passed_over_and_still_folded() -> None:
    items = inputs_of("wagers")
    shown = next(
        number for number, item in enumerate(items)
        if isinstance(CONTRACTS["rounds"].decode_record(item.value).event, rounds.HandShown)
    )  # fmt: skip
    stepper, memory = undecidable("wagers", rounds.HandShown), fresh()
    for item in items:
        ordered(stepper, item)
    outcome = stepper.step(memory, items)
    assert outcome.stopped is None and memory.position == len(items)
    skipped = [event for event in events_of(outcome, "wagers") if isinstance(event, wagers.Skipped)]
    round_id = CONTRACTS["rounds"].decode_record(items[shown].value).event.round_id
    assert skipped[0] == wagers.Skipped("HandShown", "mended tomorrow", "manager", round_id)
    whole = fresh()
    Stepper(WAGERS, BOOK).step(whole, items)
    assert {key: known.state for key, known in memory.keys.items()} == {
        key: known.state for key, known in whole.keys.items()
    }, "the state is the table's own, whatever was passed over"


def test_what_cannot_be_folded_is_not_passed_over() -> None:
    def fails(*_: Any) -> Any:
        raise ZeroDivisionError("a defect of ours")

    stepper, items = Stepper(replace(WAGERS, observe=fails), BOOK), inputs_of("wagers")
    ordered(stepper, items[0])
    outcome = stepper.step(fresh(), items)
    assert isinstance(outcome.stopped, Undecidable) and outcome.stopped.place is None
    assert "roundlog skip" not in str(outcome.stopped)


# Taking up a partition again -----------------------------------------------------------------------------


def snapshot(stepper: Stepper, items: tuple[Input, ...]) -> tuple[PartitionMemory, list[tuple[str, bytes]], set[Any]]:
    """What the database has once these inputs were answered; with the log, and the commands that were sent."""
    memory = fresh()
    outcome = stepper.step(memory, items)
    stored = PartitionMemory(0, memory.position, len(log_of(outcome)), 0)
    for key, known in memory.keys.items():
        state = decode_state(stepper.processor.state_type, encode_state(known.state))
        kept = stored.keys[key] = KeyMemory(key, state, known.own.head, known.input.head, known.seen.persons)
        kept.seen.marks = dict(known.seen.marks)
    return stored, log_of(outcome), {*outcome.sent}


@pytest.mark.parametrize("stream", list(BY_STREAM))
def test_wherever_it_crashed_the_log_goes_on_as_if_it_had_not(stream: str) -> None:
    stepper, items = Stepper(BY_STREAM[stream], BOOK), inputs_of(stream)
    _, whole, sent = snapshot(stepper, items)
    steps = sorted({*range(0, len(items), 7), len(items)})
    for saved in steps:
        for said in [step for step in steps if step >= saved][:3]:
            memory, before, sent_before = snapshot(stepper, items[:saved])
            _, log, _ = snapshot(stepper, items[:said])
            resent = stepper.adopt(memory, log[len(before) :])
            rest = stepper.step(memory, items[memory.position :])
            assert log + log_of(rest) == whole, f"saved behind input {saved}, the log behind input {said}"
            assert sent_before | {*resent} | {*rest.sent} == sent


@pytest.mark.parametrize("stream", list(BY_STREAM))
def test_another_version_does_not_decide_again_what_was_said(stream: str) -> None:
    def decide(*_: Any) -> tuple[Any, ...]:
        raise AssertionError("what the log answered is decided again")

    items = inputs_of(stream)
    _, log, sent = snapshot(Stepper(BY_STREAM[stream], BOOK), items)
    newer, memory = Stepper(replace(BY_STREAM[stream], decide=decide), BOOK), fresh()
    assert {*newer.adopt(memory, log)} == sent
    outcome = newer.step(memory, items[memory.position :])
    assert outcome.stopped is None
    assert log_of(outcome) == []
    last = CONTRACTS[stream].decode_record(log[-1][1])
    assert memory.keys[log[-1][0]].own.head.sequence == last.sequence


def test_another_version_decides_what_was_not_answered_yet() -> None:
    def refuse(*_: Any) -> tuple[Any, ...]:
        raise Refused("everything is refused from now on")

    items = [asked(number, command) for number, command in enumerate(COMMANDS)]
    old, memory = Stepper(ROUNDS, BOOK), fresh()
    Stepper(replace(ROUNDS, decide=refuse), BOOK).adopt(memory, log_of(old.step(fresh(), items[:2])))
    assert memory.position == 2
    outcome = Stepper(replace(ROUNDS, decide=refuse), BOOK).step(memory, items[memory.position :])
    assert events_of(outcome) == [rounds.Refused("PlaceWager", "everything is refused from now on", None)]


def test_a_log_that_ends_inside_a_command_is_not_taken_up() -> None:
    stepper = Stepper(ROUNDS, BOOK)
    _, log, _ = snapshot(stepper, inputs_of("rounds"))
    inside = next(
        number for number, (_, stored) in enumerate(log) if not CONTRACTS["rounds"].decode_record(stored).last
    )
    with pytest.raises(Contradiction, match="ends inside the records of command"):
        stepper.adopt(fresh(), log[: inside + 1])


def test_a_log_with_a_record_missing_is_not_taken_up() -> None:
    stepper = Stepper(ROUNDS, BOOK)
    _, log, _ = snapshot(stepper, inputs_of("rounds"))
    with pytest.raises(Contradiction, match="a record is missing"):
        stepper.adopt(fresh(), [*log[:3], *log[4:]])


@pytest.mark.parametrize(("part", "processor", "first"), [("evolve", ROUNDS, 0), ("following", WAGERS, 1)])
def test_what_fails_behind_a_decision_leaves_no_half_of_an_answer(part: str, processor: Processor, first: int) -> None:
    """The first that `wagers` answers is the second record of a table, RoundOpened; a table that opens is only folded."""

    def fails(*_: Any) -> Any:
        raise ZeroDivisionError("a defect of ours")

    memory = fresh()
    outcome = Stepper(replace(processor, **{part: fails}), BOOK).step(memory, inputs_of(processor.stream.name))
    assert isinstance(outcome.stopped, Undecidable)
    assert "a defect of ours" in str(outcome.stopped)
    assert memory.position == first, "it stands before the input that failed"
    assert (outcome.groups, outcome.sent) == ([], [])
    assert [(known.own.head, known.input.head.sequence) for known in memory.keys.values()] == [(Head(), first)]


# Sent back ------------------------------------------------------------------------------------------------


def credit(offset: int, command_id: str) -> Input:
    command = accounts.CreditWinnings(900, f"table-1-{offset}", 2, "ante")
    return Input(offset, AT_MS, "ann", CONTRACTS["accounts"].encode_command(Asked(command_id, "wagers", b"", command)))


def taken(*command_ids: str) -> list[str]:
    """The ids that came into the log, of commands that came one after the other."""
    stepper, memory = Stepper(BY_STREAM["accounts"], BOOK), PartitionMemory(0, 0, 0, 0)
    groups = stepper.step(memory, [credit(offset, each) for offset, each in enumerate(command_ids)]).groups
    return [CONTRACTS["accounts"].decode_record(group[0][1]).command_id for group in groups]


FIRST, SECOND, THIRD = (f"wagers/table-1/{number}/0" for number in (1, 2, 3))
SECOND_AGAIN = f"again/{SECOND}"


def test_what_was_put_aside_and_sent_back_is_carried_out_though_later_ones_were_taken() -> None:
    assert taken(FIRST, THIRD, SECOND_AGAIN) == [FIRST, THIRD, SECOND_AGAIN]


def test_what_was_sent_back_is_carried_out_once_whatever_comes_again() -> None:
    assert taken(FIRST, SECOND_AGAIN, SECOND_AGAIN, SECOND, THIRD) == [FIRST, SECOND_AGAIN, THIRD]
    assert taken(FIRST, THIRD, SECOND_AGAIN, SECOND_AGAIN, THIRD) == [FIRST, THIRD, SECOND_AGAIN]
    assert taken(FIRST, SECOND, SECOND_AGAIN) == [FIRST, SECOND]


def test_nobody_who_asks_by_http_can_send_back() -> None:
    assert not re.fullmatch(COMMAND_ID_PATTERN, SECOND_AGAIN)
