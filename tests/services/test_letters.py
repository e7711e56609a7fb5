"""What people do with letters, on a topic in memory: at once, one after the other, and interrupted at every step."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any, cast

import pytest

from services.accounts.processor import PROCESSOR as ACCOUNTS
from services.core import accounts
from services.core.letters import REPLAY_MS, LetterState, Origin
from services.flow import DEAD_LETTERS, PARTITIONS, command_topics, logs
from services.runtime.kafka import Kafka, Stored
from services.runtime.letters import LettersLog, NotDone, discard, order_skip, replay
from services.runtime.stepping import Input, PartitionMemory, Stepper
from services.wire.letters import put_aside
from services.wire.records import CONTRACTS, Asked
from tests.support.worlds import BOOK

WHERE = Origin("account-commands", 2, 1)
READABLE = CONTRACTS["accounts"].encode_command(Asked("key-1", "cage", b"", accounts.Deposit(500, "chips")))


class Interrupted(Exception):
    """The process ends here."""


class Topics:
    """A broker in memory, with a clock that is given; it may end the process at one of its calls."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, int], list[Stored]] = {(DEAD_LETTERS, 0): []}
        self.held |= {
            (topic, partition): [] for topic in (*command_topics(), *logs()) for partition in range(PARTITIONS)
        }
        self.now_ms = 1_800_000_000_000
        self.calls_left: float = float("inf")

    async def _call(self) -> None:
        await asyncio.sleep(0)
        if self.calls_left <= 0:
            raise Interrupted
        self.calls_left -= 1

    async def ends(self, topics: list[str]) -> dict[tuple[str, int], tuple[int, int]]:
        await self._call()
        return {place: (0, len(held)) for place, held in self.held.items() if place[0] in topics}

    async def read(self, topic: str, partition: int, start: int, end: int) -> AsyncIterator[Stored]:
        await self._call()
        for stored in self.held[topic, partition][start:end]:
            yield stored

    async def append(self, topic: str, partition: int, groups: list[list[tuple[str, bytes]]]) -> int:
        await self._call()
        held = self.held[topic, partition]
        for key, value in (record for group in groups for record in group):
            held.append(Stored(topic, partition, len(held), self.now_ms, key, value))
        end = len(held)
        # The answer may be lost though the record is there.
        await self._call()
        return end


def topics(value: bytes = READABLE) -> Topics:
    """Topics with one letter, whose bytes stand where it came from."""
    made = Topics()
    made.held["account-commands", 2] = [
        Stored("account-commands", 2, offset, made.now_ms, key, stored)
        for offset, (key, stored) in enumerate([("other", READABLE), ("ann", value)])
    ]
    key, stored = put_aside(WHERE, "ann", value, made.now_ms, "unknown")
    made.held[DEAD_LETTERS, 0] = [Stored(DEAD_LETTERS, 0, 0, made.now_ms, key, stored)]
    return made


def kafka(of: Topics) -> Kafka:
    return cast(Kafka, of)


