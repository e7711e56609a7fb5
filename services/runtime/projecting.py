"""Projections: a log tailed into rows. Rows and position move in one transaction; then whoever waits is told.

Every instance of a service tails the whole log, so that each can answer its own callers. They may all
write: a row lock on the position makes the second find the work done. Where a projection stands is PostgreSQL's, behind
`ReaderTables`; the rows themselves are written by each service's `apply`.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import asyncpg

from services.core.chain import Head
from services.runtime.database import DATABASE_AWAY, fetch_in_time, reason_of
from services.runtime.kafka import BrokerAway, Stored, Tail
from services.runtime.stepping import Chain, Contradiction, newer_writer
from services.runtime.vital import start_vital, stop_vital
from services.wire.records import CONTRACTS, Record, Unreadable
from services.wire.snapshots import decode_state, encode_state, shape_of

RETRY_SECONDS = 0.25
IDLE_MS = 200
FRESH_MS = 1_000
PATIENCE_SECONDS = 3.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fact:
    """One record of a log as a projection sees it: `state` is the fold of its key's events behind it, where one is kept."""

    topic: str
    key: str
    record: Record
    stored: Stored
    state: Any


@dataclass(frozen=True, slots=True)
class Log:
    """One log that a projection reads. `initial`, `state_type`, `evolve`: the fold that it keeps for each key, if any."""

    topic: str
    initial: Any = None
    state_type: type | None = None
    evolve: Callable[[Any, Any], Any] | None = None


Apply = Callable[[Any, Sequence[Fact]], Awaitable[None]]
Listener = Callable[[Sequence[Fact]], None]
TopicPartition = tuple[str, int]


class HeadRow(NamedTuple):
    """The last record of a key as a projection has it, and the fold of its events where one is kept."""

    topic: str
    partition: int
    key: str
    sequence: int
    hash: bytes
    state: bytes


@dataclass(frozen=True, slots=True)
class Stood:
    """Where a projection stands by its rows; `versions` are those of the shapes that it wrote."""

    positions: Mapping[TopicPartition, int]
    versions: frozenset[str]
    heads: Sequence[HeadRow]


