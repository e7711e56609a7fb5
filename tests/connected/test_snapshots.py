"""Snapshots in PostgreSQL: what is loaded is what was saved, and a worker that was overtaken saves nothing."""

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg

from services.runtime.database import pool_of
from services.runtime.provision import provision_tables
from services.runtime.snapshots import PostgresTables, Snapshots
from services.runtime.stepping import PartitionMemory, Stepper
from services.wagers.processor import PROCESSOR as WAGERS
from tests.services.test_stepping import inputs_of
from tests.support import parts
from tests.support.worlds import BOOK


def with_snapshots(postgres: parts.Database, name: str, act: Callable[[Snapshots, Stepper], Awaitable[None]]) -> None:
    """Acts on the snapshots of a database of its own."""

    async def run() -> None:
        connection = await asyncpg.connect(postgres.dsn)
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()
        dsn = f"{postgres.dsn.rpartition('/')[0]}/{name}"
        await provision_tables(dsn)
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
