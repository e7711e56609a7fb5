"""Three brokers, each record on all of them: one is killed at play, then two. `python -m tests.chaos.three_brokers`.

The brokers are set as deploy/cluster has them, and reached over TLS with a password. Ends with 0 where everything that
was answered is there once, and nothing else is.
"""

import asyncio
import itertools
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import httpx

from services.runtime.kafka import Kafka
from services.runtime.local import start_postgres
from services.runtime.security import kafka_security
from tests.support.cluster import Cluster
from tests.support.exact import Play, roundlog
from tests.support.house import COMMAND_SERVICES, House, until

ACCOUNTS = 6
STEADY_SECONDS = 10.0
TWO_AWAY_SECONDS = 15.0
BACK_SECONDS = 120.0
GIVEN_UP_AFTER_SECONDS = 300.0
PATIENT = {"ROUNDLOG_FLOOR_PATIENCE_S": f"{GIVEN_UP_AFTER_SECONDS}"}


class Depositors:
    """Clients who each deposit one cent after the other, asking again with the same key until they have an answer."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.answers: list[tuple[float, int, str]] = []
        """When, the status, and what was said where it was no 200."""
        self.deposited: Counter[str] = Counter()
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(ACCOUNTS)
        self._running: list[Future[None]] = []

    def __enter__(self) -> "Depositors":
        self._running = [self._threads.submit(self._run, f"player-{n}") for n in range(1, ACCOUNTS + 1)]
        return self

    def __exit__(self, *_: object) -> None:
        """Raises what went wrong with any of them."""
        self._stop.set()
        self._threads.shutdown()
        for each in self._running:
            each.result()

    def _run(self, account: str) -> None:
        with httpx.Client(timeout=30) as client:
            self._ask(client, account, 0, {"command": "OpenAccount", "player_id": account})
            number = 0
            while not self._stop.is_set():
                number += 1
                said = {"command": "Deposit", "amount_cents": 1, "reference": f"{account}-{number}"}
                self._ask(client, account, number, said)
                self.deposited[account] = number

    def _ask(self, client: httpx.Client, account: str, number: int, said: dict[str, Any]) -> None:
        url, began = self.house.at(f"/accounts/{account}/commands"), time.monotonic()
        while True:
            headers = {"Idempotency-Key": f"{account}-{number}", "X-Actor": "cage"}
            answer = client.post(url, json=said, headers=headers)
            sentence = "" if answer.status_code == 200 else str(answer.json().get("detail"))
            self.answers.append((time.monotonic(), answer.status_code, sentence))
            if answer.status_code == 200:
                return
            assert answer.status_code in (202, 503), f"{answer.status_code} {answer.text}"
            assert time.monotonic() - began < GIVEN_UP_AFTER_SECONDS, f"{account}-{number} has no answer: {sentence}"
            time.sleep(0.1)

    def since(self, at: float) -> list[tuple[float, int, str]]:
        return [answer for answer in list(self.answers) if answer[0] > at]

    def longest_pause_s(self, since: float) -> float:
        """The longest time in which nobody was answered with 200, from a moment on."""
        times = [since, *(at for at, status, _ in self.since(since) if status == 200)]
        return max(after - before for before, after in itertools.pairwise(times))

    def answered_after(self, at: float) -> bool:
        return any(status == 200 for _, status, _ in self.since(at))


def every_copy_is_there(cluster: Cluster) -> bool:
    """Whether each partition of the logs has all its copies in step."""

    async def ask() -> bool:
        kafka = Kafka(cluster.bootstrap, kafka_security(cluster.settings))
        async with kafka.reader() as reader:
            await reader._client.force_metadata_update()
            held = [part for parts in reader._client.cluster._partitions.values() for part in parts.values()]
        return bool(held) and all(len(part.isr) == len(cluster.brokers) for part in held)

    return asyncio.run(ask())


def one_is_killed(cluster: Cluster, clients: Depositors) -> None:
    for broker in cluster.brokers:
        time.sleep(STEADY_SECONDS / 2)
        at = time.monotonic()
        broker.kill()
        time.sleep(STEADY_SECONDS)
        until("deposits are answered on two brokers", lambda at=at: clients.answered_after(at), BACK_SECONDS)
        statuses = Counter(status for _, status, _ in clients.since(at))
        print(
            f"broker {broker.number} killed: {clients.longest_pause_s(at):.1f} s without an answer, then on;"
            f" {statuses[200]} answered, {statuses[202]} told to look later, {statuses[503]} told to come again",
            flush=True,
        )
        cluster.start(broker)
        until("every copy is there again", lambda: every_copy_is_there(cluster), BACK_SECONDS)


def two_are_killed(cluster: Cluster, clients: Depositors) -> None:
    two = cluster.brokers[1:]
    for broker in two:
        broker.kill()
    at = time.monotonic()
    time.sleep(TWO_AWAY_SECONDS)
    # What was under way at that moment may just have come through.
    late = clients.since(at + 2.0)
    statuses = Counter(status for _, status, _ in late)
    assert set(statuses) <= {202, 503}, f"answered on one broker of three: {statuses}"
    assert late and all(sentence for _, _, sentence in late)
    for status, sentence in sorted({(status, sentence.replace("\n", " ")) for _, status, sentence in late}):
        print(f"two brokers killed: {status} {sentence}", flush=True)
    assert clients.house.get("/accounts/player-1") is not None, "reads go on"
    began = time.monotonic()
    cluster.start(*two)
    there = time.monotonic()
    until("deposits are answered again", lambda: clients.answered_after(began), BACK_SECONDS)
    print(
        f"two brokers started again: they took {there - began:.1f} s, the next answer"
        f" {max(0.0, time.monotonic() - there):.1f} s more",
        flush=True,
    )


def main() -> int:
    with (
        tempfile.TemporaryDirectory(prefix="roundlog-") as folder,
        start_postgres() as postgres,
        Cluster(Path(folder), 3) as cluster,
    ):
        house = House(cast(Any, cluster), postgres, postgres.dsn, told={**cluster.settings, **PATIENT})
        try:
            house.start(*COMMAND_SERVICES)
            floor = Play(house, seed=11)
            with Depositors(house) as clients:
                until("every copy is there", lambda: every_copy_is_there(cluster), BACK_SECONDS)
                one_is_killed(cluster, clients)
                two_are_killed(cluster, clients)
            floor.ends_well()
            for account, number in clients.deposited.items():
                balance = house.get(f"/accounts/{account}")["balance_cents"]
                assert balance == number, f"{account}: {number} deposits of a cent were answered, {balance} are there"
            print(f"{sum(clients.deposited.values())} deposits answered, each is there once", flush=True)
            code = 0
            for words in (("verify",), ("rebuild", "--check")):
                told = roundlog(house, *words)
                print(f"roundlog {' '.join(words)}: {told.stdout.splitlines()[-1]}", flush=True)
                code = code or told.returncode
            return code
        finally:
            house.close()


if __name__ == "__main__":
    sys.exit(main())