class Writing(Protocol):
    """One transaction: `connection` is what rows are written with."""

    connection: Any

    async def stand(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Where these places stand. Nobody else moves them before this transaction ends."""

    async def advance(
        self, moved: Mapping[TopicPartition, int], last_ms: Mapping[TopicPartition, int], heads: Sequence[HeadRow]
    ) -> None:
        """Moves places on, with when the last record of each was written and the heads of the keys that were touched.
        Their alarm is over."""


class ReaderTables(Protocol):
    """The rows of one projection that say where it stands."""

    async def load(self) -> Stood:
        """All of it, as of one moment. Its alarms are over."""

    def writing(self, version: str) -> AbstractAsyncContextManager[Writing]:
        """A transaction, which is carried out where its block ends well."""

    async def alarm(self, text: str) -> None:
        """Notes why the projection stands still."""

    async def positions(self, seconds: float) -> Mapping[TopicPartition, int]:
        """Where it stands, also to see whether the database answers in time; raises one of DATABASE_AWAY where not."""


class Logs(Protocol):
    """What a projection asks of the broker; `runtime/kafka.py` says what each means."""

    def tail(self) -> AbstractAsyncContextManager[Tail]: ...
    def read(self, topic: str, partition: int, start: int, end: int) -> AsyncIterator[Stored]: ...


class _Key:
    __slots__ = ("chain", "state")

    def __init__(self, chain: Chain, state: Any) -> None:
        self.chain = chain
        self.state = state


def _read(stored: Stored) -> Record:
    try:
        return CONTRACTS[stored.topic].decode_record(stored.value)
    except Unreadable as error:
        place = f"{stored.topic}-{stored.partition} offset {stored.offset} ({stored.key})"
        raise newer_writer(place, error) from None


class Projection:
    """Tails logs under a reader's name, applies each batch, and then tells the listeners of it."""

    def __init__(
        self,
        reader: str,
        logs: Sequence[Log],
        apply: Apply,
        kafka: Logs,
        tables: ReaderTables,
        shapes: Sequence[type] = (),
    ) -> None:
        self.reader = reader
        self.logs = {each.topic: each for each in logs}
        self.listeners: list[Listener] = []
        self.on_missed: list[Callable[[], None]] = []
        """Called when facts were written that the listeners were never told of."""
        self.kafka = kafka
        self.tables = tables
        self.version = shape_of(*(each.state_type for each in logs), *shapes)
        self.alarm: str | None = None
        self.caught_up = asyncio.Event()
        self.fresh_at = 0.0
        self._waits: str | None = None
        self.positions: dict[tuple[str, int], int] = {}
        self._ends: dict[tuple[str, int], int] = {}
        self._tailing: Tail | None = None
        self._apply = apply
        self._keys: dict[tuple[str, str], _Key] = {}
        self._held: dict[tuple[str, int], list[tuple[Stored, Record]]] = {}
        self._moved = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to tail."""
        self._task = start_vital(self._run(), f"projection-{self.reader}")

    async def stop(self) -> None:
        """Ends; the batch in hand is whole or was never written."""
        await stop_vital(self._task)

    @property
    def fresh(self) -> bool:
        """Whether the broker and the database answered within the last second."""
        return self.alarm is None and self.age_ms < FRESH_MS

    @property
    def age_ms(self) -> int:
        """How long ago the broker and the database were last known to answer."""
        return round((time.monotonic() - self.fresh_at) * 1000)

    def behind(self) -> dict[tuple[str, int], int]:
        """How many records of each partition are not read yet, as the broker said when it last gave some."""
        if self._tailing is not None:
            for place in self._ends:
                known = self._tailing.highwater(place)
                self._ends[place] = self._ends[place] if known is None else known
        return {place: max(0, end - self.positions.get(place, 0)) for place, end in self._ends.items()}

    @property
    def waits(self) -> str | None:
        """Why nothing was taken for a second or longer, in the words of the broker or the database; None where it was."""
        return None if self.fresh else self._waits

    def state_of(self, topic: str, key: str) -> Any:
        """The fold of a key's events as last applied, or None."""
        known = self._keys.get((topic, key))
        return None if known is None else known.state

    def states_of(self, topic: str) -> dict[str, Any]:
        """The folds of all keys of a log, by key, in the keys' order."""
        return {key: known.state for (name, key), known in sorted(self._keys.items()) if name == topic}

    async def reach(self, places: dict[tuple[str, int], int], seconds: float) -> None:
        """Waits until the projection stands at or behind these offsets. Raises TimeoutError."""

        def reached() -> bool:
            return all(self.positions.get(place, 0) >= offset for place, offset in places.items())

        async with asyncio.timeout(seconds), self._moved:
            await self._moved.wait_for(reached)

    async def reach_record(self, topic: str, key: str, sequence: int, seconds: float) -> None:
        """Waits until the projection has that record of a key. Raises TimeoutError."""

        def reached() -> bool:
            known = self._keys.get((topic, key))
            return known is not None and known.chain.head.sequence >= sequence

        async with asyncio.timeout(seconds), self._moved:
            await self._moved.wait_for(reached)

    async def _run(self) -> None:
        while True:
            try:
                await self._tail()
            except Contradiction as error:
                self.alarm = str(error)
                log.critical("projection %s stands still: %s", self.reader, error)
                await self._note_alarm()
                await asyncio.Event().wait()  # until it is stopped: what is contradicted is not passed over
            except (BrokerAway, *DATABASE_AWAY) as error:
                log.warning("projection %s waits: %s", self.reader, reason_of(error))
                self._waits = reason_of(error)
                await asyncio.sleep(RETRY_SECONDS)
            except Exception as error:
                log.exception("projection %s failed and begins again", self.reader)
                self.alarm = f"failed and begins again: {error!r}"
                await asyncio.sleep(RETRY_SECONDS)

    async def _note_alarm(self) -> None:
        try:
            await self.tables.alarm(self.alarm or "")
        except DATABASE_AWAY as error:
            log.warning("projection %s: its alarm could not be noted: %s", self.reader, reason_of(error))

    async def _tail(self) -> None:
        async with self.kafka.tail() as tail:
            # In this order: meanwhile another instance may move both on, the log before the rows.
            stood = await self.tables.load()
            ends = await tail.ends(list(self.logs))
            self._stand(stood, list(ends))
            for place, (_, end) in ends.items():
                if self.positions[place] > end:
                    raise Contradiction(
                        f"{place[0]}-{place[1]} ends at {end}, before the position {self.positions[place]}"
                    )
            self._ends, self._tailing = {place: end for place, (_, end) in ends.items()}, tail
            # The last record that was read is read again: its bytes must still be those that the rows were made of.
            tail.seek({place: max(first, self.positions[place] - 1) for place, (first, _) in ends.items()})
            try:
                await self._follow(tail)
            finally:
                self._tailing = None

    async def _follow(self, tail: Tail) -> None:
        ends = dict(self._ends)
        while True:
            if not self.caught_up.is_set() and all(self.positions[place] >= end for place, end in ends.items()):
                self.caught_up.set()
            batches = await tail.fetch(IDLE_MS)
            if batches:
                await self._take(batches)
                self.alarm = self._waits = None
                self.fresh_at = time.monotonic()
            else:
                await self._prove_fresh(tail, next(iter(self.logs)))

    async def _prove_fresh(self, tail: Tail, topic: str) -> None:
        """Silence may be an idle house or a dead broker: ask both the broker and the database."""
        await tail.ping(topic, PATIENCE_SECONDS)
        self._not_put_back(await self.tables.positions(PATIENCE_SECONDS), self.positions)
        self._waits = None
        self.fresh_at = time.monotonic()

    def _stand(self, stood: Stood, places: list[TopicPartition]) -> None:
        """Goes on from where the rows stand."""
        if stood.versions - {self.version}:
            raise Contradiction(
                f"the rows of projection {self.reader} have another version's shape; run `roundlog rebuild`"
            )
        told, self.positions = self.positions, {place: stood.positions.get(place, 0) for place in places}
        if any(self.positions[place] > told.get(place, self.positions[place]) for place in places):
            # The database has what we wrote when its answer was lost on the way, or what another instance wrote.
            for missed in self.on_missed:
                missed()
        self._held = {}
        self._keys = {}
        for row in stood.heads:
            each = self.logs[row.topic]
            state = decode_state(each.state_type, row.state) if each.state_type is not None else None
            chain = Chain(f"{row.topic}/{row.key}", Head(row.sequence, row.hash))
            self._keys[row.topic, row.key] = _Key(chain, state)

    async def _take(self, batches: list[list[Stored]]) -> None:
        facts: list[Fact] = []
        moved: dict[tuple[str, int], int] = {}
        touched: set[tuple[str, str, int]] = set()
        for batch in batches:
            place = (batch[0].topic, batch[0].partition)
            for stored, record in self._whole_commands(place, batch):
                fact = self._fold(stored, record)
                if fact is not None:
                    touched.add((stored.topic, stored.key, stored.partition))
                    facts.append(fact)
                moved[place] = stored.offset + 1
        if not moved:
            return
        await self._write(facts, moved, touched)
        for listener in self.listeners:
            listener(facts)
        async with self._moved:
            self.positions.update(moved)
            self._moved.notify_all()

    def _whole_commands(self, place: tuple[str, int], batch: list[Stored]) -> list[tuple[Stored, Record]]:
        """What has come up to the last record of a command; the rest is held until the rest of its command comes."""
        items = self._held.pop(place, []) + [(stored, _read(stored)) for stored in batch]
        whole = len(items)
        while whole and not items[whole - 1][1].last:
            whole -= 1
        if whole < len(items):
            self._held[place] = items[whole:]
        return items[:whole]

    def _fold(self, stored: Stored, record: Record) -> Fact | None:
        each = self.logs[stored.topic]
        known = self._keys.get((stored.topic, stored.key))
        if known is None:
            known = self._keys[stored.topic, stored.key] = _Key(Chain(f"{stored.topic}/{stored.key}"), each.initial)
        if not known.chain.fits(record, stored.value):
            return None
        known.chain.advance(stored.value)
        if each.evolve is not None:
            known.state = each.evolve(known.state, record.event)
        return Fact(stored.topic, stored.key, record, stored, known.state)

    async def _write(
        self, facts: list[Fact], moved: dict[TopicPartition, int], touched: set[tuple[str, str, int]]
    ) -> None:
        """Rows and positions in one transaction. What another instance has written already is left out."""
        last_ms: dict[TopicPartition, int] = {}
        for fact in facts:
            place = (fact.topic, fact.stored.partition)
            last_ms[place] = max(last_ms.get(place, 0), fact.record.recorded_at_ms)
        async with self.tables.writing(self.version) as writing:
            stood = await writing.stand(moved)
            self._not_put_back(stood, moved)
            fresh = [fact for fact in facts if fact.stored.offset >= stood[fact.topic, fact.stored.partition]]
            if fresh:
                await self._apply(writing.connection, fresh)
            ahead = {place: end for place, end in moved.items() if end > stood[place]}
            heads = [self._head(*one) for one in sorted(touched) if (one[0], one[2]) in ahead]
            await writing.advance(ahead, last_ms, heads)

    def _not_put_back(self, stood: Mapping[TopicPartition, int], places: Iterable[TopicPartition]) -> None:
        """Raises TimeoutError where the rows stand before this projection: it begins again from there."""
        if any(stood.get(place, 0) < self.positions[place] for place in places):
            raise TimeoutError("the database stands before this projection; it was put back to an earlier copy")

    def _head(self, topic: str, key: str, partition: int) -> HeadRow:
        known = self._keys[topic, key]
        head = known.chain.head
        state = encode_state(known.state) if self.logs[topic].evolve is not None else b""
        return HeadRow(topic, partition, key, head.sequence, head.hash, state)


class PostgresReaders:
    """Where one projection stands, in PostgreSQL."""

    def __init__(self, pool: asyncpg.Pool, reader: str) -> None:
        self._pool = pool
        self._reader = reader

    async def load(self) -> Stood:
        async with self._pool.acquire() as connection, connection.transaction(isolation="repeatable_read"):
            rows = await connection.fetch("SELECT * FROM readers WHERE reader = $1", self._reader)
            await connection.execute(
                "UPDATE readers SET alarm = NULL WHERE reader = $1 AND alarm IS NOT NULL", self._reader
            )
            heads = await connection.fetch(
                "SELECT topic, partition, key, sequence, hash, state FROM heads WHERE reader = $1", self._reader
            )
        positions = {(row["topic"], row["partition"]): row["position"] for row in rows}
        return Stood(positions, frozenset(row["version"] for row in rows), [HeadRow(*head) for head in heads])

    @asynccontextmanager
    async def writing(self, version: str) -> AsyncIterator[Writing]:
        async with self._pool.acquire() as connection, connection.transaction():
            # The logs can make these rows again, so a crash of the database may take the last of them.
            await connection.execute("SET LOCAL synchronous_commit = off")
            yield _PostgresWriting(connection, self._reader, version)

    async def alarm(self, text: str) -> None:
        await self._pool.execute("UPDATE readers SET alarm = $2 WHERE reader = $1", self._reader, text)

    async def positions(self, seconds: float) -> Mapping[TopicPartition, int]:
        asked = "SELECT topic, partition, position FROM readers WHERE reader = $1"
        rows = await fetch_in_time(self._pool, seconds, asked, self._reader)
        return {(row["topic"], row["partition"]): row["position"] for row in rows}


class _PostgresWriting:
    def __init__(self, connection: Any, reader: str, version: str) -> None:
        self.connection = connection
        self._reader = reader
        self._version = version

    async def stand(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        asked = sorted(places)
        stood = await self._locked(asked)
        if len(stood) < len(asked):
            await self.connection.executemany(
                "INSERT INTO readers (reader, topic, partition, position, version) VALUES ($1, $2, $3, 0, $4)"
                " ON CONFLICT DO NOTHING",
                [(self._reader, *place, self._version) for place in asked],
            )
            stood = await self._locked(asked)
        return stood

    async def _locked(self, places: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        # In one order for every instance, so that none waits for another in a circle.
        rows = await self.connection.fetch(
            "SELECT topic, partition, position FROM readers WHERE reader = $1"
            " AND (topic, partition) IN (SELECT * FROM unnest($2::text[], $3::int[]))"
            " ORDER BY topic, partition FOR UPDATE",
            self._reader, *(list(column) for column in zip(*places, strict=True)),
        )  # fmt: skip
        return {(row["topic"], row["partition"]): row["position"] for row in rows}

    async def advance(
        self, moved: Mapping[TopicPartition, int], last_ms: Mapping[TopicPartition, int], heads: Sequence[HeadRow]
    ) -> None:
        if heads:
            await self.connection.execute(
                "INSERT INTO heads (reader, topic, partition, key, sequence, hash, state)"
                " SELECT $1, * FROM unnest($2::text[], $3::int[], $4::text[], $5::bigint[], $6::bytea[], $7::bytea[])"
                " ON CONFLICT (reader, topic, key) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash,"
                " state = excluded.state",
                self._reader, *(list(column) for column in zip(*heads, strict=True)),
            )  # fmt: skip
        await self.connection.executemany(
            "UPDATE readers SET position = $4, last_ms = greatest(last_ms, $5), alarm = NULL"
            " WHERE reader = $1 AND topic = $2 AND partition = $3",
            [(self._reader, *place, end, last_ms.get(place, 0)) for place, end in moved.items()],
        )
