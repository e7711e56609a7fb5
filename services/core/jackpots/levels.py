"""What goes into a level, out of it, and by which parameters: the parts that events and commands share."""

from dataclasses import dataclass
from typing import Protocol

from services.core.meters import Meter
from services.core.money import Cents, Microcents
from services.core.names import RoundId, TableId


@dataclass(frozen=True, slots=True)
class LevelContribution:
    """What a round added to one level: to what is shown, to the hidden part, to the overflow above the limit."""

    name: str
    shown_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ContributionAccepted:
    """The progressive wagers of a round raised the levels. `at_ms` is when."""

    table_id: TableId
    round_id: RoundId
    wager_cents: Cents
    levels: tuple[LevelContribution, ...]
    at_ms: int = 0


@dataclass(frozen=True, slots=True)
class LevelMoved:
    """What one level of a progressive that ends leaves to the level of the same name of another."""

    name: str
    shown_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents


@dataclass(frozen=True, slots=True)
class LevelTerms:
    """The parameters of a level that may be changed."""

    reset_microcents: Microcents
    limit_microcents: Microcents
    rate_ppm: int
    hidden_rate_ppm: int


class Parts(Protocol):
    """What has the three parts of a meter: a contribution, its reversal, what moves from one level to another."""

    @property
    def shown_microcents(self) -> Microcents: ...
    @property
    def hidden_microcents(self) -> Microcents: ...
    @property
    def overflow_microcents(self) -> Microcents: ...


def meter_of(parts: Parts) -> Meter:
    """The three parts as a meter."""
    return Meter(parts.shown_microcents, parts.hidden_microcents, parts.overflow_microcents)
