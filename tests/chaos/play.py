"""The pit while it is hurt: the simulated floor with clients that remember, and the questions that find out who works."""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable, Collection, Iterator
from time import monotonic
from types import TracebackType
from typing import Any, Self

import httpx

from services.floor.__main__ import Floor
from services.floor.calls import Services
from services.floor.settings import Settings
from services.flow import PARTITIONS
from services.runtime.kafka import partition_of
from tests.chaos.witness import ANSWERS, SENT_TWICE, STREAMS, Notes, Witness
from tests.support.house import House

LEAVING = 0.1
PATIENCE_S = 240.0
"""Longer than any fault: no dealer gives up but those who mean to."""
ANSWER_S = 10.0
STOP_S = 120.0
ROUNDS_A_MINUTE = 400.0
"""Of all tables together, at most: about as much as two cores carry with everything else."""
PACE_MAX = 60.0
PROBE_ANSWER_S, PROBE_EVERY_S = 1.5, 0.1
BACK_S = 180.0
OPEN_S = 900.0
"""Two hundred tables, and their players, are a few thousand commands."""
STEADY_COMMANDS = 60
RULES = "demo-cajun-stud"
METER_RULES = "demo-mississippi-stud"
ALL = ("rounds", "wagers", "jackpots", "accounts")


class Quiet(Services):
    """The APIs for a floor whose troubles are the point: they are kept, not printed."""

    def __init__(self, client: httpx.AsyncClient, settings: Settings, run: str) -> None:
        super().__init__(client, settings, run)
        self.troubles: list[str] = []

    def unmeant(self, trouble: Exception) -> None:
        self.troubles.append(str(trouble))


def settings_for(tables: int, seed: int) -> Settings:
    """So many tables, never faster than the machine carries."""
    return Settings(
        tables=tables,
        pace=min(PACE_MAX, ROUNDS_A_MINUTE / tables),
        seed=seed,
        **{f"{name}_url": f"http://{name}" for name in ("tables", "wagers", "progressive", "accounts")},  # type: ignore[arg-type]
        patience_s=PATIENCE_S,
        stop_s=STOP_S,
    )


def _keys() -> list[str]:
    """An id in each partition."""
    found: dict[int, str] = {}
    for number in itertools.count(1):
        found.setdefault(partition_of(f"probe-{number}", PARTITIONS), f"probe-{number}")
        if len(found) == PARTITIONS:
            return [found[partition] for partition in range(PARTITIONS)]
    raise AssertionError


