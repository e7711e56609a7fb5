"""What each command leads to at a progressive."""

from typing import assert_never

from services.core import refusal
from services.core.asking import Asking
from services.core.jackpots import claiming, closing, contributing, parameters
from services.core.jackpots.commands import (
    AcceptTransfer,
    ApproveParameters,
    AwardEnvy,
    ChangeParameters,
    ClaimPayout,
    CloseProgressive,
    Command,
    CompleteClosing,
    Contribute,
    DocumentPayout,
    DropParameters,
    OpenProgressive,
    PayEnvy,
    PayPayout,
    RejectPayout,
    ReverseContribution,
    SignPayout,
    TakeBackEnvy,
    TakeBackPayout,
    ValidatePayout,
    VoidSlip,
)
from services.core.jackpots.events import Event
from services.core.jackpots.progressive import State


def decide(state: State, command: Command, asking: Asking) -> tuple[Event, ...]:
    """What the command leads to; nothing where it was carried out before. Raises refusal.Refused."""
    if isinstance(command, OpenProgressive):
        return contributing.open_under(state, command, asking)
    if state.rules is None:
        if isinstance(command, ReverseContribution | TakeBackPayout | TakeBackEnvy):
            return ()
        raise refusal.Refused(f"The progressive {asking.key} is not open. Open it under a submission first.")
    if state.end is not None and (elsewhere := closing.forwarded(state, state.end, command)) is not None:
        return (elsewhere,)
    match command:
        case Contribute():
            return contributing.contribute(state, command, asking)
        case ReverseContribution():
            return contributing.reverse(state, command)
        case ClaimPayout():
            return claiming.claim(state, command, asking)
        case ValidatePayout(claim_id):
            return claiming.validate(state, claim_id, asking)
        case SignPayout(claim_id):
            return claiming.sign(state, claim_id, asking)
        case DocumentPayout():
            return claiming.document(state, command, asking)
        case VoidSlip(claim_id, reason):
            return claiming.void_slip(state, claim_id, reason, asking)
        case RejectPayout(claim_id, reason):
            return claiming.reject(state, claim_id, reason, asking)
        case PayPayout(claim_id):
            return claiming.pay(state, claim_id, asking)
        case TakeBackPayout():
            return claiming.take_back(state, command)
        case AwardEnvy():
            return claiming.award_envy(state, command)
        case PayEnvy(round_id, recipient_seat):
            return claiming.pay_envy(state, round_id, recipient_seat, asking)
        case TakeBackEnvy():
            return claiming.take_back_envy(state, command)
        case ChangeParameters():
            return parameters.propose(state, command, asking)
        case ApproveParameters(change):
            return parameters.approve(state, change, asking)
        case DropParameters(change, reason):
            return parameters.drop(state, change, reason)
        case CloseProgressive():
            return closing.close(state, command, asking)
        case AcceptTransfer():
            return closing.accept(state, command)
        case CompleteClosing():
            return closing.complete(state, command)
        case _:
            assert_never(command)
