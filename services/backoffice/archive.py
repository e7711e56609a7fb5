"""What is read from the archive: the records of a round, and those of a key."""

from typing import Any

import orjson
from cattrs import Converter

from services.backoffice.reconstruction import Entry, reconstruct
from services.wire.records import CONTRACTS

_CONVERTER = Converter()
_CONVERTER.register_structure_hook(bytes, lambda value, _: bytes.fromhex(value))
_EVENTS = {name: {kind.__name__: kind for kind in contract.event_types} for name, contract in CONTRACTS.items()}

COLUMNS = "stream, key, sequence, at_ms, actor, event_name, hash, event"
OF_ROUND = f"SELECT {COLUMNS} FROM backoffice_records WHERE round_id = $1"
OF_HOLDS = f"""
SELECT {COLUMNS} FROM backoffice_records WHERE stream = 'accounts' AND event ? 'hold_id' AND round_id IS NULL
    AND (key, event ->> 'hold_id') IN (SELECT * FROM unnest($1::text[], $2::text[]))
"""
OPENING = f"""
SELECT {COLUMNS} FROM backoffice_records WHERE stream = 'rounds' AND event_name = 'TableOpened' AND key = $1
    AND sequence < $2 ORDER BY sequence DESC LIMIT 1
"""
OF_KEY = """
SELECT stream, key, sequence, partition, "offset", at_ms, command_id, actor, round_id, previous_hash, hash, event
FROM backoffice_records WHERE stream = $1 AND key = $2 AND sequence >= $3 ORDER BY sequence LIMIT $4
"""


def event_of(stream: str, name: str, body: str) -> Any:
    """An event from its JSON in the archive."""
    return _CONVERTER.structure(orjson.loads(body), _EVENTS[stream][name])


def _entry(row: Any) -> Entry:
    event = event_of(row["stream"], row["event_name"], row["event"])
    return Entry(row["stream"], row["key"], row["sequence"], row["at_ms"], row["actor"], row["hash"], event)


async def read_round(pool: Any, round_id: str) -> dict[str, Any] | None:
    """The reconstruction of a round, or None where no log knows it. Raises RoundIncomplete."""
    entries = [_entry(row) for row in await pool.fetch(OF_ROUND, round_id)]
    played = [entry for entry in entries if entry.stream == "rounds"]
    if not played:
        return None
    holds = [
        (entry.key, entry.event.hold_id)
        for entry in entries
        if entry.stream == "accounts" and hasattr(entry.event, "hold_id")
    ]
    if holds:
        entries += [
            _entry(row) for row in await pool.fetch(OF_HOLDS, *(list(column) for column in zip(*holds, strict=True)))
        ]
    first = min(played, key=lambda entry: entry.sequence)
    opening = await pool.fetchrow(OPENING, first.key, first.sequence)
    return reconstruct(round_id, entries if opening is None else [_entry(opening), *entries])


async def read_records(pool: Any, stream: str, key: str, start: int, limit: int) -> list[dict[str, Any]]:
    """The archived records of a key from a sequence on, as JSON; hashes as hex."""
    rows = await pool.fetch(OF_KEY, stream, key, start, limit)
    return [
        {
            **row,
            "previous_hash": row["previous_hash"].hex(),
            "hash": row["hash"].hex(),
            "event": orjson.loads(row["event"]),
        }
        for row in rows
    ]
