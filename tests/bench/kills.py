"""Row: how long after kill -9 a service does its work again, from the kill to the answer to a new command."""

import itertools
import time
from collections.abc import Callable, Iterator, Mapping

import httpx

from tests.bench.harness import Memory, Row, house
from tests.bench.material import GAME, RULES
from tests.support.house import COMMAND_SERVICES, House, until

AIM_SECONDS = 5.0
TURNS = 2
OPEN_PROGRESSIVE = {"command": "OpenProgressive", "rules": RULES}
OPEN_TABLE = {"command": "OpenTable", "game": GAME, "seats": 6, "rules": RULES, "progressive_id": "progressive"}
_numbers = itertools.count()


def answered(opened: House, path: str, body: Mapping[str, object]) -> Callable[[], bool]:
    """Posts one command, again and again under one key, until it is answered."""
    key = f"bench-{next(_numbers)}"

    def tried() -> bool:
        try:
            return opened.post(path, body, key).status_code == 200
        except httpx.TransportError:
            return False

    return tried


def _settled(opened: House) -> Callable[[], bool]:
    """Opens a round at a table of its own, until wagers shows it."""
    table = f"table-{next(_numbers)}"
    until("a table opens", answered(opened, f"/tables/{table}/commands", OPEN_TABLE))
    until("a round opens", answered(opened, f"/tables/{table}/commands", {"command": "OpenRound"}))

    def shown() -> bool:
        try:
            return opened.get(f"/rounds/{table}-1") is not None
        except httpx.TransportError:
            return False

    return shown


def _work(opened: House, name: str) -> Callable[[], bool]:
    number = next(_numbers)
    match name:
        case "tables":
            return answered(opened, f"/tables/table-{number}/commands", OPEN_TABLE)
        case "progressive":
            return answered(opened, f"/progressives/progressive-{number}/commands", OPEN_PROGRESSIVE)
        case "accounts":
            body = {"command": "OpenAccount", "player_id": "player-1"}
            return answered(opened, f"/accounts/account-{number}/commands", body)
        case _:
            return _settled(opened)


def kills(memory: Memory) -> Iterator[Row]:
    """Each service is killed and started at once, as a supervisor would."""
    with house(memory) as opened:
        opened.start(*COMMAND_SERVICES, "backoffice", wait=False)
        for name in (*COMMAND_SERVICES, "backoffice"):
            opened.wait_ready(name)
        until("a progressive opens", answered(opened, "/progressives/progressive/commands", OPEN_PROGRESSIVE))
        for name in COMMAND_SERVICES:
            until(f"{name} works", _work(opened, name))
            worst = 0.0
            for _ in range(TURNS):
                begun = time.monotonic()
                opened.kill(name)
                opened.start(name, wait=False)
                until(f"{name} works again", _work(opened, name), 60)
                worst = max(worst, time.monotonic() - begun)
            yield Row(f"kill -9 of {name}, to the next answer", f"{worst:.1f} s", "5 s", worst <= AIM_SECONDS)
