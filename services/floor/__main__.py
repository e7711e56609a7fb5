"""A simulated casino that plays over the HTTP APIs: `python -m services.floor --tables 6 --rounds 100 --pace 0`."""

import asyncio
import secrets
import signal
import sys
import time
from collections import Counter

import httpx

from services.core.games import GAMES
from services.core.money import dollars
from services.floor.calls import Backoff, Failure, Services
from services.floor.dealer import OVER, Dealer
from services.floor.floorperson import Floorperson
from services.floor.offers import OFFERS, offer_at
from services.floor.settings import Settings, read

ANSWER_TIMEOUT_S = 10.0
LAST_READ_S = 1.0
"""How long the last reads may take once the floor was told to stop."""
Meters = dict[str, int]


class Floor:
    """All tables, the count room that checks what their rounds came to, and the summary."""

    def __init__(self, settings: Settings, services: Services, stop: asyncio.Event) -> None:
        self.settings, self.services, self.stop = settings, services, stop
        self.floorperson = Floorperson(services, settings.patience_s)
        self.started = time.monotonic()
        self.taken = 0
        self.before: Meters = {}
        self.dealers = [
            Dealer(services, self.floorperson, settings, number, offer_at(number), stop)
            for number in range(1, settings.tables + 1)
        ]

    def take(self) -> bool:
        """Grants a table another round, while there are any."""
        if self.settings.rounds and self.taken >= self.settings.rounds:
            return False
        self.taken += 1
        return True

    async def play(self) -> None:
        """Opens the progressives and plays at every table until there is no round left to play."""
        for offer in OFFERS:
            if offer.progressive_id is not None:
                await self.floorperson.open_progressive(offer.progressive_id, offer.rules)
        self.before = await self.meters()
        self.started = time.monotonic()
        async with asyncio.TaskGroup() as tables:
            for dealer in self.dealers:
                tables.create_task(dealer.run(self.take))

    async def leave(self, playing: asyncio.Task[None]) -> None:
        """Lets the rounds in hand end, and voids those that do not in time."""
        await asyncio.wait({playing}, timeout=self.settings.stop_s * 0.6)
        if playing.done():
            return
        playing.cancel()
        await asyncio.wait({playing})
        voids = [asyncio.create_task(dealer.abandon()) for dealer in self.dealers]
        await asyncio.wait(voids, timeout=self.settings.stop_s * 0.2)
        for void in voids:
            void.cancel()
        # A round whose hands are shown can not be void: the next floor finishes it.
        await asyncio.gather(*voids, return_exceptions=True)

    async def count(self, dealer: Dealer) -> None:
        """The count room: reads what each finished round of a table came to."""
        while True:
            round_id = await dealer.finished.get()
            try:
                await self._count_round(round_id)
            except Failure as trouble:
                self.services.unmeant(trouble)
            dealer.finished.task_done()

    async def _count_round(self, round_id: str) -> None:
        backoff = Backoff(self.settings.patience_s)
        while True:
            round_ = await self.services.rounds.get(round_id)
            if round_ is not None and round_["state"] in OVER:
                break
            if not await backoff.wait():
                raise Failure(f"{round_id}: not settled {self.settings.patience_s:.0f} s after its end")
        tally = self.services.tally
        tally["rounds counted"] += 1
        for wager in round_["wagers"]:
            tally[f"wagers {wager['result']}"] += 1
            if wager["result"] != "returned":
                tally["staked_cents"] += wager["stake_cents"]
            tally["won_cents"] += wager["won_cents"] or 0
            tally["returned_cents"] += wager["returned_cents"]

    async def meters(self) -> Meters:
        """What every level of the progressives shows."""
        values: Meters = {}
        for progressive_id in (offer.progressive_id for offer in OFFERS if offer.progressive_id is not None):
            progressive = await self.services.progressives.get(progressive_id) or {"levels": []}
            for level in progressive["levels"]:
                values[f"{progressive_id} {level['name']}"] = level["value_cents"]
        return values

    async def progress(self) -> None:
        """A line now and then."""
        while True:
            await asyncio.sleep(self.settings.progress_s)
            print(f"floor: {self.played()}", flush=True)

    def played(self) -> str:
        tally = self.services.tally
        rounds = tally["rounds closed"] + tally["rounds voided"]
        minutes = max(time.monotonic() - self.started, 1e-3) / 60
        return (
            f"{rounds} rounds, {tally['rounds voided']} void, {rounds / minutes:.1f} a minute, "
            f"{tally['commands']} commands, {tally['unmeant refusals'] + tally['failures']} troubles"
        )


