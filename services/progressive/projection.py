"""What a progressive shows: its levels as the log has them, now or at any moment of its past, and a sheet of claims and
Envy Bonuses for each round."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from prometheus_client.core import Metric

from services.core import jackpots, sheets
from services.flow import PARTITIONS
from services.runtime.kafka import partition_of
from services.runtime.metrics import Figures, gauges
from services.runtime.parts import Parts
from services.runtime.projecting import Fact, Log, Projection
from services.runtime.sheets import fold_sheets
from services.wire.records import CONTRACTS
from services.wire.snapshots import decode_state, encode_state

MOMENT_EVERY = 500
"""After how many records of a progressive its state is kept beside the log."""

LATEST = 2**62

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


def figures(parts: Parts) -> Figures:
    """Whether every level holds what came in less what went out."""

    async def ask() -> Sequence[Metric]:
        return [imbalances(parts.projection.states_of("jackpots"))]

    return ask


def imbalances(states: Mapping[str, jackpots.State]) -> Metric:
    """The imbalance of each level of some progressives, by their ids."""
    values = [
        ((progressive_id, level.name), level.imbalance)
        for progressive_id, state in states.items()
        for level in state.levels
    ]
    return gauges(
        "roundlog_level_imbalance_microcents",
        "What a level holds and what has left it, less all that came in, in microcents. Anything but 0 is a defect.",
        ["progressive", "level"],
        values,
    )


async def state_at(
    projection: Projection, pool: Any, progressive_id: str, sequence: int | None, at_ms: int | None
) -> jackpots.State:
    """A progressive at a moment of its past: the fold of all records up to that sequence and up to that time,
    whichever comes first; INITIAL before the first.

    Raises BrokerAway.
    """
    sequence, at_ms = sequence or LATEST, LATEST if at_ms is None else at_ms
    row = await pool.fetchrow(
        "SELECT place, state FROM progressive_moments WHERE progressive_id = $1 AND sequence <= $2 AND at_ms <= $3"
        " ORDER BY sequence DESC LIMIT 1",
        progressive_id, sequence, at_ms,
    )  # fmt: skip
    state = jackpots.INITIAL if row is None else decode_state(jackpots.State, row["state"])
    place = (JACKPOTS.topic, partition_of(progressive_id, PARTITIONS))
    start, end = 0 if row is None else row["place"] + 1, projection.positions.get(place, 0)
    contract = CONTRACTS[JACKPOTS.topic]
    async for stored in projection.kafka.read(*place, start, end):
        if stored.key != progressive_id:
            continue
        record = contract.decode_record(stored.value)
        if record.sequence > sequence or record.recorded_at_ms > at_ms:
            break
        if record.sequence > state.sequence:  # a duplicate is passed over
            state = jackpots.evolve(state, record.event)
    return state
