"""What is read from the archive: the records of a round, those of a key, and what stands behind a claim."""

from collections.abc import Collection
from typing import Any

import orjson
from cattrs import Converter

from services.backoffice.reconstruction import Entry, reconstruct, round_behind
from services.core.chain import processor_id
from services.core.rounds.table import Round
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

BEFORE = """
SELECT command_id FROM backoffice_records WHERE stream = $1 AND key = $2 AND sequence = $3
"""
OF_ROUND_UNTIL = f"""
SELECT {COLUMNS} FROM backoffice_records WHERE round_id = $1 AND stream = 'rounds' AND key = $2 AND sequence <= $3
ORDER BY sequence
"""
PAID_AT = f"""
SELECT {COLUMNS} FROM backoffice_records JOIN unnest($1::text[], $2::bigint[]) AS paid(progressive, number)
    ON stream = 'jackpots' AND key = progressive AND sequence = number
"""
OF_ROUNDS = f"""
SELECT {COLUMNS} FROM backoffice_records WHERE round_id = ANY($1::text[]) AND stream = 'jackpots' ORDER BY key, sequence
"""
ROUNDS_OF_SLIPS = """
SELECT DISTINCT round_id FROM backoffice_records JOIN unnest($1::text[], $2::bigint[]) AS wanted(progressive, first)
    ON key = progressive AND (event ->> 'slip_number')::bigint >= first
WHERE stream = 'jackpots' AND event_name = 'PayoutDocumented'
"""
ROUND_OF_SLIP = """
SELECT round_id FROM backoffice_records
WHERE stream = 'jackpots' AND event_name = 'PayoutDocumented' AND key = $1 AND (event ->> 'slip_number')::bigint = $2
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


# What stands behind a claim -----------------------------------------------------------------------------


async def read_jackpots(pool: Any, round_ids: Collection[str]) -> list[Entry]:
    """What progressives recorded of some rounds, each progressive's in its order."""
    return [_entry(row) for row in await pool.fetch(OF_ROUNDS, sorted(round_ids))]


async def read_awards(pool: Any, places: Collection[tuple[str, int]]) -> list[Entry]:
    """The records at these places of the log of progressives."""
    return [_entry(row) for row in await pool.fetch(PAID_AT, *_columns(places))]


async def rounds_of_slips(pool: Any, first: Collection[tuple[str, int]]) -> list[str]:
    """The rounds of the slips of each progressive, from a number on."""
    return [row["round_id"] for row in await pool.fetch(ROUNDS_OF_SLIPS, *_columns(first))]


async def round_of_slip(pool: Any, progressive_id: str, number: int) -> str | None:
    """The round of a slip, None where there is no such slip."""
    return await pool.fetchval(ROUND_OF_SLIP, progressive_id, number)  # type: ignore[no-any-return]


async def read_hand_behind(pool: Any, progressive_id: str, sequence: int) -> Round | None:
    """The round as it stood when the hand was keyed from which a record of a progressive followed, whatever was keyed
    later. None where no hand is behind it, or the archive does not have it yet. Raises RoundIncomplete."""
    place = "jackpots", progressive_id, sequence
    while place[0] != "rounds":
        sent = processor_id(await pool.fetchval(BEFORE, *place) or "")
        if sent is None:
            return None
        place = sent.stream, sent.key, sent.sequence
    _, table_id, last = place
    round_id = await pool.fetchval(
        "SELECT round_id FROM backoffice_records WHERE stream = 'rounds' AND key = $1 AND sequence = $2", table_id, last
    )
    if round_id is None:
        return None
    played = [_entry(row) for row in await pool.fetch(OF_ROUND_UNTIL, round_id, table_id, last)]
    opening = await pool.fetchrow(OPENING, table_id, played[0].sequence)
    return round_behind(played if opening is None else [_entry(opening), *played], round_id)[0]


def _columns(pairs: Collection[tuple[str, int]]) -> tuple[list[str], list[int]]:
    return [name for name, _ in pairs], [number for _, number in pairs]
