"""Letters: bytes on a command topic that no schema reads or no form takes, put aside, and what people decided of them.

The topic `dead-letters` is a log too, of one partition: who replayed or discarded a letter, and why, stands behind it, so everybody who
reads it from the beginning sees the same. An order to pass over an input that cannot be decided stands there as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

REPLAY_MS = 60_000
"""After so long without an end, a replay that was begun was interrupted, and another may begin."""

_PLACE = re.compile(r"(?P<topic>[a-z-]+)-(?P<partition>[0-9]{1,9})-(?P<offset>[0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an input stands: it is the id of a letter, as `round-commands-3-17`."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}-{self.offset}"

    @staticmethod
    def parse(text: str) -> "Origin | None":
        """The origin that is written so, or None."""
        found = _PLACE.fullmatch(text)
        return None if found is None else Origin(found["topic"], int(found["partition"]), int(found["offset"]))


Place = tuple[Origin, bytes]
"""An input by where it stands and the SHA-256 of its bytes."""

# Events -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LetterPutAside:
    """No schema reads these bytes, or no form takes them. `at_ms` is when the broker took them, `value` their beginning
    where they are many; `value_bytes` and `value_sha256` are of all of them."""

    key: str
    value: bytes
    at_ms: int
    reason: str
    value_bytes: int
    value_sha256: bytes


@dataclass(frozen=True, slots=True)
class LetterReplayBegun:
    """Somebody sends it back to where it came from."""

    actor: str


@dataclass(frozen=True, slots=True)
class LetterReplayed:
    """It was sent back, and stands there now at `offset`."""

    actor: str
    offset: int


@dataclass(frozen=True, slots=True)
class LetterDiscarded:
    """Nothing is done with it. It stays in the log."""

    actor: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkipOrdered:
    """The input at the origin cannot be decided: its processor is to pass over it, if its bytes are these."""

    actor: str
    reason: str
    value_sha256: bytes


Event = LetterPutAside | LetterReplayBegun | LetterReplayed | LetterDiscarded | SkipOrdered

# State ------------------------------------------------------------------------------------------------


class LetterState(StrEnum):
    """How far a letter has come."""

    OPEN = "open"
    REPLAYED = "replayed"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter. `put_aside_ms` is when it came into the log; the last four say who closed it, when, and how."""

    origin: Origin
    put_aside: LetterPutAside
    put_aside_ms: int
    state: LetterState = LetterState.OPEN
    actor: str | None = None
    closed_ms: int | None = None
    reason: str | None = None
    offset: int | None = None

    @property
    def sent_to(self) -> Origin:
        """Where it stands since it was replayed."""
        return replace(self.origin, offset=self.offset or 0)


@dataclass(frozen=True, slots=True)
class Replaying:
    """A replay under way: who began it, when, and at which offset of the log that stands."""

    actor: str
    at_ms: int
    at: int


@dataclass(slots=True)
class Letters:
    """All letters, in the order in which they came, and the orders to pass over inputs; of several the first holds."""

    letters: dict[Origin, Letter] = field(default_factory=dict)
    replaying: dict[Origin, Replaying] = field(default_factory=dict)
    skips: dict[Place, SkipOrdered] = field(default_factory=dict)

    def add(self, at: int, at_ms: int, origin: Origin, event: Event) -> None:
        """Folds the record at an offset of the log. What came twice, or too late, changes nothing."""
        letter = self.letters.get(origin)
        match event:
            case LetterPutAside():
                if letter is None:
                    self.letters[origin] = Letter(origin, event, at_ms)
            case SkipOrdered():
                self.skips.setdefault((origin, event.value_sha256), event)
            case _ if letter is None or letter.state is not LetterState.OPEN:
                pass
            case LetterReplayBegun(actor):
                if not self._under_way(origin, at_ms):
                    self.replaying[origin] = Replaying(actor, at_ms, at)
            case LetterReplayed(actor, offset):
                self._close(letter, LetterState.REPLAYED, actor, at_ms, None, offset)
            case LetterDiscarded(actor, reason) if not self._under_way(origin, at_ms):
                self._close(letter, LetterState.DISCARDED, actor, at_ms, reason, None)

    def _under_way(self, origin: Origin, at_ms: int) -> bool:
        """Whether somebody replays it at that moment."""
        begun = self.replaying.get(origin)
        return begun is not None and at_ms - begun.at_ms <= REPLAY_MS

    def _close(
        self, letter: Letter, state: LetterState, actor: str, at_ms: int, reason: str | None, offset: int | None
    ) -> None:
        self.replaying.pop(letter.origin, None)
        self.letters[letter.origin] = replace(
            letter, state=state, actor=actor, closed_ms=at_ms, reason=reason, offset=offset
        )

    def open(self) -> Iterator[Letter]:
        """The letters that nobody has decided of."""
        return (letter for letter in self.letters.values() if letter.state is LetterState.OPEN)
