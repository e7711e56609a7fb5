"""What a progressive is between two records: its levels, the claims that wait, the Envy Bonuses that are due."""

from dataclasses import dataclass, field

from services.core.jackpots.events import ContributionAccepted, EnvyBonusDue, PayoutClaimed
from services.core.meters import Level
from services.core.money import Cents
from services.core.names import ClaimId, RoundId, RulesId, TableId
from services.core.payouts import ClaimState

AWARDS_KEPT = 25
"""How many of the last awards a progressive shows: what New York asks for, the most of the states read."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that is not paid yet."""

    claimed: PayoutClaimed
    step: ClaimState
    slip_number: int | None


@dataclass(frozen=True, slots=True)
class Award:
    """A share of a level that was paid, and the sequence of the record that says so."""

    sequence: int
    claim_id: ClaimId
    level: str
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class State:
    """A progressive; not open as long as `rules` is None.

    `contributions` has each table's last, which a void reverses; `envy` what is due, by round; `slips`
    the last slip number given.
    """

    sequence: int = 0
    rules: RulesId | None = None
    rules_sha256: bytes = b""
    levels: tuple[Level, ...] = ()
    contributions: dict[TableId, ContributionAccepted] = field(default_factory=dict)
    claims: dict[ClaimId, Claim] = field(default_factory=dict)
    envy: dict[RoundId, tuple[EnvyBonusDue, ...]] = field(default_factory=dict)
    slips: int = 0
    awards: tuple[Award, ...] = ()


INITIAL = State()
