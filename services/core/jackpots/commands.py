"""What may be asked of a progressive: the commands of people, and those that other processors send."""

from dataclasses import dataclass

from services.core.money import Cents
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
class DocumentPayout:
    """The documentation of a hand pay is complete. 655a.11(i)(1)(iv), (i)(3)(iii)"""

    claim_id: ClaimId
    document: Text


@dataclass(frozen=True, slots=True)
class PayPayout:
    """The player has the money."""

    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class PayEnvy:
    """Pays all Envy Bonuses of the round that are due to the seat."""

    round_id: RoundId
    recipient_seat: Seat


# Commands of processors -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contribute:
    """`wagers`: the accepted progressive wagers of a round."""

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
    odds: str
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


PeopleCommand = OpenProgressive | ValidatePayout | DocumentPayout | PayPayout | PayEnvy
ProcessorCommand = Contribute | ReverseContribution | ClaimPayout | AwardEnvy
Command = PeopleCommand | ProcessorCommand
