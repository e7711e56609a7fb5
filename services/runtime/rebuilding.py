"""Everything in PostgreSQL made again from the logs, by the same folds and projections that made it at first."""

import contextlib
import importlib
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import asyncpg

from services.core.asking import Asking
from services.core.refusal import Refused
from services.core.rules import RuleBook
from services.flow import PARTITIONS, PORTS
from services.runtime.desk import Desk
from services.runtime.kafka import Kafka, Stored
from services.runtime.parts import Definition
from services.runtime.projecting import Projection
from services.runtime.provision import PROVISIONING_LOCK, provision_tables
from services.runtime.service import projection_of
from services.runtime.snapshots import PostgresTables, Snapshots
from services.runtime.stepping import Contradiction, Input, PartitionMemory, Stepper, read_command
from services.runtime.watching import Watch
from services.wire.records import CONTRACTS, Unreadable

CHUNK = 2_000
"""So many records are applied in one transaction."""

Say = Callable[[str], None]
Place = tuple[str, int]
Until = Mapping[Place, tuple[int, int]]
"""By stream and partition: the input position and the end of the own log at which a processor stood."""


class InUse(Exception):
    """Services run on the database; the sentence says so."""


def definitions() -> list[Definition]:
    """Every service. Found by name: the runtime must not know them, and they must not know each other."""
    return [importlib.import_module(f"services.{name}.__main__").DEFINITION for name in PORTS]


# Processors -------------------------------------------------------------------------------------------


async def _adopt_log(stepper: Stepper, memory: PartitionMemory, kafka: Kafka, end: int) -> None:
    """Folds the own log up to an offset; nothing is sent again, for it was sent."""
    chunk: list[tuple[str, bytes]] = []
    async for stored in kafka.read(stepper.stream.name, memory.partition, 0, end):
        chunk.append((stored.key, stored.value))
        # A chunk must not end inside the records of one command.
        if len(chunk) >= CHUNK and stepper.read_record(stored.key, stored.value).last:
            stepper.adopt(memory, chunk, resend_from=sys.maxsize)
            chunk = []
    stepper.adopt(memory, chunk, resend_from=sys.maxsize)
    memory.log_end = end


def _is_quiet(stepper: Stepper, memory: PartitionMemory, stored: Stored, passed: bool) -> bool:
    """Whether nothing follows from an input. `passed`: the processor went past it: bytes unread are in dead-letters."""
    known = stepper.key_memory(memory, stored.key)
    processor = stepper.processor
    try:
        if processor.observe is None:
            asked = read_command(stepper.stream.name, stored.key, stored.value)
            if known.seen.has(asked.command_id):
                return True
            actor, asked_for = asked.actor, asked.command
        else:
            record = CONTRACTS[stepper.stream.input].decode_record(stored.value)
            if not known.input.fits(record, stored.value):
                return True
            actor, asked_for = record.actor, record.event
        return not processor.decide(known.state, asked_for, Asking(stored.key, actor, stored.at_ms, stepper.book))
    except Unreadable:
        return passed and processor.observe is None
    except Refused:
        return False
    except Exception:
        # The processor stops there too, and says why when it runs.
        return False


async def rebuild_processor(
    stepper: Stepper, kafka: Kafka, pool: asyncpg.Pool, until: Until | None, say: Say
) -> list[str]:
    """Makes the snapshots of a stream from its log, and its position: before the first input that it has not answered.

    With `until`, as of where it stood; gives what the log then lacks. Raises Contradiction, BrokerAway.
    """
    snapshots = Snapshots(PostgresTables(pool, stepper.stream.name), stepper)
    lacking: list[str] = []
    stream, topic = stepper.stream.name, stepper.stream.input
    ends = await kafka.ends(sorted({stream, topic}))
    for partition in range(PARTITIONS):
        memory, _ = await snapshots.load(partition)
        first, input_end = ends[topic, partition]
        log_end = ends[stream, partition][1]
        if until is not None:
            input_end, log_end = until.get((stream, partition), (0, 0))
        await _adopt_log(stepper, memory, kafka, log_end)
        memory.position = max(memory.position, first)
        async for stored in kafka.read(topic, partition, memory.position, input_end):
            fresh = stored.offset >= memory.decided_until
            if fresh and not _is_quiet(stepper, memory, stored, until is not None):
                if until is not None:
                    lacking.append(
                        f"{stream}-{partition}: what follows from input offset {stored.offset} is not in the log"
                    )
                break
            outcome = stepper.step(memory, [Input(stored.offset, stored.at_ms, stored.key, stored.value)])
            if outcome.stopped is not None:
                raise Contradiction(str(outcome.stopped))
        await snapshots.save([memory])
    say(f"{stream}: the states of its processor")
    return lacking


