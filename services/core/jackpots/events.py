"""What happened at a progressive: the events of its log."""

from dataclasses import dataclass

from services.core.money import Cents, Microcents
from services.core.names import (
    AccountId,
    ClaimId,
    HandName,
    On,
    PlayerId,
    RoundId,
    RulesId,
    Seat,
    Source,
    TableId,
    Text,
    WagerName,
)


@dataclass(frozen=True, slots=True)
class LevelOpened:
    """One level at its opening. The house put in `base_microcents`."""

    name: str
    base_microcents: Microcents
    reset_microcents: Microcents
    rate_ppm: int
    hidden_rate_ppm: int
    limit_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ProgressiveOpened:
    """Once: the progressive is open under this submission."""

    rules: RulesId
    rules_sha256: bytes
    levels: tuple[LevelOpened, ...]


@dataclass(frozen=True, slots=True)
class LevelContribution:
    """What a round added to one level: to what is shown, to the hidden part, to the overflow above the limit."""

    name: str
    shown_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ContributionAccepted:
    """The progressive wagers of a round raised the levels."""

    table_id: TableId
    round_id: RoundId
    wager_cents: Cents
    levels: tuple[LevelContribution, ...]


@dataclass(frozen=True, slots=True)
class LevelReversal:
    """What a void took from one level, and what the house put in so that it did not fall below its reset."""

    name: str
    shown_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ContributionTakenBack:
    """The round is void: its contribution left the levels again."""

    table_id: TableId
    round_id: RoundId
    levels: tuple[LevelReversal, ...]


@dataclass(frozen=True, slots=True)
class LevelHit:
    """A share of a level was won: the amount is locked for the claim and the level starts again at once.

    `value_microcents`, `hidden_microcents` and `overflow_microcents` are those after the hit;
    `seeded_microcents` is what the house put in for it.
    """

    claim_id: ClaimId
    table_id: TableId
    seat: Seat
    name: str
    percent: int
    amount_cents: Cents
    value_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class PayoutClaimed:
    """A payout waits for a floorperson. For a share of a meter it follows its LevelHit and has its amount."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    on: On
    hand: HandName
    odds: str
    amount_cents: Cents
    source: Source
    player_id: PlayerId | None
    account_id: AccountId | None
    entered_by: str
    level: str | None


@dataclass(frozen=True, slots=True)
class PayoutValidated:
    """A floorperson validated the payout. To a game account it is thereby paid."""

    claim_id: ClaimId
    table_id: TableId


@dataclass(frozen=True, slots=True)
class PayoutDocumented:
    """The documentation is complete. Slip numbers have no gaps."""

    claim_id: ClaimId
    table_id: TableId
    document: Text
    slip_number: int


@dataclass(frozen=True, slots=True)
class PayoutPaid:
    """The player was paid: by hand, from the table inventory, or by credit to the game account."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    amount_cents: Cents
    source: Source
    account_id: AccountId | None
    level: str | None


@dataclass(frozen=True, slots=True)
class EnvyBonusDue:
    """One Envy Bonus: to this seat, for that other seat's hand. 655a.11(i)(1)(v)"""

    table_id: TableId
    round_id: RoundId
    holder_seat: Seat
    recipient_seat: Seat
    hand: HandName
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class EnvyBonusPaid:
    """That Envy Bonus was paid."""

    round_id: RoundId
    holder_seat: Seat
    recipient_seat: Seat
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was refused; nothing changed."""

    command: str
    reason: str
    section: str | None


Event = (
    ProgressiveOpened
    | ContributionAccepted
    | ContributionTakenBack
    | LevelHit
    | PayoutClaimed
    | PayoutValidated
    | PayoutDocumented
    | PayoutPaid
    | EnvyBonusDue
    | EnvyBonusPaid
    | Refused
)