def run(act: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(act)


def state(of: Topics) -> Any:
    return run(LettersLog(kafka(of)).read()).letters[WHERE]


def sent(of: Topics) -> list[bytes]:
    return [stored.value for stored in of.held["account-commands", 2][2:]]


def test_a_letter_is_replayed_once() -> None:
    of = topics()
    assert run(replay(kafka(of), WHERE, "manager")) == 2
    assert sent(of) == [READABLE]
    with pytest.raises(NotDone, match="was replayed by manager already: it stands at account-commands-2-2"):
        run(replay(kafka(of), WHERE, "other"))
    with pytest.raises(NotDone, match="was replayed by manager already"):
        run(discard(kafka(of), WHERE, "other", "too late"))
    assert sent(of) == [READABLE]


def test_a_letter_is_discarded_once_and_stays() -> None:
    of = topics()
    run(discard(kafka(of), WHERE, "manager", "a test of the wiring"))
    assert (state(of).state, state(of).actor, state(of).reason) == (
        LetterState.DISCARDED, "manager", "a test of the wiring",
    )  # fmt: skip
    for act in (replay(kafka(of), WHERE, "other"), discard(kafka(of), WHERE, "other", "again")):
        with pytest.raises(NotDone, match="was discarded by manager: a test of the wiring"):
            run(act)
    assert sent(of) == [] and state(of).put_aside.value == READABLE


def test_what_this_version_cannot_read_is_not_sent_back() -> None:
    of = topics(b"\xff")
    with pytest.raises(NotDone, match="This version cannot read the letter account-commands-2-1 either"):
        run(replay(kafka(of), WHERE, "manager"))
    assert sent(of) == [] and state(of).state is LetterState.OPEN


def test_of_two_who_replay_at_once_one_does() -> None:
    of = topics()

    async def both() -> list[Any]:
        return await asyncio.gather(
            replay(kafka(of), WHERE, "one"), replay(kafka(of), WHERE, "other"), return_exceptions=True
        )

    said = run(both())
    assert sorted(isinstance(each, NotDone) for each in said) == [False, True], said
    assert sent(of) == [READABLE] and state(of).state is LetterState.REPLAYED


def interrupted(value: bytes = READABLE) -> Iterator[Topics]:
    """A replay that was interrupted, once at each of its calls."""
    for calls in itertools.count():
        of = topics(value)
        of.calls_left = calls
        try:
            run(replay(kafka(of), WHERE, "manager"))
        except Interrupted:
            of.calls_left = float("inf")
            yield of
        else:
            break
    assert calls > 8, "it was interrupted at each call"


SENT = "wagers/table-1/50/0"
WINNINGS = accounts.CreditWinnings(900, "table-1-3", 2, "ante")


def of_a_processor(command_id: str = SENT) -> bytes:
    return CONTRACTS["accounts"].encode_command(Asked(command_id, "wagers", b"", WINNINGS))


AGAIN = of_a_processor(f"again/{SENT}")
BOTH = pytest.mark.parametrize(
    ("value", "sends"), [(READABLE, READABLE), (of_a_processor(), AGAIN)], ids=["a person's", "a processor's"]
)


@BOTH
def test_a_replay_that_was_interrupted_anywhere_is_ended_by_the_next_and_sent_once(value: bytes, sends: bytes) -> None:
    for of in interrupted(value):
        of.now_ms += REPLAY_MS + 1
        if state(of).state is LetterState.OPEN:
            run(replay(kafka(of), WHERE, "other"))
        assert sent(of) == [sends]
        assert state(of).state is LetterState.REPLAYED


@BOTH
def test_what_an_interrupted_replay_sent_is_found_though_it_was_answered_since(value: bytes, sends: bytes) -> None:
    of = next(each for each in interrupted(value) if sent(each) and state(each).state is LetterState.OPEN)
    answered(of, CONTRACTS["accounts"].decode_command(sends).command_id)
    of.now_ms += REPLAY_MS + 1
    assert run(replay(kafka(of), WHERE, "other")) == 2
    assert sent(of) == [sends] and state(of).state is LetterState.REPLAYED


def test_who_begins_again_at_once_is_told_to_wait() -> None:
    of = topics()
    of.calls_left = 8
    with pytest.raises(Interrupted):
        run(replay(kafka(of), WHERE, "one"))
    of.calls_left = float("inf")
    with pytest.raises(
        NotDone, match=r"one replays the letter account-commands-2-1 at this moment\..*after 60 seconds"
    ):
        run(replay(kafka(of), WHERE, "other"))
    assert sent(of) == []


@pytest.mark.parametrize(("actor", "reason"), [("", "x"), ("a\tb", "x"), ("x" * 101, "x"), ("a", ""), ("a", "x" * 201)])
def test_a_decision_has_a_name_and_a_reason(actor: str, reason: str) -> None:
    of = topics()
    for act in (discard(kafka(of), WHERE, actor, reason), order_skip(kafka(of), WHERE, actor, reason)):
        with pytest.raises(NotDone, match="printable characters"):
            run(act)
    assert len(of.held[DEAD_LETTERS, 0]) == 1


@pytest.mark.parametrize("where", [Origin("accounts", 2, 1), Origin("account-commands", 2, 2), Origin("nothing", 0, 0)])
def test_only_an_input_is_passed_over(where: Origin) -> None:
    of = topics()
    with pytest.raises(NotDone, match="No processor reads an input"):
        run(order_skip(kafka(of), where, "manager", "a defect"))
    assert len(of.held[DEAD_LETTERS, 0]) == 1


# A processor's command ------------------------------------------------------------------------------------


def answered(of: Topics, command_id: str) -> None:
    """The log has a record of that command."""
    stepper = Stepper(ACCOUNTS, BOOK)
    memory = PartitionMemory(2, 0, 0, 0)
    item = Input(0, of.now_ms, "ann", of_a_processor(command_id))
    [[(key, stored)]] = stepper.step(memory, [item]).groups
    of.held["accounts", 2] = [Stored("accounts", 2, 0, of.now_ms, key, stored)]


def test_a_processors_command_is_sent_back_under_an_id_of_its_own() -> None:
    """Later commands of its source were taken since: under its own it would count as seen."""
    of = topics(of_a_processor())
    run(replay(kafka(of), WHERE, "manager"))
    assert sent(of) == [of_a_processor("again/wagers/table-1/50/0")]


@pytest.mark.parametrize("command_id", [SENT, f"again/{SENT}"])
def test_a_processors_command_that_the_log_has_is_not_sent_back(command_id: str) -> None:
    of = topics(of_a_processor())
    answered(of, command_id)
    with pytest.raises(NotDone, match=r"wagers/table-1/50/0 was carried out already: it is record 1 of ann"):
        run(replay(kafka(of), WHERE, "manager"))
    assert sent(of) == [] and state(of).state is LetterState.OPEN


def test_what_is_being_replayed_is_not_discarded() -> None:
    """Wherever the discard comes, a letter is not both discarded and sent."""
    for of in interrupted():
        try:
            run(discard(kafka(of), WHERE, "other", "no use"))
        except NotDone:
            assert state(of).state is not LetterState.DISCARDED
        else:
            assert sent(of) == [] and state(of).state is LetterState.DISCARDED


def test_a_processors_command_that_came_again_behind_the_letter_is_not_sent_back() -> None:
    """It waits there, or is taken since. Under an id of its own it would be carried out a second time."""
    of = topics(of_a_processor())
    put_aside_as_unknown = of_a_processor() + b"\xfa\x7c\x02\x08\x01"
    of.held["account-commands", 2][1] = Stored("account-commands", 2, 1, of.now_ms, "ann", put_aside_as_unknown)
    of.held["account-commands", 2].append(Stored("account-commands", 2, 2, of.now_ms, "ann", of_a_processor()))
    with pytest.raises(NotDone, match="has come again, as account-commands-2-2: it is taken from there"):
        run(replay(kafka(of), WHERE, "manager"))
    assert len(sent(of)) == 1 and state(of).state is LetterState.OPEN


def test_a_persons_command_that_the_log_has_is_not_sent_back() -> None:
    """However long ago: the processor remembers the last ids alone."""
    of = topics()
    answered(of, "key-1")
    with pytest.raises(NotDone, match="key-1 was carried out already: it is record 1 of ann"):
        run(replay(kafka(of), WHERE, "manager"))
    assert sent(of) == []
    run(discard(kafka(of), WHERE, "manager", "it was carried out"))
    assert state(of).state is LetterState.DISCARDED, "nobody waits for a replay that was refused"
