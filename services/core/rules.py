"""Rules Submissions: which wagers a game offers, by which tables, within which limits, in force from when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from services.core.money import Cents
from services.core.names import GameName, HandName, On, RulesId, WagerName
from services.core.paytables import Kind, Odds, Paytable


@dataclass(frozen=True, slots=True)
class AnteLimits:
    """The ante is a multiple of `step_cents` from minimum to maximum."""

    minimum_cents: Cents
    maximum_cents: Cents
    step_cents: Cents


@dataclass(frozen=True, slots=True)
class StubCount:
    """How often the stub is counted, unless a shuffler counts to 52."""

    every_rounds: int
    counting_shuffler: bool


@dataclass(frozen=True, slots=True)
class LevelRules:
    """One level of a progressive: what it starts from, what it gains by each wager, where it stops.

    `contribution_bound_cents` is the most that a round may reasonably add to it; None where nothing is too much.
    """

    name: str
    base_cents: Cents
    reset_cents: Cents
    rate_ppm: int
    hidden_rate_ppm: int
    limit_cents: Cents
    contribution_bound_cents: Cents | None = None


@dataclass(frozen=True, slots=True)
class Envy:
    """The Envy Bonus by qualifying hand; `folded_hand_qualifies` where the holder folded but shows the hand."""

    amounts_cents: tuple[tuple[HandName, Cents], ...]
    folded_hand_qualifies: bool


@dataclass(frozen=True, slots=True)
class Progressive:
    """The Progressive Payout Wager."""

    paytable_name: str
    wager_cents: Cents
    table: Paytable
    levels: tuple[LevelRules, ...]
    envy: Envy | None


@dataclass(frozen=True, slots=True)
class Bonus:
    """An optional wager against a posted table, from minimum to maximum cents (equal where the amount is fixed)."""

    wager: WagerName
    minimum_cents: Cents
    maximum_cents: Cents
    table: Paytable
    ace_low_straight: bool = False
    hands: tuple[On, ...] = (On.PLAYER,)
    magic_card_cents: Cents = 0
    lucky_position_cents: Cents = 0


@dataclass(frozen=True, slots=True)
class Submission:
    """One Rules Submission. `sha256` is that of the file's bytes and of the published tables that it names."""

    id: RulesId
    sha256: bytes
    game: GameName
    in_force_from: date
    seats: int
    ante: AnteLimits
    stub_count: StubCount
    multiples: tuple[int, ...]
    main_tables: Mapping[str, Paytable]
    """By the table's name in the file: `main`, or `ante_table` and `bet_table`."""
    aggregate_limit_cents: Cents
    progressive: Progressive | None
    bonuses: Mapping[WagerName, Bonus]
    floorperson_at_odds: Odds | None

    @property
    def levels(self) -> tuple[str, ...]:
        """The names of the progressive's levels; none where there is no progressive wager."""
        return () if self.progressive is None else tuple(level.name for level in self.progressive.levels)

    @property
    def needs_progressive(self) -> bool:
        """Whether a table under this submission must be linked: a progressive wager, a share of a meter, or a bonus
        that a floorperson verifies. The progressive is where all of these are claimed."""
        floor = self.floorperson_at_odds
        lines = (line for bonus in self.bonuses.values() for line in bonus.table.lines)
        hand_bonus = self.bonuses.get("five_card_hand_bonus")
        verified = (
            hand_bonus is not None
            and floor is not None
            and any(line.odds.paid_for_one >= floor.paid_for_one for line in hand_bonus.table.lines)
        )
        return self.progressive is not None or verified or any(line.odds.kind is Kind.SHARE for line in lines)


class RulesMissing(Exception):
    """A log names a submission that is not held here: the reader must stop."""


@dataclass(frozen=True, slots=True)
class RuleBook:
    """Every submission that is held, of all dates."""

    submissions: tuple[Submission, ...]

    def in_force(self, rules: RulesId, at_ms: int) -> Submission | None:
        """The submission of that id in force at a time (UTC date of `at_ms`), or None."""
        today = date(1970, 1, 1) + timedelta(milliseconds=at_ms)
        begun = [held for held in self.submissions if held.id == rules and held.in_force_from <= today]
        return max(begun, key=lambda held: held.in_force_from, default=None)

    def by_sha256(self, sha256: bytes) -> Submission:
        """The submission with that hash. Raises RulesMissing."""
        for held in self.submissions:
            if held.sha256 == sha256:
                return held
        raise RulesMissing(f"No Rules Submission with the hash {sha256.hex()} is held here.")
