"""Rows: how long from a command until the last display shows it, with many events, and with many displays."""

import asyncio
import itertools
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from services.core import jackpots
from services.core.chain import ProcessorId
from services.core.names import On, Source
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import ROOT
from services.wire.records import CONTRACTS, Asked
from tests.bench.harness import Memory, Row, house, percentile
from tests.bench.material import RULES
from tests.bench.watchers import mark
from tests.support.house import House

PROGRESSIVE = "progressive-1"
EVENTS_PER_SECOND, EVENT_SECONDS, FEW = 500, 12, 20
MANY, HITS, CONTRIBUTIONS_PER_HIT, HIT_SECONDS = 1_000, 20, 4, 1.0
EVENTS_AIM_MS, MANY_AIM_MS = 100, 250
WARM = 20
"""So many of the first marks are left out: connections and caches are still cold."""


def _command(number: int, command: jackpots.Command) -> list[tuple[str, bytes]]:
    asked = Asked(str(ProcessorId("wagers", f"table-{number % 24}", number + 1, 0)), "wagers", b"", command)
    return [(PROGRESSIVE, CONTRACTS["jackpots"].encode_command(asked))]


def _contribution(number: int, at: int | None = None) -> list[tuple[str, bytes]]:
    return _command(number, jackpots.Contribute(f"table-{number % 24}", mark(at), 600, 6))


def _hit(number: int) -> list[tuple[str, bytes]]:
    round_id = mark()
    claim = jackpots.ClaimPayout(
        claim_id=f"{round_id}.1.progressive", table_id=f"table-{number % 24}", round_id=round_id, seat=1,
        wager="progressive", on=On.PLAYER, hand="straight_flush", odds="10% of meter", amount_cents=None,
        source=Source.HAND_PAY, player_id=None, account_id=None, entered_by="bench",
    )  # fmt: skip
    return _command(number, claim)


async def _events(kafka: Kafka) -> None:
    """Contributions at a steady rate. What came due while the broker took the last batch goes into the next, as
    `wagers` does it; an event's time runs from when it was due."""
    place = partition_of(PROGRESSIVE, PARTITIONS)
    begun = time.monotonic_ns()
    sent, total = 0, EVENTS_PER_SECOND * EVENT_SECONDS
    while sent < total:
        due = min(total, (time.monotonic_ns() - begun) * EVENTS_PER_SECOND // 1_000_000_000)
        if due > sent:
            moments = [begun + number * 1_000_000_000 // EVENTS_PER_SECOND for number in range(sent, due)]
            batch = [_contribution(sent + number, at) for number, at in enumerate(moments)]
            await kafka.append("jackpot-commands", place, batch)
            sent = due
        else:
            await asyncio.sleep(0.001)


async def _hits(kafka: Kafka) -> None:
    """A hit from time to time, among contributions."""
    numbers = itertools.count()
    place = partition_of(PROGRESSIVE, PARTITIONS)
    for _ in range(HITS):
        await kafka.append("jackpot-commands", place, [_hit(next(numbers))])
        for _ in range(CONTRIBUTIONS_PER_HIT):
            await asyncio.sleep(HIT_SECONDS / CONTRIBUTIONS_PER_HIT)
            await kafka.append("jackpot-commands", place, [_contribution(next(numbers))])


def _watched(opened: House, displays: int, act: object) -> list[tuple[int, int, float]]:
    """What the displays saw of that: (mark, displays reached, milliseconds to the last)."""
    words = [sys.executable, "-m", "tests.bench.watchers", str(opened.ports["progressive"]), PROGRESSIVE, str(displays)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        asyncio.run(_with_client(opened.kafka.bootstrap, act))
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    return [(at, reached, last) for at, reached, last in json.loads(said)]


async def _with_client(servers: str, act: object) -> None:
    kafka = Kafka(servers)
    try:
        await act(kafka)  # type: ignore[operator]
        await asyncio.sleep(2.0)  # the last deltas are on their way
    finally:
        await kafka.close()


def _opened(opened: House) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # the service inherits it
    opened.start("progressive")
    answer = opened.post(
        f"/progressives/{PROGRESSIVE}/commands", {"command": "OpenProgressive", "rules": RULES}, "open"
    )
    assert answer.status_code == 200, answer.text


def _rows(what: str, seen: list[tuple[int, int, float]], wanted: int, displays: int, aim: int) -> Iterator[Row]:
    whole = [last for _, reached, last in seen if reached == displays]
    complete = len(whole) >= wanted
    p50, p99 = percentile(whole[WARM:] or [0.0], 0.5), percentile(whole[WARM:] or [1e9], 0.99)
    figure = f"p50 {p50:.0f}, p99 {p99:.0f} ms"
    yield Row(what, figure, f"p99 {aim} ms", complete and p99 <= aim)
    if not complete:
        yield Row(f"{what}: reached every display", f"{len(whole)} of {wanted}", "all", False)


def events(memory: Memory) -> Iterator[Row]:
    """500 events a second, 20 displays. The commands are appended as `wagers` appends them, not posted over HTTP."""
    with house(memory) as opened:
        _opened(opened)
        seen = _watched(opened, FEW, _events)
        wanted = EVENTS_PER_SECOND * EVENT_SECONDS
        yield from _rows(f"{EVENTS_PER_SECOND} events/s to {FEW} displays", seen, wanted, FEW, EVENTS_AIM_MS)


def many(memory: Memory) -> Iterator[Row]:
    """1,000 displays on one process, hits among contributions."""
    with house(memory) as opened:
        _opened(opened)
        seen = _watched(opened, MANY, _hits)
        wanted = HITS * (1 + CONTRIBUTIONS_PER_HIT)
        yield from _rows(f"a hit to the last of {MANY:,} displays", seen, wanted, MANY, MANY_AIM_MS)
