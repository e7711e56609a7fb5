"""Snapshots in PostgreSQL: the states of the keys touched and the input position, in one transaction, compared and set."""

from dataclasses import dataclass
from typing import Any

import asyncpg

from services.core.chain import Head
from services.runtime.stepping import KeyMemory, PartitionMemory, Stepper
from services.wire.snapshots import decode_state, encode_state, shape_of


@dataclass(frozen=True, slots=True)
class Place:
    """What a partition's row says: where its processor stands."""

    position: int
    log_end: int
    version: str


SAVE_POSITION = """
UPDATE positions SET position = $3, log_end = greatest(log_end, $4), version = $6, decided_until = $7, alarm = NULL
WHERE stream = $1 AND partition = $2 AND position = $5
"""
SAVE_STATES = """
INSERT INTO snapshots (stream, partition, key, sequence, hash, input_sequence, input_hash, persons, state)
SELECT $1, * FROM unnest($2::int[], $3::text[], $4::bigint[], $5::bytea[], $6::bigint[], $7::bytea[], $8::bytea[], $9::bytea[])
ON CONFLICT (stream, partition, key) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash,
    input_sequence = excluded.input_sequence, input_hash = excluded.input_hash, persons = excluded.persons, state = excluded.state
"""
SAVE_MARKS = """
INSERT INTO marks (stream, partition, key, source, sequence, number)
SELECT $1, * FROM unnest($2::int[], $3::text[], $4::text[], $5::bigint[], $6::int[])
ON CONFLICT (stream, partition, key, source) DO UPDATE SET sequence = excluded.sequence, number = excluded.number
"""


class Snapshots:
    """The snapshots of one stream's processor."""

    def __init__(self, pool: asyncpg.Pool, stepper: Stepper) -> None:
        self._pool = pool
        self._stepper = stepper
        self._stream = stepper.stream.name
        # A snapshot whose states have another shape is not read: the logs are.
        self._version = shape_of(stepper.processor.state_type)

    async def load(self, partition: int) -> tuple[PartitionMemory, int]:
        """The memory of a partition as its snapshot has it, and up to which offset of the own log commands were sent."""
        stream = self._stream
        async with self._pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
            row = await connection.fetchrow(
                "SELECT position, log_end, decided_until, version FROM positions WHERE stream = $1 AND partition = $2",
                stream,
                partition,
            )
            if row is None:
                await connection.execute(
                    "INSERT INTO positions (stream, partition, position, log_end, decided_until, version)"
                    " VALUES ($1, $2, 0, 0, 0, $3)"
                    " ON CONFLICT DO NOTHING", stream, partition, self._version,
                )  # fmt: skip
                return PartitionMemory(partition, 0, 0, 0), 0
            await connection.execute(
                "UPDATE positions SET alarm = NULL WHERE stream = $1 AND partition = $2 AND alarm IS NOT NULL",
                stream, partition,
            )  # fmt: skip
            if row["version"] != self._version:
                await connection.execute(
                    "DELETE FROM snapshots WHERE stream = $1 AND partition = $2", stream, partition
                )
                await connection.execute("DELETE FROM marks WHERE stream = $1 AND partition = $2", stream, partition)
                await connection.execute(
                    "UPDATE positions SET position = 0 WHERE stream = $1 AND partition = $2", stream, partition
                )
                return PartitionMemory(partition, 0, 0, 0), row["log_end"]
            memory = PartitionMemory(partition, row["position"], row["log_end"], row["decided_until"], row["position"])
            await self._load_keys(connection, memory)
        return memory, row["log_end"]

    async def _load_keys(self, connection: Any, memory: PartitionMemory) -> None:
        kind = self._stepper.processor.state_type
        where = "WHERE stream = $1 AND partition = $2"
        for row in await connection.fetch(f"SELECT * FROM snapshots {where}", self._stream, memory.partition):
            memory.keys[row["key"]] = KeyMemory(
                f"{self._stream}/{row['key']}",
                decode_state(kind, row["state"]),
                Head(row["sequence"], row["hash"]),
                Head(row["input_sequence"], row["input_hash"]),
                row["persons"],
            )
        for row in await connection.fetch(f"SELECT * FROM marks {where}", self._stream, memory.partition):
            memory.keys[row["key"]].seen.marks[row["source"]] = (row["sequence"], row["number"])

    async def save(self, memories: list[PartitionMemory]) -> set[int]:
        """Writes what was touched where the position is still the one last saved; gives the partitions that were overtaken.

        One transaction for all; where one was overtaken nothing of it is written and the rest is.
        """
        overtaken: set[int] = set()
        async with self._pool.acquire() as connection, connection.transaction():
            for memory in sorted(memories, key=lambda memory: memory.partition):
                status = await connection.execute(
                    SAVE_POSITION,
                    self._stream,
                    memory.partition,
                    memory.position,
                    memory.log_end,
                    memory.saved,
                    self._version,
                    # Once the inputs are past it, it says nothing.
                    memory.decided_until if memory.decided_until > memory.position else 0,
                )
                if status != "UPDATE 1":
                    overtaken.add(memory.partition)
            kept = [memory for memory in memories if memory.partition not in overtaken]
            await self._save_keys(connection, kept)
        for memory in kept:
            memory.saved = memory.position
            for key in memory.touched:
                memory.keys[key].seen.touched.clear()
            memory.touched.clear()
        return overtaken

    async def _save_keys(self, connection: Any, memories: list[PartitionMemory]) -> None:
        rows = [
            (m.partition, key, k.own.head.sequence, k.own.head.hash, k.input.head.sequence, k.input.head.hash,
             k.seen.persons, encode_state(k.state))
            for m in memories for key in sorted(m.touched) if (k := m.keys[key])
        ]  # fmt: skip
        if rows:
            await connection.execute(SAVE_STATES, self._stream, *(list(column) for column in zip(*rows, strict=True)))
        marks = [
            (m.partition, key, source, *m.keys[key].seen.marks[source])
            for m in memories for key in sorted(m.touched) for source in sorted(m.keys[key].seen.touched)
        ]  # fmt: skip
        if marks:
            await connection.execute(SAVE_MARKS, self._stream, *(list(column) for column in zip(*marks, strict=True)))

    async def alarm(self, partition: int, text: str) -> None:
        """Notes why a partition stands still, for the back office."""
        await self._pool.execute(
            "INSERT INTO positions (stream, partition, position, log_end, decided_until, version, alarm)"
            " VALUES ($1, $2, 0, 0, 0, $3, $4)"
            " ON CONFLICT (stream, partition) DO UPDATE SET alarm = excluded.alarm",
            self._stream, partition, self._version, text,
        )  # fmt: skip
