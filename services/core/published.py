"""Published paytables, and what the Code's own words fix: dated data, each with its source."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Generic, TypeVar

from services.core.money import Cents
from services.core.names import GameName, HandName, WagerName
from services.core.paytables import Odds, Paytable

T = TypeVar("T")
PaytableId = str


@dataclass(frozen=True, slots=True)
class Cited(Generic[T]):
    """What a section of the Code fixes."""

    value: T
    section: str


@dataclass(frozen=True, slots=True)
class Published:
    """One published paytable, for the part of a submission that it may be named in: `main`, `progressive`, a bonus.

    `in_force_from` is date.min where its source has no date. `paytable` is None where the section exists and no source
    gives its numbers: it may not be named.
    """

    game: GameName
    part: str
    id: PaytableId
    in_force_from: date
    section: str
    """Of the Code, where the numbers were not found; empty otherwise."""
    basis: str
    """`text` of the Code, a `sibling` chapter of it, or `secondary`."""
    paytable: Paytable | None

    def rendering(self) -> bytes:
        """What a submission that names this table is identified by, beside its own bytes: where it is named and its
        numbers, not the words about its source."""
        lines = self.paytable.lines if self.paytable is not None else ()
        head = f"\n{self.game} {self.part} {self.id}\n"
        return (head + "".join(f"{line.hand}: {line.odds.text}\n" for line in lines)).encode()


@dataclass(frozen=True, slots=True)
class ProgressiveLaw:
    """The paytables that a house chooses from, and the lowest Progressive Payout Hand under any of them."""

    paytables: tuple[PaytableId, ...]
    lowest: HandName
    section: str


@dataclass(frozen=True, slots=True)
class Law:
    """What the Code's own words fix for a game from a day on; None or empty where they were not read."""

    game: GameName
    in_force_from: date
    multiples: Cited[tuple[int, ...]] | None
    """Of the ante, for each later wager."""
    stub_count_rounds: Cited[int] | None
    """The stub is counted at least once in so many rounds."""
    main_tables: Mapping[str, PaytableId]
    """The one table that a main table must be, by the part; its id is its section."""
    aggregate_limit_cents: Cited[Cents] | None
    """The limit for a hand is at most this, or the most that one patron can win at the minimum ante, if greater."""
    progressive: ProgressiveLaw | None
    envy: Cited[tuple[PaytableId, ...]] | None
    """The progressive paytables with an Envy Bonus."""
    lowest: Mapping[WagerName, Cited[HandName]]
    """The lowest hand that a bonus pays; every higher hand is paid too."""
    verified_at: Cited[Odds] | None
    """From which odds on a floorperson verifies a Five Card Hand Bonus; one of its lines pays them, one a share of a
    meter."""


@dataclass(frozen=True, slots=True)
class PaytableBook:
    """Every published paytable that is held, of all dates, and what the Code fixes."""

    tables: tuple[Published, ...] = ()
    laws: tuple[Law, ...] = ()

    def of(self, game: GameName, part: str) -> tuple[Published, ...]:
        """All tables that a part of a submission of that game may name, of all dates."""
        return tuple(held for held in self.tables if (held.game, held.part) == (game, part))

    def in_force(self, game: GameName, part: str, table: PaytableId, day: date) -> Published | None:
        """The table of that id that is in force on a day, or None."""
        begun = [held for held in self.of(game, part) if held.id == table and held.in_force_from <= day]
        return max(begun, key=lambda held: held.in_force_from, default=None)

    def law(self, game: GameName, day: date) -> Law | None:
        """What the Code fixes for a game on a day, or None where that is not held."""
        begun = [law for law in self.laws if law.game == game and law.in_force_from <= day]
        return max(begun, key=lambda law: law.in_force_from, default=None)
