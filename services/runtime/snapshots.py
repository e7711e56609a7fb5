"""Snapshots: the states of the keys touched and the input position, in one transaction, compared and set.

What is kept, and when, is here as `Snapshots`; the rows themselves are PostgreSQL's, behind `SnapshotTables`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import asyncpg

from services.core.chain import Head
from services.runtime.stepping import KeyMemory, PartitionMemory, Stepper
from services.wire.snapshots import decode_state, encode_state, shape_of


@dataclass(frozen=True, slots=True)
class Place:
    """What a partition's row says: where its processor stands."""

    position: int
    log_end: int
    decided_until: int


class KeyRow(NamedTuple):
    """The state of one key behind the last input that touched it."""

    partition: int
    key: str
    sequence: int
    hash: bytes
    input_sequence: int
    input_hash: bytes
    persons: bytes
    state: bytes


class MarkRow(NamedTuple):
    """The highest command that a key has seen of one processor and key."""

    partition: int
    key: str
    source: str
    sequence: int
    number: int


@dataclass(frozen=True, slots=True)
class Held:
    """All that is kept of a partition."""

    place: Place
    keys: Sequence[KeyRow] = ()
    marks: Sequence[MarkRow] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A partition moves on from where it must still be, with the rows of the keys that were touched."""

    partition: int
    expected: int
    place: Place
    keys: Sequence[KeyRow]
    marks: Sequence[MarkRow]


class SnapshotTables(Protocol):
    """The rows of one stream's snapshots."""

    async def read(self, partition: int, version: str) -> Held:
        """What is held of a partition, as of one moment; its alarm is over.

        Rows of another version are dropped: the partition then stands at position 0, and the end of its own log is kept.
        """

    async def move(self, moves: Sequence[Move], version: str) -> set[int]:
        """Writes each move whose partition is still at the expected position, all in one transaction; gives the others."""

    async def alarm(self, partition: int, version: str, text: str) -> None:
        """Notes why a partition stands still, for the back office."""


class Snapshots:
    """The snapshots of one stream's processor. `version` is the shape of its states, unless told."""

    def __init__(self, tables: SnapshotTables, stepper: Stepper, version: str | None = None) -> None:
        self._tables = tables
        self._name = stepper.stream.name
        self._kind = stepper.processor.state_type
        # A snapshot whose states have another shape is not read: the logs are.
        self._version = version or shape_of(self._kind)

    async def load(self, partition: int) -> tuple[PartitionMemory, int]:
        """The memory of a partition as its snapshot has it, and up to which offset of the own log commands were sent."""
        held = await self._tables.read(partition, self._version)
        place = held.place
        if not place.position and not held.keys:
            # Nothing is folded yet, or what was is dropped: the log is read from its beginning.
            return PartitionMemory(partition, 0, 0, 0), place.log_end
        memory = PartitionMemory(partition, place.position, place.log_end, place.decided_until, place.position)
        for row in held.keys:
            memory.keys[row.key] = KeyMemory(
                f"{self._name}/{row.key}",
                decode_state(self._kind, row.state),
                Head(row.sequence, row.hash),
                Head(row.input_sequence, row.input_hash),
                row.persons,
            )
        for mark in held.marks:
            memory.keys[mark.key].seen.marks[mark.source] = (mark.sequence, mark.number)
        return memory, place.log_end

    async def save(self, memories: list[PartitionMemory]) -> set[int]:
        """Writes what was touched where the position is still the one last saved; gives the partitions that were overtaken.

        One transaction for all; where one was overtaken nothing of it is written and the rest is.
        """
        overtaken = await self._tables.move([_move_of(memory) for memory in memories], self._version)
        for memory in memories:
            if memory.partition in overtaken:
                continue
            memory.saved = memory.position
            for key in memory.touched:
                memory.keys[key].seen.touched.clear()
            memory.touched.clear()
        return overtaken

    async def alarm(self, partition: int, text: str) -> None:
        """Notes why a partition stands still, for the back office."""
        await self._tables.alarm(partition, self._version, text)


