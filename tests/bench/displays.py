"""Rows: how long from a command until the last display shows it, with many events, and with many displays.

Deltas may be merged, so a command is on a display with the first delta whose id is not below its last record's.
"""

import asyncio
import bisect
import itertools
import json
import os
import resource
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from services.core import jackpots
from services.core.chain import ProcessorId
from services.core.names import On, Source
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import ROOT
from services.wire.records import CONTRACTS, Asked
from tests.bench.harness import MEMORY_AIM_MB, Memory, Row, house, percentile, resident
from tests.bench.material import RULES
from tests.bench.sustained import until_quiet
from tests.support.house import House

PROGRESSIVE = "progressive-1"
EVENTS_PER_SECOND, EVENT_SECONDS, FEW = 500, 12, 20
MANY, HITS, CONTRIBUTIONS_PER_HIT, HIT_SECONDS = 1_000, 40, 4, 1.2
EVENTS_AIM_MS, HIT_AIM_MS, INCREMENT_AIM_MS = 100, 250, 500
MARK = "mark-"
WARM = 20
"""So many of the first marks are left out: connections and caches are still cold."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One command: whether it was a hit, and after how many milliseconds the last display had it (None: not all had)."""

    hit: bool
    ms: float | None


def _mark(at: int | None = None) -> str:
    """An id for a round that says when it was due, by the clock that all processes of a machine share."""
    return f"{MARK}{time.monotonic_ns() if at is None else at}"


def _command(number: int, command: jackpots.Command) -> list[tuple[str, bytes]]:
    asked = Asked(str(ProcessorId("wagers", f"table-{number % 24}", number + 1, 0)), "wagers", b"", command)
    return [(PROGRESSIVE, CONTRACTS["jackpots"].encode_command(asked))]


def _contribution(number: int, at: int | None = None) -> list[tuple[str, bytes]]:
    return _command(number, jackpots.Contribute(f"table-{number % 24}", _mark(at), 600, 6))


def _hit(number: int) -> tuple[str, list[tuple[str, bytes]]]:
    """A claim's id, and the command that makes it."""
    round_id = _mark()
    claim = jackpots.ClaimPayout(
        claim_id=f"{round_id}.1.progressive", table_id=f"table-{number % 24}", round_id=round_id, seat=1,
        wager="progressive", on=On.PLAYER, hand="straight_flush", odds="10% of meter", amount_cents=None,
        source=Source.HAND_PAY, player_id=None, account_id=None, entered_by="bench",
    )  # fmt: skip
    return claim.claim_id, _command(number, claim)


def _by_person(command: jackpots.PeopleCommand) -> list[tuple[str, bytes]]:
    asked = Asked(str(uuid.uuid4()), "floorperson", b"", command)
    return [(PROGRESSIVE, CONTRACTS["jackpots"].encode_command(asked))]


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


async def hits(kafka: Kafka) -> None:
    """A hit from time to time, among contributions, one thing at a time. Each hit is paid before the next."""
    numbers = itertools.count()
    place = partition_of(PROGRESSIVE, PARTITIONS)

    async def ask(*groups: list[tuple[str, bytes]]) -> None:
        await kafka.append("jackpot-commands", place, groups)
        await asyncio.sleep(HIT_SECONDS / (CONTRIBUTIONS_PER_HIT + 2))

    for _ in range(HITS):
        claim_id, hit = _hit(next(numbers))
        await ask(hit)
        for _ in range(CONTRIBUTIONS_PER_HIT):
            await ask(_contribution(next(numbers)))
        steps = (
            jackpots.ValidatePayout(claim_id),
            jackpots.DocumentPayout(claim_id, "W-2G"),
            jackpots.PayPayout(claim_id),
        )
        await ask(*(_by_person(step) for step in steps))


Act = Callable[[Kafka], Awaitable[None]]


