"""Decisions from the deal to the last card on the layout: the stub, bets and folds, cards turned over, draws."""

from services.core.asking import Asking
from services.core.cards import DECK, parse
from services.core.changing import replace
from services.core.games.game import FIVE_CARD_HAND_BONUS, Area
from services.core.names import DEALER, Card, Position, Seat, words
from services.core.refusal import Refused
from services.core.rounds.checks import cards_are_fresh, listed, round_in_progress, rules_of, seat_exists
from services.core.rounds.commands import Bet, CountStub, Fold, ForfeitWagers
from services.core.rounds.events import (
    AllSixCardRevealed,
    BetPlaced,
    CommunityCardRevealed,
    DealerHandRevealed,
    Event,
    HandFolded,
    HandsDealt,
    LuckyPositionDrawn,
    MagicCardDrawn,
    RoundVoided,
    SixCardBonusRevealed,
    StubCounted,
    WagersForfeited,
)
from services.core.rounds.settlement import pays_lucky_position, pays_magic_card
from services.core.rounds.table import (
    Phase,
    Round,
    Seated,
    Table,
    game_of,
    has_hand_bonus,
    has_live,
    live,
    live_optional,
    street_due,
    undecided,
)


def deal(state: Table, dealer_card: Card | None) -> tuple[Event, ...]:
    """The game's own cards to every ante, clockwise, and face up the one card that a dealer with a hand shows.

    The stub that must be left is 52 less all that is dealt, the layout's cards included. 655a.10(b),(c)
    """
    round_ = round_in_progress(state)
    game = game_of(round_)
    section = game.sections.deal
    if round_.phase is Phase.BETTING:
        raise Refused("Betting is still open: close it before the cards are dealt.", section)
    if round_.phase is not Phase.DEALING:
        raise Refused("The hands of this round are dealt already.", section)
    if game.dealer_cards and dealer_card is None:
        raise Refused(f"In {game.title} the dealer shows one card: name it with the deal.", section)
    if not game.dealer_cards and dealer_card is not None:
        raise Refused(f"In {game.title} the dealer has no hand: leave the dealer's card out.", section)
    if dealer_card is not None:
        cards_are_fresh(round_, (dealer_card,), section)
    seats = tuple(seated.seat for seated in round_.seats if seated.ante is not None)
    extra = sum(kind.extra_cards for kind in game.optional if _wagered(round_, kind.wager))
    dealt = game.own_cards * len(seats) + game.community_cards + game.dealer_cards + extra
    return (HandsDealt(round_.round_id, seats, len(DECK) - dealt, dealer_card),)


def count_stub(state: Table, command: CountStub) -> tuple[Event, ...]:
    """A wrong count voids the round by itself, and removes the deck unless the cards were misdealt. 655a.10(d)-(f)"""
    round_ = round_in_progress(state)
    sections = game_of(round_).sections
    if round_.stub_cards is None:
        raise Refused("The hands are not dealt: the stub is counted once they are.", sections.count_stub)
    if round_.hand_shown:
        raise Refused("Hands are shown already: the stub is counted before the first.", sections.count_stub)
    if round_.stub_counted:
        raise Refused("The stub of this round is counted already.", sections.count_stub)
    expected = round_.stub_cards
    counted = StubCounted(round_.round_id, command.cards, expected, command.misdealt)
    if command.cards == expected:
        if command.misdealt:
            raise Refused(
                f"{expected} cards in the stub is the right count, so nothing was misdealt: count again, "
                "or void the round if a hand has a wrong number of cards.",
                sections.stub_is_right,
            )
        return (counted,)
    reason = f"The stub has {command.cards} cards and should have {expected}."
    return (counted, RoundVoided(round_.round_id, reason, sections.stub_is_wrong, deck_removed=not command.misdealt))


def bet(state: Table, command: Bet, asking: Asking) -> tuple[Event, ...]:
    """The seat's next later main wager: a multiple of its ante. 655a.11(b),(d),(f); 639a.11(b); 683a.11(b),(d),(f)"""
    round_, seated = _deciding(state, command.seat)
    street = street_due(round_)
    assert street is not None and seated.ante is not None, "a decision is due"
    multiples = rules_of(round_, asking).multiples
    if command.multiple not in multiples:
        allowed = f"{'one of' if len(multiples) > 1 else 'always'} {', '.join(map(str, multiples))}"
        raise Refused(
            f"{command.multiple} times the ante is not allowed: the multiple is {allowed}.", street.decide_section
        )
    amount_cents = command.multiple * seated.ante.amount_cents
    return (BetPlaced(round_.round_id, command.seat, street.wager, command.multiple, amount_cents),)


