"""What a record of a progressive asks of others."""

from services.core.accounts import CreditWinnings, TakeBackWinnings
from services.core.asking import Following
from services.core.jackpots.commands import AcceptTransfer, CompleteClosing
from services.core.jackpots.events import (
    CommandForwarded,
    Event,
    PayoutDocumented,
    PayoutPaid,
    PayoutRejected,
    PayoutTakenBack,
    PayoutValidated,
    ProgressiveClosing,
    SlipVoided,
    TransferAccepted,
    TransferDeclined,
)
from services.core.names import ProgressiveId, Source
from services.core.payouts import ClaimState
from services.core.rounds import ReleasePayout


def following(progressive_id: ProgressiveId, event: Event) -> tuple[Following, ...]:
    """What a record asks of others: the table lets the hand go, the account credits or gives back, and a progressive
    that ends hands on what it holds and what is still asked of it."""
    match event:
        case PayoutValidated(claim_id, table_id, entered_by=by):
            return (Following("rounds", table_id, ReleasePayout(claim_id, documented=False, entered_by=by)),)
        case PayoutDocumented(claim_id, table_id, entered_by=by):
            return (Following("rounds", table_id, ReleasePayout(claim_id, documented=True, entered_by=by)),)
        case SlipVoided(claim_id, table_id=table_id, entered_by=by):
            void = ReleasePayout(claim_id, documented=False, slip_void=True, entered_by=by)
            return (Following("rounds", table_id, void),)
        case PayoutRejected(claim_id, table_id, entered_by=by):
            rejected = ReleasePayout(claim_id, documented=False, rejected=True, entered_by=by)
            return (Following("rounds", table_id, rejected),)
        case PayoutPaid(source=Source.GAME_ACCOUNT, account_id=str(account_id)):
            credit = CreditWinnings(event.amount_cents, event.round_id, event.seat, event.wager)
            return (Following("accounts", account_id, credit),)
        case PayoutTakenBack(state=ClaimState.PAID, source=Source.GAME_ACCOUNT, account_id=str(account_id)):
            back = TakeBackWinnings(event.amount_cents, event.round_id, event.seat, event.wager)
            return (Following("accounts", account_id, back),)
        case ProgressiveClosing(transfer_to, levels, contributions):
            return (Following("jackpots", transfer_to, AcceptTransfer(progressive_id, levels, contributions)),)
        case TransferAccepted(transfer_from):
            return (Following("jackpots", transfer_from, CompleteClosing(progressive_id, None)),)
        case TransferDeclined(transfer_from, reason):
            return (Following("jackpots", transfer_from, CompleteClosing(progressive_id, reason)),)
        case CommandForwarded(transfer_to=to):
            return (Following("jackpots", to, event.command),)
        case _:
            return ()
