"""Game accounts over HTTP: deposits and withdrawals go in, balances and entries come out."""

import re
from datetime import datetime
from typing import Any

from fastapi import APIRouter, HTTPException

from services.core import accounts
from services.runtime.forms import Forms, Malformed
from services.runtime.service import Parts, checked_key

FORMS = Forms(accounts.PeopleCommand)
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)")


def _moment(as_of: str | None) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time. Raises Malformed."""
    if as_of is None:
        return None
    # A plus that is not percent-encoded in a query comes as a space.
    as_of = re.sub(r" (\d\d:\d\d)$", r"+\1", as_of)
    try:
        if RFC_3339.fullmatch(as_of) is None:
            raise ValueError
        moment = datetime.fromisoformat(as_of.upper())
    except ValueError:
        raise Malformed("as_of must be a time of RFC 3339 with its zone, such as 2026-11-29T20:00:00Z.") from None
    return round(moment.timestamp() * 1000)


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
        moment = _moment(as_of)
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
        moment = _moment(as_of)
        rows = await parts.pool.fetch(
            "SELECT sequence, at_ms, entry, amount_cents, reference, balance_cents, held_cents FROM accounts_entries"
            " WHERE account_id = $1 AND ($2::bigint IS NULL OR at_ms <= $2) ORDER BY sequence",
            account_id, moment,
        )  # fmt: skip
        return [{**row, "available_cents": row["balance_cents"] - row["held_cents"]} for row in rows]

    return router
