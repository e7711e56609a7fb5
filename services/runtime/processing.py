"""The order of durability: outputs acknowledged, then states and position in one transaction, then the group told.

Which partitions are ours, and what was fetched of them, comes from a consumer group; here nothing is known of how it
works. When partitions are assigned their memory is made anew from snapshot and log, and reading begins where that ends.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Collection, Coroutine, Iterable, Mapping
from typing import Any, Protocol

from services.core.letters import Place
from services.flow import DEAD_LETTERS, PARTITIONS, stream_of
from services.runtime import journal
from services.runtime.database import DATABASE_AWAY, reason_of
from services.runtime.kafka import BrokerAway, Topics, partition_of
from services.runtime.letters import LettersLog
from services.runtime.snapshots import Snapshots
from services.runtime.stepping import Contradiction, Input, Outcome, PartitionMemory, Sent, Stepper, Undecidable
from services.runtime.vital import start_vital, stop_vital
from services.wire.records import Unreadable

PENDING_MAX, PENDING_BYTES_MAX = 10_000, 64_000_000
"""Of inputs, and of their bytes: no more is asked for where so much waits."""
BATCH_MAX = 2_000
RETRY_SECONDS = 0.25
ORDERS_READ_SECONDS = 1.0
STOP_SECONDS = 5.0

log = logging.getLogger(__name__)


class Group(Protocol):
    """The consumer group as a processor in it sees it."""

    def holds(self, partition: int) -> bool:
        """Whether the group, as far as this process has heard, gives it the partition."""

    async def seek(self, partition: int, offset: int) -> None:
        """Reads on from that input. Raises whatever goes wrong."""

    async def commit(self, positions: Mapping[int, int]) -> None:
        """Tells the group where we stand, for those who look at it. Raises whatever goes wrong."""


class Processing:
    """One stream's processor: takes the inputs of the partitions that its group gives it, keeps the order of durability."""

    def __init__(self, stepper: Stepper, kafka: Topics, snapshots: Snapshots) -> None:
        self.stepper = stepper
        self.stream = stepper.stream
        self.kafka = kafka
        self.snapshots = snapshots
        self.memories: dict[int, PartitionMemory] = {}
        self.stopped: dict[int, str] = {}
        self.failing: str | None = None
        """Why the last batch was not made durable, when that is not for the lack of the broker or the database."""
        self.waits: str | None = None
        """What cannot be written at this moment, and why, in the words of the broker or the database."""
        self.records_total = 0
        self.inputs_total = 0
        self.refusals: Counter[tuple[str, str]] = Counter()
        """By the name of the command, and whether a rule of play is behind the refusal or a procedure of the house."""
        self.dead_total = 0
        self.overtaken_total = 0
        self.last_step_at = time.monotonic()
        self.assigned_once = asyncio.Event()
        self._pending: dict[int, list[Input]] = {}
        self._pending_count = self._pending_bytes = 0
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._busy = asyncio.Lock()
        self._letters = LettersLog(kafka)
        self._readopting: set[asyncio.Task[None]] = set()
        self._to_commit: dict[int, int] = {}
        self._committing: asyncio.Task[None] | None = None
        self._group: Group | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, group: Group) -> None:
        """Begins to process what the group gives."""
        self._group = group
        self._task = start_vital(self._process(), f"{self.stream.name}-processing")

    async def stop(self) -> None:
        """Leaves off cleanly: the batch in hand is finished or was never begun."""
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_SECONDS), self._busy:
                    await stop_vital(self._task)
        await stop_vital(self._task, self._committing, *self._readopting)

    @property
    def _in_group(self) -> Group:
        assert self._group is not None, "it was started"
        return self._group

    @property
    def ready(self) -> bool:
        """Whether the group has given this process its partitions (perhaps none) and they are caught up."""
        return self.assigned_once.is_set()

    def take(self, fetched: Mapping[int, Iterable[Input]]) -> asyncio.Event:
        """Takes over what was fetched, by partition; the event says when more is welcome."""
        for partition, inputs in fetched.items():
            some = list(inputs)
            self._pending.setdefault(partition, []).extend(some)
            self._pending_count += len(some)
            self._pending_bytes += sum(len(item.value) for item in some)
        self._arrived.set()
        if self._pending_count >= PENDING_MAX or self._pending_bytes >= PENDING_BYTES_MAX:
            self._room.clear()
        return self._room

    # Assignment ----------------------------------------------------------------------------------------

    async def assigned(self, partitions: Collection[int]) -> dict[int, int]:
        """Makes the memory of the assigned partitions anew; gives the offsets to read from."""
        positions: dict[int, int] = {}
        async with self._busy:
            self.memories.clear()
            self.stopped.clear()
            self._forget_pending()
            for partition in sorted(partitions):
                memory = await self._adopt(partition)
                if memory is not None:
                    self.memories[partition] = memory
                positions[partition] = await self._input_end(partition) if memory is None else memory.position
            self.assigned_once.set()
        log.info("%s: assigned partitions at %s", self.stream.name, positions)
        return positions

    async def _input_end(self, partition: int) -> int:
        """From where to read a partition that stands still: nothing is taken of it, and so nothing need be fetched."""
        try:
            return (await self.kafka.ends([self.stream.input]))[self.stream.input, partition][1]
        except BrokerAway:
            return 0

    async def _adopt(self, partition: int) -> PartitionMemory | None:
        """Snapshot, then the own log beyond it; None where the partition must stand still."""
        while True:
            try:
                return await self._adopt_once(partition)
            except (BrokerAway, *DATABASE_AWAY) as error:
                log.warning("%s-%s: cannot be taken over yet: %s", self.stream.name, partition, reason_of(error))
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
        self._pending_count = self._pending_bytes = 0
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
        batches, self._pending = self._pending, {}
        self._pending_count = self._pending_bytes = 0
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
            self._tell(memory.partition, outcome)
            if outcome.stopped is not None:
                self.memories.pop(memory.partition, None)
                await self._stand_still(memory.partition, f"at input offset {memory.position}: {outcome.stopped}")
                if isinstance(outcome.stopped, Undecidable) and outcome.stopped.place is not None:
                    self._beside(self._until_passed_over(memory.partition, outcome.stopped.place))

    def _tell(self, partition: int, outcome: Outcome) -> None:
        """Says what was made durable, where somebody wants to read along; and what was put aside, always."""
        place = {"topic": self.stream.input, "partition": partition}
        for each in outcome.told:
            about = {
                "command_id": each.command_id, "follows": each.follows, "actor": each.actor, "key": each.item.key,
                "offset": each.item.offset, "sequence": each.sequence, "events": each.events, "sent": each.sent,
            }  # fmt: skip
            journal.commands.info("decided", extra=place | about)
        for origin, _ in outcome.dead:
            log.warning("%s: what came in is kept in %s, undecided", origin, DEAD_LETTERS, extra=place)

    def _step(self, memory: PartitionMemory, items: list[Input]) -> Outcome:
        outcome = self.stepper.step(memory, items)
        self.inputs_total += len(items)
        self.records_total += outcome.records
        for name, section in outcome.refusals:
            self.refusals[name, "procedure" if section is None else "rule"] += 1
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
            {memory.partition: memory.position for memory in memories if memory.partition not in overtaken}
        )
        if self._committing is None or self._committing.done():
            self._committing = asyncio.create_task(self._commit(), name=f"{self.stream.name}-commit")

    async def _commit(self) -> None:
        """Tells the group where we stand, one call at a time: after a broker's absence a call may hang for long,
        and nothing that matters may wait for it."""
        while self._to_commit:
            positions, self._to_commit = self._to_commit, {}
            with contextlib.suppress(Exception):
                await self._in_group.commit(positions)

    async def _append_outcomes(self, outcomes: list[tuple[PartitionMemory, Outcome]]) -> None:
        async def own(memory: PartitionMemory, groups: list[list[tuple[str, bytes]]]) -> None:
            memory.log_end = await self.kafka.append(self.stream.name, memory.partition, groups)

        groups: dict[int, tuple[PartitionMemory, list[list[tuple[str, bytes]]]]] = {}
        for memory, outcome in outcomes:
            groups.setdefault(memory.partition, (memory, []))[1].extend(outcome.groups)
        # The own log first: a command must not be answered before the record it follows from is stored.
        await asyncio.gather(*(own(memory, some) for memory, some in groups.values() if some))
        await self._append_sent([sent for _, outcome in outcomes for sent in outcome.sent])
        dead = [[letter] for _, outcome in outcomes for letter in outcome.dead]
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
                done = await act(argument)
            except (BrokerAway, *DATABASE_AWAY) as error:
                log.warning("%s: %s cannot be written yet: %s", self.stream.name, what, reason_of(error))
                self.waits = f"{what} cannot be written yet: {reason_of(error)}"
                await asyncio.sleep(RETRY_SECONDS)
            else:
                self.waits = None
                return done

    def _give_up(self, partition: int) -> None:
        """Forgets a partition and takes it up anew from snapshot and log, if the group still gives it to us."""
        self.memories.pop(partition, None)
        self._pending.pop(partition, None)
        self._beside(self._take_up(partition))

    def _beside(self, act: Coroutine[Any, Any, None]) -> None:
        """Does something while the rest is processed."""
        task = asyncio.create_task(act)
        self._readopting.add(task)
        task.add_done_callback(self._readopting.discard)

    async def _take_up(self, partition: int) -> None:
        await asyncio.sleep(RETRY_SECONDS)
        async with self._busy:
            if partition in self.memories or not self._in_group.holds(partition):
                return
            memory = await self._adopt(partition)
            if memory is None:
                return
            self._pending.pop(partition, None)
            try:
                await self._in_group.seek(partition, memory.position)
            except Exception as error:
                # The group takes the partition away at this moment, or the broker does not answer.
                log.warning("%s-%s: cannot be read on yet: %r", self.stream.name, partition, error)
                self._give_up(partition)
                return
            self.stopped.pop(partition, None)
            self.memories[partition] = memory

    async def _until_passed_over(self, partition: int, place: Place) -> None:
        """Waits until somebody orders to pass over the input at which a partition stands still; then takes it up anew:
        whether it can be decided is asked once more, from snapshot and log."""
        reason = self.stopped.get(partition)
        while reason is not None and self.stopped.get(partition) == reason:
            try:
                order = (await self._letters.read(keep_values=False)).skips.get(place)
            except (BrokerAway, Unreadable) as error:
                log.warning("%s-%s: whether it is to be passed over is not known: %s", place[0], partition, error)
                order = None
            if order is not None:
                log.warning("%s is passed over, in the name of %s: %s", place[0], order.actor, order.reason)
                self.stepper.skips[place] = order
                self._give_up(partition)
                return
            await asyncio.sleep(ORDERS_READ_SECONDS)

    async def _stand_still(self, partition: int, reason: str) -> None:
        self.stopped[partition] = reason
        about = {"topic": self.stream.input, "partition": partition}
        log.critical("%s-%s stands still: %s", self.stream.name, partition, reason, extra=about)
        with contextlib.suppress(Exception):
            await self.snapshots.alarm(partition, reason)
