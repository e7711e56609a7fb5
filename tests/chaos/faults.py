"""The faults, one after the other, and how long each keeps the pit from its work."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from dataclasses import dataclass, field
from time import monotonic

from services.flow import BY_NAME
from services.runtime.local import LocalServer
from tests.chaos.disk import SmallDisk
from tests.chaos.play import ALL, BACK_S, Pit
from tests.support.exact import metric, pause_in_the_transaction
from tests.support.house import COMMAND_SERVICES

AIM_S = 5.0
"""How soon after kill -9 of a service the work goes on."""
SERVICES = (*COMMAND_SERVICES, "backoffice")
WORK = {**{stream.service: stream.name for stream in BY_NAME.values()}, "backoffice": "archive"}
"""What of a service is waited for."""
FULL_S = 10.0
"""How long a disk stays full once that is felt."""


@dataclass
class Row:
    """A line of the report. `back` says for each stream after how many seconds every partition of it worked again."""

    fault: str
    back: dict[str, float]
    aim_s: float | None = None
    said: str = ""
    wrong: list[str] = field(default_factory=list)

    @property
    def worst_s(self) -> float:
        return max(self.back.values(), default=0.0)


Fault = Callable[[Pit], AsyncIterator[Row]]


async def _done_while_asked(pit: Pit, act: Awaitable[object], streams: Collection[str] = ALL) -> dict[str, float]:
    """Does something, and asks everybody again and again meanwhile and once afterwards; the longest that each took."""
    doing = asyncio.ensure_future(act)
    worst = dict.fromkeys(streams, 0.0)
    last = False
    while not last:
        last = doing.done()
        for stream, seconds in (await pit.back(monotonic(), streams)).items():
            worst[stream] = max(worst[stream], seconds)
    await doing
    return worst


def _start(part: LocalServer) -> float:
    """Starts a broker or a database; how many seconds that takes until it answers."""
    began = monotonic()
    part.start()
    return monotonic() - began


# Killed -----------------------------------------------------------------------------------------------


def service_killed(name: str) -> Fault:
    """kill -9 of a service, which is started again at once, as its keeper would."""

    async def play(pit: Pit) -> AsyncIterator[Row]:
        fault = f"kill -9 of {name}"
        with pit.under(fault):
            began = monotonic()
            await asyncio.to_thread(pit.house.kill, name)
            await asyncio.to_thread(pit.house.start, name, wait=False)
            yield Row(fault, await pit.back(began, [WORK[name]]), AIM_S)
            await asyncio.to_thread(pit.house.wait_ready, name)

    return play


def part_killed(part: Callable[[Pit], LocalServer], name: str) -> Fault:
    """kill -9 of the broker or the database, which is started again at once."""

    async def play(pit: Pit) -> AsyncIterator[Row]:
        fault = f"kill -9 of {name}"
        with pit.under(fault):
            began = monotonic()
            await asyncio.to_thread(part(pit).kill)
            back, start_s = await asyncio.gather(pit.back(began), asyncio.to_thread(_start, part(pit)))
            yield Row(fault, back, said=f"its own start took {start_s:.1f} s of it")

    return play


# Overtaken --------------------------------------------------------------------------------------------


async def paused(pit: Pit) -> AsyncIterator[Row]:
    """Every worker is paused half-way through a batch, another takes its place, and the sleepers wake up."""
    house, fault = pit.house, "SIGSTOP of every worker, and another takes over"
    with pit.under(fault):
        before = {name: metric(house, "roundlog_overtaken_total", name) for name in COMMAND_SERVICES}
        asking = []
        try:
            # Against the stream of work: who is paused still has what those before it bring. The questions bring the rest,
            # one after the other until one is in hand, and the others answer it.
            for name in ("accounts", "progressive", "wagers", "tables"):
                pausing = asyncio.to_thread(pause_in_the_transaction, house, name, WORK[name], 0)
                asleep = asyncio.create_task(pausing)
                asking.append(asyncio.create_task(_done_while_asked(pit, asleep, [WORK[name]])))
                await asleep
            began = monotonic()
            others = [f"{name}-2" for name in COMMAND_SERVICES]
            await asyncio.gather(*(asyncio.to_thread(_one_more, pit, name, wait=False) for name in others))
            await asyncio.gather(*asking)
            yield Row(fault, await pit.back(began), said="session timeout and a start")
        finally:
            for name in COMMAND_SERVICES:
                os.kill(house.processes[name].pid, signal.SIGCONT)
    fault = "SIGCONT of the sleepers"
    with pit.under(fault):

        def all_found_out() -> bool:
            return all(metric(house, "roundlog_overtaken_total", name) > before[name] for name in COMMAND_SERVICES)

        row = Row(fault, await pit.back(monotonic()), said="each finds itself overtaken")
        deadline = monotonic() + BACK_S / 2
        while not await asyncio.to_thread(all_found_out):
            if monotonic() > deadline:
                row.wrong.append("a worker that was overtaken did not find out")
                break
            await asyncio.sleep(0.1)
        yield row
        await asyncio.to_thread(house.stop, others)


# Many -------------------------------------------------------------------------------------------------


def _one_more(pit: Pit, name: str, *, wait: bool = True) -> None:
    pit.house.start(name, service=name.partition("-")[0], wait=wait)


async def scaled(pit: Pit) -> AsyncIterator[Row]:
    """A second and a third instance of every service come; the second leave in good order, the third by kill -9."""
    house = pit.house
    for number, word in ((2, "second"), (3, "third")):
        fault = f"a {word} instance of every service comes"
        with pit.under(fault):
            coming = asyncio.gather(*(asyncio.to_thread(_one_more, pit, f"{name}-{number}") for name in SERVICES))
            yield Row(fault, await _done_while_asked(pit, coming))
            await pit.steady()
    fault = "a second of three instances of every service leaves"
    with pit.under(fault):
        names = [f"{name}-2" for name in SERVICES]
        for name in names:
            house.processes[name].terminate()
        yield Row(fault, await _done_while_asked(pit, asyncio.to_thread(house.stop, names)))
        await pit.steady()
    fault = "kill -9 of one of two instances of every service"
    with pit.under(fault):
        names = [f"{name}-3" for name in SERVICES]
        began = monotonic()
        for name in names:
            house.processes[name].kill()
        yield Row(fault, await pit.back(began), said="the session timeout is 6 s")
        await asyncio.to_thread(house.stop, names)


# Away -------------------------------------------------------------------------------------------------


def part_away(part: Callable[[Pit], LocalServer], name: str, seconds: float) -> Fault:
    """The broker or the database is gone for so long. The time is counted from when it is started again."""

    async def play(pit: Pit) -> AsyncIterator[Row]:
        fault = f"{name} gone for {seconds:.0f} s"
        with pit.under(fault):
            await asyncio.to_thread(part(pit).stop)
            await asyncio.sleep(seconds)
            began = monotonic()
            back, start_s = await asyncio.gather(pit.back(began), asyncio.to_thread(_start, part(pit)))
            yield Row(fault, back, said=f"from its start, which took {start_s:.1f} s of it")

    return play


# Full -------------------------------------------------------------------------------------------------


async def _fill_until_felt(pit: Pit, disk: SmallDisk) -> asyncio.Task[dict[str, float]]:
    """Fills the disk until somebody has waited so long; gives the question that waits."""
    deadline = monotonic() + BACK_S
    while True:
        # What the part itself gives back by rotating its files is taken too.
        await asyncio.to_thread(disk.fill)
        asking = asyncio.create_task(pit.back(monotonic()))
        await asyncio.wait({asking}, timeout=FULL_S)
        if not asking.done():
            return asking
        asking.result()
        assert monotonic() < deadline, "a full disk was not felt"


def disk_full(part: Callable[[Pit], LocalServer], name: str, disk: SmallDisk) -> Fault:
    """The disk of the broker or of the database is full; then space is given back. A part that ended itself is started
    again, as an operator would."""

    async def play(pit: Pit) -> AsyncIterator[Row]:
        fault = f"the disk of {name} is full"
        with pit.under(fault):
            asking = await _fill_until_felt(pit, disk)
            await asyncio.to_thread(disk.give_back)
            began = monotonic()
            said = "from space given back"
            if not part(pit).running:
                said = f"{name} had ended itself: from its start"
                await asyncio.to_thread(part(pit).kill)
                await asyncio.to_thread(_start, part(pit))
            await asking
            yield Row(fault, await pit.back(began), said=said)

    return play
