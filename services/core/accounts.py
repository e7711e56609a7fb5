"""The game account of a player: deposits and withdrawals, holds that are posted or released, credits.

Available is the balance less what is held, and is never below zero. A hold is placed when a wager is
requested at a table, posted (debited) when the seat is settled, or released. Winnings are credited.
"""

from dataclasses import dataclass, field
from typing import Any, assert_never

from services.core import refusal
from services.core.asking import Asking, Following
from services.core.changing import frozen, replace
from services.core.money import Cents, dollars
from services.core.names import AccountId, PlayerId, Text
from services.core.rounds import ConfirmWager, DeclineWager

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


@dataclass(frozen=True, slots=True)
class ReturnStake:
    """The round is void: a stake that was posted already comes back."""

    amount_cents: Cents
    round_id: str
    seat: int
    wager: str


@dataclass(frozen=True, slots=True)
class TakeBackWinnings:
    """The hand was keyed wrongly: what was credited for it, or given back of its stake, leaves the account again."""

    amount_cents: Cents
    round_id: str
    seat: int
    wager: str


PeopleCommand = OpenAccount | Deposit | Withdraw
ProcessorCommand = PlaceHold | PostHold | ReleaseHold | CreditWinnings | ReturnStake | TakeBackWinnings
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
class StakeReturned:
    """A stake that had been debited came back."""

    amount_cents: Cents
    round_id: str
    seat: int
    wager: str


@dataclass(frozen=True, slots=True)
class WinningsTakenBack:
    """Winnings were credited for a hand that was keyed wrongly: they left the account, as far as they were available.

    `owed_cents` is the rest: the player has it already, and owes it to the house.
    """

    amount_cents: Cents
    owed_cents: Cents
    round_id: str
    seat: int
    wager: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was refused; nothing changed."""

    command: str
    reason: str
    section: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A command that could not be decided was passed over, in the name of a person; nothing changed."""

    command: str
    reason: str
    skipped_by: str


Event = (
    AccountOpened
    | Deposited
    | Withdrawn
    | HoldPlaced
    | HoldDeclined
    | HoldPosted
    | HoldReleased
    | WinningsCredited
    | StakeReturned
    | WinningsTakenBack
    | Refused
    | Skipped
)


# State ------------------------------------------------------------------------------------------------


@frozen
class State:
    """An account; not open as long as `player_id` is None.

    `holds` has the open holds with their cents; `references` the record in which each was used, for ever. `owed_cents`
    is what the player had taken already of winnings that were taken back.
    """

    sequence: int = 0
    player_id: PlayerId | None = None
    balance_cents: Cents = 0
    held_cents: Cents = 0
    holds: dict[str, Cents] = field(default_factory=dict)
    references: dict[str, int] = field(default_factory=dict)
    owed_cents: Cents = 0

    @property
    def available_cents(self) -> Cents:
        """What may be withdrawn or held."""
        return self.balance_cents - self.held_cents


INITIAL = State()

# Decide -----------------------------------------------------------------------------------------------


def decide(state: State, command: Command, asking: Asking) -> tuple[Event, ...]:
    """What the command leads to; nothing where it was carried out before. Raises refusal.Refused."""
    match command:
        case OpenAccount(player_id):
            if state.player_id is not None:
                raise refusal.Refused(f"The account {asking.key} is open already. It opens once; use it as it is.")
            return (AccountOpened(player_id),)
        case Deposit(amount_cents, reference):
            _require_open(state, asking)
            _require_positive(amount_cents)
            _require_new(state, reference)
            return (Deposited(amount_cents, reference),)
        case Withdraw(amount_cents, reference):
            _require_open(state, asking)
            _require_positive(amount_cents)
            _require_new(state, reference)
            _require_available(state, amount_cents)
            return (Withdrawn(amount_cents, reference),)
        case PlaceHold():
            return _place_hold(state, command, asking)
        case PostHold(hold_id):
            # An unknown hold was declined, or has ended: there is nothing to post.
            return (HoldPosted(hold_id, state.holds[hold_id]),) if hold_id in state.holds else ()
        case ReleaseHold(hold_id):
            return (HoldReleased(hold_id, state.holds[hold_id]),) if hold_id in state.holds else ()
        case CreditWinnings(amount_cents, round_id, seat, wager):
            _require_open(state, asking)
            _require_positive(amount_cents)
            return (WinningsCredited(amount_cents, round_id, seat, wager),)
        case ReturnStake(amount_cents, round_id, seat, wager):
            _require_open(state, asking)
            _require_positive(amount_cents)
            return (StakeReturned(amount_cents, round_id, seat, wager),)
        case TakeBackWinnings(amount_cents, round_id, seat, wager):
            _require_open(state, asking)
            _require_positive(amount_cents)
            taken_cents = min(amount_cents, state.available_cents)
            return (WinningsTakenBack(taken_cents, amount_cents - taken_cents, round_id, seat, wager),)
        case _:
            assert_never(command)


