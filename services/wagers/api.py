"""Wagers over HTTP: what each wager of a round came to."""

from typing import Any

from fastapi import APIRouter, HTTPException

from services.core import sheets
from services.runtime.http import checked_round_id
from services.runtime.parts import Parts
from services.runtime.sheets import read_sheet


def routes(parts: Parts) -> APIRouter:
    """The reads of this service."""
    router = APIRouter(tags=["reads"])

    @router.get("/rounds/{round_id}")
    async def round_(round_id: str) -> dict[str, Any]:
        """The results of a round's wagers, in the order of settlement."""
        sheet = await read_sheet(parts.pool, "wagers", "", checked_round_id(round_id), sheets.WagerSheet)
        if sheet is None:
            raise HTTPException(404, f"There is no round {round_id}.")
        return sheets.wager_view(sheet)

    return router
