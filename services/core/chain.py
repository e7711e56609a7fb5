"""Where a log stands for one key, and the ids of commands.

A log is chained: each record carries the SHA-256 of the stored bytes of the record before it.
A command's id is either a person's Idempotency-Key or a processor's `stream/key/sequence/number`. With `again/` before
it, it is a processor's command that was put aside and that a person sent back: later ones may have been taken since.
"""

import re
from dataclasses import dataclass
from hashlib import sha256

GENESIS = b"\0" * 32
"""What the first record of a key carries in place of the hash of the record before it."""


@dataclass(frozen=True, slots=True)
class ProcessorId:
    """The id of a command that a processor sent: the record it follows from, and which command it is."""

    stream: str
    key: str
    sequence: int
    number: int

    def __str__(self) -> str:
        return f"{self.stream}/{self.key}/{self.sequence}/{self.number}"


# A table of PostgreSQL keeps them: eight and four bytes.
_SEQUENCE, _NUMBER = re.compile(r"[0-9]{1,18}"), re.compile(r"[0-9]{1,9}")
PROCESSOR_STREAMS = ("rounds", "wagers", "jackpots", "accounts")


def processor_id(command_id: str) -> ProcessorId | None:
    """The parts of a processor's command id, or None for a person's."""
    parts = command_id.split("/")
    if len(parts) != 4 or parts[0] not in PROCESSOR_STREAMS:
        return None
    stream, key, sequence, number = parts
    if not (_SEQUENCE.fullmatch(sequence) and _NUMBER.fullmatch(number)):
        return None
    return ProcessorId(stream, key, int(sequence), int(number))


AGAIN = "again/"


def again(sent: ProcessorId) -> str:
    """The id under which a processor's command is sent back."""
    return f"{AGAIN}{sent}"


def sent_again(command_id: str) -> ProcessorId | None:
    """The id that the processor gave a command that was sent back; None for any other command."""
    return processor_id(command_id.removeprefix(AGAIN)) if command_id.startswith(AGAIN) else None


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a key: its sequence (0 before the first) and the hash of its bytes."""

    sequence: int = 0
    hash: bytes = GENESIS

    def after(self, record: bytes) -> "Head":
        """The head once `record`, the stored bytes of the next record, is appended."""
        return Head(self.sequence + 1, sha256(record).digest())
