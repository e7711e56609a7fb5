"""Game accounts over HTTP: deposits and withdrawals go in, balances and entries come out."""

from typing import Any

from fastapi import APIRouter, HTTPException

from services.core import accounts
from services.runtime.forms import Forms, moment_ms
from services.runtime.http import checked_key
from services.runtime.parts import Parts

FORMS = Forms(accounts.PeopleCommand)


def routes(parts: Parts) -> APIRouter:
    """The reads of this service."""
    router = APIRouter(tags=["reads"])

    def state_of(account_id: str) -> accounts.State:
        state = parts.projection.state_of("accounts", checked_key(account_id))
        if state is None or state.player_id is None:
            raise HTTPException(404, f"There is no account {account_id}.")
        return state

    @router.get("/accounts/{account_id}")
    async def account(account_id: str, as_of: str | None = None) -> dict[str, Any]:
        """What is in the account, now or as of a past moment."""
        state = state_of(account_id)
        moment = moment_ms(as_of)
        if moment is None:
            return accounts.view(account_id, state)
        row = await parts.pool.fetchrow(
            "SELECT sequence, balance_cents, held_cents FROM accounts_entries WHERE account_id = $1 AND at_ms <= $2"
            " ORDER BY sequence DESC LIMIT 1",
            account_id, moment,
        )  # fmt: skip
        sequence, balance, held = (row["sequence"], row["balance_cents"], row["held_cents"]) if row else (0, 0, 0)
        return {
            "account_id": account_id,
            "player_id": state.player_id,
            "sequence": sequence,
            "balance_cents": balance,
            "held_cents": held,
            "available_cents": balance - held,
        }

    @router.get("/accounts/{account_id}/entries")
    async def entries(account_id: str, as_of: str | None = None) -> list[dict[str, Any]]:
        """The account's entries, oldest first, with what stood behind each."""
        state_of(account_id)
        moment = moment_ms(as_of)
        rows = await parts.pool.fetch(
            "SELECT sequence, at_ms, entry, amount_cents, reference, balance_cents, held_cents FROM accounts_entries"
            " WHERE account_id = $1 AND ($2::bigint IS NULL OR at_ms <= $2) ORDER BY sequence",
            account_id, moment,
        )  # fmt: skip
        return [{**row, "available_cents": row["balance_cents"] - row["held_cents"]} for row in rows]

    return router
