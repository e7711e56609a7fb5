"""The processors on Faust: batches in, positions out. The only file that knows Faust.

Faust gives the consumer group, the rebalances and the batches. What it would call the committed offset
is PostgreSQL's position here: when partitions are assigned their memory is made anew from snapshot and
log, and Faust is told to read from where that ends. Nothing is acknowledged to Faust.
"""

import asyncio
import contextlib
import logging
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import asyncpg
import faust
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from yarl import URL

from services.flow import DEAD_LETTERS, PARTITIONS, stream_of
from services.runtime.database import DATABASE_AWAY
from services.runtime.kafka import BrokerAway, Kafka, partition_of
from services.runtime.snapshots import Snapshots
from services.runtime.stepping import Contradiction, Input, Outcome, PartitionMemory, Sent, Stepper
from services.runtime.vital import start_vital, stop_vital

PENDING_MAX = 10_000
BATCH_MAX = 2_000
RETRY_SECONDS = 0.25
STOP_SECONDS = 5.0

log = logging.getLogger(__name__)


class _Consumer(driver.Consumer):  # type: ignore[misc]
    """Faust's consumer, which takes its offsets from the processing instead of from the group."""

    async def seek_to_committed(self) -> Mapping[TP, int]:
        positions = await self.app.processing.assigned(self.assignment())
        await self.seek_wait(positions)
        return positions

    async def _drain_messages(self, fetcher: Any) -> None:
        """Hands records over as they were fetched, many at once.

        Faust's own way wakes two tasks for every record, which costs more than all that we do with it. And
        what came one by one was answered in small batches, each with its own commit of the database.
        """
        try:
            while not (self.should_stop or fetcher.should_stop):
                fetched, _ = await self._wait_next_records(timeout=1.0)
                await asyncio.sleep(0)  # nothing may have been waited for
                if not fetched:
                    continue
                if not self.flow_active:
                    await self.perform_seek()  # partitions are changing hands; these records will be read again
                    continue
                room = self.app.processing.take(fetched)
                await self.wait_first(room.wait(), self.suspend_flow.wait())
        except (*self.consumer_stopped_errors, asyncio.CancelledError):
            if not self.app.should_stop:
                raise

    async def commit_positions(self, positions: Mapping[TP, int]) -> None:
        """Tells the group where we stand; for those who look at the group, nothing here depends on it."""
        held = self.assignment()
        mine = {place: position for place, position in positions.items() if place in held}
        if mine:
            await self._commit(mine)


class _Transport(driver.Transport):  # type: ignore[misc]
    Consumer = _Consumer


class _App(faust.App):  # type: ignore[misc]
    processing: "Processing"