def summary(tally: Counter[str], played: str, before: Meters, after: Meters) -> str:
    """What the floor did, a line each."""
    claims = sorted(name.removeprefix("claims ") for name in tally if name.startswith("claims "))
    levels = ", ".join(
        f"{name} {tally[f'claims {name}']} ({dollars(tally[f'claims_cents {name}'])})" for name in claims
    )
    games = ", ".join(f"{tally[f'rounds of {game.title}']} of {game.title}" for game in GAMES.values())
    results = ", ".join(f"{tally[f'wagers {result}']} {result}" for result in ("won", "lost", "pushed", "returned"))
    lines = [
        f"played     {played}",
        f"rounds     {tally['rounds closed']} closed, {tally['rounds voided']} void "
        f"({tally['wrong counts']} by a wrong count), {tally['rounds counted']} counted",
        f"games      {games}",
        f"wagers     {results}; {tally['wagers declined']} declined, {tally['wagers withdrawn']} withdrawn, "
        f"{tally['forfeits']} forfeits",
        f"money      staked {dollars(tally['staked_cents'])}, won {dollars(tally['won_cents'])} "
        f"and what meters paid, stakes back {dollars(tally['returned_cents'])}",
        f"claims     {levels or 'none'}",
        f"envy       {tally['envy bonuses']} ({dollars(tally['envy_cents'])})",
        f"accounts   {tally['players seated']} seated, deposits {dollars(tally['deposit_cents'])}, "
        f"withdrawals {dollars(tally['withdraw_cents'])}",
        f"refusals   {tally['meant refusals']} meant, {tally['unmeant refusals']} not meant; "
        f"{tally['failures']} failures, {tally['calls repeated']} calls repeated",
    ]
    for name, value in after.items():
        lines.append(f"meter      {name}: {dollars(before.get(name, value))} -> {dollars(value)}")
    return "\n".join(lines)


async def run(settings: Settings) -> int:
    """Plays as the settings say; 0 where nothing was refused or failed that was not meant to be."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    print(f"floor: {settings.shown()}", flush=True)
    client = httpx.AsyncClient(timeout=ANSWER_TIMEOUT_S)
    async with Services(client, settings, f"{settings.seed}-{secrets.token_hex(4)}") as services:
        floor = Floor(settings, services, stop)
        playing = asyncio.create_task(floor.play())
        behind = [asyncio.create_task(floor.count(dealer)) for dealer in floor.dealers]
        behind.append(asyncio.create_task(floor.progress()))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({playing, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set():
            await floor.leave(playing)
        if not playing.cancelled() and (trouble := playing.exception()) is not None:
            if not isinstance(trouble, Failure):
                raise trouble
            services.unmeant(trouble)
        played = floor.played()
        after = await _last_reads(floor)
        for task in (stopped, *behind):
            task.cancel()
        print(summary(services.tally, played, floor.before, after), flush=True)
        return 1 if services.tally["unmeant refusals"] or services.tally["failures"] else 0


async def _last_reads(floor: Floor) -> Meters:
    """Lets the count room finish, then reads the meters; briefly where the floor was told to stop."""
    try:
        async with asyncio.timeout(LAST_READ_S if floor.stop.is_set() else floor.settings.patience_s):
            for dealer in floor.dealers:
                await dealer.finished.join()
            return await floor.meters()
    except (TimeoutError, Failure):
        return {}


def main() -> None:
    """Reads the settings and plays."""
    sys.exit(asyncio.run(run(read(sys.argv[1:]))))


if __name__ == "__main__":
    main()
