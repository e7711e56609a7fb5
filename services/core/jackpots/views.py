"""A progressive as its readers see it."""

from dataclasses import asdict
from typing import Any

from services.core.jackpots.levels import LevelTerms
from services.core.jackpots.progressive import Change, Claim, State
from services.core.money import whole_cents
from services.core.names import ProgressiveId


def view(progressive_id: ProgressiveId, state: State) -> dict[str, Any]:
    """What GET /progressives/{id} answers: the levels, what waits or is due, the last awards; no player's name."""
    return {
        "progressive_id": progressive_id,
        "rules": state.rules,
        "sequence": state.sequence,
        "state": "open" if state.end is None else "closed" if state.end.closed else "closing",
        "transfer_to": None if state.end is None else state.end.transfer_to,
        "transfer_due_at_ms": None if state.end is None else state.end.due_at_ms,
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
        "changes": [_change_view(change) for change in state.changes],
    }


def _claim_view(claim: Claim) -> dict[str, Any]:
    private = ("player_id", "account_id", "entered_by")
    shown = {name: value for name, value in asdict(claim.claimed).items() if name not in private}
    return {**shown, "state": claim.step, "slip_number": claim.slip_number}


def _change_view(change: Change) -> dict[str, Any]:
    return {
        "change": change.number,
        "level": change.name,
        **_terms_view(change.after),
        "reason": change.reason,
        "state": "proposed" if change.approved_by is None else "approved",
    }


def _terms_view(terms: LevelTerms) -> dict[str, Any]:
    """Parameters as people read them."""
    return {
        "reset_cents": whole_cents(terms.reset_microcents),
        "limit_cents": whole_cents(terms.limit_microcents),
        "rate_ppm": terms.rate_ppm,
        "hidden_rate_ppm": terms.hidden_rate_ppm,
    }
