"""What each event makes of a table."""

from collections.abc import Callable
from typing import assert_never

from services.core.changing import replace
from services.core.games.game import PROGRESSIVE
from services.core.names import ClaimId, On, Seat, WagerName
from services.core.rounds.events import (
    AllSixCardRevealed,
    BetPlaced,
    BettingClosed,
    CommunityCardRevealed,
    DealerHandRevealed,
    DocumentVoided,
    Event,
    HandFolded,
    HandReplaced,
    HandsDealt,
    HandShown,
    LuckyPositionDrawn,
    MagicCardDrawn,
    PayoutAwaited,
    PayoutDocumented,
    PayoutRejected,
    PayoutValidated,
    Refused,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    SixCardBonusRevealed,
    Skipped,
    StubCounted,
    TableClosed,
    TableOpened,
    WagerConfirmed,
    WagerDeclined,
    WagerPlaced,
    WagerRequested,
    WagersForfeited,
    WagerWithdrawn,
)
from services.core.rounds.table import (
    Awaited,
    Phase,
    Round,
    Seated,
    Standing,
    State,
    Wager,
    needs_more_cards,
    undecided,
)

# Names of the module, because an enum's member is looked up slowly, and these once for most records of a log.
_PLACED, _DECIDING, _ON_PLAYER = Standing.PLACED, Phase.DECIDING, On.PLAYER


def evolve(state: State, event: Event) -> State:
    """The table after an event. Every event is one record, so each moves the sequence by one."""
    sequence = state.sequence + 1
    match event:
        case WagerPlaced() | BetPlaced() if state.round is not None:
            # First, and by the shortest way: most records of a log are wagers, and a replay goes through all of them.
            return replace(state, sequence=sequence, round=_advanced(_with_wager(state.round, event, sequence)))
        case Refused() | Skipped():
            return replace(state, sequence=sequence)
        case TableOpened(game, seats, rules, progressive_id, rules_sha256):
            return replace(
                state,
                sequence=sequence,
                game=game,
                seats=seats,
                rules=rules,
                rules_sha256=rules_sha256,
                progressive_id=progressive_id,
                rounds_uncounted=0,
            )
        case TableClosed():
            return replace(
                state, sequence=sequence, game=None, seats=0, rules=None, rules_sha256=None, progressive_id=None
            )
        case RoundOpened(round_id, rules, rules_sha256):
            assert state.game is not None, "a round was opened at a closed table"
            opened = Round(round_id, state.game, rules, rules_sha256)
            return replace(
                state,
                sequence=sequence,
                # Where the record of the opening names no submission, it was that of the first round.
                rules_sha256=state.rules_sha256 or rules_sha256,
                rounds_opened=state.rounds_opened + 1,
                round=opened,
            )
        case _:
            assert state.round is not None, "something happened in a round before the first"
            return replace(
                state,
                sequence=sequence,
                round=_advanced(_evolve_round(state.round, event, sequence)),
                rounds_uncounted=_uncounted(state.rounds_uncounted, event),
            )


RoundEvent = (
    WagerRequested
    | WagerPlaced
    | WagerConfirmed
    | WagerDeclined
    | WagerWithdrawn
    | BettingClosed
    | HandsDealt
    | StubCounted
    | BetPlaced
    | HandFolded
    | CommunityCardRevealed
    | DealerHandRevealed
    | MagicCardDrawn
    | LuckyPositionDrawn
    | SixCardBonusRevealed
    | AllSixCardRevealed
    | HandShown
    | HandReplaced
    | PayoutAwaited
    | PayoutValidated
    | PayoutDocumented
    | PayoutRejected
    | DocumentVoided
    | WagersForfeited
    | RoundVoided
    | RoundClosed
)


def _uncounted(rounds: int, event: RoundEvent) -> int:
    match event:
        case HandsDealt():
            return rounds + 1
        case StubCounted():
            # A wrong count of misdealt hands is a count too: all 52 cards are there.
            return 0
        case RoundVoided(deck_removed=True):
            return 0
        case _:
            return rounds


