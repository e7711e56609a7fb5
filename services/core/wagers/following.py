"""What a wagers record asks of accounts and of progressives."""

from typing import assert_never

from services.core import accounts, jackpots
from services.core.asking import Following
from services.core.names import ClaimId, Source, TableId
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
    Skipped,
    WagerReversed,
    WagerSettled,
)


def following(table_id: TableId, event: Event) -> tuple[Following, ...]:
    """The commands to `accounts` and `jackpots` that follow from a wagers record of a table."""
    match event:
        case HoldRequested():
            hold = accounts.PlaceHold(
                event.hold_id, event.amount_cents, event.player_id, table_id, event.round_id, event.request_sequence
            )
            return (Following("accounts", event.account_id, hold),)
        case HoldReturned():
            return (Following("accounts", event.account_id, accounts.ReleaseHold(event.hold_id)),)
        case ContributionDue():
            contribute = jackpots.Contribute(table_id, event.round_id, event.wager_cents, event.wagers)
            return (Following("jackpots", event.progressive_id, contribute),)
        case ContributionReversed():
            reverse = jackpots.ReverseContribution(table_id, event.round_id)
            return (Following("jackpots", event.progressive_id, reverse),)
        case WagerSettled():
            return (*_stake_of(event), *_payout_of(table_id, event))
        case EnvyBonusWon():
            award = jackpots.AwardEnvy(
                table_id, event.round_id, event.holder_seat, event.recipient_seats, event.hand, event.amount_cents
            )
            return (Following("jackpots", event.progressive_id, award),)
        case WagerReversed():
            return _taken_back(table_id, event)
        case EnvyBonusReversed():
            back = jackpots.TakeBackEnvy(table_id, event.round_id, event.holder_seat)
            return (Following("jackpots", event.progressive_id, back),)
        case RoundStarted() | RoundFinished() | Skipped():
            return ()
        case _:
            assert_never(event)


def _stake_of(event: WagerSettled) -> tuple[Following, ...]:
    """A stake from a game account leaves it, unless it goes back."""
    if event.account_id is None:
        return ()
    if event.hold_id is None:
        # It was posted before; the Magic Card and the lucky position have no stake.
        if not event.returned_cents:
            return ()
        back = accounts.ReturnStake(event.returned_cents, event.round_id, event.seat, event.wager)
        return (Following("accounts", event.account_id, back),)
    goes_back = event.returned_cents == event.stake_cents
    command = accounts.ReleaseHold(event.hold_id) if goes_back else accounts.PostHold(event.hold_id)
    return (Following("accounts", event.account_id, command),)


def _payout_of(table_id: TableId, event: WagerSettled) -> tuple[Following, ...]:
    if event.claim_id is not None:
        return (_claim(table_id, event.claim_id, event),)
    if event.account_id is None or not event.won_cents or event.source is not Source.GAME_ACCOUNT:
        return ()
    credit = accounts.CreditWinnings(event.won_cents, event.round_id, event.seat, event.wager)
    return (Following("accounts", event.account_id, credit),)


def _taken_back(table_id: TableId, event: WagerReversed) -> tuple[Following, ...]:
    asked: list[Following] = []
    if event.claim_id is not None and event.progressive_id is not None:
        payout = jackpots.TakeBackPayout(event.claim_id, table_id, event.round_id)
        asked.append(Following("jackpots", event.progressive_id, payout))
    if event.account_id is not None and event.credited_cents:
        winnings = accounts.TakeBackWinnings(event.credited_cents, event.round_id, event.seat, event.wager)
        asked.append(Following("accounts", event.account_id, winnings))
    return tuple(asked)


def _claim(table_id: TableId, claim_id: ClaimId, event: WagerSettled) -> Following:
    assert event.hand is not None and event.odds is not None and event.source is not None, "a claim is of a win"
    assert event.progressive_id is not None, "a table whose payouts wait for a floorperson is linked to a progressive"
    return Following(
        "jackpots",
        event.progressive_id,
        jackpots.ClaimPayout(
            claim_id,
            table_id,
            event.round_id,
            event.seat,
            event.wager,
            event.on,
            event.hand,
            event.odds,
            event.won_cents,
            event.source,
            event.player_id,
            event.account_id,
            event.entered_by,
        ),
    )
