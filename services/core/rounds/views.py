"""A table as its readers see it."""

from typing import Any

from services.core.names import TableId
from services.core.rounds.table import Round, State


def view(table_id: TableId, state: State) -> dict[str, Any]:
    """What `GET /tables/{id}` answers. `round` is the last one, over or not, and None before the first.

    Its cards are those that are face up; a seat's are empty until its hand is shown.
    """
    return {
        "table_id": table_id,
        "game": state.game,
        "rules": state.rules,
        "progressive_id": state.progressive_id,
        "sequence": state.sequence,
        "round": None if state.round is None else _round(state.round),
    }


def _round(round_: Round) -> dict[str, Any]:
    return {
        "round_id": round_.round_id,
        "state": round_.phase.value,
        "community": list(round_.community),
        "dealer": list(round_.dealer),
        "six_card_bonus": list(round_.six_card_bonus),
        "all_six": list(round_.all_six),
        "magic_card": round_.magic_card,
        "lucky_position": round_.lucky_position,
        "seats": [
            {
                "seat": seated.seat,
                "player_id": seated.player_id,
                "folded": seated.folded,
                "forfeited": seated.forfeited,
                "cards": list(seated.cards),
                "wagers": [
                    {
                        "wager": wager.wager,
                        "hand": wager.hand.value,
                        "amount_cents": wager.amount_cents,
                        "state": wager.standing.value,
                    }
                    for wager in seated.wagers
                ],
            }
            for seated in round_.seats
        ],
    }