def fold(state: Table, command: Fold) -> tuple[Event, ...]:
    """The seat makes no further wager; its cards stay while an optional wager outlives the fold. 655a.11(b),(d),(f)"""
    round_, seated = _deciding(state, command.seat)
    cards_stay = bool(live_optional(round_, replace(seated, folded=True)))
    return (HandFolded(round_.round_id, command.seat, cards_stay),)


def _deciding(state: Table, seat: Seat) -> tuple[Round, Seated]:
    """The seat whose decision is due. Refused where none is, or another seat's is before it."""
    round_ = round_in_progress(state)
    seat_exists(state, seat)
    game = game_of(round_)
    street = street_due(round_)
    section = (street or game.streets[-1]).decide_section
    if round_.phase in (Phase.BETTING, Phase.DEALING):
        raise Refused("The hands are not dealt: decisions come after the deal.", section)
    seated = round_.seated(seat)
    if not seated.in_play:
        raise Refused(f"Seat {seat} has no hand to decide on: it has no ante, or it folded or forfeited.", section)
    due = undecided(round_)
    if street is None or seat not in due:
        raise Refused(f"Seat {seat} has decided already: {_before_the_next_decision(round_, due)}.", section)
    if street is game.streets[0] and seat != due[0]:
        raise Refused(f"Seat {due[0]} decides before seat {seat}: the first decisions go clockwise.", section)
    return round_, seated


def _before_the_next_decision(round_: Round, due: tuple[Seat, ...]) -> str:
    if due:
        return f"{listed(due)} must decide first"
    if len(round_.community) < game_of(round_).community_cards:
        return "the next card must be turned over first"
    return "no decision is left in this round"


def _all_decided(state: Table, section: str | None) -> Round:
    """The round once nobody has a decision left before the next card. Refused otherwise."""
    round_ = round_in_progress(state)
    if round_.phase in (Phase.BETTING, Phase.DEALING):
        raise Refused("The hands are not dealt: cards are turned over after the deal and the decisions.", section)
    due = undecided(round_)
    if due:
        stays = "The dealer's hand stays" if game_of(round_).dealer_cards else "The card stays"
        raise Refused(f"{stays} down: {listed(due)} must bet or fold first.", section)
    if round_.hand_shown:
        raise Refused("Settlement has begun: no further card is turned over on the layout.", section)
    return round_


def reveal_community(state: Table, card: Card) -> tuple[Event, ...]:
    """The next community card, once all who stand have decided. 655a.11(c),(e),(g)"""
    round_ = round_in_progress(state)
    game = game_of(round_)
    if not game.community_cards:
        raise Refused(f"{game.title} has no community cards.")
    street = street_due(round_)
    if street is None:
        raise Refused(
            f"No community card is left to turn over: {game.title} has {game.community_cards}.",
            game.streets[-1].reveal_section,
        )
    _all_decided(state, street.reveal_section)
    cards_are_fresh(round_, (card,), street.reveal_section)
    return (CommunityCardRevealed(round_.round_id, card),)


def reveal_dealer(state: Table, cards: tuple[Card, ...]) -> tuple[Event, ...]:
    """The dealer's hole cards, once all have decided. 639a.11(c)"""
    game = game_of(round_in_progress(state))
    if not game.dealer_cards:
        raise Refused(f"In {game.title} the dealer has no hand.")
    section = game.streets[-1].reveal_section
    round_ = _all_decided(state, section)
    missing = game.dealer_cards - len(round_.dealer)
    if not missing:
        raise Refused("The dealer's hand is face up already.", section)
    if len(cards) != missing:
        raise Refused(f"The dealer has {missing} hole cards, not {len(cards)}.", section)
    cards_are_fresh(round_, cards, section)
    return (DealerHandRevealed(round_.round_id, cards),)