def _move_of(memory: PartitionMemory) -> Move:
    # Once the inputs are past it, it says nothing.
    decided_until = memory.decided_until if memory.decided_until > memory.position else 0
    touched = [(key, memory.keys[key]) for key in sorted(memory.touched)]
    return Move(
        memory.partition,
        memory.saved,
        Place(memory.position, memory.log_end, decided_until),
        [
            KeyRow(
                memory.partition, key, known.own.head.sequence, known.own.head.hash, known.input.head.sequence,
                known.input.head.hash, known.seen.persons, encode_state(known.state),
            )
            for key, known in touched
        ],
        [
            MarkRow(memory.partition, key, source, *known.seen.marks[source])
            for key, known in touched for source in sorted(known.seen.touched)
        ],
    )  # fmt: skip


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


class PostgresTables:
    """The rows of one stream's snapshots in PostgreSQL."""

    def __init__(self, pool: asyncpg.Pool, stream: str) -> None:
        self._pool = pool
        self._stream = stream

    async def read(self, partition: int, version: str) -> Held:
        where = "WHERE stream = $1 AND partition = $2"
        at = (self._stream, partition)
        async with self._pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
            row = await connection.fetchrow(
                f"SELECT position, log_end, decided_until, version FROM positions {where}", *at
            )
            if row is None:
                await connection.execute(
                    "INSERT INTO positions (stream, partition, position, log_end, decided_until, version)"
                    " VALUES ($1, $2, 0, 0, 0, $3) ON CONFLICT DO NOTHING",
                    *at, version,
                )  # fmt: skip
                return Held(Place(0, 0, 0))
            await connection.execute(f"UPDATE positions SET alarm = NULL {where} AND alarm IS NOT NULL", *at)
            if row["version"] != version:
                await connection.execute(f"DELETE FROM snapshots {where}", *at)
                await connection.execute(f"DELETE FROM marks {where}", *at)
                await connection.execute(f"UPDATE positions SET position = 0, decided_until = 0 {where}", *at)
                return Held(Place(0, row["log_end"], 0))
            keys = await connection.fetch(
                "SELECT partition, key, sequence, hash, input_sequence, input_hash, persons, state"
                f" FROM snapshots {where}",
                *at,
            )
            marks = await connection.fetch(f"SELECT partition, key, source, sequence, number FROM marks {where}", *at)
        place = Place(row["position"], row["log_end"], row["decided_until"])
        return Held(place, [KeyRow(*each) for each in keys], [MarkRow(*each) for each in marks])

    async def move(self, moves: Sequence[Move], version: str) -> set[int]:
        overtaken: set[int] = set()
        async with self._pool.acquire() as connection, connection.transaction():
            # In one order whoever writes, so that two workers cannot wait for each other.
            for move in sorted(moves, key=lambda move: move.partition):
                place = move.place
                status = await connection.execute(
                    SAVE_POSITION,
                    self._stream, move.partition, place.position, place.log_end, move.expected, version,
                    place.decided_until,
                )  # fmt: skip
                if status != "UPDATE 1":
                    overtaken.add(move.partition)
            kept = [move for move in moves if move.partition not in overtaken]
            await self._write(connection, SAVE_STATES, [row for move in kept for row in move.keys])
            await self._write(connection, SAVE_MARKS, [row for move in kept for row in move.marks])
        return overtaken

    async def _write(self, connection: Any, statement: str, rows: Sequence[KeyRow | MarkRow]) -> None:
        if rows:
            await connection.execute(statement, self._stream, *(list(column) for column in zip(*rows, strict=True)))

    async def alarm(self, partition: int, version: str, text: str) -> None:
        await self._pool.execute(
            "INSERT INTO positions (stream, partition, position, log_end, decided_until, version, alarm)"
            " VALUES ($1, $2, 0, 0, 0, $3, $4)"
            " ON CONFLICT (stream, partition) DO UPDATE SET alarm = excluded.alarm",
            self._stream, partition, version, text,
        )  # fmt: skip
