"""How old a feed is that another service hears of, by what that service answers."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest

from services.core.rounds.betting import PROGRESSIVE_AGE_MAX_MS
from services.runtime.heartbeat import Heartbeat
from tests.support.house import free_port

OLDER_MS = 60_000


@contextlib.asynccontextmanager
async def _hearing(status: bytes, body: bytes, asked: asyncio.Event) -> AsyncIterator[Heartbeat]:
    """Listens to a service that answers so; `asked` is set with each answer."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (await reader.readline()).strip():
            pass
        head = b"HTTP/1.1 %b\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(body))
        writer.write(head + body)
        await writer.drain()
        writer.close()
        asked.set()

    port = free_port()
    heartbeat = Heartbeat(f"http://127.0.0.1:{port}")
    async with await asyncio.start_server(answer, "127.0.0.1", port), asyncio.timeout(10):
        heartbeat.start()
        try:
            yield heartbeat
        finally:
            await heartbeat.stop()


def test_a_controller_that_was_never_heard_is_not_believed() -> None:
    assert Heartbeat("http://127.0.0.1:9").age_ms > PROGRESSIVE_AGE_MAX_MS


def test_the_age_of_a_feed_is_counted_from_when_it_was_fresh_and_not_from_when_that_was_said() -> None:
    async def scene() -> None:
        fresh_then = b'{"beats": true, "age_ms": %d}' % OLDER_MS
        async with _hearing(b"200 OK", fresh_then, asyncio.Event()) as heartbeat:
            while heartbeat.age_ms < OLDER_MS:
                await asyncio.sleep(0.01)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (b"503 Service Unavailable", b'{"beats": false, "age_ms": 0}'),
        (b"200 OK", b"<html>somebody else</html>"),
        (b"200 OK", b"[]"),
        (b"200 OK", b'{"age_ms": "none"}'),
    ],
)
def test_an_answer_that_says_nothing_is_silence(status: bytes, body: bytes) -> None:
    async def scene() -> None:
        asked = asyncio.Event()
        async with _hearing(status, body, asked) as heartbeat:
            silent_ms, begun = heartbeat.age_ms, time.monotonic()
            for _ in range(3):
                await asked.wait()
                asked.clear()
            # A millisecond for the two roundings.
            assert heartbeat.age_ms >= silent_ms + int((time.monotonic() - begun) * 1000) - 1

    asyncio.run(scene())
