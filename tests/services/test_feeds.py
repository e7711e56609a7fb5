"""Feeds: a snapshot, then deltas in order; what was left out is never papered over."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from services.core.accounts import Deposited
from services.runtime.feeds import Feeds
from services.runtime.kafka import Stored
from services.runtime.projecting import Fact
from services.wire.records import Cause, Record

KEY = "account-1"


def fact(sequence: int, index: int = 0, count: int = 1, command: str | None = None) -> Fact:
    record = Record(
        sequence, b"", 1000 + sequence, command or f"c{sequence}", "cage", Cause("account-commands", 0, sequence), index,
        count, b"x", Deposited(sequence, f"r{sequence}"),
    )  # fmt: skip
    return Fact("accounts", KEY, record, Stored("accounts", 0, sequence, 0, KEY, b""), None)


def feeds(queue_max: int = 100) -> Feeds:
    return Feeds("accounts", lambda: True, queue_max, lambda _key, _state: {})


async def snapshot() -> dict[str, Any]:
    return {"sequence": 5}


async def told(reading: AsyncIterator[bytes], events: int) -> list[tuple[str, str | None]]:
    """The next events of a feed, (event, id) each; heartbeats left out."""
    found: list[tuple[str, str | None]] = []
    async with asyncio.timeout(5):
        while len(found) < events:
            for framed in (await anext(reading)).decode().strip().split("\n\n"):
                lines = dict(line.split(": ", 1) for line in framed.split("\n"))
                if lines["event"] != "heartbeat":
                    found.append((lines["event"], lines.get("id")))
    return found


def test_a_snapshot_comes_first_and_what_it_has_already_is_not_told_again() -> None:
    async def scene() -> None:
        some = feeds()
        reading = some.read(KEY, snapshot, None)
        assert await told(reading, 1) == [("snapshot", "5")]
        some.tell([fact(4), fact(5), fact(6), fact(7)])
        assert await told(reading, 2) == [("delta", "6"), ("delta", "7")]

    asyncio.run(scene())


def test_the_records_of_one_command_are_one_delta_with_the_last_sequence() -> None:
    async def scene() -> None:
        some = feeds()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6, 0, 3, "a"), fact(7, 1, 3, "a"), fact(8, 2, 3, "a"), fact(9)])
        assert await told(reading, 2) == [("delta", "8"), ("delta", "9")]

    asyncio.run(scene())


def test_a_reader_who_comes_back_gets_what_it_missed_without_a_snapshot() -> None:
    async def scene() -> None:
        some = feeds()
        some.tell([fact(6), fact(7), fact(8)])
        assert await told(some.read(KEY, snapshot, 6), 2) == [("delta", "7"), ("delta", "8")]

    asyncio.run(scene())


def test_a_reader_who_comes_back_too_late_gets_a_snapshot() -> None:
    async def scene() -> None:
        some = feeds()
        some.tell([fact(6), fact(7), fact(8)])
        assert await told(some.read(KEY, snapshot, 3), 1) == [("snapshot", "5")]

    asyncio.run(scene())


def test_facts_told_twice_are_one_delta() -> None:
    async def scene() -> None:
        some = feeds()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6), fact(7)])
        some.tell([fact(6), fact(7), fact(8)])
        assert await told(reading, 3) == [("delta", "6"), ("delta", "7"), ("delta", "8")]

    asyncio.run(scene())


def test_a_slow_reader_is_dropped_and_told() -> None:
    async def scene() -> None:
        some = feeds(queue_max=2)
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6), fact(7), fact(8)])
        assert await told(reading, 1) == [("dropped", None)]
        assert [frame async for frame in reading] == []

    asyncio.run(scene())


def test_where_facts_were_missed_every_reader_is_sent_for_a_new_snapshot() -> None:
    async def scene() -> None:
        some = feeds()
        some.tell([fact(6)])
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.begin_again()
        some.tell([fact(9)])
        assert await told(reading, 1) == [("dropped", None)]
        assert await told(some.read(KEY, snapshot, 6), 1) == [("snapshot", "5")]

    asyncio.run(scene())
