"""Decisions of settlement: the hands, counterclockwise, and a hand that was keyed wrongly."""

from services.core.asking import Asking
from services.core.games.game import FIVE_CARD_HAND_BONUS, Game
from services.core.names import Card, words
from services.core.refusal import Refused
from services.core.rounds.checks import cards_are_fresh, listed, round_in_progress, rules_of, seat_exists
from services.core.rounds.commands import ReplaceHand, ShowHand
from services.core.rounds.events import Event, HandReplaced, HandShown, PayoutAwaited
from services.core.rounds.settlement import pays_lucky_position, pays_magic_card, settle_hand
from services.core.rounds.table import (
    Phase,
    Round,
    Seated,
    Table,
    game_of,
    has_live,
    live_optional,
    next_to_show,
    undecided,
    unshown,
)
from services.core.rules import Submission


def show(state: Table, command: ShowHand, asking: Asking) -> tuple[Event, ...]:
    """The seat's hand, and the payouts for which the round must wait. 655a.11(h),(i)"""
    round_ = round_in_progress(state)
    seat_exists(state, command.seat)
    game = game_of(round_)
    section = game.sections.show
    _settling(round_, section)
    turn = next_to_show(round_)
    if turn is None:
        raise Refused("Every wager is settled: close the round.", section)
    if turn != command.seat:
        raise Refused(
            f"Seat {turn} is settled before anyone else: settlement goes counterclockwise over the seats with a wager.",
            section,
        )
    seated = round_.seated(command.seat)
    rules = rules_of(round_, asking)
    _drawn_and_revealed(round_, seated, game, rules)
    if len(command.cards) != game.own_cards:
        raise Refused(f"A hand of {game.title} has {game.own_cards} cards, not {len(command.cards)}.", section)
    cards_are_fresh(round_, command.cards, section)
    shown = HandShown(round_.round_id, command.seat, command.cards, asking.actor)
    return (shown, *_awaited(round_, seated, command.cards, rules))


def replace_hand(state: Table, command: ReplaceHand, asking: Asking) -> tuple[Event, ...]:
    """The right cards of a hand that was keyed wrongly, by another person, while none of its payouts is validated."""
    round_ = round_in_progress(state)
    seat_exists(state, command.seat)
    game = game_of(round_)
    section = game.sections.show
    seated = round_.seated(command.seat)
    if not seated.cards:
        raise Refused(f"Seat {command.seat} has shown no hand in this round: there is none to replace.", section)
    if seated.keyed_by == asking.actor:
        raise Refused(f"{asking.actor} keyed this hand: another person replaces it. Call a floorperson.", section)
    validated = [each.claim_id for each in round_.awaited if each.seat == command.seat and each.validated]
    if validated:
        raise Refused(
            f"The payout {validated[0]} of this hand is validated: the hand is not replaced any more."
            " Reject the payout where it is wrong, and tell the office.",
            section,
        )
    if len(command.cards) != game.own_cards:
        raise Refused(f"A hand of {game.title} has {game.own_cards} cards, not {len(command.cards)}.", section)
    if set(command.cards) == set(seated.cards):
        raise Refused(f"These are the cards that seat {command.seat} has shown: nothing is to be replaced.", section)
    hidden = unshown(round_, command.seat)
    cards_are_fresh(hidden, command.cards, section)
    replaced = HandReplaced(round_.round_id, command.seat, command.cards, command.reason, asking.actor)
    awaited = _awaited(hidden, hidden.seated(command.seat), command.cards, rules_of(round_, asking))
    return (replaced, *awaited)


def _awaited(round_: Round, seated: Seated, cards: tuple[Card, ...], rules: Submission) -> tuple[PayoutAwaited, ...]:
    return tuple(
        PayoutAwaited(round_.round_id, row.claim_id, row.needs_documents)
        for row in settle_hand(round_, seated, cards, rules)
        if row.claim_id is not None
    )


def _settling(round_: Round, section: str) -> None:
    if round_.phase is Phase.SETTLING:
        return
    if round_.phase in (Phase.BETTING, Phase.DEALING):
        raise Refused("The hands are not dealt: they are shown after all decisions.", section)
    due = undecided(round_)
    if due:
        raise Refused(f"Hands stay down: {listed(due)} must bet or fold first.", section)
    last = "the dealer's hand is" if game_of(round_).dealer_cards else "all community cards are"
    raise Refused(f"Hands stay down until {last} face up.", section)


def _drawn_and_revealed(round_: Round, seated: Seated, game: Game, rules: Submission) -> None:
    """Refused while a draw or extra card that the seat's wagers look at is not there."""
    if has_live(round_, seated, FIVE_CARD_HAND_BONUS):
        if pays_magic_card(rules) and round_.magic_card is None:
            raise Refused(
                f"Seat {seated.seat} has a five card hand bonus: draw the Magic Card first.", game.sections.extras
            )
        if pays_lucky_position(rules) and round_.lucky_position is None:
            raise Refused(
                f"Seat {seated.seat} has a five card hand bonus: draw the lucky position first.", game.sections.extras
            )
    for kind, _ in live_optional(round_, seated):
        if kind.extra_area is not None and not round_.extra(kind.extra_area):
            raise Refused(
                f"Seat {seated.seat} has a wager on '{words(kind.wager)}': turn over its cards first.", kind.won_section
            )
