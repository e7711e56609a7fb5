"""A progressive as it was at any moment of its past, or behind any of its records: folded from its log."""

from services.core import jackpots
from services.flow import PARTITIONS
from services.progressive.projection import JACKPOTS
from services.runtime.kafka import partition_of
from services.runtime.service import Parts
from services.wire.records import CONTRACTS
from services.wire.snapshots import decode_state

LATEST = 2**62


async def state_at(parts: Parts, progressive_id: str, sequence: int | None, at_ms: int | None) -> jackpots.State:
    """The fold of all records up to that sequence and up to that time, whichever comes first; INITIAL before the first.

    Raises BrokerAway.
    """
    sequence, at_ms = sequence or LATEST, LATEST if at_ms is None else at_ms
    row = await parts.pool.fetchrow(
        "SELECT place, state FROM progressive_moments WHERE progressive_id = $1 AND sequence <= $2 AND at_ms <= $3"
        " ORDER BY sequence DESC LIMIT 1",
        progressive_id, sequence, at_ms,
    )  # fmt: skip
    state = jackpots.INITIAL if row is None else decode_state(jackpots.State, row["state"])
    place = (JACKPOTS.topic, partition_of(progressive_id, PARTITIONS))
    start, end = 0 if row is None else row["place"] + 1, parts.projection.positions.get(place, 0)
    contract = CONTRACTS[JACKPOTS.topic]
    async for stored in parts.kafka.read(*place, start, end):
        if stored.key != progressive_id:
            continue
        record = contract.decode_record(stored.value)
        if record.sequence > sequence or record.recorded_at_ms > at_ms:
            break
        if record.sequence > state.sequence:  # a duplicate is passed over
            state = jackpots.evolve(state, record.event)
    return state
