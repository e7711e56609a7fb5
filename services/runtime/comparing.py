"""Whether PostgreSQL holds what the logs say: all of it made again in a schema beside it, and compared row by row."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from services.core.rules import RuleBook
from services.runtime.desk import KEPT_MS
from services.runtime.kafka import Kafka
from services.runtime.provision import provision_tables
from services.runtime.reaching import database, in_schema
from services.runtime.rebuilding import InUse, Say, fill, tables_of

SCRATCH = "roundlog_check"
SCRATCH_LOCK = 655012
NAMED_MAX = 20
PREFETCH = 5_000

# Where somebody stands is what the rest is made up to; it is not itself said by a log.
NOT_COMPARED = frozenset({"positions", "readers"})

FORGOTTEN_WITHIN_MS = 2 * 3600 * 1000
"""Outcomes that old or older may be dropped at any moment by the service that keeps them."""


@dataclass(slots=True)
class Comparison:
    """One table: how many rows are equal, and the first that are not."""

    table: str
    equal: int = 0
    different: int = 0
    named: list[str] = field(default_factory=list)

    def differs(self, line: str) -> None:
        """Counts a difference, and names it if it is among the first."""
        self.different += 1
        if len(self.named) < NAMED_MAX:
            self.named.append(line)


async def check(kafka: Kafka, dsn: str, book: RuleBook, say: Say) -> tuple[list[Comparison], list[str]]:
    """Compares the database, as of one moment, with what the logs make; gives also what the logs lack.

    Services may run meanwhile. Raises InUse where another check runs, Contradiction, BrokerAway.
    """
    async with database(dsn) as pool, pool.acquire() as keeper:
        if not await keeper.fetchval("SELECT pg_try_advisory_lock($1)", SCRATCH_LOCK):
            raise InUse("Another check runs on this database.")
        await keeper.execute(f"DROP SCHEMA IF EXISTS {SCRATCH} CASCADE; CREATE SCHEMA {SCRATCH}")
        try:
            await provision_tables(in_schema(dsn, SCRATCH))
            async with pool.acquire() as live, live.transaction(isolation="repeatable_read", readonly=True):
                return await _check_against(live, kafka, dsn, book, say)
        finally:
            await keeper.execute(f"DROP SCHEMA IF EXISTS {SCRATCH} CASCADE")
            await keeper.execute("SELECT pg_advisory_unlock($1)", SCRATCH_LOCK)


async def _check_against(
    live: asyncpg.Connection, kafka: Kafka, dsn: str, book: RuleBook, say: Say
) -> tuple[list[Comparison], list[str]]:
    stood = await live.fetch("SELECT stream, partition, position, log_end FROM positions")
    read = await live.fetch("SELECT reader, topic, partition, position FROM readers")
    until = {(row["stream"], row["partition"]): (row["position"], row["log_end"]) for row in stood}
    read_until = {(row["reader"], row["topic"], row["partition"]): row["position"] for row in read}
    async with database(dsn, SCRATCH) as scratch:
        lacking = await fill(kafka, scratch, book, say, until, read_until)
        async with scratch.acquire() as made, made.transaction():
            names = [name for name in await tables_of(made) if name not in NOT_COMPARED]
            kept_from = time.time_ns() // 1_000_000 - KEPT_MS + FORGOTTEN_WITHIN_MS
            return [await _compare(name, live, made, kept_from) for name in names], lacking


async def _compare(table: str, live: Any, made: Any, kept_from: int) -> Comparison:
    """Both tables in the order of their key, side by side."""
    comparison = Comparison(table)
    key = await _key_of(made, table)
    ours, theirs = _rows(live, table, key, kept_from), _rows(made, table, key, kept_from)
    mine, other = await anext(ours, None), await anext(theirs, None)
    while mine is not None or other is not None:
        if other is None or (mine is not None and mine[0] < other[0]):
            comparison.differs(f"{_named(mine)}: in the database, but not by the logs")
            mine = await anext(ours, None)
        elif mine is None or other[0] < mine[0]:
            comparison.differs(f"{_named(other)}: by the logs, but not in the database")
            other = await anext(theirs, None)
        else:
            if mine[1] == other[1]:
                comparison.equal += 1
            else:
                columns = [name for name in mine[1] if mine[1][name] != other[1][name]]
                comparison.differs(f"{_named(mine)}: another {', '.join(columns)}")
            mine, other = await anext(ours, None), await anext(theirs, None)
    return comparison


def _named(row: Any) -> str:
    return " ".join(str(part) for part in row[0])


async def _key_of(connection: Any, table: str) -> list[tuple[str, bool]]:
    """The columns of the primary key, and whether each is text."""
    rows = await connection.fetch(
        "SELECT a.attname, a.atttypid = 'text'::regtype AS is_text FROM pg_index i"
        " JOIN unnest(i.indkey) WITH ORDINALITY AS k(number, place) ON true"
        " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number"
        " WHERE i.indrelid = $1::text::regclass AND i.indisprimary ORDER BY k.place",
        table,
    )  # fmt: skip
    return [(row["attname"], row["is_text"]) for row in rows]


async def _rows(
    connection: Any, table: str, key: list[tuple[str, bool]], kept_from: int
) -> AsyncIterator[tuple[Any, dict[str, Any]]]:
    # Ordered by bytes whatever the database's collation, so that Python's order of text is the same.
    order = ", ".join(f'"{name}" COLLATE "C"' if is_text else f'"{name}"' for name, is_text in key)
    where = f"WHERE at_ms > {kept_from}" if table == "outcomes" else ""
    async for row in connection.cursor(f'SELECT * FROM "{table}" {where} ORDER BY {order}', prefetch=PREFETCH):
        yield tuple(row[name] for name, _ in key), dict(row)
