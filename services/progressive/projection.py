"""What a progressive shows: its levels as the log has them, and a sheet of claims and Envy Bonuses for each round."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from services.core import jackpots, sheets
from services.runtime.projecting import Fact, Log
from services.runtime.sheets import fold_sheets
from services.wire.snapshots import encode_state

MOMENT_EVERY = 500
"""After how many records of a progressive its state is kept beside the log."""

JACKPOTS = Log("jackpots", jackpots.INITIAL, jackpots.State, jackpots.evolve)


def _fold(fact: Fact, sheet: sheets.JackpotSheet) -> sheets.JackpotSheet:
    return sheets.with_jackpot(sheet, fact.record.event)


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Folds each event that belongs to a round into that round's sheet, and keeps a moment now and then."""
    moments = [
        (fact.key, fact.record.sequence, fact.record.recorded_at_ms, fact.stored.offset, encode_state(fact.state))
        for fact in facts
        if fact.record.sequence % MOMENT_EVERY == 0
    ]
    if moments:
        await connection.executemany(
            "INSERT INTO progressive_moments (progressive_id, sequence, at_ms, place, state)"
            " VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
            moments,
        )
    events = [
        (fact.key, round_id, partial(_fold, fact))
        for fact in facts
        if (round_id := sheets.round_of(fact.record.event)) is not None
    ]
    await fold_sheets(connection, "jackpots", sheets.JackpotSheet(), events)