class Pit:
    """So many tables at play in a house, from `async with` to its end; then every round is over."""

    def __init__(self, house: House, notes: Notes, tables: int, seed: int) -> None:
        self.house, self.notes = house, notes
        self._settings = settings_for(tables, seed)
        self._witness = Witness(house, self.notes, seed, LEAVING, SENT_TWICE)
        self._stop = asyncio.Event()
        self._floor = self._shift()
        self._probes = httpx.AsyncClient(transport=Witness(house, self.notes), timeout=PROBE_ANSWER_S)
        self._keys = _keys()
        self._numbers = itertools.count(1)
        self._playing: asyncio.Task[None] | None = None
        self._behind: list[asyncio.Task[None]] = []

    def _shift(self) -> Floor:
        client = httpx.AsyncClient(transport=self._witness, timeout=ANSWER_S)
        services = Quiet(client, self._settings, f"{self._settings.seed}-{secrets.token_hex(4)}")
        return Floor(self._settings, services, self._stop)

    async def __aenter__(self) -> Self:
        await self._open_probes()
        self._playing = asyncio.create_task(self._floor.play())
        self._behind = [asyncio.create_task(self._floor.count(dealer)) for dealer in self._floor.dealers]
        await self.until("all tables are open", lambda: self._open() == self._settings.tables, OPEN_S)
        return self

    def _open(self) -> int:
        opened = {
            told.key
            for told in self.notes.commands.values()
            if told.body["command"] == "OpenRound" and told.answer is not None and told.key not in self._keys
        }
        return len(opened)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        try:
            if error is None:
                await self._close()
        finally:
            tasks = [task for task in (self._playing, *self._behind) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._probes.aclose()
            await self._witness.aclose()

    async def _close(self) -> None:
        """Lets the rounds in hand end; then another shift, of whom nobody walks away, ends what was left open."""
        assert self._playing is not None
        self._witness.leaving = 0.0
        await self._floor.leave(self._playing)
        if not self._playing.cancelled():
            self._playing.result()
        self._stop.clear()
        shift = self._shift()
        async with asyncio.TaskGroup() as tables:
            for dealer in shift.dealers:
                once = iter((True, False))
                tables.create_task(dealer.run(lambda once=once: next(once)))  # type: ignore[misc]

    # What the faults ask --------------------------------------------------------------------------------

    async def until(self, what: str, condition: Callable[[], Any], seconds: float) -> None:
        """Waits for a condition; fails with `what` when the deadline passes, or when play has ended."""
        deadline = monotonic() + seconds
        while not condition():
            assert monotonic() < deadline, f"{what} did not come true within {seconds:.0f} s"
            if self._playing is not None and self._playing.done():
                self._playing.result()
                raise AssertionError("the floor has ended")
            await asyncio.sleep(0.05)

    async def steady(self, seconds: float = BACK_S) -> None:
        """Waits until play goes on: so many commands more are answered."""
        wanted = self.notes.answered + STEADY_COMMANDS
        await self.until("play goes on", lambda: self.notes.answered >= wanted, seconds)

    @contextlib.contextmanager
    def under(self, fault: str) -> Iterator[None]:
        """What is sent inside, and after it where it fails, is noted as sent under this fault."""
        before, self.notes.during = self.notes.during, fault
        yield
        self.notes.during = before

    # Who works ------------------------------------------------------------------------------------------

    async def back(self, began: float, streams: Collection[str] = ALL) -> dict[str, float]:
        """Asks until every partition of every stream has answered something new; the seconds since `began`, by stream.

        For `archive`, that the back office shows a new round.
        """
        found = dict.fromkeys(streams, 0.0)

        def heard(stream: str) -> None:
            if stream in found:
                found[stream] = max(found[stream], monotonic() - began)

        waiting = asyncio.create_task(self._all_answered(streams, heard))
        await asyncio.wait({waiting}, timeout=BACK_S)
        if not waiting.done():
            waiting.cancel()
            raise AssertionError(f"not all of {', '.join(streams)} worked within {BACK_S:.0f} s. {self._missing()}")
        waiting.result()
        return found

    def _missing(self) -> str:
        """What the services say of themselves."""
        said = []
        for name in self.house.processes:
            try:
                answer = self.house.client.get(f"{self.house.url(name)}/readyz")
                said += [f"{name}: {line}" for line in answer.json()["missing"]]
            except httpx.TransportError as error:
                said.append(f"{name}: {error!r}")
        return "; ".join(said) or "Every service says that it is ready."

    async def _all_answered(self, streams: Collection[str], heard: Callable[[str], None]) -> None:
        async with asyncio.TaskGroup() as asking:
            for key in self._keys:
                if {"rounds", "wagers", "archive"} & set(streams):
                    asking.create_task(self._round(key, streams, heard))
                if "jackpots" in streams:
                    # It is open already, which is an answer too.
                    asking.create_task(
                        self._ask("progressives", key, heard, command="OpenProgressive", rules=METER_RULES)
                    )
                if "accounts" in streams:
                    reference = f"probe-reference-{next(self._numbers)}"
                    asking.create_task(
                        self._ask("accounts", key, heard, command="Deposit", amount_cents=100, reference=reference)
                    )

    async def _open_probes(self) -> None:
        for key in self._keys:
            await self._ask("tables", key, command="OpenTable", game="cajun_stud", seats=6, rules=RULES)
            await self._ask("progressives", key, command="OpenProgressive", rules=METER_RULES)
            await self._ask("accounts", key, command="OpenAccount", player_id=key)

    async def _round(self, key: str, streams: Collection[str], heard: Callable[[str], None]) -> None:
        """A round at the probe's table, seen by those who are asked for, and void."""
        while "events" not in (opened := await self._ask("tables", key, heard, command="OpenRound")):
            # Somebody else asks at the same table.
            await self._ask("tables", key, command="VoidRound", reason="nobody plays here")
        round_id = opened["events"][0]["round_id"]
        if "wagers" in streams:
            await self._seen(f"http://wagers/rounds/{round_id}")
            heard("wagers")
        if "archive" in streams:
            await self._seen(f"http://backoffice/rounds/{round_id}/reconstruction")
            heard("archive")
        await self._ask("tables", key, command="VoidRound", reason="nobody plays here")

    async def _ask(
        self, path: str, key: str, heard: Callable[[str], None] = lambda stream: None, **body: Any
    ) -> dict[str, Any]:
        """Sends a command under one Idempotency-Key until it is answered."""
        service = {"tables": "tables", "progressives": "progressive", "accounts": "accounts"}[path]
        headers = {"Idempotency-Key": f"probe.{next(self._numbers)}", "X-Actor": "manager"}
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await self._probes.post(f"http://{service}/{path}/{key}/commands", json=body, headers=headers)
                if answer.status_code in ANSWERS:
                    heard(STREAMS[path])
                    said: dict[str, Any] = answer.json()
                    return said
            await asyncio.sleep(PROBE_EVERY_S)

    async def _seen(self, url: str) -> None:
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await self._probes.get(url, headers={"X-Actor": "auditor"})).status_code == httpx.codes.OK:
                    return
            await asyncio.sleep(PROBE_EVERY_S)
