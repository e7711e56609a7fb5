"""The whole house on one machine: Kafka, PostgreSQL, every service and the floor. `make run` is this.

Ctrl-C stops it all in order; a kill -9 takes everything with it. The data are there at the next run.
"""

import argparse
import fcntl
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from services.flow import PORTS
from services.runtime.issuing import PEOPLE, issue
from services.runtime.local import (
    LOCAL,
    ROOT,
    LocalError,
    LocalKafka,
    LocalPostgres,
    LocalServer,
    last_lines,
    port_is_free,
    start_process,
    stop_process,
    wait_until_ready,
)

DISPLAYS = ("progressive-a", "progressive-c", "progressive-caribbean", "progressive-caribbean-a")

DEALERS_MIN = 10
"""So many tables have a dealer with a token, also where fewer play by themselves: the others are for who plays by hand."""
LOOK_EVERY_SECONDS = 0.2
# A service that dies again and again must not turn the machine into a heater.
RESTART_AFTER_SECONDS = (0.0, 1.0, 2.0, 5.0, 10.0)
STEADY_SECONDS = 60.0


@dataclass
class Service:
    """One process of the house, started again when it dies."""

    name: str
    process: subprocess.Popen[bytes]
    started_at: float
    deaths: int = 0
    restart_at: float | None = None


@dataclass
class House:
    """What runs, in the order in which it was started."""

    data: Path
    logs: Path
    environment: dict[str, str] = field(default_factory=dict)
    servers: list[LocalServer] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    floor: subprocess.Popen[bytes] | None = None
    dealers: int = 0
    """How many tables have a dealer with a token of their own."""

    def open(self, leaving: threading.Event, *, services: bool = True) -> None:
        """Start everything but the floor. Raises LocalError with a sentence for the person at the screen."""
        names = list(PORTS) if services else []
        for name, port in ((name, PORTS[name]) for name in names):
            if not port_is_free(port):
                raise LocalError(f"Port {port} on 127.0.0.1, which {name} needs, is in use: end what holds it first.")
        kafka = LocalKafka(self.data / "kafka", None)
        postgres = LocalPostgres(self.data / "postgres", None)
        for server, label in ((kafka, "Kafka"), (postgres, "PostgreSQL")):
            server.log = self.logs / f"{server.name}.log"
            step(label, server.start)
            self.servers.append(server)
            if leaving.is_set():
                return
        self.environment = environment_for(kafka, postgres, self.tokens)
        if self.asks_who:
            step("tokens", lambda: issue(self.tokens, self.dealers))
        step("topics and tables", self._provision)
        for name in names:
            self.services.append(Service(name, self._launch(name), time.monotonic()))
        for service in self.services:
            if leaving.is_set():
                return
            step(service.name, lambda service=service: self._wait_for(service, leaving))  # type: ignore[misc]

    @property
    def tokens(self) -> Path:
        return self.data / "tokens"

    @property
    def asks_who(self) -> bool:
        return self.environment["AUTH"] == "on"

    def _provision(self) -> None:
        log = self.logs / "provision.log"
        command = [sys.executable, "-m", "services.runtime.provision"]
        process = start_process(command, log, env=self.environment, cwd=ROOT)
        if process.wait() != 0:
            raise LocalError(f"Topics and tables could not be made. {log}:\n{last_lines(log)}")

    def _launch(self, name: str, *words: str, to_screen: bool = False) -> subprocess.Popen[bytes]:
        environment = {**self.environment, "ROUNDLOG_INSTANCE": f"{name}-1"}
        if name in PORTS:
            environment["ROUNDLOG_PORT"] = str(PORTS[name])
        return start_process(
            [sys.executable, "-m", f"services.{name}", *words],
            self.logs / f"{name}.log",
            env=environment,
            cwd=ROOT,
            stdout=sys.stdout.fileno() if to_screen else None,
        )

    def _wait_for(self, service: Service, leaving: threading.Event) -> None:
        def ready() -> bool:
            return leaving.is_set() or is_ready(PORTS[service.name])

        wait_until_ready(service.name, service.process, ready, [self.logs / f"{service.name}.log"])

    def start_floor(self, words: list[str]) -> None:
        badges = ("--tokens", str(self.tokens)) if self.asks_who else ()
        self.floor = self._launch("floor", *words, *badges, to_screen=True)

    def look_after(self) -> None:
        """Start again what died."""
        now = time.monotonic()
        for server in self.servers:
            if not server.running:
                say(f"{server.name} died. It is started again.")
                server.start()
        for service in self.services:
            if service.restart_at is not None:
                if now >= service.restart_at:
                    service.process = self._launch(service.name)
                    service.started_at, service.restart_at = now, None
            elif service.process.poll() is not None:
                service.deaths = 0 if now - service.started_at > STEADY_SECONDS else service.deaths
                pause = RESTART_AFTER_SECONDS[min(service.deaths, len(RESTART_AFTER_SECONDS) - 1)]
                service.deaths += 1
                service.restart_at = now + pause
                say(
                    f"{service.name} died ({service.process.returncode}) and is started again in {pause:.0f} s: "
                    f"see {shown(self.logs / f'{service.name}.log')}"
                )

    def close(self) -> None:
        """First who speaks, then who listens: floor, services, Kafka, PostgreSQL."""
        if self.floor is not None:
            stop_process(self.floor)
        # All are asked before any is waited for.
        for service in reversed(self.services):
            if service.process.poll() is None:
                service.process.terminate()
        for service in reversed(self.services):
            stop_process(service.process)
        for server in self.servers:
            server.stop()


