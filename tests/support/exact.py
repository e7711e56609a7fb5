"""A floor at play while a house is hurt, and whether everything is exact once it has come through."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from services.core import accounts, jackpots, rounds
from services.flow import STREAMS, stream_of
from services.runtime.kafka import Kafka
from services.runtime.local import last_lines, start_process
from tests.support.audit import Audit, check, read_all
from tests.support.house import COMMAND_SERVICES, ROOT, House, until

PLAY_SECONDS = 90.0
QUIET_SECONDS = 45.0
COMMAND_LINE_SECONDS = 300.0
_VIEWS: dict[str, tuple[str, Any]] = {
    "rounds": ("tables", rounds), "jackpots": ("progressives", jackpots), "accounts": ("accounts", accounts),
}  # fmt: skip
"""By stream: where its keys are read over HTTP, and the module with their fold and view."""


class Play:
    """The simulated floor, playing all three games as fast as it goes, so many rounds or until it is told to stop; until
    its end it is a process of the house."""

    def __init__(self, house: House, *, seed: int, number: int | None = None) -> None:
        self.house, self.number = house, number
        urls = [word for name in COMMAND_SERVICES for word in (f"--{name}-url", house.url(name))]
        words = ["--rounds", str(number or 0), "--pace", "0", "--tables", "3", "--seed", str(seed)]
        words += ["--stop-s", str(PLAY_SECONDS)]
        self.log = house.folder / f"floor-{seed}.log"
        self.process = house.processes["floor"] = start_process(
            [sys.executable, "-m", "services.floor", *words, *urls],
            self.log,
            env=house.environment("tables", "floor"),
            cwd=ROOT,
        )

    def ends_well(self) -> None:
        """Waits for the last rounds: nothing was refused and nothing failed that was not meant to."""
        if self.number is None:
            self.process.terminate()
        try:
            code = self.process.wait(PLAY_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        del self.house.processes["floor"]
        assert code == 0, f"the floor ended with {code}:\n{last_lines(self.log, 30)}"


def play(house: House, number: int, seed: int) -> None:
    """So many rounds, undisturbed."""
    Play(house, seed=seed, number=number).ends_well()


def ends(house: House, *topics: str) -> dict[tuple[str, int], int]:
    """Where the partitions of topics end."""

    async def ask() -> dict[tuple[str, int], int]:
        kafka = Kafka(house.kafka.bootstrap)
        return {place: end for place, (_, end) in (await kafka.ends(topics)).items()}

    return asyncio.run(ask())


def grows(house: House, topic: str, more: int) -> None:
    """Waits until a topic has so many more records."""
    before = sum(ends(house, topic).values())
    until(f"{topic} has {more} more records", lambda: sum(ends(house, topic).values()) >= before + more, PLAY_SECONDS)


def in_database(house: House, act: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `act` gives with a connection to the house's database."""

    async def run() -> Any:
        connection = await asyncpg.connect(house.dsn)
        try:
            return await act(connection)
        finally:
            await connection.close()

    return asyncio.run(run())


def metric(house: House, name: str, service: str) -> float:
    """What a service says of itself on its /metrics."""
    for line in house.client.get(f"{house.url(service)}/metrics").text.splitlines():
        if line.startswith(f"{name} "):
            return float(line.split()[1])
    raise AssertionError(f"{service} has no {name}")


def pause_in_the_transaction(house: House, service: str, stream: str, partition: int) -> int:
    """SIGSTOP between a batch's outputs and its snapshot, by a lock on the row that says where the processor stands: there
    is work in hand, and it is half durable. Gives the position at which it stands."""

    async def pause(connection: Any) -> int:
        async with connection.transaction():
            row = "SELECT position FROM positions WHERE stream = $1 AND partition = $2 FOR UPDATE"
            position = await connection.fetchval(row, stream, partition)
            waits = "SELECT bool_or(pg_backend_pid() = ANY (pg_blocking_pids(pid))) FROM pg_locks WHERE NOT granted"
            deadline = time.monotonic() + PLAY_SECONDS
            while not await connection.fetchval(waits):
                assert time.monotonic() < deadline, f"{service} did not come to its snapshot"
            os.kill(house.processes[service].pid, signal.SIGSTOP)
        return int(position)

    return int(in_database(house, pause))


def roundlog(house: House, *words: str, **other: str) -> subprocess.CompletedProcess[str]:
    """The command line, told where this house is, or with `other` variables somewhere else."""
    command = [sys.executable, "-m", "services.backoffice.command_line", *words]
    environment = {**house.environment(next(iter(house.ports)), "backoffice"), **other}
    return subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=COMMAND_LINE_SECONDS
    )


def _nothing_is_under_way(house: House) -> bool:
    """Every processor has answered all of its input, and every projection has read all of its logs."""

    async def stood(connection: Any) -> tuple[list[Any], list[Any]]:
        return (
            await connection.fetch("SELECT stream, partition, position FROM positions"),
            await connection.fetch("SELECT topic, partition, min(position) AS position FROM readers GROUP BY 1, 2"),
        )

    # The positions first: what they have answered by then is at its end if the topics still end there.
    processors, readers = in_database(house, stood)
    ended = ends(house, *{topic for stream in STREAMS for topic in (stream.input, stream.name)})
    answered = {(stream_of(row["stream"]).input, row["partition"]): row["position"] for row in processors}
    read = {(row["topic"], row["partition"]): row["position"] for row in readers}
    inputs = {place: end for place, end in ended.items() if place[0] in {stream.input for stream in STREAMS}}
    own = {place: end for place, end in ended.items() if place[0] in {stream.name for stream in STREAMS}}
    return all(answered.get(place, 0) == end for place, end in inputs.items()) and all(
        read.get(place, 0) == end for place, end in own.items()
    )


def drained(house: House) -> None:
    """Waits until everything that was asked has come through."""
    until("all that was asked has come through", lambda: _nothing_is_under_way(house), QUIET_SECONDS)


def exact(house: House) -> Audit:
    """Everything has come through and is exact: logs, database, and what is read over HTTP."""
    drained(house)
    audit = read_all(house.kafka.bootstrap)
    holds(house, audit)
    return audit


def holds(house: House, audit: Audit) -> None:
    """What a house at rest shows is what its logs add up to, and these are exact."""
    check(audit)
    _every_round_is_over(house, audit)
    for key in audit.records["accounts"]:
        # Every round is over, so every stake was posted or released.
        assert house.get(f"/accounts/{key}")["held_cents"] == 0, f"{key}: a hold was left behind"
    for stream, (path, module) in _VIEWS.items():
        for key in audit.records[stream]:
            state = module.INITIAL
            for event in audit.events(stream, key):
                state = module.evolve(state, event)
            wanted = json.loads(json.dumps(module.view(key, state)))
            assert house.get(f"/{path}/{key}") == wanted, f"{stream}/{key}"
    checked = roundlog(house, "rebuild", "--check")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def _every_round_is_over(house: House, audit: Audit) -> None:
    opened = 0
    for key in audit.records["rounds"]:
        events = audit.events("rounds", key)
        begun = [event.round_id for event in events if isinstance(event, rounds.RoundOpened)]
        over = sum(isinstance(event, rounds.RoundClosed | rounds.RoundVoided) for event in events)
        assert len(begun) == over, f"{key}: {len(begun)} rounds were opened and {over} are over"
        for round_id in begun:
            shown = house.get(f"/rounds/{round_id}")
            assert shown is not None and shown["state"] in ("closed", "void"), f"{round_id}: {shown}"
        opened += len(begun)
    assert opened, "nothing was played"