def _place_hold(state: State, command: PlaceHold, asking: Asking) -> tuple[Event, ...]:
    if command.hold_id in state.holds:
        return ()
    reason = _hold_declined(state, command, asking)
    asked = (command.hold_id, command.amount_cents, command.table_id, command.round_id, command.request_sequence)
    # A table waits for the answer, so what cannot be held is declined and never refused.
    return (HoldPlaced(*asked),) if reason is None else (HoldDeclined(*asked, reason),)


def _hold_declined(state: State, command: PlaceHold, asking: Asking) -> str | None:
    if state.player_id is None:
        return f"The account {asking.key} is not open. Open it, or wager without it."
    if state.player_id != command.player_id:
        return f"The account {asking.key} belongs to another player. A wager comes from the player's own account."
    if command.amount_cents <= 0:
        return "A wager of nothing cannot be held. Ask for the amount that the wager costs."
    if command.amount_cents > state.available_cents:
        return (
            f"The account has {dollars(state.available_cents)} available and the wager costs"
            f" {dollars(command.amount_cents)}. Deposit money first."
        )
    return None


def _require_open(state: State, asking: Asking) -> None:
    if state.player_id is None:
        raise refusal.Refused(f"The account {asking.key} is not open. Open it for its player first.")


def _require_positive(amount_cents: Cents) -> None:
    if amount_cents <= 0:
        raise refusal.Refused("An amount is more than nothing. Give it in whole cents, from 1.")


def _require_new(state: State, reference: Text) -> None:
    used = state.references.get(reference)
    if used is not None:
        raise refusal.Refused(
            f"The reference {reference} was used in record {used} of this account, and serves once for ever."
            " If this is new money, give a new reference; if not, it is entered already."
        )


def _require_available(state: State, amount_cents: Cents) -> None:
    if amount_cents > state.available_cents:
        held = f" ({dollars(state.held_cents)} more is held for wagers)" if state.held_cents else ""
        raise refusal.Refused(
            f"The account has {dollars(state.available_cents)} available{held} and {dollars(amount_cents)} was asked"
            f" for. Take at most {dollars(state.available_cents)}."
        )


# Evolve -----------------------------------------------------------------------------------------------


def evolve(state: State, event: Event) -> State:
    """The account after one more record, whichever it is: each counts one in `sequence`."""
    sequence = state.sequence + 1
    match event:
        case AccountOpened(player_id):
            return replace(state, sequence=sequence, player_id=player_id)
        case Deposited(amount_cents, reference):
            return _moved(state, amount_cents, {**state.references, reference: sequence})
        case Withdrawn(amount_cents, reference):
            return _moved(state, -amount_cents, {**state.references, reference: sequence})
        case HoldPlaced(hold_id, amount_cents):
            holds = {**state.holds, hold_id: amount_cents}
            return replace(state, sequence=sequence, held_cents=state.held_cents + amount_cents, holds=holds)
        case HoldPosted(hold_id, amount_cents):
            return _moved(_hold_ended(state, hold_id, amount_cents), -amount_cents, state.references)
        case HoldReleased(hold_id, amount_cents):
            return replace(_hold_ended(state, hold_id, amount_cents), sequence=sequence)
        case WinningsCredited(amount_cents) | StakeReturned(amount_cents):
            return _moved(state, amount_cents, state.references)
        case WinningsTakenBack(amount_cents, owed_cents):
            moved = _moved(state, -amount_cents, state.references)
            return replace(moved, owed_cents=state.owed_cents + owed_cents)
        case HoldDeclined() | Refused() | Skipped():
            return replace(state, sequence=sequence)
        case _:
            assert_never(event)


def _moved(state: State, cents: Cents, references: dict[str, int]) -> State:
    balance_cents = state.balance_cents + cents
    return replace(state, sequence=state.sequence + 1, balance_cents=balance_cents, references=references)


def _hold_ended(state: State, hold_id: str, amount_cents: Cents) -> State:
    holds = {name: cents for name, cents in state.holds.items() if name != hold_id}
    return replace(state, held_cents=state.held_cents - amount_cents, holds=holds)


# What follows, and what is shown ------------------------------------------------------------------------


def following(account_id: AccountId, event: Event) -> tuple[Following, ...]:
    """What a record asks of others: the table learns whether the stake of the requested wager is held."""
    match event:
        case HoldPlaced():
            return (Following("rounds", event.table_id, ConfirmWager(event.request_sequence)),)
        case HoldDeclined():
            return (Following("rounds", event.table_id, DeclineWager(event.request_sequence, event.reason)),)
        case _:
            return ()


def view(account_id: AccountId, state: State) -> dict[str, Any]:
    """What GET /accounts/{id} answers."""
    return {
        "account_id": account_id,
        "player_id": state.player_id,
        "sequence": state.sequence,
        "balance_cents": state.balance_cents,
        "held_cents": state.held_cents,
        "available_cents": state.available_cents,
        "owed_cents": state.owed_cents,
    }
