"""Displays: many open feeds of one progressive, in a process of their own.

`python -m tests.bench.watchers PORT PROGRESSIVE COUNT` says `ready` and is then told a sequence. Once every display has it,
or after a while, it prints for each delta by its id how many displays it reached and when the last of them had it
(nanoseconds, by `time.monotonic_ns`).
"""

import asyncio
import json
import re
import resource
import sys
import time

DELTA = re.compile(rb"^id: (\d+)\nevent: delta", re.MULTILINE)
OPENED_AT_ONCE = 50
LAST_SECONDS = 20.0


class Seen:
    """What all displays saw: for each delta how many it reached, and when the last of them."""

    def __init__(self) -> None:
        self.deltas: dict[int, tuple[int, int]] = {}
        self.begun = 0
        self.bytes = 0

    def note(self, sequence: int) -> None:
        count, _ = self.deltas.get(sequence, (0, 0))
        self.deltas[sequence] = (count + 1, time.monotonic_ns())

    def all_have(self, sequence: int, displays: int) -> bool:
        """Whether so many displays have a delta that ends there or later."""
        return any(reached == displays for last, (reached, _) in self.deltas.items() if last >= sequence)


class Display(asyncio.Protocol):
    """One connection that reads a feed, and looks only for the ids of deltas."""

    def __init__(self, seen: Seen, request: bytes) -> None:
        self._seen = seen
        self._request = request
        self._rest = b""
        self._begun = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._seen.bytes += len(data)
        whole, separator, self._rest = (self._rest + data).rpartition(b"\n\n")
        if not separator:
            return
        if not self._begun:
            self._begun = True
            self._seen.begun += 1
        for found in DELTA.finditer(whole):
            self._seen.note(int(found[1]))


async def watch(port: int, progressive_id: str, count: int) -> None:
    """Opens the feeds, and stays until all of them have shown the sequence that it is told."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    loop = asyncio.get_running_loop()
    seen = Seen()
    request = f"GET /progressives/{progressive_id}/events HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
    for number in range(count):
        await loop.create_connection(lambda: Display(seen, request), "127.0.0.1", port)
        while number - seen.begun > OPENED_AT_ONCE:
            await asyncio.sleep(0.01)
    while seen.begun < count:
        await asyncio.sleep(0.05)
    print("ready", flush=True)
    wanted = int(await asyncio.to_thread(sys.stdin.readline))
    deadline = time.monotonic() + LAST_SECONDS
    while not seen.all_have(wanted, count) and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
    print(json.dumps([[sequence, reached, last] for sequence, (reached, last) in sorted(seen.deltas.items())]))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{seen.bytes / 1e6:.1f} MB read, {used.ru_utime + used.ru_stime:.1f} s of a core", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(watch(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