# Projections ------------------------------------------------------------------------------------------


class _Replay(Projection):
    """A projection that reads up to given offsets and ends."""

    async def replay(self, ends: Mapping[Place, int]) -> None:
        self._stand(await self.tables.load(), list(ends))
        for (topic, partition), end in sorted(ends.items()):
            batch: list[Stored] = []
            async for stored in self.kafka.read(topic, partition, self.positions[topic, partition], end):
                batch.append(stored)
                if len(batch) == CHUNK:
                    await self._take([batch])
                    batch = []
            if batch:
                await self._take([batch])


async def rebuild_projection(
    definition: Definition, kafka: Kafka, pool: asyncpg.Pool, until: Mapping[tuple[str, str, int], int] | None, say: Say
) -> None:
    """Makes the rows of a service from its logs, to their ends or, with `until`, to where its reader stood."""
    desk = None
    if definition.forms is not None and definition.stream is not None:
        desk = Desk(definition.stream, kafka, pool, Watch(kafka, pool, definition.stream.name), 0)
    topics = [each.topic for each in definition.logs]
    ends = {place: end for place, (_, end) in (await kafka.ends(topics)).items()}
    if until is not None:
        ends = {(topic, partition): until.get((definition.name, topic, partition), 0) for topic, partition in ends}
    await projection_of(definition, desk, kafka, pool, _Replay).replay(ends)
    if desk is not None:
        await desk.forget_old(time.time_ns() // 1_000_000)
    say(f"{definition.name}: the rows of its projection")


# All of it --------------------------------------------------------------------------------------------


async def fill(
    kafka: Kafka,
    pool: asyncpg.Pool,
    book: RuleBook,
    say: Say,
    until: Until | None = None,
    read_until: Mapping[tuple[str, str, int], int] | None = None,
) -> list[str]:
    """Fills empty tables from the logs; gives what the logs lack of what the processors had answered."""
    lacking: list[str] = []
    for definition in definitions():
        if definition.processor is not None:
            lacking += await rebuild_processor(Stepper(definition.processor, book), kafka, pool, until, say)
        await rebuild_projection(definition, kafka, pool, read_until, say)
    return lacking


@contextlib.asynccontextmanager
async def _alone(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    """Nobody else is on the database, and no service begins. Raises InUse."""
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", PROVISIONING_LOCK):
            raise InUse("A service is starting on this database: stop the services first.")
        others = await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
        if others:
            raise InUse(f"The database is in use, by {others} connections: stop the services first.")
        yield connection
    finally:
        await connection.close()


async def rebuild(kafka: Kafka, dsn: str, book: RuleBook, say: Say) -> None:
    """Empties every table and makes it again. Interrupted, it is begun anew, or the services read on by themselves.

    Raises InUse, Contradiction, BrokerAway.
    """
    await provision_tables(dsn)
    async with _alone(dsn) as connection:
        names = await tables_of(connection)
        await connection.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in names))
        say(f"emptied: {', '.join(names)}")
        pool = await asyncpg.create_pool(dsn, min_size=1, max_size=4, timeout=5)
        try:
            await fill(kafka, pool, book, say)
        finally:
            await pool.close()


async def tables_of(connection: Any) -> list[str]:
    """The names of all tables where the connection looks first."""
    rows = await connection.fetch(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
        " AND table_type = 'BASE TABLE' ORDER BY table_name"
    )
    return [row["table_name"] for row in rows]
