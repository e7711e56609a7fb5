"""Snapshots in PostgreSQL: what is loaded is what was saved, and a worker that was overtaken saves nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import asyncpg
import pytest

from services.flow import BY_NAME
from services.runtime import database, desk
from services.runtime.database import pool_of
from services.runtime.provision import provision_tables
from services.runtime.snapshots import PostgresTables, Snapshots
from services.runtime.stepping import PartitionMemory, Stepper
from services.wagers.processor import PROCESSOR as WAGERS
from tests.services.test_stepping import inputs_of
from tests.support import parts
from tests.support.worlds import BOOK


async def database_of(postgres: parts.Database, name: str) -> str:
    """A database of its own, with all tables; where it is."""
    connection = await asyncpg.connect(postgres.dsn)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    dsn = f"{postgres.dsn.rpartition('/')[0]}/{name}"
    await provision_tables(dsn)
    return dsn


def with_snapshots(postgres: parts.Database, name: str, act: Callable[[Snapshots, Stepper], Awaitable[None]]) -> None:
    """Acts on the snapshots of a database of its own."""

    async def run() -> None:
        dsn = await database_of(postgres, name)
        pool = await pool_of(dsn)
        try:
            stepper = Stepper(WAGERS, BOOK)
            await act(Snapshots(PostgresTables(pool, stepper.stream.name), stepper), stepper)
        finally:
            await pool.close()

    asyncio.run(run())


def log_of(stepper: Stepper) -> list[tuple[str, bytes]]:
    """The whole log that follows from the inputs."""
    outcome = stepper.step(PartitionMemory(0, 0, 0, 0), inputs_of("wagers"))
    return [record for group in outcome.groups for record in group]


def test_a_second_crash_while_the_first_is_made_good_decides_nothing_twice(postgres: parts.Database) -> None:
    """The log has every answer; the worker adopts it, folds half of the inputs, saves, and dies again."""

    async def act(snapshots: Snapshots, stepper: Stepper) -> None:
        log, inputs = log_of(stepper), inputs_of("wagers")
        first, _ = await snapshots.load(0)
        stepper.adopt(first, log)
        first.log_end = len(log)
        half = stepper.step(first, inputs[: len(inputs) // 2])
        assert half.groups == []
        assert await snapshots.save([first]) == set()

        second, sent_until = await snapshots.load(0)
        assert (second.position, second.log_end, sent_until) == (first.position, len(log), len(log))
        stepper.adopt(second, log[second.log_end :])
        rest = stepper.step(second, inputs[len(inputs) // 2 :])
        assert rest.stopped is None
        assert rest.groups == [], "an input that the log has answered was answered again"

    with_snapshots(postgres, "snapshots_crash", act)


def test_a_worker_that_was_overtaken_saves_nothing(postgres: parts.Database) -> None:
    async def act(snapshots: Snapshots, stepper: Stepper) -> None:
        inputs = inputs_of("wagers")
        slow, _ = await snapshots.load(0)
        quick, _ = await snapshots.load(0)
        stepper.step(quick, inputs)
        assert await snapshots.save([quick]) == set()
        stepper.step(slow, inputs[:3])
        assert await snapshots.save([slow]) == {0}
        found, _ = await snapshots.load(0)
        assert found.position == quick.position
        assert {key: known.own.head for key, known in found.keys.items()} == {
            key: known.own.head for key, known in quick.keys.items()
        }

    with_snapshots(postgres, "snapshots_overtaken", act)


MARKED = "INSERT INTO accounts_entries VALUES ('ann', 1, 0, 'deposit', 100, 'r', 100, 0)"
"""Locks its row, and the table against whoever would change it or make an index."""


@pytest.mark.timeout(60)
async def test_a_service_that_starts_waits_for_nobody_who_writes(postgres: parts.Database) -> None:
    dsn = await database_of(postgres, "roundlog_started_beside")
    writer = await asyncpg.connect(dsn)
    try:
        async with writer.transaction():
            await writer.execute(MARKED)
            async with asyncio.timeout(20):
                await provision_tables(dsn)
    finally:
        await writer.close()


@pytest.mark.timeout(60)
async def test_a_table_that_is_missing_is_made_at_the_next_start(postgres: parts.Database) -> None:
    dsn = await database_of(postgres, "roundlog_lacks_an_index")
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("DROP INDEX accounts_entries_by_time")
        await provision_tables(dsn)
        assert await connection.fetchval("SELECT to_regclass('accounts_entries_by_time')") is not None
    finally:
        await connection.close()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("sent", [b"", b"P\0\0\0\x10\0SELECT 1\0\0\0H\0\0\0\4"], ids=["between", "half-way through"])
async def test_who_is_paused_in_a_transaction_keeps_no_rows_from_the_others(
    sent: bytes, postgres: parts.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two statements, and half-way through one: the database has been told to parse it, and nothing more."""
    dsn = await database_of(postgres, f"roundlog_paused_{len(sent)}")
    monkeypatch.setattr(database, "IDLE_IN_TRANSACTION_MS", 500)
    monkeypatch.setattr(database, "TRANSACTION_MS", 1_000)
    pool, other = await pool_of(dsn), await asyncpg.connect(dsn)
    try:
        paused = await pool.acquire()
        await paused.execute("BEGIN")
        await paused.execute(MARKED)
        paused._con._transport.write(sent)
        async with asyncio.timeout(20):
            await other.execute(MARKED)
    finally:
        await other.close()
        pool.terminate()


@pytest.mark.timeout(60)
async def test_old_outcomes_are_dropped_to_the_last_however_many(
    postgres: parts.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "FORGOTTEN_AT_ONCE", 10)
    pool = await pool_of(await database_of(postgres, "roundlog_forgets"))
    try:
        now_ms = 10 * desk.KEPT_MS
        young, old = now_ms - desk.KEPT_MS, now_ms - desk.KEPT_MS - 1
        await pool.executemany(
            "INSERT INTO outcomes (stream, command_id, request_hash, at_ms, status, answer) VALUES ($1, $2, '', $3, 200, '')",
            [(stream, f"{number}", old if number < 25 else young) for stream in ("accounts", "rounds") for number in range(28)],
        )  # fmt: skip
        some = desk.Desk(BY_NAME["accounts"], cast(Any, None), pool, cast(Any, None), 1.0)
        await some.forget_old(now_ms)
        left = await pool.fetch("SELECT stream, count(*) FROM outcomes GROUP BY stream ORDER BY stream")
        assert [tuple(row) for row in left] == [("accounts", 3), ("rounds", 28)]
    finally:
        pool.terminate()
