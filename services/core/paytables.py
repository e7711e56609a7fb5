"""Paytables: lines of a hand and its odds, from the highest hand to the lowest; the first that is met pays."""

from dataclasses import dataclass
from enum import StrEnum

from services.core.money import Cents
from services.core.names import HandName


class Kind(StrEnum):
    """`to_1`: the stake goes back and the multiple is added. `for_1`: the multiple is paid in all, the stake stays.

    `share`: a percentage of a progressive level, cut to whole cents. `push`: the stake goes back.
    """

    TO_1 = "to_1"
    FOR_1 = "for_1"
    SHARE = "share"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Odds:
    """`multiple` is that of `N to 1` and `N for 1`; `percent` and `level` belong to a share of a meter."""

    kind: Kind
    text: str
    multiple: int = 0
    percent: int = 0
    level: str | None = None

    def won_cents(self, stake_cents: Cents) -> Cents | None:
        """What is added to a stake; None for a share, whose amount only the meter knows."""
        if self.kind is Kind.SHARE:
            return None
        return self.multiple * stake_cents

    def returned_cents(self, stake_cents: Cents) -> Cents:
        """What of the stake goes back."""
        return stake_cents if self.kind in (Kind.TO_1, Kind.PUSH) else 0


@dataclass(frozen=True, slots=True)
class Line:
    """One hand of a paytable and its odds."""

    hand: HandName
    odds: Odds


@dataclass(frozen=True, slots=True)
class Paytable:
    """Lines from the highest hand to the lowest, and where they come from."""

    lines: tuple[Line, ...]
    source: str
