"""What a processor does with its inputs, without any IO: fold, decide, chain, and note what is to be sent.

The memory of a partition is a fold of the prefix of one input log. The same inputs give the same bytes,
so a step that is repeated after a crash writes duplicates that every reader can tell.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any

from services.core.asking import Asking, Following
from services.core.chain import Head, ProcessorId, processor_id, sent_again
from services.core.letters import Origin, Place, SkipOrdered
from services.core.refusal import Refused
from services.core.rules import RuleBook
from services.flow import Stream
from services.runtime.forms import KEY_PATTERN, misfit
from services.wire.letters import put_aside
from services.wire.records import CONTRACTS, Asked, Cause, Record, Unreadable

HASHES_REMEMBERED = 256
"""How many of a key's last record hashes a reader keeps, to tell a harmless duplicate from a contradiction."""

COMMAND_BYTES_MAX = 300_000
"""Of one command in its topic. Who asks over HTTP may send 65,536; a progressive that ends hands on the last
contribution of each of its tables."""

PERSONS_REMEMBERED = 64
"""How many of the last commands of people a key remembers. The API answers repeats for seven days; this
closes the moments before the API has seen the outcome."""

_KEY = re.compile(KEY_PATTERN.replace("$", r"\Z"))


class Contradiction(Exception):
    """A log does not hold what it must: a gap, other bytes under a known sequence, a wrong hash. Nothing is skipped."""


def newer_writer(place: str, error: Unreadable) -> Contradiction:
    """What every reader of a log says of bytes that it cannot read, and stops: to pass over them could lose money."""
    return Contradiction(f"{place}: {error}; a newer writer is at work, so run its version here too")


class Undecidable(Exception):
    """A decision failed with an error of ours; the partition stops at that input. `place` is that input where somebody
    may order to pass over it, None where what comes later could not be decided without it."""

    def __init__(self, sentence: str, place: Place | None) -> None:
        super().__init__(sentence)
        self.place = place


@dataclass(frozen=True, slots=True)
class Input:
    """One record of the input topic. `at_ms` is the broker's append time."""

    offset: int
    at_ms: int
    key: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Processor:
    """The pure parts of one stream's processor.

    `decide` answers an input with events; `evolve` folds the stream's own events; `observe` folds the
    input log where that is another stream's (None where the input is commands); `following` gives the
    commands that follow from a record. `skipped` is the event of an input that was passed over: of what was asked,
    with the reason and the name of who ordered it.
    """

    stream: Stream
    initial: Any
    state_type: type
    decide: Callable[[Any, Any, Asking], tuple[Any, ...]]
    evolve: Callable[[Any, Any], Any] | None
    observe: Callable[[Any, Any], Any] | None
    following: Callable[[str, Any], tuple[Following, ...]]
    refused: Callable[[str, str, str | None], Any] | None
    skipped: Callable[[Any, str, str], Any]


def read_command(stream: str, key: str, value: bytes) -> Asked:
    """A command from its topic, where anybody may write. Raises Unreadable: also for a key that is no id, and for what
    is not of the form in which people and processors ask."""
    if not _KEY.fullmatch(key):
        raise Unreadable("the key is no id: letters, digits, dashes and underscores, at most 64")
    if len(value) > COMMAND_BYTES_MAX:
        raise Unreadable(f"{len(value)} bytes are no command: one has at most {COMMAND_BYTES_MAX}")
    asked = CONTRACTS[stream].decode_command(value)
    wrong = misfit(asked)
    if wrong is not None:
        raise Unreadable(wrong)
    return asked


class Chain:
    """Checks one log as it is read, for each key: sequences without gaps, hashes that fit, duplicates that agree."""

    def __init__(self, name: str, head: Head = Head()) -> None:
        self.name = name
        self.head = head
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=HASHES_REMEMBERED)

    def fits(self, record: Record, stored: bytes) -> bool:
        """True when the record is the next; False for a duplicate. Changes nothing. Raises Contradiction."""
        if record.sequence <= self.head.sequence:
            self._check_duplicate(record.sequence, stored)
            return False
        if record.sequence != self.head.sequence + 1:
            raise Contradiction(
                f"{self.name}: after sequence {self.head.sequence} comes {record.sequence}; a record is missing"
            )
        if record.previous_hash != self.head.hash:
            raise Contradiction(
                f"{self.name}: sequence {record.sequence} does not carry the hash of the record before it"
            )
        return True

    def advance(self, stored: bytes) -> None:
        """Moves the head behind a record that is known to be the next."""
        self.head = self.head.after(stored)
        self._recent.append((self.head.sequence, self.head.hash))

    def _check_duplicate(self, sequence: int, stored: bytes) -> None:
        if sequence == self.head.sequence:
            known = self.head.hash
        elif not self._recent or sequence < self._recent[0][0]:
            return  # older than what is remembered here; the archive of the back office holds every hash
        else:
            known = self._recent[sequence - self._recent[0][0]][1]
        if sha256(stored).digest() != known:
            raise Contradiction(f"{self.name}: two different records claim sequence {sequence}")


