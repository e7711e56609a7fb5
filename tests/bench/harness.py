"""What every row stands on: its line, a house of its own on free ports, the machine, and the memory of services."""

import asyncio
import contextlib
import os
import platform
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, ends_of
from services.runtime.local import JARS, start_kafka, start_postgres
from services.runtime.provision import provision
from tests.bench.material import Entry, by_partition
from tests.support.house import House

BARE_LOG, BARE_COMMANDS = "bench-log", "bench-commands"
"""Where the bare loop writes what the service writes to its log and to the command topics."""
MEMORY_AIM_MB = 150.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report. `reached` says `ok` or `short` where there is an aim that the figure can be held to."""

    what: str
    figure: str
    aim: str = ""
    reached: bool | None = None
    ratio: str = ""

    def shown(self) -> str:
        verdict = {None: "", True: "ok", False: "short"}[self.reached]
        return f"{self.what:<66} {self.figure:>20} {self.ratio:>8}  {self.aim:<12} {verdict}".rstrip()


@dataclass(slots=True)
class Memory:
    """The most that each service was seen to hold, in MB: now (at the end of a row) and at its peak."""

    seen: dict[str, tuple[float, float]] = field(default_factory=dict)

    def look(self, house: House) -> None:
        for name, process in house.processes.items():
            now, peak = resident(process.pid)
            known = self.seen.get(name, (0.0, 0.0))
            self.seen[name] = (max(known[0], now), max(known[1], peak))

    def rows(self) -> Iterator[Row]:
        for name, (now, peak) in sorted(self.seen.items()):
            figure = f"{now:.0f} MB now, {peak:.0f} peak"
            yield Row(f"memory: {name}", figure, "150 MB", peak < MEMORY_AIM_MB)


def resident(pid: int) -> tuple[float, float]:
    """The memory of a process, in MB: now, and at its peak."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0.0, 0.0
    kilobytes = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", status.read_text(), re.MULTILINE))
    return int(kilobytes.get("VmRSS", 0)) / 1024, int(kilobytes.get("VmHWM", 0)) / 1024


@contextlib.contextmanager
def house(memory: Memory) -> Iterator[House]:
    """A broker, a database and a house without services yet; topics and tables are there."""
    with start_kafka() as kafka, start_postgres() as postgres:
        asyncio.run(provision(kafka.bootstrap, postgres.dsn))
        asyncio.run(_bare_topics(kafka.bootstrap))
        opened = House(kafka, postgres, postgres.dsn)
        try:
            yield opened
            memory.look(opened)
        finally:
            opened.close()
            shutil.rmtree(opened.folder, ignore_errors=True)


async def _bare_topics(servers: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        stamped = {"message.timestamp.type": "LogAppendTime"}
        names = (BARE_LOG, BARE_COMMANDS)
        await admin.create_topics([NewTopic(name, PARTITIONS, 1, topic_configs=stamped) for name in names])
    finally:
        await admin.close()


async def append(kafka: Kafka, topic: str, entries: Sequence[Entry]) -> None:
    """Appends records, each to the partition of its key, as fast as the broker takes them."""
    places = by_partition(list(entries))
    await asyncio.gather(*(kafka.append(topic, number, [[one] for one in some]) for number, some in places.items()))


async def ends(kafka: Kafka, topic: str) -> dict[int, int]:
    """Where each partition of a topic ends."""
    return {number: end for (_, number), (_, end) in (await kafka.ends([topic])).items()}


async def window(
    kafka: Kafka, source: tuple[str, dict[int, int]], target: tuple[str, dict[int, int]], records: int
) -> float:
    """Waits until so many records have come to `target` since its ends; the seconds from the first record of `source`
    to the last of these.

    By the broker's own clock, so neither the start of a process nor the asking counts.
    """
    topic, before = target
    async with kafka.reader() as reader:
        for _ in range(1_500):
            now = {number: end for (_, number), (_, end) in (await ends_of(reader, [topic])).items()}
            if sum(now.values()) - sum(before.values()) >= records:
                break
            await asyncio.sleep(0.2)
        else:
            raise TimeoutError(f"{topic} did not grow by {records} records in five minutes: {before} to {now}")
    first = [await _at(kafka, source[0], number, end) for number, end in source[1].items()]
    last = [await _at(kafka, topic, number, end - 1) for number, end in now.items() if end > before[number]]
    return max(1, max(one for one in last if one) - min(one for one in first if one)) / 1000


async def _at(kafka: Kafka, topic: str, partition: int, offset: int) -> int:
    """When the broker stored a record; 0 where there is none."""
    if (await ends(kafka, topic))[partition] <= offset:
        return 0
    async for item in kafka.read(topic, partition, offset, offset + 1):
        return item.at_ms
    return 0


def machine() -> str:
    """The machine in a few lines, as far as it bears on the figures."""
    processor = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text())
    kafka = next((jar.stem.rsplit("-", 1)[1] for jar in JARS.glob("kafka_*.jar")), "?")
    loads = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return "\n".join(
        (
            f"processor   {processor[1] if processor else platform.machine()}, {os.cpu_count()} cores",
            f"memory      {int(memory[1]) // 1024 if memory else 0} MB",
            f"software    Python {platform.python_version()}, Kafka {kafka}, PostgreSQL {_postgres()}, {platform.release()}",
            f"load before {loads} (1, 5 and 15 minutes)",
        )
    )


def _postgres() -> str:
    async def version() -> str:
        with start_postgres() as server:
            connection = await asyncpg.connect(server.dsn)
            try:
                return str(await connection.fetchval("SHOW server_version"))
            finally:
                await connection.close()

    return asyncio.run(version())


def percentile(values: Sequence[float], share: float) -> float:
    """The value that so large a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