class Processing:
    """One stream's processor: reads its input in Faust's group, keeps the order of durability."""

    def __init__(self, stepper: Stepper, kafka: Kafka, pool: asyncpg.Pool, instance: str) -> None:
        self.stepper = stepper
        self.stream = stepper.stream
        self.kafka = kafka
        self.snapshots = Snapshots(pool, stepper)
        self.instance = instance
        self.memories: dict[int, PartitionMemory] = {}
        self.stopped: dict[int, str] = {}
        self.failing: str | None = None
        """Why the last batch was not made durable, when that is not for the lack of the broker or the database."""
        self.records_total = 0
        self.inputs_total = 0
        self.refusals_total = 0
        self.dead_total = 0
        self.overtaken_total = 0
        self.last_step_at = time.monotonic()
        self.assigned_once = asyncio.Event()
        self._pending: dict[int, list[Input]] = {}
        self._pending_count = 0
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._busy = asyncio.Lock()
        self._readopting: set[asyncio.Task[None]] = set()
        self._to_commit: dict[TP, int] = {}
        self._committing: asyncio.Task[None] | None = None
        self._app = self._build()
        self._loop_task: asyncio.Task[None] | None = None

    def _build(self) -> _App:
        app = _App(
            f"roundlog-{self.stream.service}",
            broker=f"kafka://{self.kafka.servers}",
            autodiscover=False,
            origin="services.runtime",
            store="memory://",
            web_enabled=False,
            # Faust makes a folder for its tables; there are none.
            datadir=str(Path(tempfile.gettempdir()) / "roundlog-faust"),
            topic_disable_leader=True,
            topic_allow_declare=False,
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=self.instance,
            key_serializer="raw",
            value_serializer="raw",
            broker_session_timeout=6.0,
            broker_heartbeat_interval=1.0,
            broker_max_poll_interval=600.0,
            broker_commit_interval=3600.0,
            broker_request_timeout=60.0,
            broker_max_poll_records=PENDING_MAX // 2,
            stream_wait_empty=False,
            stream_recovery_delay=0.0,
            topic_partitions=PARTITIONS,
        )
        app.processing = self
        app.transport = _Transport([URL(f"kafka://{self.kafka.servers}")], app)
        topic = app.topic(
            self.stream.input, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw"
        )
        app.agent(topic, name=f"{self.stream.name}-inputs")(self._subscribe)
        return app

    async def start(self) -> None:
        """Joins the group and begins to process."""
        self._loop_task = start_vital(self._process(), f"{self.stream.name}-processing")
        await self._app.start()

    async def stop(self) -> None:
        """Leaves off cleanly: the batch in hand is finished or was never begun."""
        if self._loop_task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS), self._busy:
                    await stop_vital(self._loop_task)
            await stop_vital(self._loop_task)
        await stop_vital(self._committing, *self._readopting)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._app.stop(), STOP_SECONDS)

    @property
    def ready(self) -> bool:
        """Whether the group has given this process its partitions (perhaps none) and they are caught up."""
        return self.assigned_once.is_set()

    async def _subscribe(self, stream: Any) -> None:
        """Faust subscribes to what an agent reads. The records themselves come by `take`."""
        async for _ in stream.noack():
            log.error("%s: a record came by Faust's stream; it is taken from its consumer", self.stream.name)

    def take(self, fetched: Mapping[TP, Sequence[Any]]) -> asyncio.Event:
        """Takes over what was fetched, by partition; the event says when more is welcome."""
        for place, records in fetched.items():
            self._pending.setdefault(place.partition, []).extend(
                Input(item.offset, item.timestamp, (item.key or b"").decode(errors="replace"), item.value or b"")
                for item in records
            )
            self._pending_count += len(records)
        self._arrived.set()
        if self._pending_count >= PENDING_MAX:
            self._room.clear()
        return self._room

    # Assignment ----------------------------------------------------------------------------------------

    async def assigned(self, places: set[TP]) -> dict[TP, int]:
        """Makes the memory of the assigned partitions anew; gives the offsets to read from."""
        mine = sorted(place.partition for place in places if place.topic == self.stream.input)
        async with self._busy:
            self.memories.clear()
            self.stopped.clear()
            self._forget_pending()
            positions: dict[TP, int] = {}
            for partition in mine:
                memory = await self._adopt(partition)
                if memory is not None:
                    self.memories[partition] = memory
                    positions[TP(self.stream.input, partition)] = memory.position
                else:
                    positions[TP(self.stream.input, partition)] = 0
            self.assigned_once.set()
        log.info(
            "%s: assigned partitions %s at %s", self.stream.name, mine, {p.partition: o for p, o in positions.items()}
        )
        return positions

    async def _adopt(self, partition: int) -> PartitionMemory | None:
        """Snapshot, then the own log beyond it; None where the partition must stand still."""
        while True:
            try:
                return await self._adopt_once(partition)
            except (BrokerAway, *DATABASE_AWAY) as error:
                log.warning("%s-%s: cannot be taken over yet: %s", self.stream.name, partition, error)
                await asyncio.sleep(RETRY_SECONDS)
            except Contradiction as error:
                await self._stand_still(partition, str(error))
                return None
            except Exception as error:
                # A defect of ours: this partition cannot be folded, the others can.
                log.exception("%s-%s: cannot be taken over", self.stream.name, partition)
                await self._stand_still(partition, f"cannot be taken over: {error!r}")
                return None

    async def _adopt_once(self, partition: int) -> PartitionMemory:
        memory, sent_until = await self.snapshots.load(partition)
        ends = await self.kafka.ends([self.stream.input, self.stream.name])
        first, input_end = ends[self.stream.input, partition]
        log_first, log_end = ends[self.stream.name, partition]
        if memory.position > input_end or memory.log_end > log_end or log_first > 0:
            raise Contradiction(
                f"{self.stream.name}-{partition}: the snapshot stands at input {memory.position} and log {memory.log_end},"
                f" the topics end at {input_end} and {log_end}; records are missing from the broker"
            )
        start = memory.log_end
        records = [
            (item.key, item.value) async for item in self.kafka.read(self.stream.name, partition, start, log_end)
        ]
        resend = self.stepper.adopt(memory, records, resend_from=sent_until - start)
        memory.log_end = log_end
        memory.position = max(memory.position, first)
        await self._append_sent(resend)
        # What was adopted is saved at once: no input may come for long, and who looks must see where we stand.
        moved = memory.touched or memory.position != memory.saved
        if moved and await self.snapshots.save([memory]):
            raise TimeoutError("another worker moved the position while this one took over")
        if records:
            log.info("%s-%s: adopted %s records beyond the snapshot", self.stream.name, partition, len(records))
        return memory

    def _forget_pending(self) -> None:
        self._pending.clear()
        self._pending_count = 0
        self._room.set()

    # The loop ------------------------------------------------------------------------------------------

    async def _process(self) -> None:
        while True:
            await self._arrived.wait()
            async with self._busy:
                self._arrived.clear()
                try:
                    await self._process_pending()
                    self.failing = None
                except Exception as error:
                    # A defect of ours, not of a partition: everything is taken up anew from snapshot and log.
                    log.exception("%s: processing failed; partitions are taken up anew", self.stream.name)
                    self.failing = repr(error)
                    for partition in list(self.memories):
                        self._give_up(partition)

    async def _process_pending(self) -> None:
        batches, self._pending, self._pending_count = self._pending, {}, 0
        self._room.set()
        outcomes: list[tuple[PartitionMemory, Outcome]] = []
        for partition, items in batches.items():
            memory = self.memories.get(partition)
            if memory is None:
                continue
            for start in range(0, len(items), BATCH_MAX):
                fresh = [item for item in items[start : start + BATCH_MAX] if item.offset >= memory.position]
                if not fresh:
                    continue
                if fresh[0].offset != memory.position or fresh[-1].offset - fresh[0].offset + 1 != len(fresh):
                    log.error("%s-%s: inputs are missing at %s", self.stream.name, partition, memory.position)
                    self._give_up(partition)
                    break
                outcomes.append((memory, self._step(memory, fresh)))
                if outcomes[-1][1].stopped is not None:
                    break
        await self._make_durable(outcomes)
        for memory, outcome in outcomes:
            if outcome.stopped is not None:
                self.memories.pop(memory.partition, None)
                await self._stand_still(memory.partition, f"at input offset {memory.position}: {outcome.stopped}")

    def _step(self, memory: PartitionMemory, items: list[Input]) -> Outcome:
        outcome = self.stepper.step(memory, items)
        self.inputs_total += len(items)
        self.records_total += outcome.records
        self.refusals_total += outcome.refusals
        return outcome

    async def _make_durable(self, outcomes: list[tuple[PartitionMemory, Outcome]]) -> None:
        """Outputs acknowledged, then states and positions in one transaction, then the group told."""
        memories = list({memory.partition: memory for memory, _ in outcomes}.values())
        if not memories:
            return
        await self._until_done("outputs", self._append_outcomes, outcomes)
        overtaken = await self._until_done("snapshots", self.snapshots.save, memories)
        for partition in overtaken:
            self.overtaken_total += 1
            log.warning(
                "%s-%s: another worker, or a restored database, moved the position; given up",
                self.stream.name,
                partition,
            )
            self._give_up(partition)
        self.last_step_at = time.monotonic()
        self._to_commit.update(
            {
                TP(self.stream.input, memory.partition): memory.position
                for memory in memories
                if memory.partition not in overtaken
            }
        )
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit(), name=f"{self.stream.name}-commit")

    async def _commit(self) -> None:
        """Tells the group where we stand, one call at a time: after a broker's absence a call may hang for long,
        and nothing that matters may wait for it."""
        while self._to_commit:
            positions, self._to_commit = self._to_commit, {}
            with contextlib.suppress(Exception):
                await self._app.consumer.commit_positions(positions)

    async def _append_outcomes(self, outcomes: list[tuple[PartitionMemory, Outcome]]) -> None:
        async def own(memory: PartitionMemory, groups: list[list[tuple[str, bytes]]]) -> None:
            memory.log_end = await self.kafka.append(self.stream.name, memory.partition, groups)

        groups: dict[int, tuple[PartitionMemory, list[list[tuple[str, bytes]]]]] = {}
        for memory, outcome in outcomes:
            groups.setdefault(memory.partition, (memory, []))[1].extend(outcome.groups)
        # The own log first: a command must not be answered before the record it follows from is stored.
        await asyncio.gather(*(own(memory, some) for memory, some in groups.values() if some))
        await self._append_sent([sent for _, outcome in outcomes for sent in outcome.sent])
        dead = [[(item.key, item.value)] for _, outcome in outcomes for item in outcome.dead]
        if dead:
            await self.kafka.append(DEAD_LETTERS, 0, dead)
            self.dead_total += len(dead)

    async def _append_sent(self, sent: list[Sent]) -> None:
        by_place: dict[tuple[str, int], list[list[tuple[str, bytes]]]] = {}
        for command in sent:
            topic = stream_of(command.stream).commands
            assert topic is not None
            place = (topic, partition_of(command.key, PARTITIONS))
            by_place.setdefault(place, []).append([(command.key, command.value)])
        await asyncio.gather(
            *(self.kafka.append(topic, partition, groups) for (topic, partition), groups in by_place.items())
        )

    async def _until_done(self, what: str, act: Any, argument: Any) -> Any:
        """Tries again until the broker or the database is back: what is decided must be written, and is the same each time."""
        while True:
            try:
                return await act(argument)
            except (BrokerAway, *DATABASE_AWAY) as error:
                log.warning("%s: %s cannot be written yet: %s", self.stream.name, what, error)
                await asyncio.sleep(RETRY_SECONDS)

    def _give_up(self, partition: int) -> None:
        """Forgets a partition and takes it up anew from snapshot and log, if the group still gives it to us."""
        self.memories.pop(partition, None)
        self._pending.pop(partition, None)
        task = asyncio.create_task(self._take_up(partition))
        self._readopting.add(task)
        task.add_done_callback(self._readopting.discard)

    async def _take_up(self, partition: int) -> None:
        place = TP(self.stream.input, partition)
        await asyncio.sleep(RETRY_SECONDS)
        async with self._busy:
            if place not in self._app.consumer.assignment() or partition in self.memories:
                return
            memory = await self._adopt(partition)
            if memory is None:
                return
            self._pending.pop(partition, None)
            try:
                await self._app.consumer.seek_wait({place: memory.position})
            except Exception as error:
                # The group takes the partition away at this moment, or the broker does not answer.
                log.warning("%s-%s: cannot be read on yet: %r", self.stream.name, partition, error)
                self._give_up(partition)
                return
            self.stopped.pop(partition, None)
            self.memories[partition] = memory

    async def _stand_still(self, partition: int, reason: str) -> None:
        self.stopped[partition] = reason
        log.critical("%s-%s stands still: %s", self.stream.name, partition, reason)
        with contextlib.suppress(Exception):
            await self.snapshots.alarm(partition, reason)