class Seen:
    """The commands whose records a key's log holds: a repeat of one changes nothing.

    For each processor and key that sent commands the highest (sequence, number); for people, and for commands that they
    sent back, the hashes of the last ids.
    """

    def __init__(self, persons: bytes = b"") -> None:
        self.marks: dict[str, tuple[int, int]] = {}
        self.touched: set[str] = set()
        self._persons: deque[bytes] = deque(
            (persons[start : start + 16] for start in range(0, len(persons), 16)), maxlen=PERSONS_REMEMBERED
        )

    @property
    def persons(self) -> bytes:
        return b"".join(self._persons)

    def has(self, command_id: str) -> bool:
        sent = processor_id(command_id)
        if sent is not None:
            return (sent.sequence, sent.number) <= self._mark(sent)
        back = sent_again(command_id)
        # The mark stands just there where the command itself has come at last.
        return _short(command_id) in self._persons or (
            back is not None and (back.sequence, back.number) == self._mark(back)
        )

    def add(self, command_id: str) -> None:
        sent = processor_id(command_id)
        if sent is None:
            short = _short(command_id)
            if not self._persons or self._persons[-1] != short:
                self._persons.append(short)
            sent = sent_again(command_id)
        if sent is not None:
            source = f"{sent.stream}/{sent.key}"
            self.marks[source] = max(self._mark(sent), (sent.sequence, sent.number))
            self.touched.add(source)

    def _mark(self, sent: ProcessorId) -> tuple[int, int]:
        return self.marks.get(f"{sent.stream}/{sent.key}", (0, -1))


def _short(command_id: str) -> bytes:
    return blake2b(command_id.encode(), digest_size=16).digest()


class KeyMemory:
    """What a processor knows of one key."""

    def __init__(
        self, name: str, state: Any, head: Head = Head(), input_head: Head = Head(), persons: bytes = b""
    ) -> None:
        self.state = state
        self.own = Chain(name, head)
        self.input = Chain(f"input of {name}", input_head)
        self.seen = Seen(persons)


@dataclass(slots=True)
class PartitionMemory:
    """What a processor knows of one partition.

    `position` is the next input offset; inputs below `decided_until` are already answered in the log and
    are only observed. `log_end` is the offset of the own log up to which the states have it; `saved` the
    position as the snapshot has it, which the next one must find there.
    """

    partition: int
    position: int
    log_end: int
    decided_until: int
    saved: int = 0
    keys: dict[str, KeyMemory] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Sent:
    """A command on its way: the stream that takes it, its key, its bytes and its id."""

    stream: str
    key: str
    value: bytes
    command_id: str


@dataclass(frozen=True, slots=True)
class Told:
    """What an operator may read of one input: `follows` is the id of the command behind it where it is a record."""

    item: Input
    command_id: str
    follows: str | None
    actor: str
    sequence: int
    events: tuple[str, ...]
    sent: tuple[str, ...]


@dataclass(slots=True)
class Outcome:
    """What a step wants written: groups of records (one group per input, never to be torn apart), commands, dead letters."""

    groups: list[list[tuple[str, bytes]]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    dead: list[tuple[str, bytes]] = field(default_factory=list)
    """Records for `dead-letters`."""
    records: int = 0
    refusals: list[tuple[str, str | None]] = field(default_factory=list)
    """Of each refused command its name, and the section behind the refusal."""
    told: list[Told] = field(default_factory=list)
    """One for each input that was answered, where the stepper tells."""
    stopped: Exception | None = None
    """Why the inputs were not answered to their end: a Contradiction, or an Undecidable. The memory stands before that input."""


@dataclass(slots=True)
class _Draft:
    """The answer to one input before it is taken into the memory: the state and the head behind it, and what is written."""

    state: Any
    head: Head
    records: list[tuple[Record, bytes]] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)


