"""What several decisions ask of a table before they go on."""

from collections.abc import Sequence

from services.core.asking import Asking
from services.core.cards import distinct, parse
from services.core.names import Card, Seat
from services.core.refusal import Refused
from services.core.rounds.table import Phase, Round, Table
from services.core.rules import Submission


def round_in_progress(state: Table) -> Round:
    """The round that is not over. Refused where there is none."""
    if state.round is None or state.round.over:
        raise Refused("No round is open at this table: open one first.")
    return state.round


def round_betting(state: Table) -> Round:
    """The round while betting is open. Refused otherwise."""
    round_ = round_in_progress(state)
    if round_.phase is not Phase.BETTING:
        raise Refused("Betting is closed: wagers are placed and withdrawn before 'no more bets' only.")
    return round_


def rules_of(round_: Round, asking: Asking) -> Submission:
    """The submission of the round. Raises RulesMissing where it is not held here."""
    return asking.book.by_sha256(round_.rules_sha256)


def seat_exists(state: Table, seat: Seat) -> None:
    """Refused where the table has no such seat."""
    if not 1 <= seat <= state.seats:
        raise Refused(f"There is no seat {seat}: this table's seats are 1 to {state.seats}.")


def cards_are_fresh(round_: Round, cards: Sequence[Card], section: str | None) -> None:
    """Refused where a card is malformed, named twice, or was seen in the round already."""
    for card in cards:
        try:
            parse(card)
        except ValueError as error:
            raise Refused(str(error), section) from None
    if not distinct(cards):
        raise Refused("The same card is named twice, and there is one deck: look at the cards again.", section)
    seen = [card for card in cards if card in round_.face_up]
    if seen:
        raise Refused(f"{', '.join(seen)} was seen in this round already: look at the cards again.", section)


def listed(seats: Sequence[Seat]) -> str:
    """Seats as a dealer says them: `seat 2` or `seats 2, 5`."""
    return f"seat{'s' if len(seats) > 1 else ''} {', '.join(map(str, seats))}"
