"""What an event of the round log means for the wagers: what each came to, by which odds, from which source."""

from collections.abc import Iterable
from typing import assert_never

from services.core import rounds
from services.core.asking import Asking
from services.core.games.game import FIVE_CARD_HAND_BONUS, PROGRESSIVE
from services.core.money import Cents
from services.core.names import HandName, On, Result, RoundId, Seat
from services.core.rounds.settlement import Settled, envy_hand, lost, returned, settle_hand
from services.core.rounds.table import (
    Round,
    Seated,
    Table,
    Wager,
    game_of,
    live_main,
    live_optional,
    street_due,
    unshown,
)
from services.core.wagers.events import (
    ContributionDue,
    ContributionReversed,
    EnvyBonusReversed,
    EnvyBonusWon,
    Event,
    HoldRequested,
    HoldReturned,
    RoundFinished,
    RoundStarted,
    WagerReversed,
    WagerSettled,
)


def decide(table: rounds.State, event: rounds.Event, asking: Asking) -> tuple[Event, ...]:
    """What an event of the round log means for the wagers. `table` is the fold of the log before the event.

    `asking` has the table as key and the actor of the round record. Raises RulesMissing where the round's
    submission is not held.
    """
    match event:
        case rounds.RoundOpened(round_id, rules):
            assert table.game is not None, "a round was opened at a closed table"
            return (RoundStarted(round_id, table.game, rules),)
        case rounds.WagerRequested():
            return (_hold_requested(table, event, asking),)
        case rounds.WagerWithdrawn() | rounds.WagerDeclined():
            return _hold_returned(table, event, asking)
        case rounds.BettingClosed(_, lit):
            return _contribution(table, lit)
        case rounds.HandFolded(_, seat):
            return _folded(table, seat, asking)
        case rounds.HandShown():
            return _shown(table, event, asking)
        case rounds.HandReplaced():
            return _replaced(table, event, asking)
        case rounds.WagersForfeited(_, seat):
            return _forfeited(table, seat, asking)
        case rounds.RoundVoided():
            return _voided(table, event, asking)
        case rounds.RoundClosed(round_id):
            return (RoundFinished(round_id, void=False),)
        case (
            rounds.TableOpened()
            | rounds.TableClosed()
            | rounds.WagerPlaced()
            | rounds.WagerConfirmed()
            | rounds.HandsDealt()
            | rounds.StubCounted()
            | rounds.BetPlaced()
            | rounds.CommunityCardRevealed()
            | rounds.DealerHandRevealed()
            | rounds.MagicCardDrawn()
            | rounds.LuckyPositionDrawn()
            | rounds.SixCardBonusRevealed()
            | rounds.AllSixCardRevealed()
            | rounds.PayoutAwaited()
            | rounds.PayoutValidated()
            | rounds.PayoutDocumented()
            | rounds.PayoutRejected()
            | rounds.DocumentVoided()
            | rounds.Refused()
            | rounds.Skipped()
        ):
            return ()
        case _:
            assert_never(event)


def _round(table: Table) -> Round:
    assert table.round is not None, "something happened in a round before the first"
    return table.round


def _hold_id(table_id: str, request_sequence: int) -> str:
    return f"{table_id}/{request_sequence}"


def _hold_requested(table: Table, event: rounds.WagerRequested, asking: Asking) -> HoldRequested:
    # The request is named by the sequence of its own record, the next after those folded so far.
    sequence = table.sequence + 1
    return HoldRequested(
        event.round_id,
        event.seat,
        event.wager,
        _hold_id(asking.key, sequence),
        event.amount_cents,
        event.player_id,
        event.account_id,
        sequence,
    )


def _hold_returned(
    table: Table, event: rounds.WagerWithdrawn | rounds.WagerDeclined, asking: Asking
) -> tuple[Event, ...]:
    wager = _round(table).seated(event.seat).wager(event.wager, event.hand)
    return () if wager is None else _holds_returned(event.round_id, event.seat, (wager,), asking)


