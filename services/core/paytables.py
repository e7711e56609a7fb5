"""Paytables: lines of a hand and its odds, from the highest hand to the lowest; the first that is met pays."""

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from services.core.hands import met
from services.core.money import Cents
from services.core.names import Card, HandName, quoted

_MULTIPLE = re.compile(r"([1-9][0-9]{0,5}) (to|for) 1")
_SHARE = re.compile(r"([1-9][0-9]?|100)% of ([a-z][a-z0-9_]{0,31})")


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

    @classmethod
    def parse(cls, text: str) -> Self:
        """The odds as a submission writes them: `3 to 1`, `300 for 1`, `10% of meter` or `push`.

        Raises ValueError with a sentence for anything else: no zero, no fraction, no share above 100 %.
        """
        if text == "push":
            return cls(Kind.PUSH, text)
        if found := _MULTIPLE.fullmatch(text):
            return cls(Kind.TO_1 if found[2] == "to" else Kind.FOR_1, text, multiple=int(found[1]))
        if found := _SHARE.fullmatch(text):
            return cls(Kind.SHARE, text, percent=int(found[1]), level=found[2])
        raise ValueError(
            f"{quoted(text)} is no odds: write 'N to 1' or 'N for 1' (1 to 999999), 'P% of LEVEL' (1 to 100) or 'push'."
        )

    @property
    def paid_for_one(self) -> int:
        """How many times the stake is paid in all: `N to 1` is N + 1, since the stake goes back too."""
        return self.multiple + (1 if self.kind is Kind.TO_1 else 0)

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


def first_met(table: Paytable, cards: Sequence[Card], *, ace_low_straight: bool = False) -> Line | None:
    """The highest line that the cards meet, or None where they lose.

    `cards` are the two, three, five or six that the wager looks at, and `ace_low_straight` is the wager's
    setting. Raises ValueError as `hands.met`.
    """
    return line_for(table, met(cards, ace_low_straight=ace_low_straight))


def line_for(table: Paytable, made: Container[HandName]) -> Line | None:
    """The highest line whose hand is among those that some cards make, or None where they lose."""
    return next((line for line in table.lines if line.hand in made), None)
