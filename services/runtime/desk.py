"""Commands of people: appended once, and answered with what the log says of them."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg
import orjson

from services.core.refusal import passed_over
from services.flow import PARTITIONS, Stream
from services.runtime.database import DATABASE_AWAY
from services.runtime.kafka import BrokerAway, Kafka, partition_of
from services.runtime.metrics import command_seconds
from services.runtime.projecting import Fact, Projection
from services.runtime.watching import Watch
from services.wire.json import event_json
from services.wire.records import CONTRACTS, Asked

KEPT_MS = 7 * 24 * 3600 * 1000
"""How long the outcome of a command is kept for a caller who asks again."""
RECENT_MAX = 10_000
KNOWN = """
SELECT o.request_hash, o.status, o.answer,
    coalesce((SELECT position FROM readers WHERE reader = $3 AND topic = $1 AND partition = $4), 0) AS position
FROM (SELECT 1) AS one LEFT JOIN outcomes o ON o.stream = $1 AND o.command_id = $2
"""
"""One row, as of one moment: the outcome of a command, if there is one, and up to where the outcomes are written."""

FORGOTTEN_AT_ONCE = 10_000
FORGET = """
WITH gone AS (
    DELETE FROM outcomes WHERE (stream, command_id) IN (
        SELECT stream, command_id FROM outcomes WHERE stream = $1 AND at_ms < $2 LIMIT $3) RETURNING 1)
SELECT count(*) FROM gone
"""

log = logging.getLogger(__name__)
T = TypeVar("T")


class KeyReused(Exception):
    """An Idempotency-Key that was used for another request."""


class Away(Exception):
    """The broker or the database does not answer; `names` says which."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the log said: HTTP status 200 or 409, and the body as JSON bytes; `hit` when it was said before."""

    status: int
    body: bytes
    hit: bool = False


def answer_to(facts: Sequence[Fact]) -> Answer:
    """The answer to a command from all of its records."""
    last = facts[-1].record
    event = last.event
    kind = type(event).__name__
    if kind == "Refused":
        body = {"refused": event.reason, "section": event.section, "sequence": last.sequence}
        return Answer(409, orjson.dumps(body))
    if kind == "Skipped":
        said = passed_over(event.reason, event.skipped_by)
        return Answer(409, orjson.dumps({"refused": said, "section": None, "sequence": last.sequence}))
    events = [event_json(fact.record.event) for fact in facts]
    return Answer(200, orjson.dumps({"sequence": last.sequence, "events": events}))


def by_command(facts: Sequence[Fact], topic: str) -> list[list[Fact]]:
    """The facts of one log, those of a command together."""
    groups: list[list[Fact]] = []
    for fact in facts:
        if fact.topic != topic:
            continue
        if fact.record.index and groups and groups[-1][0].record.command_id == fact.record.command_id:
            groups[-1].append(fact)
        else:
            groups.append([fact])
    return groups


def _left(deadline: float) -> float:
    """Seconds until that time of the loop."""
    return max(0.0, deadline - asyncio.get_running_loop().time())