def watched(opened: House, displays: int, act: Act) -> list[_Shown]:
    """What became of each command of `act` on the displays."""
    words = [sys.executable, "-m", "tests.bench.watchers", str(opened.ports["progressive"]), PROGRESSIVE, str(displays)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=environment, text=True
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        marks = asyncio.run(_with_client(opened, act))
        said, _ = process.communicate(f"{max(sequence for sequence, _, _ in marks)}\n", timeout=60)
    finally:
        process.kill()
        process.wait()
    whole = [(sequence, last) for sequence, reached, last in json.loads(said) if reached == displays]
    return [_shown(whole, *each) for each in marks]


def _shown(whole: list[tuple[int, int]], sequence: int, due: int, hit: bool) -> _Shown:
    """`whole` has the deltas that reached every display: (id, when the last one had it)."""
    place = bisect.bisect_left(whole, (sequence, 0))
    return _Shown(hit, (whole[place][1] - due) / 1e6 if place < len(whole) else None)


async def _with_client(opened: House, act: Act) -> list[tuple[int, int, bool]]:
    """Acts; then (sequence, when it was due, hit) of every command, from the log."""
    kafka = Kafka(opened.kafka.bootstrap)
    try:
        await act(kafka)
        await until_quiet(kafka, opened.dsn, "jackpots")
        return await _marks(kafka)
    finally:
        await kafka.close()


async def _marks(kafka: Kafka) -> list[tuple[int, int, bool]]:
    place = partition_of(PROGRESSIVE, PARTITIONS)
    _, end = (await kafka.ends(["jackpots"]))["jackpots", place]
    found = []
    async for item in kafka.read("jackpots", place, 0, end):
        record = CONTRACTS["jackpots"].decode_record(item.value)
        round_id = getattr(record.event, "round_id", "")
        if round_id.startswith(MARK) and isinstance(
            record.event, jackpots.ContributionAccepted | jackpots.PayoutClaimed
        ):
            found.append((record.sequence, int(round_id.removeprefix(MARK)), record.count > 1))
    return found


def opened_link(opened: House) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # the service inherits it
    opened.start("progressive")
    answer = opened.post(
        f"/progressives/{PROGRESSIVE}/commands", {"command": "OpenProgressive", "rules": RULES}, "open"
    )
    assert answer.status_code == 200, answer.text


def _row(what: str, shown: list[_Shown], wanted: int, aim: int) -> Iterator[Row]:
    whole = [each.ms for each in shown if each.ms is not None]
    complete = len(shown) == len(whole) == wanted
    p50, p99 = percentile(whole or [0.0], 0.5), percentile(whole or [1e9], 0.99)
    yield Row(what, f"p50 {p50:.0f}, p99 {p99:.0f} ms", f"p99 {aim} ms", complete and p99 <= aim)
    if not complete:
        yield Row(f"{what}: reached every display", f"{len(whole)} of {wanted}", "all", False)


def events(memory: Memory) -> Iterator[Row]:
    """500 events a second, 20 displays. The commands are appended as `wagers` appends them, not posted over HTTP."""
    with house(memory) as opened:
        opened_link(opened)
        shown = watched(opened, FEW, _events)
        wanted = EVENTS_PER_SECOND * EVENT_SECONDS
        what = f"{EVENTS_PER_SECOND} events/s to {FEW} displays"
        yield from _row(what, shown[WARM:], wanted - WARM, EVENTS_AIM_MS)


def many(memory: Memory) -> Iterator[Row]:
    """1,000 displays on one process, hits among contributions."""
    with house(memory) as opened:
        opened_link(opened)
        shown = watched(opened, MANY, hits)[WARM:]
        wanted = HITS * (1 + CONTRIBUTIONS_PER_HIT) - WARM
        warm_hits = WARM // (1 + CONTRIBUTIONS_PER_HIT)
        won = [each for each in shown if each.hit]
        rest = [each for each in shown if not each.hit]
        yield from _row(f"a hit to the last of {MANY:,} displays", won, HITS - warm_hits, HIT_AIM_MS)
        what = f"an increment to the last of {MANY:,} displays"
        yield from _row(what, rest, wanted - HITS + warm_hits, INCREMENT_AIM_MS)
        _, peak = resident(opened.processes["progressive"].pid)
        yield Row(f"memory of progressive, {MANY:,} displays", f"{peak:.0f} MB", "150 MB", peak < MEMORY_AIM_MB)
