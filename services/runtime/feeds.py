"""Feeds: server-sent events of one key, a snapshot and then numbered deltas, resumable, never out of order."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import orjson

from services.runtime.desk import by_command
from services.runtime.projecting import Fact
from services.wire.json import event_json

REMEMBERED = 500
"""How many deltas of a key are kept for a reader who comes back."""
HEARTBEAT_SECONDS = 1.0


def frame(event: str, data: bytes, sequence: int | None = None) -> bytes:
    """One server-sent event."""
    head = b"" if sequence is None else b"id: %d\n" % sequence
    return head + b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"


class _Reader:
    """One open connection: what it has not taken yet, and whether it was too slow."""

    def __init__(self, queue_max: int) -> None:
        self.queue: deque[tuple[int, bytes]] = deque()
        self.queue_max = queue_max
        self.arrived = asyncio.Event()
        self.dropped = False

    def put(self, sequence: int, framed: bytes) -> None:
        if len(self.queue) >= self.queue_max:
            self.dropped = True
        else:
            self.queue.append((sequence, framed))
        self.arrived.set()


class Feeds:
    """The feeds of all keys of one log. `extra` adds to each delta what its readers want beside the events."""

    def __init__(
        self, topic: str, fresh: Callable[[], bool], queue_max: int, extra: Callable[[str, Any], dict[str, Any]]
    ) -> None:
        self._topic = topic
        self._fresh = fresh
        self._queue_max = queue_max
        self._extra = extra
        self._readers: dict[str, set[_Reader]] = {}
        self._remembered: dict[str, deque[tuple[int, bytes]]] = {}
        self.open_count = 0
        self.dropped_total = 0
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Ends every open feed, so that the server can stop."""
        self._closing.set()
        for readers in self._readers.values():
            for reader in readers:
                reader.arrived.set()

    def begin_again(self) -> None:
        """Facts were missed: every reader is sent away, to come back for a snapshot."""
        self._remembered.clear()
        for readers in self._readers.values():
            for reader in readers:
                reader.dropped = True
                reader.arrived.set()

    def tell(self, facts: Sequence[Fact]) -> None:
        """A delta for each command, to everybody who reads its key."""
        for group in by_command(facts, self._topic):
            key, last = group[-1].key, group[-1]
            remembered = self._remembered.setdefault(key, deque(maxlen=REMEMBERED))
            sequence = last.record.sequence
            if remembered and sequence <= remembered[-1][0]:
                continue  # told before, by a projection that had to begin again
            delta = {
                "sequence": sequence,
                "at_ms": last.record.recorded_at_ms,
                "events": [event_json(fact.record.event) for fact in group],
                **self._extra(key, last.state),
            }
            framed = frame("delta", orjson.dumps(delta), sequence)
            remembered.append((sequence, framed))
            for reader in self._readers.get(key, ()):
                reader.put(sequence, framed)

    def _since(self, key: str, sequence: int) -> list[tuple[int, bytes]] | None:
        """The deltas behind a sequence, or None where they are not all remembered."""
        remembered = self._remembered.get(key)
        if not remembered or remembered[0][0] > sequence + 1 or remembered[-1][0] < sequence:
            return None
        return [delta for delta in remembered if delta[0] > sequence]

    async def read(
        self, key: str, snapshot: Callable[[], Awaitable[dict[str, Any] | None]], last_event_id: int | None
    ) -> AsyncIterator[bytes]:
        """The frames for one reader, until it leaves, is too slow, or the service stops."""
        reader = _Reader(self._queue_max)
        self._readers.setdefault(key, set()).add(reader)
        self.open_count += 1
        try:
            sequence = 0
            missed = None if last_event_id is None else self._since(key, last_event_id)
            if missed is not None and last_event_id is not None:
                sequence = last_event_id
                for number, framed in missed:
                    sequence = number
                    yield framed
            else:
                whole = await snapshot()
                if whole is not None:
                    sequence = int(whole["sequence"])
                    yield frame("snapshot", orjson.dumps(whole), sequence)
            async for framed in self._follow(reader, sequence):
                yield framed
        finally:
            self.open_count -= 1
            self.dropped_total += reader.dropped
            readers = self._readers[key]
            readers.discard(reader)
            if not readers:
                del self._readers[key]

    async def _follow(self, reader: _Reader, sequence: int) -> AsyncIterator[bytes]:
        beat_at = 0.0
        while not self._closing.is_set():
            if reader.dropped:
                yield frame("dropped", b'{"reason":"Deltas were left out. Connect again."}')
                return
            ready: list[bytes] = []
            while reader.queue:
                number, framed = reader.queue.popleft()
                if number > sequence:
                    sequence = number
                    ready.append(framed)
            now = time.monotonic()
            if now - beat_at >= HEARTBEAT_SECONDS:
                beat_at = now
                beat = {"sequence": sequence, "fresh": self._fresh(), "at_ms": time.time_ns() // 1_000_000}
                ready.append(frame("heartbeat", orjson.dumps(beat)))
            if ready:
                yield b"".join(ready)
            reader.arrived.clear()
            if not reader.queue and not reader.dropped:
                try:
                    async with asyncio.timeout(max(0.01, beat_at + HEARTBEAT_SECONDS - time.monotonic())):
                        await reader.arrived.wait()
                except TimeoutError:
                    pass
