"""Feeds: a snapshot, then deltas in order; what was left out is never papered over."""

import asyncio
import json
import typing
from collections.abc import AsyncIterator, Iterator
from dataclasses import is_dataclass
from typing import Any

import pytest

from services.core import jackpots
from services.core.accounts import Deposited, Withdrawn
from services.core.names import On, Source, Text
from services.progressive.api import MERGED, UNSAID
from services.runtime import feeds as runtime_feeds
from services.runtime.feeds import Feeds
from services.runtime.kafka import Stored
from services.runtime.projecting import Fact
from services.wire.records import Cause, Record

KEY = "account-1"


def fact(
    sequence: int, index: int = 0, count: int = 1, command: str | None = None, matters: bool = False, key: str = KEY
) -> Fact:
    event = Withdrawn(sequence, f"r{sequence}") if matters else Deposited(sequence, f"r{sequence}")
    record = Record(
        sequence, b"", 1000 + sequence, command or f"c{sequence}", "cage", Cause("account-commands", 0, sequence), index,
        count, b"x", event,
    )  # fmt: skip
    return Fact("accounts", key, record, Stored("accounts", 0, sequence, 0, key, b""), sequence)


def feeds(queue_max: int = 100) -> Feeds:
    return Feeds("accounts", lambda: True, queue_max, lambda *_: {})


async def snapshot() -> dict[str, Any]:
    return {"sequence": 5}


def merging(queue_max: int = 100) -> Feeds:
    """A feed that may merge deposits, and says what the state behind each delta is."""
    return Feeds("accounts", lambda: True, queue_max, lambda key, state, _: {"key": key, "state": state}, (Deposited,))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Increments are held until something else comes: the time that they are held for does not pass."""
    monkeypatch.setattr(runtime_feeds, "PACE_SECONDS", 3600.0)


async def frames(reading: AsyncIterator[bytes], events: int) -> list[tuple[str, str | None, Any]]:
    """The next events of a feed, (event, id, data) each; heartbeats left out."""
    found: list[tuple[str, str | None, Any]] = []
    async with asyncio.timeout(5):
        while len(found) < events:
            for framed in (await anext(reading)).decode().strip().split("\n\n"):
                lines = dict(line.split(": ", 1) for line in framed.split("\n"))
                if lines["event"] != "heartbeat":
                    found.append((lines["event"], lines.get("id"), json.loads(lines["data"])))
    return found


async def told(reading: AsyncIterator[bytes], events: int) -> list[tuple[str, str | None]]:
    """The next events of a feed, (event, id) each; heartbeats left out."""
    return [(event, number) for event, number, _ in await frames(reading, events)]


async def deltas(reading: AsyncIterator[bytes], count: int) -> list[tuple[str | None, list[int], int, Any]]:
    """The next deltas: (id, the events kept, how many were merged away, the state behind)."""
    found = await frames(reading, count)
    assert {event for event, _, _ in found} == {"delta"}
    return [
        (number, [event["amount_cents"] for event in data["events"]], data["merged"], data["state"])
        for _, number, data in found
    ]


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


def test_increments_that_follow_each_other_are_one_delta_and_what_matters_goes_out_at_once(held: None) -> None:
    async def scene() -> None:
        some = merging()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6)])  # after a silence, an increment goes out at once and whole
        some.tell([fact(7), fact(8)])
        some.tell([fact(9), fact(10, 0, 2, "hit", matters=True), fact(11, 1, 2, "hit", matters=True), fact(12)])
        some.tell([fact(13, matters=True)])
        assert await deltas(reading, 3) == [("6", [6], 0, 6), ("11", [10, 11], 3, 11), ("13", [13], 1, 13)]

    asyncio.run(scene())


def test_increments_that_are_held_go_out_by_themselves_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_feeds, "PACE_SECONDS", 0.01)

    async def scene() -> None:
        some = merging()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6)])
        some.tell([fact(7), fact(8)])
        some.tell([fact(9)])
        assert await deltas(reading, 2) == [("6", [6], 0, 6), ("9", [], 3, 9)]

    asyncio.run(scene())


def test_a_feed_that_may_not_merge_tells_every_command(held: None) -> None:
    async def scene() -> None:
        some = feeds()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(6), fact(7), fact(8)])
        found = await frames(reading, 3)
        assert [(data["sequence"], len(data["events"]), "merged" in data) for _, _, data in found] == [
            (6, 1, False), (7, 1, False), (8, 1, False),
        ]  # fmt: skip

    asyncio.run(scene())


@pytest.mark.parametrize("stands", [6, 7, 8])
def test_a_reader_who_stands_inside_a_merged_delta_gets_it_with_its_hit(held: None, stands: int) -> None:
    async def behind() -> dict[str, Any]:
        return {"sequence": stands}

    async def scene() -> None:
        some = merging()
        some.tell([fact(6)])
        reading = some.read(KEY, behind, None)
        assert await told(reading, 1) == [("snapshot", str(stands))]
        some.tell([fact(7), fact(8), fact(9, matters=True)])
        assert await deltas(reading, 1) == [("9", [9], 2, 9)]
        assert await deltas(some.read(KEY, snapshot, stands), 1) == [("9", [9], 2, 9)]

    asyncio.run(scene())


def test_what_a_snapshot_has_already_is_not_told_again_by_a_delta_that_was_held(held: None) -> None:
    async def ahead() -> dict[str, Any]:
        return {"sequence": 9}

    async def scene() -> None:
        some = merging()
        some.tell([fact(6)])
        some.tell([fact(7)])
        reading = some.read(KEY, ahead, None)
        assert await told(reading, 1) == [("snapshot", "9")]
        some.tell([fact(8), fact(9, matters=True), fact(10, matters=True)])
        assert await deltas(reading, 1) == [("10", [10], 0, 10)]

    asyncio.run(scene())


def test_one_reader_of_all_keys_resumes_each_behind_what_it_has() -> None:
    sequences = {"a": 5, "b": 5}

    async def wholes() -> dict[str, dict[str, Any]]:
        return {key: {"progressive_id": key, "sequence": sequence} for key, sequence in sequences.items()}

    async def scene() -> None:
        some = merging()
        reading = some.read_all(wholes, {})
        (event, number, data), *_ = await frames(reading, 1)
        assert (event, number, [each["progressive_id"] for each in data]) == ("snapshot", "a:5,b:5", ["a", "b"])
        some.tell([fact(6, key="a", matters=True), fact(6, key="b", matters=True), fact(1, key="c", matters=True)])
        found = await frames(reading, 3)
        assert [(number, data["key"]) for _, number, data in found] == [
            ("a:6,b:5", "a"), ("a:6,b:6", "b"), ("a:6,b:6,c:1", "c"),
        ]  # fmt: skip
        sequences.update(a=6, b=6, c=1)
        resumed = await frames(some.read_all(wholes, {"a": 6, "b": 5}), 2)
        assert [(number, data["key"]) for _, number, data in resumed] == [("a:6,b:6,c:0", "b"), ("a:6,b:6,c:1", "c")]
        assert [event for event, _, _ in await frames(some.read_all(wholes, {"a": 6, "b": 3}), 1)] == ["snapshot"]

    asyncio.run(scene())


def test_a_reader_is_told_when_the_feed_is_not_fresh_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = True
    # Its own turn would come in an hour; it is looked at every millisecond.
    monkeypatch.setattr(runtime_feeds, "HEARTBEAT_SECONDS", 3600.0)
    monkeypatch.setattr(runtime_feeds, "TURNS", 3_600_000)

    async def scene() -> None:
        nonlocal fresh
        some = Feeds("accounts", lambda: fresh, 100, lambda *_: {})
        reading = some.read(KEY, snapshot, None)
        async with asyncio.timeout(5):
            assert b'"fresh":true' in await anext(reading) + await anext(reading)
            fresh = False
            while b'"fresh":false' not in await anext(reading):
                pass

    asyncio.run(scene())


def test_a_gap_between_what_a_reader_has_and_what_comes_sends_it_away() -> None:
    async def scene() -> None:
        some = feeds()
        reading = some.read(KEY, snapshot, None)
        await told(reading, 1)
        some.tell([fact(7)])
        assert await told(reading, 1) == [("dropped", None)]

    asyncio.run(scene())


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a dataclass and of those within it, each with its type."""
    for name, hint in typing.get_type_hints(kind, include_extras=True).items():
        yield name, hint
        for part in (hint, *typing.get_args(hint)):
            if is_dataclass(part):
                yield from _fields(part)


