"""Sheets in PostgreSQL: one row for each round, folded from the events that belong to it."""

from collections.abc import Callable, Iterable
from typing import Any

import asyncpg

from services.wire.snapshots import decode_state, encode_state


async def fold_sheets(
    connection: Any, stream: str, initial: Any, events: Iterable[tuple[str, str, Callable[[Any], Any]]]
) -> None:
    """Folds events into their sheets: (key, sheet id, the fold of one event), in the order of the log."""
    grouped: dict[tuple[str, str], list[Callable[[Any], Any]]] = {}
    for key, sheet, fold in events:
        grouped.setdefault((key, sheet), []).append(fold)
    if not grouped:
        return
    names = list(grouped)
    rows = await connection.fetch(
        "SELECT s.key, s.sheet, s.body FROM sheets s JOIN unnest($2::text[], $3::text[]) AS w(key, sheet)"
        " ON s.key = w.key AND s.sheet = w.sheet WHERE s.stream = $1",
        stream, [key for key, _ in names], [sheet for _, sheet in names],
    )  # fmt: skip
    kind = type(initial)
    bodies = {(row["key"], row["sheet"]): decode_state(kind, row["body"]) for row in rows}
    written = []
    for name in names:
        body = bodies.get(name, initial)
        for fold in grouped[name]:
            body = fold(body)
        written.append((stream, *name, encode_state(body)))
    await connection.executemany(
        "INSERT INTO sheets (stream, key, sheet, body) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (stream, key, sheet) DO UPDATE SET body = excluded.body",
        written,
    )


async def read_sheet(pool: asyncpg.Pool, stream: str, key: str, sheet: str, kind: type) -> Any:
    """The sheet, or None."""
    body = await pool.fetchval(
        "SELECT body FROM sheets WHERE stream = $1 AND key = $2 AND sheet = $3", stream, key, sheet
    )
    return None if body is None else decode_state(kind, body)
