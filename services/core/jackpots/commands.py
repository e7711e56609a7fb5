"""What may be asked of a progressive: the commands of people, and those that other processors send."""

from dataclasses import dataclass

from services.core.jackpots.levels import ContributionAccepted, LevelMoved
from services.core.money import Cents, Ppm
from services.core.names import (
    AccountId,
    ClaimId,
    HandName,
    LevelName,
    Number,
    OddsText,
    On,
    PlayerId,
    ProgressiveId,
    RoundId,
    RulesId,
    Seat,
    Source,
    TableId,
    Text,
    WagerName,
)

# Commands of people -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenProgressive:
    """Opens the progressive with the levels, rates, envy and paytable of a submission."""

    rules: RulesId


@dataclass(frozen=True, slots=True)
class ValidatePayout:
    """A floorperson or above validates a payout. 655a.11(i)(1)(iii), (i)(3)(ii)"""

    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class SignerBand:
    """From this amount on, so many different people sign for a payout: who validates, who signs, who documents."""

    from_cents: Cents
    people: int


@dataclass(frozen=True, slots=True)
class SignPayout:
    """One more person signs for a validated payout."""

    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class DocumentPayout:
    """The documentation of a hand pay is complete. 655a.11(i)(1)(iv), (i)(3)(iii)

    `bands` are the house's settings; the API fills them in.
    """

    claim_id: ClaimId
    document: Text
    bands: tuple[SignerBand, ...] = ()


@dataclass(frozen=True, slots=True)
class VoidSlip:
    """The slip of a documented payout is spoilt: it is kept as void, and the payout gets another."""

    claim_id: ClaimId
    reason: Text


@dataclass(frozen=True, slots=True)
class RejectPayout:
    """The payout is not made. Only before it is documented or paid."""

    claim_id: ClaimId
    reason: Text


@dataclass(frozen=True, slots=True)
class PayPayout:
    """The player has the money."""

    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class PayEnvy:
    """Pays all Envy Bonuses of the round that are due to the seat."""

    round_id: RoundId
    recipient_seat: Seat


@dataclass(frozen=True, slots=True)
class ChangeParameters:
    """Proposes other parameters for a level; what is left out stays. A second person approves them.

    `idle_after_ms` is the house's setting; the API fills it in.
    """

    level: LevelName
    reason: Text
    reset_cents: Cents | None = None
    limit_cents: Cents | None = None
    rate_ppm: Ppm | None = None
    hidden_rate_ppm: Ppm | None = None
    idle_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ApproveParameters:
    """A second person approves what was proposed."""

    change: Number


@dataclass(frozen=True, slots=True)
class DropParameters:
    """Withdraws a proposal that is not in force yet."""

    change: Number
    reason: Text


@dataclass(frozen=True, slots=True)
class CloseProgressive:
    """Ends the progressive: what it holds, less its resets, goes to a similar one.

    `target_rules` and `target_sha256` say under what the other is open; the API fills them in.
    """

    transfer_to: ProgressiveId
    target_rules: RulesId | None = None
    target_sha256: bytes | None = None


# Commands of processors, each with the one that sends it ----------------------------------------------


@dataclass(frozen=True, slots=True)
class Contribute:
    """`wagers`: the accepted progressive wagers of a round, so many of them and so much together. Levels are raised by
    the amount; how many they were is for who reads the commands."""

    table_id: TableId
    round_id: RoundId
    wager_cents: Cents
    wagers: int


@dataclass(frozen=True, slots=True)
class ReverseContribution:
    """`wagers`: the round is void."""

    table_id: TableId
    round_id: RoundId


@dataclass(frozen=True, slots=True)
class ClaimPayout:
    """`wagers`: a payout that needs a floorperson. `amount_cents` is None for a share of a meter."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    on: On
    hand: HandName
    odds: OddsText
    amount_cents: Cents | None
    source: Source
    player_id: PlayerId | None
    account_id: AccountId | None
    entered_by: str


@dataclass(frozen=True, slots=True)
class AwardEnvy:
    """`wagers`: Envy Bonuses for the other progressive players at the holder's table."""

    table_id: TableId
    round_id: RoundId
    holder_seat: Seat
    recipient_seats: tuple[Seat, ...]
    hand: HandName
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class TakeBackPayout:
    """`wagers`: the hand was keyed wrongly and did not win this."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId


@dataclass(frozen=True, slots=True)
class TakeBackEnvy:
    """`wagers`: the holder's hand was keyed wrongly and earned nobody an Envy Bonus."""

    table_id: TableId
    round_id: RoundId
    holder_seat: Seat


@dataclass(frozen=True, slots=True)
class AcceptTransfer:
    """`jackpots`: another progressive ends and offers what it holds, and the last contributions of its tables, which a void
    may still reverse."""

    transfer_from: ProgressiveId
    levels: tuple[LevelMoved, ...]
    contributions: tuple[ContributionAccepted, ...]


@dataclass(frozen=True, slots=True)
class CompleteClosing:
    """`jackpots`: the other progressive took what was offered; where not, `declined` says why."""

    transfer_to: ProgressiveId
    declined: str | None


PeopleCommand = (
    OpenProgressive
    | ValidatePayout
    | SignPayout
    | DocumentPayout
    | VoidSlip
    | RejectPayout
    | PayPayout
    | PayEnvy
    | ChangeParameters
    | ApproveParameters
    | DropParameters
    | CloseProgressive
)
ProcessorCommand = (
    Contribute
    | ReverseContribution
    | ClaimPayout
    | AwardEnvy
    | TakeBackPayout
    | TakeBackEnvy
    | AcceptTransfer
    | CompleteClosing
)
Command = PeopleCommand | ProcessorCommand