class Desk:
    """Takes the commands of people to one stream."""

    def __init__(self, stream: Stream, kafka: Kafka, pool: asyncpg.Pool, watch: Watch, seconds: float) -> None:
        assert stream.commands is not None
        self.stream = stream
        self.appended_total = 0
        self.seconds = command_seconds()
        self._topic = stream.commands
        self._kafka = kafka
        self._pool = pool
        self._watch = watch
        self._seconds = seconds
        self._projection: Projection | None = None
        self._told_until: dict[int, int] = {}
        self._waiting: dict[str, tuple[bytes, asyncio.Future[Answer]]] = {}
        self._recent: OrderedDict[str, tuple[bytes, Answer]] = OrderedDict()

    def follow(self, projection: Projection) -> None:
        """Learns from the projection that writes its outcomes. A command that is not known is then appended only where
        these are complete: the database may have been put back to a copy that lacks it."""
        self._projection = projection
        projection.listeners.append(self.tell)

    async def ask(self, key: str, asked: Asked) -> Answer | None:
        """The log's answer; None when it does not come in time. Raises KeyReused, Away."""
        if self._watch.away:
            raise Away(self._watch.away)
        deadline = asyncio.get_running_loop().time() + self._seconds
        waiting = self._waiting.get(asked.command_id)
        if waiting is not None:
            self._same(waiting[0], asked)
            return await self._wait(waiting[1], deadline, hit=True)
        # The log may have answered while the database was asked.
        looked = await self._unless_lost(self._look(asked.command_id, partition_of(key, PARTITIONS)))
        known = looked or self._recent.get(asked.command_id)
        if known is not None:
            self._same(known[0], asked)
            return Answer(known[1].status, known[1].body, hit=True)
        waiting = self._waiting.get(asked.command_id)
        if waiting is not None:  # the same request came while we looked
            self._same(waiting[0], asked)
            return await self._wait(waiting[1], deadline, hit=True)
        return await self._append(key, asked, deadline)

    def took(self, outcome: str, came_at: float) -> None:
        """Notes how long a command took that came in at that time of the monotonic clock."""
        self.seconds.labels(outcome).observe(time.monotonic() - came_at)

    async def _unless_lost(self, act: Coroutine[Any, Any, T]) -> T:
        """What `act` gives, unless the broker or the database is lost meanwhile. Raises Away."""
        acting, lost = asyncio.create_task(act), asyncio.create_task(self._watch.lost.wait())
        try:
            await asyncio.wait({acting, lost}, return_when=asyncio.FIRST_COMPLETED)
            if not acting.done():
                raise Away(self._watch.away)
            return acting.result()
        finally:
            lost.cancel()
            if not acting.done():
                acting.cancel()
                acting.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _append(self, key: str, asked: Asked, deadline: float) -> Answer | None:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[asked.command_id] = (asked.request_hash, future)
        value = CONTRACTS[self.stream.name].encode_command(asked)
        partition = partition_of(key, PARTITIONS)
        appending = asyncio.create_task(self._kafka.append(self._topic, partition, [[(key, value)]]))
        lost = asyncio.create_task(self._watch.lost.wait())
        try:
            waiting: set[asyncio.Future[Any]] = {appending, lost, future}
            done, _ = await asyncio.wait(waiting, timeout=_left(deadline), return_when=asyncio.FIRST_COMPLETED)
            if not done:
                # Too few brokers have it to say that it is written, and nobody says that it is not.
                return None
            if appending in done:
                appending.result()
            elif future not in done:
                raise Away(self._watch.away)
            self.appended_total += 1
            return await self._wait(future, deadline, hit=False)
        except BrokerAway:
            self._watch.note("kafka", False)
            raise Away(["kafka"]) from None
        finally:
            lost.cancel()
            if not appending.done():
                # It may still be taken; the same Idempotency-Key finds its outcome.
                appending.add_done_callback(lambda task: task.cancelled() or task.exception())
            if self._waiting.get(asked.command_id, (b"", None))[1] is future:
                del self._waiting[asked.command_id]

    async def _wait(self, future: "asyncio.Future[Answer]", deadline: float, hit: bool) -> Answer | None:
        lost = asyncio.create_task(self._watch.lost.wait())
        try:
            waiting: set[asyncio.Future[Any]] = {future, lost}
            done, _ = await asyncio.wait(waiting, timeout=_left(deadline), return_when=asyncio.FIRST_COMPLETED)
        finally:
            lost.cancel()
        if future not in done:
            return None
        answer = future.result()
        return Answer(answer.status, answer.body, hit=True) if hit else answer

    @staticmethod
    def _same(request_hash: bytes, asked: Asked) -> None:
        if request_hash != asked.request_hash:
            raise KeyReused

    async def known(self, command_id: str) -> tuple[bytes, Answer] | None:
        """The hash of the request and the answer of a command that the log has answered. Raises Away."""
        known, _ = await self._known(command_id, 0)
        return known

    async def _look(self, command_id: str, partition: int) -> tuple[bytes, Answer] | None:
        """As `known`. Raises Away too where it is not known, and the outcomes lack records of the log that were there
        when the projection began, or that it has told of."""
        # What it tells while the database is asked is no part of the answer.
        told = self._told_until.get(partition, 0)
        known, position = await self._known(command_id, partition)
        projection = self._projection
        complete = position >= told and (projection is None or projection.caught_up.is_set())
        if known is None and not complete:
            raise Away(["postgres"])
        return known

    async def _known(self, command_id: str, partition: int) -> tuple[tuple[bytes, Answer] | None, int]:
        """What is known of a command, and where the projection stood at that moment by its rows. Raises Away."""
        recent = self._recent.get(command_id)
        if recent is not None:
            return recent, 0
        try:
            async with asyncio.timeout(self._seconds):
                row = await self._pool.fetchrow(KNOWN, self.stream.name, command_id, self.stream.service, partition)
        except DATABASE_AWAY:
            self._watch.note("postgres", False)
            raise Away(["postgres"]) from None
        if row["request_hash"] is None:
            return None, row["position"]
        return (row["request_hash"], Answer(row["status"], row["answer"].encode())), row["position"]

    async def project(self, connection: Any, facts: Sequence[Fact]) -> None:
        """Writes the outcomes of people's commands; part of the projection's transaction."""
        rows = []
        for group in by_command(facts, self.stream.name):
            record = group[-1].record
            if record.request_hash:
                answer = answer_to(group)
                rows.append(
                    (self.stream.name, record.command_id, record.request_hash, record.recorded_at_ms, answer.status,
                     answer.body.decode())
                )  # fmt: skip
        if rows:
            await connection.executemany(
                "INSERT INTO outcomes (stream, command_id, request_hash, at_ms, status, answer) VALUES ($1, $2, $3, $4, $5, $6)"
                " ON CONFLICT (stream, command_id) DO NOTHING",
                rows,
            )

    def tell(self, facts: Sequence[Fact]) -> None:
        """Tells those who wait here, once the projection has written."""
        for fact in facts:
            if fact.topic == self.stream.name:
                stored = fact.stored
                self._told_until[stored.partition] = max(self._told_until.get(stored.partition, 0), stored.offset + 1)
        for group in by_command(facts, self.stream.name):
            record = group[-1].record
            if not record.request_hash:
                continue
            answer = answer_to(group)
            self._recent[record.command_id] = (record.request_hash, answer)
            while len(self._recent) > RECENT_MAX:
                self._recent.popitem(last=False)
            waiting = self._waiting.get(record.command_id)
            if waiting is not None and not waiting[1].done():
                waiting[1].set_result(answer)

    async def forget_old(self, now_ms: int) -> None:
        """Drops outcomes that are older than they are kept, some at a time: a statement has its time, too."""
        while await self._pool.fetchval(FORGET, self.stream.name, now_ms - KEPT_MS, FORGOTTEN_AT_ONCE):
            pass