def _evolve_round(round_: Round, event: RoundEvent, sequence: int) -> Round:
    match event:
        case WagerRequested() | WagerPlaced() | WagerConfirmed() | WagerDeclined() | WagerWithdrawn() | BetPlaced():
            return _with_wager(round_, event, sequence)
        case BettingClosed(lit=lit):
            lights = replace(round_, phase=Phase.DEALING, lit=lit)
            for seat in lit:
                lights = _standing(lights, seat, PROGRESSIVE, On.PLAYER, Standing.ACCEPTED)
            return lights
        case HandsDealt(stub_cards=stub_cards, dealer_card=dealer_card):
            dealer = () if dealer_card is None else (dealer_card,)
            return replace(round_, phase=Phase.DECIDING, stub_cards=stub_cards, dealer=dealer)
        case StubCounted():
            return replace(round_, stub_counted=True)
        case HandFolded(seat=seat):
            return _with_seat(round_, seat, lambda seated: replace(seated, folded=True))
        case CommunityCardRevealed(card=card):
            return replace(round_, community=(*round_.community, card))
        case DealerHandRevealed(cards=cards):
            return replace(round_, dealer=(*round_.dealer, *cards))
        case MagicCardDrawn(card=card):
            return replace(round_, magic_card=card)
        case LuckyPositionDrawn(position=position):
            return replace(round_, lucky_position=position)
        case SixCardBonusRevealed(cards=cards):
            return replace(round_, six_card_bonus=cards)
        case AllSixCardRevealed(card=card):
            return replace(round_, all_six=(card,))
        case HandShown(seat=seat, cards=cards, keyed_by=keyed_by):
            return _with_seat(round_, seat, lambda seated: replace(seated, cards=cards, keyed_by=keyed_by))
        case HandReplaced(seat=seat, cards=cards, keyed_by=keyed_by):
            # Its payouts are awaited anew, by the records that follow.
            others = tuple(each for each in round_.awaited if each.seat != seat)
            keyed = _with_seat(round_, seat, lambda seated: replace(seated, cards=cards, keyed_by=keyed_by))
            return replace(keyed, awaited=others)
        case PayoutAwaited(claim_id=claim_id, documents=documents):
            return replace(round_, awaited=(*round_.awaited, Awaited(claim_id, documents)))
        case PayoutValidated(claim_id=claim_id):
            return _with_payout(round_, claim_id, lambda awaited: replace(awaited, validated=True))
        case PayoutRejected(claim_id=claim_id):
            return _with_payout(round_, claim_id, lambda awaited: replace(awaited, rejected=True))
        case DocumentVoided(claim_id=claim_id):
            return _with_payout(round_, claim_id, lambda awaited: replace(awaited, documented=False))
        case PayoutDocumented(claim_id=claim_id):
            return _with_payout(round_, claim_id, lambda awaited: replace(awaited, documented=True))
        case WagersForfeited(seat=seat):
            return _with_seat(round_, seat, lambda seated: replace(seated, forfeited=True))
        case RoundVoided():
            return replace(round_, phase=Phase.VOID)
        case RoundClosed():
            return replace(round_, phase=Phase.CLOSED)
        case _:
            assert_never(event)


WagerEvent = WagerRequested | WagerPlaced | WagerConfirmed | WagerDeclined | WagerWithdrawn | BetPlaced


def _with_wager(round_: Round, event: WagerEvent, sequence: int) -> Round:
    match event:
        case WagerPlaced():
            wager = Wager(event.wager, event.hand, event.amount_cents, _PLACED, None, None, event.player_id)
            return _add(round_, event.seat, wager)
        case BetPlaced():
            return _add(round_, event.seat, Wager(event.wager, _ON_PLAYER, event.amount_cents, _PLACED))
        case WagerRequested():
            stake = (Standing.REQUESTED, sequence, event.account_id, event.player_id)
            return _add(round_, event.seat, Wager(event.wager, event.hand, event.amount_cents, *stake))
        case WagerConfirmed():
            return _standing(round_, event.seat, event.wager, event.hand, Standing.PLACED)
        case WagerDeclined():
            return _standing(round_, event.seat, event.wager, event.hand, Standing.DECLINED)
        case WagerWithdrawn():
            return _standing(round_, event.seat, event.wager, event.hand, Standing.WITHDRAWN)
        case _:
            assert_never(event)


def _with_seat(round_: Round, seat: Seat, change: Callable[[Seated], Seated]) -> Round:
    seats = list(round_.seats)
    for place, each in enumerate(seats):
        if each.seat == seat:
            seats[place] = change(each)
            break
        if each.seat > seat:
            seats.insert(place, change(Seated(seat)))
            break
    else:
        seats.append(change(Seated(seat)))
    return replace(round_, seats=tuple(seats))


def _add(round_: Round, seat: Seat, wager: Wager) -> Round:
    seats = round_.seats
    for place, seated in enumerate(seats):
        if seated.seat == seat:
            # As `_with_seat`, without its calls: a replay goes through here for most of its records.
            return replace(round_, seats=(*seats[:place], _with_one_more(seated, wager), *seats[place + 1 :]))
    return _with_seat(round_, seat, lambda seated: _with_one_more(seated, wager))


def _with_one_more(seated: Seated, wager: Wager) -> Seated:
    wagers = seated.wagers
    for each in wagers:
        if each.wager == wager.wager and each.hand is wager.hand:
            # A declined or withdrawn wager of the same kind gives way to the new one.
            return replace(seated, wagers=(*(one for one in wagers if one is not each), wager))
    return replace(seated, wagers=(*wagers, wager))


def _standing(round_: Round, seat: Seat, wager: WagerName, hand: On, standing: Standing) -> Round:
    def changed(seated: Seated) -> Seated:
        return replace(
            seated,
            wagers=tuple(
                replace(each, standing=standing) if each.wager == wager and each.hand is hand else each
                for each in seated.wagers
            ),
        )

    return _with_seat(round_, seat, changed)


def _with_payout(round_: Round, claim_id: ClaimId, change: Callable[[Awaited], Awaited]) -> Round:
    return replace(
        round_, awaited=tuple(change(each) if each.claim_id == claim_id else each for each in round_.awaited)
    )


def _advanced(round_: Round) -> Round:
    """Settling begins by itself once nobody has a decision left and no card is waited for."""
    if round_.phase is _DECIDING and not needs_more_cards(round_) and not undecided(round_):
        return replace(round_, phase=Phase.SETTLING)
    return round_
