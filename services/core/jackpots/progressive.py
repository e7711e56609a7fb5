"""What a progressive is between two records: its levels, the claims that wait, the Envy Bonuses that are due."""

from dataclasses import field

from services.core.changing import frozen
from services.core.jackpots.events import EnvyBonusDue, PayoutClaimed
from services.core.jackpots.levels import ContributionAccepted, LevelMoved, LevelTerms
from services.core.meters import Level, Meter
from services.core.money import Cents, Microcents
from services.core.names import ClaimId, ProgressiveId, RoundId, RulesId, TableId
from services.core.payouts import ClaimState

AWARDS_KEPT = 25
"""How many of the last awards a progressive shows: what New York asks for, the most of the states read."""


@frozen
class Locked:
    """What a share took from its level, part by part, and what the house put in for it: to be given back as it was."""

    fell: Meter
    seeded: Microcents


@frozen
class Claim:
    """A claim and how far it has come. `people` are those who signed for it so far, each once; `sequence` is that of
    the record that made it."""

    claimed: PayoutClaimed
    step: ClaimState
    slip_number: int | None
    locked: Locked | None
    people: tuple[str, ...] = ()
    sequence: int = 0


@frozen
class Award:
    """A share of a level that was paid, and the sequence of the record that says so."""

    sequence: int
    claim_id: ClaimId
    level: str
    amount_cents: Cents


@frozen
class Change:
    """Other parameters for a level, proposed and not in force yet."""

    number: int
    name: str
    after: LevelTerms
    reason: str
    proposed_by: str
    approved_by: str | None
    idle_after_ms: int | None


@frozen
class End:
    """The progressive ends, or has ended: to which other its levels go, until when they are due there."""

    transfer_to: ProgressiveId
    levels: tuple[LevelMoved, ...]
    due_at_ms: int
    closed: bool


@frozen
class State:
    """A progressive; not open as long as `rules` is None.

    `contributions` has each table's last, which a void reverses; `envy` what is due, by round; `slips`
    the last slip number given; `locked` what a share took whose claim is not made yet. `paid` and `envy_paid` have what
    was paid of the last round of each table, in case its hand was keyed wrongly.
    """

    sequence: int = 0
    rules: RulesId | None = None
    rules_sha256: bytes = b""
    levels: tuple[Level, ...] = ()
    contributions: dict[TableId, ContributionAccepted] = field(default_factory=dict)
    last_contribution_at_ms: int = 0
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    envy: dict[RoundId, tuple[EnvyBonusDue, ...]] = field(default_factory=dict)
    slips: int = 0
    awards: tuple[Award, ...] = ()
    locked: dict[ClaimId, Locked] = field(default_factory=dict)
    paid: dict[TableId, tuple[Claim, ...]] = field(default_factory=dict)
    envy_paid: dict[TableId, tuple[EnvyBonusDue, ...]] = field(default_factory=dict)
    proposals: int = 0
    changes: tuple[Change, ...] = ()
    end: End | None = None

    def level(self, name: str) -> Level | None:
        """The level of that name."""
        return next((level for level in self.levels if level.name == name), None)


INITIAL = State()
