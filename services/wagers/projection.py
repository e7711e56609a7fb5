"""What wagers show: a sheet for each round."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from services.core import sheets
from services.runtime.projecting import Fact, Log
from services.runtime.sheets import fold_sheets

WAGERS = Log("wagers")


def _fold(fact: Fact, sheet: sheets.WagerSheet) -> sheets.WagerSheet:
    return sheets.with_wager(sheet, fact.key, fact.record.event)


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Folds each event into the sheet of its round."""
    events = [
        ("", round_id, partial(_fold, fact)) for fact in facts if (round_id := fact.record.event.round_id) is not None
    ]
    await fold_sheets(connection, "wagers", sheets.WagerSheet(), events)
