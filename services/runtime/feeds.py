"""Feeds: server-sent events of one key or of all, a snapshot and then numbered deltas, resumable, never out of order.

A delta is made once and handed to every reader. Where a feed may merge, events of the kinds named (increments) are held
for a moment while they follow each other, and go out as one delta; any other event goes out at once, and is never left out.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from services.runtime.desk import by_command
from services.runtime.projecting import Fact
from services.wire.json import event_json

REMEMBERED, REMEMBERED_OF_ALL = 500, 20_000
"""How many deltas of a key, and of all keys together, are kept for readers who come back."""
HEARTBEAT_SECONDS, TURNS = 1.0, 10
"""Every reader has a heartbeat once in that time, a tenth of them at a time: all of them at once would hold up a hit.
So often it is asked, too, whether the feed is fresh, and a change is told to all at once."""
RETRY_MS = 1_000
"""After what time a browser whose connection was lost is asked to come back."""
PACE_SECONDS, PACE_SECONDS_PER_READER = 0.05, 0.0002
"""How far deltas that hold nothing but increments are apart. To hand one to a reader takes this process some 40
microseconds, so however many readers there are, increments have about a fifth of its time."""


def frame(event: str, data: bytes, event_id: str | None = None) -> bytes:
    """One server-sent event."""
    head = "" if event_id is None else f"id: {event_id}\n"
    return f"{head}event: {event}\ndata: ".encode() + data + b"\n\n"


@dataclass(frozen=True, slots=True)
class _Delta:
    """What happened to a key behind the sequence `after`, up to `sequence`; `framed` is its frame without the id.

    Only the last command in it may be another than an increment, so a reader who stands somewhere inside has had none
    of the events that it keeps.
    """

    key: str
    after: int
    sequence: int
    framed: bytes


class _Key:
    """What is kept of one key: the last deltas, and the increments that are held for the next one."""

    def __init__(self) -> None:
        self.remembered: deque[_Delta] = deque(maxlen=REMEMBERED)
        self.held: list[Fact] = []
        self.told = 0
        """The sequence of the last fact that this feed was told."""
        self.next_at = 0.0
        self.timer: asyncio.TimerHandle | None = None

    def since(self, sequence: int) -> list[_Delta] | None:
        """The deltas behind a sequence, or None where they are not all remembered."""
        known = self.remembered
        if not known or known[0].after > sequence or known[-1].sequence < sequence:
            return None
        return [delta for delta in known if delta.sequence > sequence]


class _Reader:
    """One open connection: what it has not taken yet, what it has, and whether it must be sent away."""

    def __init__(self, queue_max: int, whole: bool, turn: int) -> None:
        self.queue: deque[_Delta] = deque()
        self.queue_max = queue_max
        self.whole = whole
        """Whether it reads all keys."""
        self.sequences: dict[str, int] = {}
        """What it has of each key, or has been given to send."""
        self.arrived = asyncio.Event()
        self.turn = turn
        self.beat = True
        self.dropped = False

    @property
    def event_id(self) -> str:
        """Where it stands: the sequence of its key, or `KEY:SEQUENCE` of every key."""
        if self.whole:
            return ",".join(f"{key}:{sequence}" for key, sequence in self.sequences.items())
        return str(next(iter(self.sequences.values()), 0))

    def put(self, delta: _Delta) -> None:
        if len(self.queue) >= self.queue_max:
            self.drop()
        elif not self.dropped:
            self.queue.append(delta)
            self.arrived.set()

    def drop(self) -> None:
        self.dropped = True
        self.queue.clear()
        self.arrived.set()

    def take(self) -> bytes:
        """The frames of all that is in its queue."""
        frames = []
        while self.queue:
            framed = self.advance(self.queue.popleft())
            if framed:
                frames.append(framed)
        return b"".join(frames)

    def advance(self, delta: _Delta) -> bytes:
        """The frame of one delta, without what the reader has already."""
        stands = self.sequences.get(delta.key, delta.after)  # of a key that it did not have, this is the beginning
        if delta.sequence <= stands:
            return b""
        if delta.after > stands:
            self.drop()  # something between them is not here
            return b""
        self.sequences[delta.key] = delta.sequence
        return f"id: {self.event_id}\n".encode() + delta.framed


Extra = Callable[[str, Any, Sequence[Any]], dict[str, Any]]
"""What a delta of that key, with that state behind it and of these events, carries beside them."""


class Feeds:
    """The feeds of all keys of one log. `merged` are the kinds of events that may be merged, `unsaid` the fields of
    events that are nobody's business who reads a feed."""

    def __init__(
        self,
        topic: str,
        fresh: Callable[[], bool],
        queue_max: int,
        extra: Extra,
        merged: tuple[type, ...] = (),
        unsaid: frozenset[str] = frozenset(),
    ) -> None:
        self._topic = topic
        self._fresh = fresh
        self._queue_max = queue_max
        self._extra = extra
        self._merged = merged
        self._unsaid = unsaid
        self._keys: dict[str, _Key] = {}
        self._order: deque[tuple[_Key, _Delta]] = deque()
        """The deltas of all keys, in the order in which they were made."""
        self._readers: dict[str | None, set[_Reader]] = {}
        """By their key; those of all keys under None."""
        self.open_count = 0
        self.dropped_total = 0
        self._closing = asyncio.Event()
        self._beating: asyncio.Task[None] | None = None
        self._beats: dict[str, bytes] = {}
        """The heartbeats of this moment, by where their readers stand."""

    def close(self) -> None:
        """Ends every open feed, so that the server can stop."""
        self._closing.set()
        for reader in self._all():
            reader.arrived.set()

    def begin_again(self) -> None:
        """Facts were missed: every reader is sent away, to come back for a snapshot."""
        for kept in self._keys.values():
            if kept.timer is not None:
                kept.timer.cancel()
        self._keys.clear()
        self._order.clear()
        for reader in self._all():
            reader.drop()

    def tell(self, facts: Sequence[Fact]) -> None:
        """A delta for each command, or for several where they may be merged, to everybody who reads its key."""
        for group in by_command(facts, self._topic):
            key, last = group[-1].key, group[-1]
            kept = self._keys.setdefault(key, _Key())
            if last.record.sequence <= kept.told:
                continue  # told before, by a projection that had to begin again
            kept.told = last.record.sequence
            kept.held += group
            if not all(isinstance(fact.record.event, self._merged) for fact in group):
                self._hand_out(key, kept)
        for key in {fact.key for fact in facts if fact.topic == self._topic}:
            self._hand_out_in_time(key, self._keys[key])

    def _hand_out_in_time(self, key: str, kept: _Key) -> None:
        if not kept.held or kept.timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= kept.next_at:
            self._hand_out(key, kept)
        else:
            kept.timer = loop.call_at(kept.next_at, self._hand_out, key, kept)

    def _hand_out(self, key: str, kept: _Key) -> None:
        """One delta of all that is held."""
        if kept.timer is not None:
            kept.timer.cancel()
            kept.timer = None
        delta = self._delta(key, kept.held)
        kept.held = []
        self._remember(kept, delta)
        readers = [*self._readers.get(key, ()), *self._readers.get(None, ())]
        kept.next_at = asyncio.get_running_loop().time() + max(PACE_SECONDS, PACE_SECONDS_PER_READER * len(readers))
        for reader in readers:
            reader.put(delta)

    def _remember(self, kept: _Key, delta: _Delta) -> None:
        kept.remembered.append(delta)
        self._order.append((kept, delta))
        if len(self._order) > REMEMBERED_OF_ALL:
            of, oldest = self._order.popleft()
            if of.remembered[0] is oldest:
                of.remembered.popleft()

    def _delta(self, key: str, facts: list[Fact]) -> _Delta:
        first, last = facts[0].record, facts[-1].record
        one = all(fact.record.command_id == last.command_id for fact in facts)
        events = [fact.record.event for fact in facts]
        told = [event for event in events if one or not isinstance(event, self._merged)]
        data: dict[str, Any] = {
            "sequence": last.sequence,
            "at_ms": last.recorded_at_ms,
            "events": [event_json(event, self._unsaid) for event in told],
        }
        if self._merged:
            data["merged"] = len(events) - len(told)
        framed = frame("delta", orjson.dumps(data | self._extra(key, facts[-1].state, events)))
        return _Delta(key, first.sequence - 1, last.sequence, framed)

    def _all(self) -> Iterator[_Reader]:
        for readers in self._readers.values():
            yield from readers

    async def read(
        self, key: str, snapshot: Callable[[], Awaitable[dict[str, Any] | None]], last_event_id: int | None
    ) -> AsyncIterator[bytes]:
        """The frames of one key for one reader, until it leaves, is too slow, or the service stops."""

        async def begun(reader: _Reader) -> list[bytes]:
            kept = self._keys.get(key)
            missed = None if kept is None or last_event_id is None else kept.since(last_event_id)
            if missed is not None and last_event_id is not None:
                reader.sequences[key] = last_event_id
                return [reader.advance(delta) for delta in missed]
            whole = await snapshot()
            if whole is None:
                return []
            reader.sequences[key] = int(whole["sequence"])
            return [_snapshot(whole, reader)]

        async for framed in self._read(key, begun):
            yield framed

    async def read_all(
        self, snapshot: Callable[[], Awaitable[dict[str, dict[str, Any]]]], last_event_id: dict[str, int]
    ) -> AsyncIterator[bytes]:
        """The frames of all keys for one reader; the snapshot has every key's, by key."""

        async def begun(reader: _Reader) -> list[bytes]:
            wholes = await snapshot()
            missed = self._missed(wholes, last_event_id) if last_event_id else None
            if missed is not None:
                reader.sequences = {key: last_event_id.get(key, 0) for key in wholes}
                return [reader.advance(delta) for delta in missed]
            reader.sequences = {key: int(whole["sequence"]) for key, whole in wholes.items()}
            return [_snapshot(list(wholes.values()), reader)]

        async for framed in self._read(None, begun):
            yield framed

    def _missed(self, wholes: dict[str, dict[str, Any]], stands: dict[str, int]) -> list[_Delta] | None:
        """The deltas behind these sequences, or None where they are not all remembered."""
        missed: list[_Delta] = []
        for key, whole in wholes.items():
            kept, sequence = self._keys.get(key), stands.get(key, 0)
            if sequence == whole["sequence"]:
                continue
            since = None if kept is None else kept.since(sequence)
            if since is None:
                return None
            missed += since
        return missed

    async def _read(self, key: str | None, begun: Callable[[_Reader], Awaitable[list[bytes]]]) -> AsyncIterator[bytes]:
        reader = _Reader(self._queue_max, key is None, self.open_count % TURNS)
        self._readers.setdefault(key, set()).add(reader)
        self.open_count += 1
        if self._beating is None or self._beating.done():
            self._beating = asyncio.create_task(self._beat(self._fresh()), name="heartbeats")
        try:
            for framed in await begun(reader):
                if framed:
                    yield framed
            async for framed in self._follow(reader):
                yield framed
        finally:
            self.open_count -= 1
            self.dropped_total += reader.dropped
            readers = self._readers[key]
            readers.discard(reader)
            if not readers:
                del self._readers[key]

    async def _follow(self, reader: _Reader) -> AsyncIterator[bytes]:
        while not self._closing.is_set():
            reader.arrived.clear()
            ready = reader.take()
            if reader.dropped:
                yield frame("dropped", b'{"reason":"Deltas were left out. Connect again."}')
                return
            if reader.beat:
                reader.beat = False
                ready += self._heartbeat(reader)
            if ready:
                yield ready
            else:
                await reader.arrived.wait()

    async def _beat(self, fresh: bool) -> None:
        """Has every reader told, once a second and whenever that changes, whether the feed is fresh, as it just was."""
        turn = 0
        while self._readers and not self._closing.is_set():
            await asyncio.sleep(HEARTBEAT_SECONDS / TURNS)
            fresh, before = self._fresh(), fresh
            turn = (turn + 1) % TURNS
            self._beats.clear()
            for reader in self._all():
                if reader.turn == turn or fresh != before:
                    reader.beat = True
                    reader.arrived.set()

    def _heartbeat(self, reader: _Reader) -> bytes:
        stands = reader.event_id
        if stands not in self._beats:
            where = {"sequences": reader.sequences} if reader.whole else {"sequence": int(stands)}
            beat = {**where, "fresh": self._fresh(), "at_ms": time.time_ns() // 1_000_000}
            self._beats[stands] = frame("heartbeat", orjson.dumps(beat))
        return self._beats[stands]


def _snapshot(whole: Any, reader: _Reader) -> bytes:
    return f"retry: {RETRY_MS}\n".encode() + frame("snapshot", orjson.dumps(whole), reader.event_id)