def test_the_feed_of_a_progressive_is_open_and_names_nobody() -> None:
    of_people = {
        name
        for event in typing.get_args(jackpots.Event)
        for name, hint in _fields(event)
        if name.endswith("_by") or name in ("player_id", "account_id", "reason") or hint == Text
    }
    assert of_people == {
        "player_id", "account_id", "entered_by", "validated_by", "signed_by", "documented_by", "proposed_by",
        "approved_by", "document", "reason", "skipped_by",
    }  # fmt: skip
    claim = jackpots.ClaimPayout(
        "table-1-1.2.progressive", "table-1", "table-1-1", 2, "progressive", On.PLAYER, "royal_flush", "100% of meter",
        None, Source.HAND_PAY, "player-ann", "account-ann", "dealer-bob",
    )  # fmt: skip
    forwarded = jackpots.CommandForwarded("meter-2", claim=claim)
    record = Record(6, b"", 1006, "c6", "dealer-bob", Cause("jackpot-commands", 0, 6), 0, 1, b"x", forwarded)

    async def scene() -> None:
        some = Feeds("jackpots", lambda: True, 100, lambda *_: {}, MERGED, UNSAID)
        reading = some.read(KEY, snapshot, None)
        await frames(reading, 1)
        some.tell([Fact("jackpots", KEY, record, Stored("jackpots", 0, 6, 0, KEY, b""), None)])
        (told_,) = [data for _, _, data in await frames(reading, 1)]
        assert told_["events"][0]["claim"]["hand"] == "royal_flush"
        assert not of_people & set(told_["events"][0]["claim"])

    asyncio.run(scene())


async def test_what_is_remembered_is_bounded_over_all_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five keys with four deltas each; twelve are remembered, the last ones of all."""
    monkeypatch.setattr(runtime_feeds, "REMEMBERED_OF_ALL", 12)
    some = feeds()
    for sequence in range(1, 5):
        for number in range(5):
            some.tell([fact(sequence, key=f"account-{number}")])
    assert sum(len(kept.remembered) for kept in some._keys.values()) == 12
    assert [len(some._keys[f"account-{number}"].remembered) for number in range(5)] == [2, 2, 2, 3, 3]
