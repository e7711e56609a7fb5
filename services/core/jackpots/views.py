"""What a record of a progressive asks of others, and what readers see."""

from dataclasses import asdict
from typing import Any

from services.core.accounts import CreditWinnings
from services.core.asking import Following
from services.core.jackpots.events import Event, PayoutDocumented, PayoutPaid, PayoutValidated
from services.core.jackpots.progressive import Claim, State
from services.core.names import ProgressiveId, Source
from services.core.rounds import ReleasePayout


def following(progressive_id: ProgressiveId, event: Event) -> tuple[Following, ...]:
    """What a record asks of others: the table lets the hand go, the account credits the winnings."""
    match event:
        case PayoutValidated(claim_id, table_id):
            return (Following("rounds", table_id, ReleasePayout(claim_id, documented=False)),)
        case PayoutDocumented(claim_id, table_id):
            return (Following("rounds", table_id, ReleasePayout(claim_id, documented=True)),)
        case PayoutPaid(source=Source.GAME_ACCOUNT, account_id=str(account_id)):
            credit = CreditWinnings(event.amount_cents, event.round_id, event.seat, event.wager)
            return (Following("accounts", account_id, credit),)
        case _:
            return ()


def view(progressive_id: ProgressiveId, state: State) -> dict[str, Any]:
    """What GET /progressives/{id} answers: the levels, what waits or is due, the last awards; no player's name."""
    return {
        "progressive_id": progressive_id,
        "rules": state.rules,
        "sequence": state.sequence,
        "levels": [level.view() for level in state.levels],
        "claims": [_claim_view(claim) for claim in state.claims.values()],
        "envy": [
            {
                "round_id": due.round_id,
                "table_id": due.table_id,
                "holder_seat": due.holder_seat,
                "recipient_seat": due.recipient_seat,
                "hand": due.hand,
                "amount_cents": due.amount_cents,
                "state": "due",
            }
            for of_round in state.envy.values()
            for due in of_round
        ],
        "awards": [asdict(award) for award in state.awards],
    }


def _claim_view(claim: Claim) -> dict[str, Any]:
    private = ("player_id", "account_id", "entered_by")
    shown = {name: value for name, value in asdict(claim.claimed).items() if name not in private}
    return {**shown, "state": claim.step, "slip_number": claim.slip_number}