def reveal_extra(state: Table, area: Area, cards: tuple[Card, ...]) -> tuple[Event, ...]:
    """The extra cards of an optional wager, once the community cards are out. 655a.11(i)(4); 683a.11(i)"""
    round_ = round_in_progress(state)
    game = game_of(round_)
    kind = next((each for each in game.optional if each.extra_area is area), None)
    name = words(area.value)
    if kind is None:
        raise Refused(f"{game.title} has no cards for '{name}'.")
    section = kind.won_section
    if round_.extra(area):
        raise Refused(f"The cards of '{name}' are face up already.", section)
    if not _wagered(round_, kind.wager):
        if any(wager.stands for seated in round_.seats if (wager := seated.wager(kind.wager)) is not None):
            raise Refused(f"Nobody's wager on '{name}' is left to be settled: its cards stay down.", section)
        raise Refused(f"Nobody has a wager on '{name}': it has no cards on the layout.", section)
    if round_.phase is not Phase.SETTLING:
        raise Refused(f"The cards of '{name}' stay down until all community cards are out.", section)
    if len(cards) != kind.extra_cards:
        raise Refused(f"'{name}' has {kind.extra_cards} cards, not {len(cards)}.", section)
    cards_are_fresh(round_, cards, section)
    if area is Area.SIX_CARD_BONUS:
        return (SixCardBonusRevealed(round_.round_id, cards),)
    return (AllSixCardRevealed(round_.round_id, cards[0]),)


def _wagered(round_: Round, wager: str) -> bool:
    return any(has_live(round_, seated, wager) for seated in round_.seats)


def draw_magic_card(state: Table, card: Card, asking: Asking) -> tuple[Event, ...]:
    """The drawn Magic Card: of no deck, so it may be any card, seen or not."""
    round_ = _drawing(state)
    section = game_of(round_).sections.extras
    if not pays_magic_card(rules_of(round_, asking)):
        raise Refused(f"The submission {round_.rules} pays no Magic Card: none is drawn.", section)
    if round_.magic_card is not None:
        raise Refused(f"The Magic Card of this round is drawn already: {round_.magic_card}.", section)
    try:
        parse(card)
    except ValueError as error:
        raise Refused(str(error), section) from None
    return (MagicCardDrawn(round_.round_id, card),)


def draw_lucky_position(state: Table, position: Position, asking: Asking) -> tuple[Event, ...]:
    """The drawn lucky position: a seat of the table, or the dealer's where the dealer has a hand."""
    round_ = _drawing(state)
    game = game_of(round_)
    if not pays_lucky_position(rules_of(round_, asking)):
        raise Refused(f"The submission {round_.rules} pays no lucky position: none is drawn.", game.sections.extras)
    if round_.lucky_position is not None:
        raise Refused(
            f"The lucky position of this round is drawn already: {round_.lucky_position}.", game.sections.extras
        )
    positions = tuple(str(seat) for seat in range(1, state.seats + 1))
    if position not in positions and not (position == DEALER and game.dealer_cards):
        dealers = " or 'dealer'" if game.dealer_cards else ""
        raise Refused(f"'{position}' is no position here: it is a seat from 1 to {state.seats}{dealers}.")
    return (LuckyPositionDrawn(round_.round_id, position),)


def _drawing(state: Table) -> Round:
    round_ = round_in_progress(state)
    game = game_of(round_)
    section = game.sections.extras
    if game.optional_wager(FIVE_CARD_HAND_BONUS) is None:
        raise Refused(f"{game.title} has no {words(FIVE_CARD_HAND_BONUS)}: nothing is drawn.")
    if round_.phase is Phase.BETTING:
        raise Refused("Betting is still open: the draws come after 'no more bets'.", section)
    if not has_hand_bonus(round_):
        raise Refused(f"Nobody has a {words(FIVE_CARD_HAND_BONUS)} to settle: nothing is drawn.", section)
    return round_


def forfeit(state: Table, command: ForfeitWagers) -> tuple[Event, ...]:
    """The person loses every wager of the round, at every seat that is bound to the same player. 655a.11(a)(3)"""
    round_ = round_in_progress(state)
    seat_exists(state, command.seat)
    game = game_of(round_)
    section = game.sections.forfeit
    if section is None:
        raise Refused(f"{game.title} has no rule by which a person forfeits all wagers.")
    if round_.phase in (Phase.BETTING, Phase.DEALING):
        raise Refused("The hands are not dealt: nobody can have spoken of a hand.", section)
    if len(round_.community) == game.community_cards:
        raise Refused("All community cards are out: from now on a player may speak of the hand.", section)
    seated = round_.seated(command.seat)
    if not live(round_, seated):
        raise Refused(f"Seat {command.seat} has no wager left to forfeit.", section)
    persons = (
        each.seat
        for each in round_.seats
        if live(round_, each)
        and (each.seat == seated.seat or (seated.player_id is not None and each.player_id == seated.player_id))
    )
    return tuple(WagersForfeited(round_.round_id, seat, command.reason) for seat in persons)
