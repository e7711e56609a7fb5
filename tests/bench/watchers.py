"""Displays: many open feeds of one progressive, in a process of their own.

`python -m tests.bench.watchers PORT PROGRESSIVE COUNT` says `ready`, and at the end of its input prints, for each
mark (see `mark`), how many displays it reached and after how many milliseconds the last of them.
"""

import asyncio
import json
import re
import resource
import sys
import time

MARK = re.compile(rb'"round_id":"mark-(\d+)"')
OPENED_AT_ONCE = 50


def mark(at: int | None = None) -> str:
    """An id for a round that says when it was made, by the clock that all processes of a machine share."""
    return f"mark-{time.monotonic_ns() if at is None else at}"


class Seen:
    """What all displays saw: for each mark how many it reached, and when the last of them."""

    def __init__(self) -> None:
        self.marks: dict[int, tuple[int, int]] = {}
        self.begun = 0

    def note(self, marked: int) -> None:
        count, _ = self.marks.get(marked, (0, 0))
        self.marks[marked] = (count + 1, time.monotonic_ns())


class Display(asyncio.Protocol):
    """One connection that reads a feed, and looks only for marks."""

    def __init__(self, seen: Seen, request: bytes) -> None:
        self._seen = seen
        self._request = request
        self._rest = b""
        self._begun = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        whole, separator, self._rest = (self._rest + data).rpartition(b"\n\n")
        if not separator:
            return
        if not self._begun:
            self._begun = True
            self._seen.begun += 1
        for frame in whole.split(b"\n\n"):
            if b"event: delta" not in frame:
                continue
            # A delta of a hit has several events of one round: the mark is looked for once a frame.
            found = MARK.search(frame)
            if found:
                self._seen.note(int(found[1]))


async def watch(port: int, progressive_id: str, count: int) -> None:
    """Opens the feeds and stays until the input ends."""
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
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps([[at, reached, (last - at) / 1e6] for at, (reached, last) in seen.marks.items()]))


if __name__ == "__main__":
    asyncio.run(watch(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
