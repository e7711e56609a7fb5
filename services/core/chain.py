"""Where a log stands for one key: its last sequence and hash, and which commands it has seen.

A log is chained: each record carries the SHA-256 of the stored bytes of the record before it.
A command's id is either a person's Idempotency-Key or a processor's `stream/key/sequence/number`.
"""

from dataclasses import dataclass, replace
from hashlib import sha256

GENESIS = b"\0" * 32
"""What the first record of a key carries in place of the hash of the record before it."""

PERSONS_REMEMBERED = 256
"""How many of the last ids of people's commands a key remembers. The API's memory of seven days
answers repeats; this one closes the moments before the API has seen the outcome."""


@dataclass(frozen=True, slots=True)
class ProcessorId:
    """The id of a command that a processor sent: the record it follows from, and which command it is."""

    stream: str
    key: str
    sequence: int
    number: int

    def __str__(self) -> str:
        return f"{self.stream}/{self.key}/{self.sequence}/{self.number}"


PROCESSOR_STREAMS = ("rounds", "wagers", "jackpots", "accounts")


def processor_id(command_id: str) -> ProcessorId | None:
    """The parts of a processor's command id, or None for a person's."""
    parts = command_id.split("/")
    if len(parts) != 4 or parts[0] not in PROCESSOR_STREAMS:
        return None
    stream, key, sequence, number = parts
    if not (sequence.isdigit() and number.isdigit()):
        return None
    return ProcessorId(stream, key, int(sequence), int(number))


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a key: its sequence (0 before the first) and the hash of its bytes."""

    sequence: int = 0
    hash: bytes = GENESIS

    def after(self, record: bytes) -> "Head":
        """The head once `record`, the stored bytes of the next record, is appended."""
        return Head(self.sequence + 1, sha256(record).digest())


@dataclass(frozen=True, slots=True)
class Seen:
    """The commands whose records a key's log holds: repeats of them change nothing.

    `marks` has, for each processor and key that sent commands, the highest (sequence, number);
    `persons` the last ids of people's commands, oldest first.
    """

    marks: tuple[tuple[str, int, int], ...] = ()
    persons: tuple[str, ...] = ()

    def has(self, command_id: str) -> bool:
        sent = processor_id(command_id)
        if sent is None:
            return command_id in self.persons
        source = f"{sent.stream}/{sent.key}"
        return any(
            name == source and (sent.sequence, sent.number) <= (sequence, number)
            for name, sequence, number in self.marks
        )

    def with_id(self, command_id: str) -> "Seen":
        sent = processor_id(command_id)
        if sent is None:
            if self.persons and self.persons[-1] == command_id:
                return self
            return replace(self, persons=(*self.persons, command_id)[-PERSONS_REMEMBERED:])
        source = f"{sent.stream}/{sent.key}"
        others = tuple(mark for mark in self.marks if mark[0] != source)
        return replace(self, marks=(*others, (source, sent.sequence, sent.number)))
