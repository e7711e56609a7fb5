"""What goes wrong, and when: drawn from the seed at every call that a process makes to the broker or the database."""

from dataclasses import dataclass, fields
from enum import StrEnum, auto
from random import Random


class Fate(StrEnum):
    """What becomes of one call, and of the process that makes it."""

    DONE = auto()
    KILLED_BEFORE = auto()
    """The process is killed, and nothing was sent."""
    KILLED_AFTER = auto()
    """It is carried out, and the process is killed before it hears of it."""
    PAUSED_BEFORE = auto()
    """The process is paused with the call on its lips, long enough that others take over."""
    PAUSED_AFTER = auto()
    """It is carried out, and the process is paused before it hears of it."""
    FAILED_BEFORE = auto()
    """An error is answered, and nothing was done."""
    FAILED_AFTER = auto()
    """An error is answered, and it was done; of an append of several groups perhaps only the first of them."""
    SLOW = auto()
    """It takes much longer than calls that were made after it."""


@dataclass(frozen=True, slots=True)
class Rates:
    """How often a call ends in each way, of one."""

    killed_before: float = 0.0
    killed_after: float = 0.0
    paused_before: float = 0.0
    paused_after: float = 0.0
    failed_before: float = 0.0
    failed_after: float = 0.0
    slow: float = 0.0
    strays: float = 0.0
    """What was fetched comes again, or not at all."""


CALM = Rates()
KINDS = tuple(field.name for field in fields(Rates))
FATES = tuple(Fate(kind) for kind in KINDS if kind != "strays")


def rates(chance: Random) -> Rates:
    """How one world is hurt: each way often, seldom or not at all."""
    return Rates(**{kind: chance.choice((0.0, 0.0, 0.002, 0.01)) for kind in KINDS})


class Faults:
    """Draws the fates."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.rates = CALM

    def fate(self) -> Fate:
        """What becomes of the next call."""
        if self.rates is CALM:
            return Fate.DONE
        left = self._chance.random()
        for fate in FATES:
            left -= getattr(self.rates, fate)
            if left < 0:
                return fate
        return Fate.DONE

    def strays(self) -> bool:
        """Whether the engine loses its place in a partition now."""
        return self._chance.random() < self.rates.strays

    def latency(self, fate: Fate = Fate.DONE) -> float:
        """How many seconds one way takes."""
        if fate is Fate.SLOW:
            return self._chance.uniform(0.02, 0.4)
        return self._chance.uniform(0.0002, 0.004)