def _told(item: Input, asked: Asked, follows: str | None, draft: _Draft) -> Told:
    events = tuple(type(record.event).__name__ for record, _ in draft.records)
    sent = tuple(each.command_id for each in draft.sent)
    return Told(item, asked.command_id, follows, asked.actor, draft.head.sequence, events, sent)


class Stepper:
    """One stream's processor with the submissions it holds."""

    def __init__(self, processor: Processor, book: RuleBook, tells: bool = False) -> None:
        """`tells`: of each input what came of it, for whoever reads along."""
        self.processor = processor
        self.tells = tells
        self.stream = processor.stream
        self.book = book
        self._contract = CONTRACTS[self.stream.name]
        self._input_contract = None if processor.observe is None else CONTRACTS[self.stream.input]
        self.skips: dict[Place, SkipOrdered] = {}
        """Orders to pass over an input, where it cannot be decided. Where it can, it is: whether the order was seen in
        time makes no difference to what the log says."""

    def key_memory(self, memory: PartitionMemory, key: str) -> KeyMemory:
        """What is known of a key, from nothing where it is new."""
        known = memory.keys.get(key)
        if known is None:
            known = memory.keys[key] = KeyMemory(f"{self.stream.name}/{key}", self.processor.initial)
        return known

    def adopt(self, memory: PartitionMemory, records: Iterable[tuple[str, bytes]], resend_from: int = 0) -> list[Sent]:
        """Takes over what the own log says beyond the snapshot; gives the commands that follow, to be sent again.

        `records` are (key, stored bytes) in the order of the log. Raises Contradiction.
        """
        resend: list[Sent] = []
        last: Record | None = None
        for number, (key, stored) in enumerate(records):
            record = self.read_record(key, stored)
            known = self.key_memory(memory, key)
            if not known.own.fits(record, stored):
                continue
            known.own.advance(stored)
            known.state = self._evolved(known.state, record.event)
            self._note_seen(known, record)
            memory.touched.add(key)
            if number >= resend_from:
                resend += self._following(key, record)
            memory.decided_until = max(memory.decided_until, record.cause.offset + 1)
            last = record
        if last is not None and not last.last:
            raise Contradiction(f"{self.stream.name}: the log ends inside the records of command {last.command_id}")
        if self.processor.observe is None:
            memory.position = max(memory.position, memory.decided_until)
        return resend

    def step(self, memory: PartitionMemory, inputs: Sequence[Input]) -> Outcome:
        """Folds and answers inputs, up to the first that contradicts or cannot be decided."""
        outcome = Outcome()
        answer = self._answer_command if self._input_contract is None else self._answer_record
        for item in inputs:
            try:
                answer(memory, item, outcome)
            except (Contradiction, Undecidable) as error:
                outcome.stopped = error
                break
            memory.position = item.offset + 1
        return outcome

    def _answer_command(self, memory: PartitionMemory, item: Input, outcome: Outcome) -> None:
        try:
            asked = read_command(self.stream.name, item.key, item.value)
        except Unreadable as error:
            origin = Origin(self.stream.input, memory.partition, item.offset)
            outcome.dead.append(put_aside(origin, item.key, item.value, item.at_ms, str(error)))
            return
        known = self.key_memory(memory, item.key)
        if known.seen.has(asked.command_id):
            return
        asking = Asking(item.key, asked.actor, item.at_ms, self.book)
        try:
            try:
                events = self.processor.decide(known.state, asked.command, asking)
            except Refused as refusal:
                assert self.processor.refused is not None
                name = type(asked.command).__name__
                events = (self.processor.refused(name, refusal.reason, refusal.section),)
                outcome.refusals.append((name, refusal.section))
            draft = self._draft(memory.partition, known, known.state, item, asked, events)
        except Exception as error:
            events = self._passed_over(memory.partition, item, asked.command, error)
            draft = self._draft(memory.partition, known, known.state, item, asked, events)
        self._accept(memory, known, item.key, draft, outcome)
        if self.tells:
            outcome.told.append(_told(item, asked, None, draft))

    def _answer_record(self, memory: PartitionMemory, item: Input, outcome: Outcome) -> None:
        assert self._input_contract is not None and self.processor.observe is not None
        try:
            record = self._input_contract.decode_record(item.value)
        except Unreadable as error:
            raise newer_writer(f"{self.stream.input}-{memory.partition} offset {item.offset}", error) from None
        known = self.key_memory(memory, item.key)
        if not known.input.fits(record, item.value):
            return
        events: tuple[Any, ...] = ()
        command_id = str(ProcessorId(self.stream.input, item.key, record.sequence, 0))
        asked = Asked(command_id, record.actor, b"", None)
        try:
            state = self.processor.observe(known.state, record.event)
        except Exception as error:
            # Without the state behind it nothing that comes later can be decided either: it is not passed over.
            raise self._undecidable(item, error, None) from error
        try:
            if item.offset >= memory.decided_until:
                asking = Asking(item.key, record.actor, item.at_ms, self.book)
                events = self.processor.decide(known.state, record.event, asking)
            draft = self._draft(memory.partition, known, state, item, asked, events)
        except Exception as error:
            events = self._passed_over(memory.partition, item, record.event, error)
            draft = self._draft(memory.partition, known, state, item, asked, events)
        known.input.advance(item.value)
        self._accept(memory, known, item.key, draft, outcome)
        if self.tells and draft.records:
            outcome.told.append(_told(item, asked, record.command_id, draft))

    def _passed_over(self, partition: int, item: Input, subject: Any, error: Exception) -> tuple[Any, ...]:
        """What the log says of an input that failed and that somebody ordered to pass over. Raises Undecidable."""
        place = Origin(self.stream.input, partition, item.offset), sha256(item.value).digest()
        order = self.skips.get(place)
        if order is None:
            raise self._undecidable(item, error, place) from error
        return (self.processor.skipped(subject, order.reason, order.actor),)

    def _undecidable(self, item: Input, error: Exception, place: Place | None) -> Undecidable:
        way = "" if place is None else f"; `roundlog skip {place[0]}` passes over it"
        return Undecidable(f"{self.stream.name}/{item.key} at offset {item.offset}: {error!r}{way}", place)

    def _draft(
        self, partition: int, known: KeyMemory, state: Any, item: Input, asked: Asked, events: tuple[Any, ...]
    ) -> _Draft:
        """The whole answer to one input. Changes nothing: what fails half-way must leave no half behind."""
        draft = _Draft(state, known.own.head)
        cause = Cause(self.stream.input, partition, item.offset)
        for index, event in enumerate(events):
            record = Record(
                draft.head.sequence + 1, draft.head.hash, item.at_ms, asked.command_id, asked.actor,
                cause, index, len(events), asked.request_hash, event,
            )  # fmt: skip
            stored = self._contract.encode_record(record)
            draft.head = draft.head.after(stored)
            draft.state = self._evolved(draft.state, event)
            draft.records.append((record, stored))
            draft.sent += self._following(item.key, record)
        return draft

    def _accept(self, memory: PartitionMemory, known: KeyMemory, key: str, draft: _Draft, outcome: Outcome) -> None:
        known.state = draft.state
        for record, stored in draft.records:
            known.own.advance(stored)
            self._note_seen(known, record)
        if draft.records:
            outcome.groups.append([(key, stored) for _, stored in draft.records])
            outcome.records += len(draft.records)
            outcome.sent += draft.sent
        memory.touched.add(key)

    def _evolved(self, state: Any, event: Any) -> Any:
        return state if self.processor.evolve is None else self.processor.evolve(state, event)

    def _note_seen(self, known: KeyMemory, record: Record) -> None:
        if self.processor.observe is None:
            known.seen.add(record.command_id)

    def _following(self, key: str, record: Record) -> list[Sent]:
        sent = []
        for number, follows in enumerate(self.processor.following(key, record.event)):
            command_id = str(ProcessorId(self.stream.name, key, record.sequence, number))
            asked = Asked(command_id, self.stream.service, b"", follows.command)
            value = CONTRACTS[follows.stream].encode_command(asked)
            sent.append(Sent(follows.stream, follows.key, value, command_id))
        return sent

    def read_record(self, key: str, stored: bytes) -> Record:
        """A record of the own log. Raises Contradiction for what this version cannot read."""
        try:
            return self._contract.decode_record(stored)
        except Unreadable as error:
            raise newer_writer(f"{self.stream.name}/{key}", error) from None