def environment_for(kafka: LocalKafka, postgres: LocalPostgres, tokens: Path) -> dict[str, str]:
    """What the services read. What the person set (AUTH, say) stays; where things are is the house's to say."""
    path = os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "proto"), os.environ.get("PYTHONPATH")]))
    return {
        "AUTH": "on",
        "ROUNDLOG_JWKS": str(tokens / "jwks.json"),
        "ROUNDLOG_RULES": str(ROOT / "deploy" / "rules"),
        **os.environ,
        "ROUNDLOG_KAFKA": kafka.bootstrap,
        "ROUNDLOG_POSTGRES": postgres.dsn,
        "ROUNDLOG_HOST": "127.0.0.1",
        "PYTHONPATH": path,
        "PYTHONUNBUFFERED": "1",
    }


def is_ready(port: int) -> bool:
    # Straight to the port: urllib would ask a proxy that the environment names.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def say(words: str) -> None:
    print(words, flush=True)


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def step(what: str, act: Callable[[], None]) -> None:
    print(f"  {what} ...", end=" ", flush=True)
    start = time.monotonic()
    act()
    say(f"{time.monotonic() - start:.1f} s")


def print_tokens(folder: Path) -> None:
    say(f"Whoever asks for something shows a token. These are valid for seven days; each is in {shown(folder)}/NAME,")
    say("for a sign-in page, or as a header: `Authorization: Bearer TOKEN`.")
    for name in PEOPLE:
        say(f"  {name:<15}{(folder / name).read_text()}")
    say("")


def print_addresses(*, services: bool) -> None:
    if not services:
        say("\nKafka and PostgreSQL are there, and no service. Ctrl-C stops them.\n")
        return
    say("\nThe house is open.")
    say(f"  back office  http://127.0.0.1:{PORTS['backoffice']}/")
    say(f"  display      http://127.0.0.1:{PORTS['progressive']}/display")
    for display in DISPLAYS:
        say(f"  display      http://127.0.0.1:{PORTS['progressive']}/display/{display}")
    for name, port in PORTS.items():
        say(f"  docs         http://127.0.0.1:{port}/docs  ({name})")
    say("Ctrl-C closes it.\n")


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="house", description="Kafka, PostgreSQL, every service and the floor.")
    parser.add_argument("--tables", type=int, help="tables on the floor")
    parser.add_argument("--rounds", type=int, help="stop after so many rounds, with the floor's exit code")
    parser.add_argument("--pace", type=float, help="rounds a minute at each table, 0 for as fast as it goes")
    parser.add_argument("--no-floor", action="store_true", help="no simulated casino: play by hand")
    parser.add_argument("--no-services", action="store_true", help="Kafka and PostgreSQL alone: for `roundlog rebuild`")
    parser.add_argument("--data", type=Path, default=LOCAL / "data", help=argparse.SUPPRESS)
    parser.add_argument("--logs", type=Path, default=LOCAL / "log", help=argparse.SUPPRESS)
    told = parser.parse_args(words)
    if told.tables is not None and told.tables < 1:
        parser.error("--tables is 1 or more")
    if told.rounds is not None and told.rounds < 0:
        parser.error("--rounds is 0 (until it is stopped) or more")
    if told.pace is not None and not 0 <= told.pace < float("inf"):
        parser.error("--pace is 0 (as fast as it goes) or more rounds a minute")
    return told


def floor_words(options: argparse.Namespace) -> list[str]:
    said = {"--tables": options.tables, "--pace": options.pace, "--rounds": options.rounds}
    return [word for name, value in said.items() if value is not None for word in (name, str(value))]


def stay_open(house: House, options: argparse.Namespace, leaving: threading.Event) -> int:
    """Look after the house until somebody leaves, or the floor has played its rounds."""
    words = floor_words(options)
    if not (options.no_floor or options.no_services):
        house.start_floor(words)
    while not leaving.wait(LOOK_EVERY_SECONDS):
        house.look_after()
        ended = house.floor.poll() if house.floor is not None else None
        if ended is None:
            continue
        if options.rounds:
            return ended if ended >= 0 else 128 - ended
        say(f"The floor ended ({ended}) and is started again: see {shown(house.logs / 'floor.log')}")
        if leaving.wait(RESTART_AFTER_SECONDS[2]):
            break
        house.start_floor(words)
    return 0


def locked(folder: Path) -> IO[bytes] | None:
    """The folder's lock, held until it is closed or this process ends; None where another house holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def main() -> int:
    options = arguments()
    leaving, opened = threading.Event(), threading.Event()

    def leave(number: int, frame: FrameType | None) -> None:
        if not leaving.is_set() and not opened.is_set():
            # Kafka takes ten seconds; who is asked to leave meanwhile says that it has heard.
            os.write(sys.stdout.fileno(), b"\nHeard: the house closes as soon as what is starting has started.\n")
        leaving.set()

    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGTERM, leave)
    house = House(options.data, options.logs, dealers=max(options.tables or 0, DEALERS_MIN))
    code = 0
    data_lock = locked(options.data)
    if data_lock is None:
        say(f"Another house is open on {shown(options.data)}. Close it first: two brokers on one folder destroy it.")
        return 1
    try:
        say(f"Opening the house (logs in {shown(options.logs)}):")
        house.open(leaving, services=not options.no_services)
        opened.set()
        if not leaving.is_set():
            print_addresses(services=not options.no_services)
            if house.asks_who and not options.no_services:
                print_tokens(house.tokens)
            code = stay_open(house, options, leaving)
    except LocalError as error:
        say(f"\n{error}")
        code = 1
    finally:
        say("Closing the house.")
        house.close()
        data_lock.close()
    return code


if __name__ == "__main__":
    sys.exit(main())
