"""What a progressive shows: its levels as the log has them, and a sheet of claims and Envy Bonuses for each round."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from services.core import jackpots, sheets
from services.runtime.projecting import Fact, Log
from services.runtime.sheets import fold_sheets

JACKPOTS = Log("jackpots", jackpots.INITIAL, jackpots.State, jackpots.evolve)


def _fold(fact: Fact, sheet: sheets.JackpotSheet) -> sheets.JackpotSheet:
    return sheets.with_jackpot(sheet, fact.record.event)


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Folds each event that belongs to a round into that round's sheet."""
    events = [
        (fact.key, round_id, partial(_fold, fact))
        for fact in facts
        if (round_id := sheets.round_of(fact.record.event)) is not None
    ]
    await fold_sheets(connection, "jackpots", sheets.JackpotSheet(), events)
