"""The broker at the edges: appending batches, reading a log's range, and where a topic ends."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.partitioner import murmur2

from services.runtime.security import OPEN, Security

# A batch is appended by the broker as a whole or not at all; what belongs together must fit in one.
BATCH_BYTES_MAX = 900_000
RECORD_OVERHEAD_BYTES = 100
REQUEST_TIMEOUT_MS = 10_000
STOP_SECONDS = 2.0

log = logging.getLogger(__name__)
# The client says the same several times a second while the broker is away; the watch says it once. It
# would also build a debug record for every fetch, because Faust leaves its logger at DEBUG.
for _name in (
    "aiokafka",
    "aiokafka.cluster",
    "aiokafka.consumer.fetcher",
    "aiokafka.consumer.group_coordinator",
    "aiokafka.producer.sender",
):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class BrokerAway(Exception):
    """The broker did not answer in time."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One record as a topic holds it. `at_ms` is the broker's append time."""

    topic: str
    partition: int
    offset: int
    at_ms: int
    key: str
    value: bytes


def partition_of(key: str, partitions: int) -> int:
    """The partition of a key, from 0: Kafka's own murmur2, so that every client agrees."""
    return int((murmur2(key.encode()) & 0x7FFFFFFF) % partitions)


Group = Sequence[tuple[str, bytes]]
"""Records, (key, value) each, that must stand in the log together or not at all."""


def _size(group: Group) -> int:
    return sum(len(key.encode()) + len(value) + RECORD_OVERHEAD_BYTES for key, value in group)


class _Lane:
    """The way to one partition: one batch is on it, the others wait together."""

    def __init__(self) -> None:
        self.open = asyncio.Lock()
        self.waiting: list[tuple[Sequence[Group], asyncio.Future[int]]] = []


