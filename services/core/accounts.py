"""The game account of a player: deposits and withdrawals, holds that are posted or released, credits.

Available is the balance less what is held, and is never below zero. A hold is placed when a wager is
requested at a table, posted (debited) when the seat is settled, or released. Winnings are credited.
"""

from dataclasses import dataclass

from services.core.money import Cents
from services.core.names import AccountId, PlayerId, Text

# Commands of people -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenAccount:
    """Opens the account for a player. Refused where it is open already."""

    player_id: PlayerId


@dataclass(frozen=True, slots=True)
class Deposit:
    """Money that the player brings. The reference is unique for ever in this account."""

    amount_cents: Cents
    reference: Text


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Money that the player takes away; refused above what is available."""

    amount_cents: Cents
    reference: Text


# Commands of processors -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlaceHold:
    """Asks for the stake of a requested wager. `request_sequence` is that of WagerRequested in `rounds`."""

    hold_id: str
    amount_cents: Cents
    player_id: PlayerId
    table_id: str
    round_id: str
    request_sequence: int


@dataclass(frozen=True, slots=True)
class PostHold:
    """The seat is settled: the stake leaves the account."""

    hold_id: str


@dataclass(frozen=True, slots=True)
class ReleaseHold:
    """The wager was withdrawn, declined or returned: the stake is available again."""

    hold_id: str


@dataclass(frozen=True, slots=True)
class CreditWinnings:
    """What a Five Card Hand Bonus, Magic Card or Lucky Bonus won. 655a.11(i)(3)(iii)"""

    amount_cents: Cents
    round_id: str
    seat: int
    wager: str


PeopleCommand = OpenAccount | Deposit | Withdraw
ProcessorCommand = PlaceHold | PostHold | ReleaseHold | CreditWinnings
Command = PeopleCommand | ProcessorCommand

# Events -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AccountOpened:
    """Once: the account exists and belongs to this player."""

    player_id: PlayerId


@dataclass(frozen=True, slots=True)
class Deposited:
    """Money came in."""

    amount_cents: Cents
    reference: Text


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Money went out."""

    amount_cents: Cents
    reference: Text


@dataclass(frozen=True, slots=True)
class HoldPlaced:
    """The stake of a requested wager is set aside."""

    hold_id: str
    amount_cents: Cents
    table_id: str
    round_id: str
    request_sequence: int


@dataclass(frozen=True, slots=True)
class HoldDeclined:
    """The stake of a requested wager could not be set aside."""

    hold_id: str
    amount_cents: Cents
    table_id: str
    round_id: str
    request_sequence: int
    reason: str


@dataclass(frozen=True, slots=True)
class HoldPosted:
    """The stake was debited."""

    hold_id: str
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class HoldReleased:
    """The stake is available again."""

    hold_id: str
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class WinningsCredited:
    """Winnings came in from a table."""

    amount_cents: Cents
    round_id: str
    seat: int
    wager: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was refused; nothing changed."""

    command: str
    reason: str
    section: str | None


Event = (
    AccountOpened | Deposited | Withdrawn | HoldPlaced | HoldDeclined | HoldPosted | HoldReleased | WinningsCredited | Refused
)
