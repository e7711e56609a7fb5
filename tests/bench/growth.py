"""Row: what grows with the house, and what must not: the restart of a service with the length of its log, a command
with the number of tables, a hit with the number of displays. Drawn as a picture, too.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot

from services.runtime.kafka import Kafka
from services.runtime.stepping import PartitionMemory, Stepper
from tests.bench.displays import hits, opened_link, watched
from tests.bench.harness import Memory, Row, append, house, percentile
from tests.bench.kills import OPEN_TABLE, answered
from tests.bench.material import BOOK, PROCESSORS, RULES, credits, round_log
from tests.bench.sustained import until_quiet
from tests.support.house import House, until

PICTURE = Path(__file__).with_name("growth.svg")
LENGTHS = (2_000, 20_000, 200_000)
TABLES = (10, 100, 1_000)
DISPLAYS = (10, 100, 300, 1_000)
TURNS, TOGETHER = 100, 4
ANTE = {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500}
ITS_WITHDRAWAL = {"command": "WithdrawWager", "seat": 1, "wager": "ante"}
MILLION = 1_000_000
FLAT = 1.5
"""How much longer the longest may take than the shortest where nothing should grow."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One figure against the size of something: sizes, and seconds or milliseconds at each."""

    title: str
    along: str
    unit: str
    points: tuple[tuple[int, float], ...]

    @property
    def growth(self) -> float:
        """The figure at the largest size, over that at the smallest."""
        return self.points[-1][1] / self.points[0][1]

    def rows(self, flat: bool) -> Iterator[Row]:
        for size, value in self.points:
            yield Row(f"{self.title}, {size:,} {self.along}", f"{value:,.2f} {self.unit}")
        aim = (f"{FLAT}", self.growth <= FLAT) if flat else ("", None)
        yield Row(f"{self.title}: the largest, of the smallest", "", *aim, f"{self.growth:.2f}")


def growth(memory: Memory) -> Iterator[Row]:
    """The three curves, and the picture of them."""
    restart = Curve("restart of accounts after kill -9", "records in its log", "s", tuple(_restarts(memory)))
    yield from restart.rows(flat=True)
    tables = Curve("a command, p50", "tables in play", "ms", tuple(_commands(memory)))
    yield from tables.rows(flat=True)
    displays = Curve("a hit to the last display, p50", "displays", "ms", tuple(_displays(memory)))
    yield from displays.rows(flat=False)
    draw(PICTURE, (restart, tables, displays))
    yield Row("drawn", PICTURE.name)


def _restarts(memory: Memory) -> Iterator[tuple[int, float]]:
    """Seconds from kill -9 of accounts to its next answer, at each length of its log."""
    with house(memory) as opened:
        opened.start("accounts")
        length = 0
        for number, wanted in enumerate(LENGTHS):
            asyncio.run(_lengthen(opened, credits(wanted - length, f"part-{number}")))
            length = wanted
            yield wanted, min(_restarted(opened, f"{wanted}-{turn}") for turn in range(2))


async def _lengthen(opened: House, entries: Sequence[tuple[str, bytes]]) -> None:
    kafka = Kafka(opened.kafka.bootstrap)
    try:
        await append(kafka, "account-commands", entries)
        await until_quiet(kafka, opened.dsn, "accounts")
    finally:
        await kafka.close()


def _restarted(opened: House, name: str) -> float:
    begun = time.monotonic()
    opened.kill("accounts")
    opened.start("accounts", wait=False)
    body = {"command": "OpenAccount", "player_id": "player-1"}
    until("accounts works again", answered(opened, f"/accounts/new-{name}/commands", body), 120)
    return time.monotonic() - begun


def _commands(memory: Memory) -> Iterator[tuple[int, float]]:
    """Milliseconds from a command to its answer, a few at a time, with so many tables that each has a round open."""
    with house(memory) as opened, ThreadPoolExecutor(TOGETHER) as together:
        opened.start("tables", "progressive")
        opened_progressive = {"command": "OpenProgressive", "rules": RULES}
        until("a progressive opens", answered(opened, "/progressives/progressive/commands", opened_progressive))
        numbers = itertools.count()

        def ask(table: int, *bodies: Mapping[str, object]) -> list[float]:
            taken = []
            for body in bodies:
                begun = time.monotonic()
                answer = opened.post(f"/tables/table-{table}/commands", body, f"growth-{next(numbers)}")
                taken.append((time.monotonic() - begun) * 1000)
                assert answer.status_code == 200, answer.text
            return taken

        def turns(tables: range) -> list[float]:
            """An ante and its withdrawal, at one table after the other."""
            spread = [tables[number * len(tables) // TURNS % len(tables)] for number in range(TURNS)]
            return [ms for table in spread for ms in ask(table, ANTE, ITS_WITHDRAWAL)]

        there = 0
        for count in TABLES:
            list(together.map(lambda table: ask(table, OPEN_TABLE, {"command": "OpenRound"}), range(there, count)))
            there = count
            taken = together.map(turns, [range(part, count, TOGETHER) for part in range(TOGETHER)])
            yield count, percentile([ms for part in taken for ms in part], 0.5)


def _displays(memory: Memory) -> Iterator[tuple[int, float]]:
    """Milliseconds from a hit until the last of so many displays has it."""
    for count in DISPLAYS:
        with house(memory) as opened:
            opened_link(opened)
            shown = [each.ms for each in watched(opened, count, hits) if each.hit and each.ms is not None]
            yield count, percentile(shown, 0.5)


def million(memory: Memory) -> Iterator[Row]:
    """A million records of round logs out of the broker into the states of their tables, with every check."""

    async def replayed(opened: House) -> tuple[int, float]:
        kafka = Kafka(opened.kafka.bootstrap)
        stepper = Stepper(PROCESSORS["rounds"], BOOK)
        try:
            await append(kafka, "rounds", round_log(MILLION, "million"))
            count, begun = 0, time.monotonic()
            for (topic, number), (first, end) in (await kafka.ends(["rounds"])).items():
                records = [(item.key, item.value) async for item in kafka.read(topic, number, first, end)]
                stepper.adopt(PartitionMemory(number, 0, 0, 0), records, resend_from=len(records))
                count += len(records)
            return count, time.monotonic() - begun
        finally:
            await kafka.close()

    with house(memory) as opened:
        count, seconds = asyncio.run(replayed(opened))
        yield Row(f"replay of {count:,} records out of the broker", f"{count / seconds:,.0f} events/s")


def draw(path: Path, curves: Sequence[Curve]) -> None:
    """One picture of all curves, each from zero, the sizes by powers of ten."""
    figure, places = pyplot.subplots(1, len(curves), figsize=(4 * len(curves), 3), layout="constrained")
    for place, curve in zip(places, curves, strict=True):
        place.semilogx(*zip(*curve.points, strict=True), "o-", color="#205080")
        place.set_ylim(bottom=0)
        place.set(title=curve.title, xlabel=curve.along, ylabel=curve.unit)
        place.grid(alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