@contextlib.asynccontextmanager
async def _asking(what: str, seconds: float | None = None) -> AsyncIterator[None]:
    """Whatever goes wrong between the client and the broker, within so many seconds, is a BrokerAway.

    The client also cancels its own calls when a connection is lost: a cancellation that nobody asked of
    our task is such an error, and must not end the task.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except (KafkaError, TimeoutError, OSError) as error:
        raise BrokerAway(f"{what}: {error!r}") from error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise BrokerAway(f"{what}: the connection was lost") from None


async def _let_go(client: Any) -> None:
    """Stops a consumer or producer, which may not stop in good order when the broker is away."""
    with contextlib.suppress(Exception):
        async with _asking("the broker is away", STOP_SECONDS):
            await client.stop()


class Topics(Protocol):
    """What a processor asks of the broker; `Kafka` says what each means."""

    async def append(self, topic: str, partition: int, groups: Sequence[Sequence[tuple[str, bytes]]]) -> int: ...
    async def ends(self, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]: ...
    def read(self, topic: str, partition: int, start: int, end: int) -> AsyncIterator[Stored]: ...


class Kafka:
    """A client of one broker: an idempotent producer that waits for all replicas, and plain readers without a group."""

    def __init__(self, servers: str, security: Security = OPEN) -> None:
        self.servers = servers
        self.security = security
        self._lanes: dict[tuple[str, int], _Lane] = {}
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()

    async def close(self) -> None:
        """Ends the producer."""
        await self._drop(self._producer)

    async def append(self, topic: str, partition: int, groups: Sequence[Group]) -> int:
        """Appends groups, each atomically; returns an offset behind their last record. Raises BrokerAway.

        When it raises, some groups may have been appended and others not. Calls for one partition that come
        while another is under way go together in the next: the client can have one batch of it in hand.
        """
        for group in groups:
            if _size(group) > BATCH_BYTES_MAX:
                raise ValueError(f"a group of {_size(group)} bytes does not fit in one batch of {topic}")
        lane = self._lanes.setdefault((topic, partition), _Lane())
        mine: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        lane.waiting.append((groups, mine))
        async with lane.open:
            if not mine.done():
                taken, lane.waiting = lane.waiting, []
                await self._append_together(topic, partition, taken)
        return mine.result()

    async def _append_together(
        self, topic: str, partition: int, taken: "list[tuple[Sequence[Group], asyncio.Future[int]]]"
    ) -> None:
        """Appends what several callers want, and answers each of them."""
        try:
            end = await self._append_groups(topic, partition, [group for groups, _ in taken for group in groups])
        except BaseException as error:
            said = (
                error if isinstance(error, BrokerAway) else BrokerAway(f"the call for {topic} was given up: {error!r}")
            )
            for _, future in taken:
                future.set_exception(said)
                future.exception()  # whoever left does not ask for it any more
            if not isinstance(error, BrokerAway):
                raise
        else:
            for _, future in taken:
                future.set_result(end)

    async def _append_groups(self, topic: str, partition: int, groups: Sequence[Group]) -> int:
        end = -1
        batch: list[tuple[str, bytes]] = []
        size = 0
        for group in groups:
            if batch and size + _size(group) > BATCH_BYTES_MAX:
                end = await self._append_batch(topic, partition, batch)
                batch, size = [], 0
            batch += group
            size += _size(group)
        if batch:
            end = await self._append_batch(topic, partition, batch)
        return end

    async def _append_batch(self, topic: str, partition: int, records: Sequence[tuple[str, bytes]]) -> int:
        producer: AIOKafkaProducer | None = None
        try:
            async with _asking(f"the broker did not take records for {topic}", 2 * REQUEST_TIMEOUT_MS / 1000):
                producer = await self._started_producer()
                builder = producer.create_batch()
                for key, value in records:
                    if builder.append(timestamp=None, key=key.encode(), value=value) is None:
                        raise ValueError(f"{len(records)} records do not fit in one batch of {topic}")
                builder.close()
                metadata = await (await producer.send_batch(builder, topic, partition=partition))
        except BrokerAway:
            # An idempotent producer that failed may not be used again: its sequence numbers are in doubt.
            await self._drop(producer)
            raise
        return int(metadata.offset) + len(records)

    async def _started_producer(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None:
                producer = AIOKafkaProducer(
                    bootstrap_servers=self.servers,
                    **self.security.words(),
                    acks="all",
                    enable_idempotence=True,
                    max_batch_size=1_000_000,
                    max_request_size=1_048_576,
                    request_timeout_ms=REQUEST_TIMEOUT_MS,
                    retry_backoff_ms=50,
                )
                try:
                    await producer.start()
                except BaseException:
                    await _let_go(producer)
                    raise
                self._producer = producer
            return self._producer

    async def _drop(self, producer: AIOKafkaProducer | None) -> None:
        if producer is not None:
            if self._producer is producer:  # not one that another call has started meanwhile
                self._producer = None
            await _let_go(producer)

    @contextlib.asynccontextmanager
    async def reader(self) -> AsyncIterator[AIOKafkaConsumer]:
        """A consumer without a group, to be assigned by hand. Raises BrokerAway."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.servers,
            **self.security.words(),
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=250,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            max_partition_fetch_bytes=4_000_000,
            retry_backoff_ms=50,
        )
        try:
            async with _asking(f"the broker at {self.servers} does not answer", REQUEST_TIMEOUT_MS / 1000):
                await consumer.start()
            yield consumer
        finally:
            await _let_go(consumer)

    @contextlib.asynccontextmanager
    async def tail(self) -> AsyncIterator["Tail"]:
        """Reads several logs for ever. Raises BrokerAway."""
        async with self.reader() as reader:
            yield _ReaderTail(reader)

    async def ends(self, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
        """For each (topic, partition) the first offset that is held and the one behind the last. Raises BrokerAway."""
        async with self.reader() as reader:
            return await ends_of(reader, topics)

    async def read(self, topic: str, partition: int, start: int, end: int) -> AsyncIterator[Stored]:
        """The records of a range of offsets, in order; the end is not included. Raises BrokerAway."""
        if start >= end:
            return
        async with self.reader() as reader:
            place = TopicPartition(topic, partition)
            reader.assign([place])
            reader.seek(place, start)
            position = start
            while position < end:
                batches = await _fetch(reader, timeout_ms=5_000)
                if not batches:
                    raise BrokerAway(f"{topic}-{partition} gave nothing at {position}, before its end {end}")
                for item in batches.get(place, ()):
                    if item.offset >= end:
                        return
                    yield item
                    position = item.offset + 1


class Tail(Protocol):
    """Several logs, read on for ever."""

    async def ends(self, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
        """As Kafka.ends."""

    def seek(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Reads these places from there on, and no others."""

    async def fetch(self, timeout_ms: int) -> list[list[Stored]]:
        """What has come, a list for each place; nothing where nothing comes in time. Raises BrokerAway."""

    def highwater(self, place: tuple[str, int]) -> int | None:
        """Where a place ended when it last gave something; None where it gave nothing yet."""

    async def ping(self, topic: str, seconds: float) -> None:
        """Asks the broker something small. Raises BrokerAway when it does not answer in time."""


class _ReaderTail:
    def __init__(self, reader: AIOKafkaConsumer) -> None:
        self._reader = reader

    async def ends(self, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
        return await ends_of(self._reader, topics)

    def seek(self, offsets: Mapping[tuple[str, int], int]) -> None:
        places = {TopicPartition(*place): offset for place, offset in offsets.items()}
        self._reader.assign(list(places))
        for place, offset in places.items():
            self._reader.seek(place, offset)

    async def fetch(self, timeout_ms: int) -> list[list[Stored]]:
        return await fetch(self._reader, timeout_ms)

    def highwater(self, place: tuple[str, int]) -> int | None:
        known: int | None = self._reader.highwater(TopicPartition(*place))
        return known

    async def ping(self, topic: str, seconds: float) -> None:
        await ping(self._reader, topic, seconds)


async def ends_of(reader: AIOKafkaConsumer, topics: Sequence[str]) -> dict[tuple[str, int], tuple[int, int]]:
    """As Kafka.ends, with a reader that is there."""
    async with _asking("the broker does not say where its topics end", REQUEST_TIMEOUT_MS / 1000):
        places = []
        for topic in topics:
            partitions = reader.partitions_for_topic(topic)
            if partitions is None:
                await reader._client.force_metadata_update()
                await reader._client._wait_on_metadata(topic)
                partitions = reader.partitions_for_topic(topic) or set()
            places += [TopicPartition(topic, partition) for partition in sorted(partitions)]
        begins = await reader.beginning_offsets(places)
        ends = await reader.end_offsets(places)
    return {(place.topic, place.partition): (begins[place], ends[place]) for place in places}


async def _fetch(reader: AIOKafkaConsumer, timeout_ms: int, most: int = 2_000) -> dict[TopicPartition, list[Stored]]:
    async with _asking("the broker does not give records"):
        fetched = await reader.getmany(timeout_ms=timeout_ms, max_records=most)
    return {
        place: [
            Stored(
                item.topic,
                item.partition,
                item.offset,
                item.timestamp,
                (item.key or b"").decode(errors="replace"),
                item.value or b"",
            )
            for item in items
        ]
        for place, items in fetched.items()
    }


async def fetch(reader: AIOKafkaConsumer, timeout_ms: int, most: int = 2_000) -> list[list[Stored]]:
    """What has come for the assigned partitions, a list for each. Raises BrokerAway."""
    return list((await _fetch(reader, timeout_ms, most)).values())


async def ping(reader: AIOKafkaConsumer, topic: str, seconds: float) -> None:
    """Asks the broker something small. Raises BrokerAway when it does not answer in time."""
    async with _asking("the broker does not answer", seconds):
        await reader.end_offsets([TopicPartition(topic, 0)])