def _holds_returned(round_id: RoundId, seat: Seat, wagers: Iterable[Wager], asking: Asking) -> tuple[Event, ...]:
    return tuple(
        HoldReturned(round_id, seat, wager.wager, _hold_id(asking.key, wager.request_sequence), wager.account_id)
        for wager in wagers
        if wager.request_sequence is not None and wager.account_id is not None
    )


def _contribution(table: Table, lit: tuple[Seat, ...]) -> tuple[Event, ...]:
    if not lit or table.progressive_id is None:
        return ()
    round_ = _round(table)
    accepted = [wager for seat in lit if (wager := round_.seated(seat).wager(PROGRESSIVE)) is not None]
    wager_cents = sum(wager.amount_cents for wager in accepted)
    return (ContributionDue(round_.round_id, table.progressive_id, wager_cents, len(accepted)),)


def _folded(table: Table, seat: Seat, asking: Asking) -> tuple[Event, ...]:
    """A fold collects the main wagers at once, and the optional wagers that do not outlive it. 655a.11(b),(d),(f)"""
    round_ = _round(table)
    seated = round_.seated(seat)
    street = street_due(round_)
    assert street is not None, "a seat folded when no decision was due"
    optional = (wager for kind, wager in live_optional(round_, seated) if not kind.outlives_fold)
    collected = (*live_main(round_, seated), *optional)
    return _rows(table, seated, (lost(wager, street.decide_section) for wager in collected), asking)


def _shown(table: Table, event: rounds.HandShown, asking: Asking) -> tuple[Event, ...]:
    """The seat is settled, the Envy Bonus behind its progressive wager. 655a.11(h),(i)"""
    round_ = _round(table)
    seated = round_.seated(event.seat)
    rules = asking.book.by_sha256(round_.rules_sha256)
    rows = settle_hand(round_, seated, event.cards, rules)
    settled = _rows(table, seated, rows, asking)
    envy = envy_hand(round_, seated, event.cards, rules)
    if envy is None:
        return settled
    # The Envy Bonus comes right after the progressive wager, or where it would stand.
    order = game_of(round_).settlement_order
    place = sum(order.index(row.wager) <= order.index(PROGRESSIVE) for row in rows)
    return (*settled[:place], *_envy(table, seated, *envy), *settled[place:])


def _replaced(table: Table, event: rounds.HandReplaced, asking: Asking) -> tuple[Event, ...]:
    """The seat is settled anew: what its first cards came to is reversed where these come to something else.

    A claim never stands: whoever keyed these cards must not validate it.
    """
    shown = _round(table)
    first_cards = shown.seated(event.seat).cards
    round_ = unshown(shown, event.seat)
    seated = round_.seated(event.seat)
    rules = asking.book.by_sha256(round_.rules_sha256)
    first = settle_hand(round_, seated, first_cards, rules)
    anew = settle_hand(round_, seated, event.cards, rules)
    stands = {row for row in first if row in anew and row.claim_id is None}
    reversed_ = tuple(_reversed(table, seated, row) for row in first if row not in stands)
    rows = tuple(_row(table, seated, row, asking, settled_before=True) for row in anew if row not in stands)
    envy_first = envy_hand(round_, seated, first_cards, rules)
    envy_anew = envy_hand(round_, seated, event.cards, rules)
    if envy_first == envy_anew:
        return (*reversed_, *rows)
    taken_back = () if envy_first is None else _envy_reversed(table, seated, *envy_first)
    earned = () if envy_anew is None else _envy(table, seated, *envy_anew)
    return (*reversed_, *taken_back, *rows, *earned)


def _reversed(table: Table, seated: Seated, row: Settled) -> WagerReversed:
    staked = seated.wager(row.wager, row.on) or seated.wager(FIVE_CARD_HAND_BONUS, row.on)
    account_id = staked.account_id if staked is not None else None
    # What a claim won is taken back by the progressive; here is what the account had by the settlement itself.
    credited_cents = (0 if row.claim_id is not None else row.won_cents or 0) + row.returned_cents
    return WagerReversed(
        _round(table).round_id,
        seated.seat,
        row.wager,
        row.on,
        won_cents=row.won_cents or 0,
        credited_cents=0 if account_id is None else credited_cents,
        claim_id=row.claim_id,
        account_id=account_id,
        progressive_id=table.progressive_id if row.claim_id is not None else None,
    )


