"""Rows: a processor under all the load that it can take, beside the bare loop; and credits to game accounts."""

import asyncio
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator

import asyncpg

from services.flow import stream_of
from services.runtime.kafka import Kafka
from services.runtime.local import ROOT
from services.wire.records import CONTRACTS
from tests.bench.harness import BARE_LOG, Memory, Row, append, ends, house, window
from tests.bench.material import Entry, contributions, credits, played, round_log
from tests.support.house import House

TURNS = 3
RECORDS = 30_000
TABLES = 1_000
RATE_AIM, RATIO_AIM, TWO_AIM = 5_000, 0.5, 1.7
Load = Callable[[str], tuple[list[Entry], int]]
"""Under a prefix of its own: what goes in, and how many records come out."""


def account_load(prefix: str) -> tuple[list[Entry], int]:
    """Credits: a command in, a record out."""
    entries = credits(RECORDS, prefix)
    return entries, len(entries)


def wager_load(prefix: str) -> tuple[list[Entry], int]:
    """Round logs: what the wagers come to, and the commands that follow."""
    entries = round_log(RECORDS // 2, prefix)
    out = len(played()["wagers"]) * len(entries) // len(played()["rounds"])
    return entries, out


def link_load(prefix: str) -> tuple[list[Entry], int]:
    """Contributions to one progressive, of a thousand tables: one key, so one partition and one after the other."""
    entries = contributions(RECORDS, prefix, TABLES)
    return entries, len(entries)


async def _service(kafka: Kafka, stream: str, entries: list[Entry], out: int) -> float:
    """Records a second that the running service writes."""
    source = stream_of(stream).input
    before = await ends(kafka, source), await ends(kafka, stream)
    await append(kafka, source, entries)
    return out / await window(kafka, (source, before[0]), (stream, before[1]), out)


async def _bare(kafka: Kafka, stream: str, entries: list[Entry], out: int) -> float:
    """Records a second that the bare loop writes, in a process of its own."""
    source = stream_of(stream).input
    before = await ends(kafka, source), await ends(kafka, BARE_LOG)
    words = [sys.executable, "-m", "tests.bench.bare", stream, kafka.servers, str(out)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT, env=environment)
    try:
        assert process.stdout is not None
        await asyncio.to_thread(process.stdout.readline)
        await append(kafka, source, entries)
        seconds = await window(kafka, (source, before[0]), (BARE_LOG, before[1]), out)
        await asyncio.to_thread(process.wait, 30)
    finally:
        process.kill()
        process.wait()
        process.stdout.close() if process.stdout else None
    return out / seconds


async def _turns(opened: House, service: str, stream: str, load: Load) -> tuple[list[float], list[float]]:
    """The two sides in turn, so that what the machine does besides meets both. Only one of them runs at a time."""
    kafka = Kafka(opened.kafka.bootstrap)
    full: list[float] = []
    bare: list[float] = []
    try:
        for turn in range(TURNS):
            opened.stop([service] if service in opened.processes else [])
            bare.append(await _bare(kafka, stream, *load(f"bare-{turn}")))
            await asyncio.to_thread(opened.start, service)
            # What the bare loop had as its input is an input of the service, too: that is done first.
            await until_quiet(kafka, opened.dsn, stream)
            full.append(await _service(kafka, stream, *load(f"full-{turn}")))
    finally:
        await kafka.close()
    return full, bare


async def until_quiet(kafka: Kafka, dsn: str, topic: str) -> None:
    """Waits until a log has stopped growing and the projection has all of it: what is measured starts from rest."""
    connection = await asyncpg.connect(dsn)
    try:
        last, same = -1, 0
        while same < 4:
            now = sum((await ends(kafka, topic)).values())
            read = await connection.fetchval("SELECT sum(position)::bigint FROM readers WHERE topic = $1", topic)
            same = same + 1 if now == last and now == (read or 0) else 0
            last = now
            await asyncio.sleep(0.25)
    finally:
        await connection.close()


def _compared(what: str, full: list[float], bare: list[float]) -> Iterator[Row]:
    ratio = statistics.median(a / b for a, b in zip(full, bare, strict=True))
    rate = statistics.median(full)
    yield Row(f"{what}: the bare loop", f"{statistics.median(bare):,.0f} records/s")
    yield Row(f"{what}: the service", f"{rate:,.0f} records/s", f"{RATE_AIM:,}/s", rate >= RATE_AIM)
    yield Row(f"{what}: of the bare loop", "", f"{RATIO_AIM}", ratio >= RATIO_AIM, f"{ratio:.2f}")


def sustained(memory: Memory) -> Iterator[Row]:
    """accounts and wagers, everything on: Faust, projection, snapshots with fsync, acknowledged outputs."""
    for service, stream, load in (("accounts", "accounts", account_load), ("wagers", "wagers", wager_load)):
        with house(memory) as opened:
            yield from _compared(f"sustained, {service}", *asyncio.run(_turns(opened, service, stream, load)))


def link(memory: Memory) -> Iterator[Row]:
    """The progressive controller with every table of a large house on one link."""
    with house(memory) as opened:
        what = f"contributions on one link of {TABLES:,} tables"
        yield from _compared(what, *asyncio.run(_turns(opened, "progressive", "jackpots", link_load)))


def two_processes(memory: Memory) -> Iterator[Row]:
    """Two processes of accounts beside one."""

    async def measured(opened: House, prefix: str) -> float:
        kafka = Kafka(opened.kafka.bootstrap)
        try:
            await until_quiet(kafka, opened.dsn, "accounts")
            return await _service(kafka, "accounts", *account_load(prefix))
        finally:
            await kafka.close()

    with house(memory) as opened:
        ratios: list[float] = []
        for turn in range(TURNS):
            opened.start("accounts")
            one = asyncio.run(measured(opened, f"one-{turn}"))
            opened.start("accounts-2", service="accounts")
            ratios.append(asyncio.run(measured(opened, f"two-{turn}")) / one)
            opened.stop()
        ratio, cores = statistics.median(ratios), os.cpu_count() or 1
        # Two processors, their broker and their database want a core each before there is anything to gain.
        reached = ratio >= TWO_AIM if cores >= 4 else None
        aim = f"{TWO_AIM}" if cores >= 4 else f"(no cores: {cores})"
        yield Row("two processes of accounts: of one", "", aim, reached, f"{ratio:.2f}")
        opened.start("accounts")


def credited(memory: Memory) -> Iterator[Row]:
    """Credits, durable, effectively once: a tenth of the commands is sent twice, and the balances are added up."""

    async def run(opened: House) -> tuple[float, int]:
        kafka = Kafka(opened.kafka.bootstrap)
        try:
            entries, out = account_load("credits")
            doubled = [one for number, entry in enumerate(entries) for one in [entry] * (1 + (number % 10 == 0))]
            rate = await _service(kafka, "accounts", doubled, out)
            await until_quiet(kafka, opened.dsn, "accounts")
            cents = 0
            for number, end in (await ends(kafka, "accounts")).items():
                async for item in kafka.read("accounts", number, 0, end):
                    event = CONTRACTS["accounts"].decode_record(item.value).event
                    cents += getattr(event, "amount_cents", 0)
            return rate, cents
        finally:
            await kafka.close()

    with house(memory) as opened:
        opened.start("accounts")
        rate, cents = asyncio.run(run(opened))
        yield Row("credits to game accounts, durable", f"{rate:,.0f} credits/s", f"{RATE_AIM:,}/s", rate >= RATE_AIM)
        exact = cents == RECORDS * 1_000
        yield Row("credits: every one once, of 10 % sent twice", f"{cents:,} cents", f"{RECORDS * 1_000:,}", exact)