def _envy_reversed(table: Table, holder: Seated, hand: HandName, amount_cents: Cents) -> tuple[Event, ...]:
    return tuple(
        EnvyBonusReversed(won.round_id, won.progressive_id, won.holder_seat)
        for won in _envy(table, holder, hand, amount_cents)
    )


def _envy(table: Table, holder: Seated, hand: HandName, amount_cents: Cents) -> tuple[EnvyBonusWon, ...]:
    """For every other lit seat: none for the holder's own seats, none for a forfeited progressive wager."""
    round_ = _round(table)
    section = game_of(round_).sections.envy
    recipients = tuple(
        each.seat
        for each in round_.seats
        if each.seat in round_.lit
        and each.seat != holder.seat
        and not each.forfeited
        and (holder.player_id is None or each.player_id != holder.player_id)
    )
    if not recipients or table.progressive_id is None or section is None:
        return ()
    return (EnvyBonusWon(round_.round_id, table.progressive_id, holder.seat, recipients, hand, amount_cents, section),)


def _forfeited(table: Table, seat: Seat, asking: Asking) -> tuple[Event, ...]:
    """Every wager of the seat that is not settled yet is lost. 655a.11(a)(3)"""
    round_ = _round(table)
    seated = round_.seated(seat)
    section = game_of(round_).sections.forfeit or ""
    collected = (*live_main(round_, seated), *(wager for _, wager in live_optional(round_, seated)))
    return _rows(table, seated, (lost(wager, section) for wager in collected), asking)


def _voided(table: Table, event: rounds.RoundVoided, asking: Asking) -> tuple[Event, ...]:
    """Every wager goes back, whatever it had come to; counterclockwise, as settlement goes."""
    round_ = _round(table)
    game = game_of(round_)
    section = event.section or game.sections.irregularity
    order = game.settlement_order
    events: list[Event] = []
    for seated in reversed(round_.seats):
        stakes = sorted(
            (each for each in seated.wagers if each.stands),
            key=lambda each: (order.index(each.wager), each.hand is On.DEALER),
        )
        events += _rows(table, seated, (returned(wager, section) for wager in stakes), asking)
        requested = (each for each in seated.wagers if each.holds_place and not each.stands)
        events += _holds_returned(round_.round_id, seated.seat, requested, asking)
    if round_.lit and table.progressive_id is not None:
        events.append(ContributionReversed(round_.round_id, table.progressive_id))
    return (*events, RoundFinished(round_.round_id, void=True))


def _rows(table: Table, seated: Seated, settled: Iterable[Settled], asking: Asking) -> tuple[WagerSettled, ...]:
    return tuple(_row(table, seated, row, asking) for row in settled)


def _row(table: Table, seated: Seated, row: Settled, asking: Asking, *, settled_before: bool = False) -> WagerSettled:
    # The Magic Card and the lucky position are paid to the account that the bonus was staked from.
    staked = seated.wager(row.wager, row.on) or seated.wager(FIVE_CARD_HAND_BONUS, row.on)
    account_id = staked.account_id if staked is not None else None
    hold_id = None
    # A forfeited stake was posted, and so was that of a hand which is settled anew: there is no hold any more.
    posted = settled_before or (seated.forfeited and row.result is Result.RETURNED)
    if row.stake_cents and staked is not None and staked.request_sequence is not None and not posted:
        hold_id = _hold_id(asking.key, staked.request_sequence)
    linked = row.wager == PROGRESSIVE or row.claim_id is not None
    return WagerSettled(
        round_id=_round(table).round_id,
        seat=seated.seat,
        wager=row.wager,
        on=row.on,
        hand=None if row.line is None else row.line.hand,
        stake_cents=row.stake_cents,
        result=row.result,
        odds=None if row.line is None else row.line.odds.text,
        won_cents=row.won_cents,
        returned_cents=row.returned_cents,
        source=row.source,
        claim_id=row.claim_id,
        section=row.section,
        player_id=seated.player_id,
        account_id=account_id,
        hold_id=hold_id,
        progressive_id=table.progressive_id if linked else None,
        entered_by=asking.actor,
    )
