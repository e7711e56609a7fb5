"""The house in containers, tried: `python -m tests.containers`. Needs a Docker engine with compose, and ports 8000 to 8004.

It is built and brought up under a name of its own, played in, scaled, hurt, stopped, taken down and brought up again;
what was played is read after each. Ends with 0 where everything is as it was, 2 where something that it needs is missing.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import httpx

from services.flow import PORTS
from services.runtime.local import ROOT, port_is_free
from tests.journey.test_readme import Step, steps, type_in, wrong
from tests.support.house import until
from tests.support.parts import docker_answers

PROJECT = "roundlog-tried"
WATCHING = ("prometheus", "grafana")
METER = "pit-meter"
"""The progressive that the README opens."""
COMMANDED = {"tables": "tables", "progressives": "progressive", "accounts": "accounts"}
AWAY = 2
"""How `roundlog` ends when the broker or the database does not answer, as on a machine that is busy with something else."""
STOPPED_BY_SIGTERM = 143
"""How Java ends when it was told to stop, after it has closed everything."""
UP_SECONDS = 600.0
ANSWER_SECONDS = 120.0


class Missing(Exception):
    """Something that is needed is not here; the sentence says what."""


def run(*words: str, seconds: float = UP_SECONDS, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in the project's folder, whose output is kept."""
    return subprocess.run(
        words, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=seconds
    )


def compose(*words: str, **environment: str) -> str:
    """What `docker compose` says. Its errors are shown, and end the trial."""
    done = run("docker", "compose", "--project-name", PROJECT, *words, **environment)
    assert done.returncode == 0, f"docker compose {' '.join(words)}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@contextmanager
def timed(what: str) -> Iterator[None]:
    print(f"{what} ...", end=" ", flush=True)
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:.1f} s", flush=True)


def containers(*services: str) -> list[dict[str, Any]]:
    """What the engine knows of the containers of services, whether they run or not."""
    ids = compose("ps", "--all", "--quiet", *services).split()
    found: list[dict[str, Any]] = json.loads(run("docker", "inspect", *ids).stdout)
    return found


def service_of(container: dict[str, Any]) -> str:
    return str(container["Config"]["Labels"]["com.docker.compose.service"])


class Counter:
    """Whoever stands at the counter: commands and reads over the published ports, each with the token of its role."""

    def __init__(self) -> None:
        self.client = httpx.Client(timeout=30)

    def get(self, service: str, path: str) -> Any:
        """A read, asked again while its service is away."""
        return self._answered("GET", f"http://127.0.0.1:{PORTS[service]}{path}", "auditor")

    def ask(self, path: str, key: str, role: str, **said: Any) -> None:
        """One command, sent with the same key until the log has answered it."""
        url = f"http://127.0.0.1:{PORTS[COMMANDED[path.split('/')[0]]]}/{path}/commands"
        self._answered("POST", url, role, json=said, headers={"Idempotency-Key": key})

    def _answered(self, method: str, url: str, role: str, **other: Any) -> Any:
        token = (ROOT / ".tokens" / role).read_text()
        request = self.client.build_request(method, url, **other)
        request.headers["Authorization"] = f"Bearer {token}"

        def answered() -> httpx.Response | None:
            try:
                answer = self.client.send(request)
            except httpx.TransportError:
                return None
            return None if answer.status_code in (202, 503) else answer

        answer: httpx.Response = until(f"{request.content.decode() or url} is answered", answered, ANSWER_SECONDS)
        assert answer.status_code == 200, f"{url} {request.content.decode()}: {answer.status_code} {answer.text}"
        return answer.json()

    def play(self, table: str, meanwhile: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Opens a table and plays one round of Mississippi Stud at it; `meanwhile` comes in its middle.

        A pair of jacks pays 1 to 1 on the ante and on each of the three street wagers: 10 + 10 + 30 + 10 dollars.
        """
        numbers = iter(range(1, 100))

        def at_table(command: str, role: str = "dealer", **said: Any) -> None:
            self.ask(f"tables/{table}", f"{table}-{next(numbers)}", role, command=command, **said)

        opened = {"game": "mississippi_stud", "seats": 6, "rules": "demo-mississippi-stud"}
        at_table("OpenTable", "floorperson", **opened, progressive_id=METER)
        at_table("OpenRound")
        at_table("PlaceWager", seat=1, wager="ante", amount_cents=1000)
        at_table("CloseBetting")
        at_table("DealHands")
        at_table("Bet", seat=1, multiple=1)
        at_table("RevealCommunityCard", card="4c")
        meanwhile()
        at_table("Bet", seat=1, multiple=3)
        at_table("RevealCommunityCard", card="9d")
        at_table("Bet", seat=1, multiple=1)
        at_table("RevealCommunityCard", card="2s")
        at_table("ShowHand", seat=1, cards=["Jh", "Js"])
        at_table("CloseRound")

        def settled() -> Any:
            round_ = self.get("wagers", f"/rounds/{table}-1")
            return round_ if round_["state"] == "closed" else None

        round_: dict[str, Any] = until(f"{table}-1 is settled", settled)
        won = {wager["wager"]: wager["won_cents"] for wager in round_["wagers"]}
        assert won == {"ante": 1000, "street_3": 1000, "street_4": 3000, "street_5": 1000}, won
        return round_


class Trial:
    """The steps, each after the one before."""

    def __init__(self, watching: tuple[str, ...]) -> None:
        self.counter = Counter()
        self.rounds: dict[str, dict[str, Any]] = {}
        self.parts = (*PORTS, "front", "floor", *watching)

    def up(self, *words: str) -> None:
        compose("up", "--detach", "--wait", *words, *self.parts)

    def readme(self) -> None:
        """What the README has a newcomer type, typed."""
        house = cast(Any, SimpleNamespace(ports=PORTS, tokens=ROOT / ".tokens"))
        for step in steps():

            def comes(step: Step = step) -> bool:
                found = wrong(step, type_in(house, step.typed))
                assert found is None or step.may_be_repeated, f"typed:\n{step.typed}\ncame:\n{found}"
                return found is None

            until(f"what the README shows for:\n{step.typed}", comes)
        print("the README's rounds come out as it says", flush=True)

    def play(self, table: str, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.rounds[table] = self.counter.play(table, meanwhile)

    def everything_is_as_it_was(self) -> None:
        for table, round_ in self.rounds.items():
            assert self.counter.get("wagers", f"/rounds/{table}-1") == round_, table

    def scale(self) -> None:
        with timed("three instances of wagers, two of accounts"):
            self.up("--no-recreate", "--scale", "wagers=3", "--scale", "accounts=2")
        instances = containers("wagers")
        assert len(instances) == 3 and all(each["State"]["Health"]["Status"] == "healthy" for each in instances)
        until("the partitions are shared by the three", lambda: shared_by("wagers") == 3, 60)
        self.play("scaled")
        # The work is handed on while a round is under way.
        self.play("scaled-down", lambda: self.up("--no-recreate"))
        assert len(containers("wagers")) == 1

    def kill(self, service: str) -> None:
        (before,) = containers(service)
        began = time.monotonic()

        def killed() -> None:
            # The engine takes its own `kill` for a wish that the container should stay away.
            os.kill(before["State"]["Pid"], signal.SIGKILL)

        self.play(f"killed-{service}", killed)

        def back() -> bool:
            (now,) = containers(service)
            return bool(now["RestartCount"] > before["RestartCount"] and now["State"]["Health"]["Status"] == "healthy")

        until(f"{service} is well again", back, 120)
        print(f"kill -9 of {service}: the round went on, well again after {time.monotonic() - began:.1f} s", flush=True)

    def stop(self) -> None:
        with timed("stop"):
            compose("stop")
        for container in containers():
            name, state = service_of(container), container["State"]
            allowed = {0, STOPPED_BY_SIGTERM} if name == "kafka" else {0}
            assert state["ExitCode"] in allowed and not state["OOMKilled"], f"{name} ended with {state['ExitCode']}"
            if name in PORTS:
                last = run("docker", "logs", "--tail", "1", container["Id"]).stdout
                assert "stopped" in last, f"{name} did not come to its end: {last}"
        with timed("start"):
            self.up()

    def memory(self) -> None:
        said = run("docker", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").stdout
        for line in sorted(said.splitlines()):
            if line.startswith(PROJECT):
                print(f"  {line.removeprefix(PROJECT + '-')}", flush=True)

    def roundlog(self, *words: str) -> None:
        def done() -> subprocess.CompletedProcess[str] | None:
            command = ("exec", "--no-TTY", "backoffice", "roundlog", *words)
            told = run("docker", "compose", "--project-name", PROJECT, *command)
            return None if told.returncode == AWAY else told

        told: subprocess.CompletedProcess[str] = until("the logs can be read", done, UP_SECONDS)
        assert told.returncode == 0, told.stdout + told.stderr
        print(f"roundlog {' '.join(words)}: {told.stdout.splitlines()[-1]}", flush=True)


def shared_by(service: str) -> int:
    """How many instances have partitions, by what each last logged."""
    count = 0
    for container in containers(service):
        logged = run("docker", "logs", container["Id"]).stdout
        assigned = re.findall(r"assigned partitions at \{(.*?)\}", logged)
        count += bool(assigned and assigned[-1])
    return count


def what_is_here() -> tuple[str, ...]:
    """Which of Prometheus and Grafana can be had. Raises Missing for what nothing goes without."""
    if not docker_answers():
        raise Missing("No Docker engine answers: start one, or say by DOCKER_HOST where it is.")
    if run("docker", "compose", "version").returncode != 0:
        raise Missing("`docker compose` is not here: this needs compose v2.24 or newer.")
    taken = [str(port) for port in PORTS.values() if not port_is_free(port)]
    if taken:
        raise Missing(f"In use on 127.0.0.1: {', '.join(taken)}. Close the house that is open: `make run` or compose.")
    images = json.loads(run("docker", "compose", "config", "--format", "json", COMPOSE_PROFILES="watching").stdout)
    here = []
    for name in WATCHING:
        image = images["services"][name]["image"]
        if not all(run("docker", *words, image).returncode for words in (("image", "inspect"), ("pull", "--quiet"))):
            here.append(name)
        else:
            print(f"{name} is left out: {image} cannot be had here.", flush=True)
    return tuple(here)


def tried(trial: Trial) -> None:
    with timed("build"):
        compose("build")
    for image in ("roundlog", "roundlog-front"):
        size = int(run("docker", "image", "inspect", "--format", "{{.Size}}", image).stdout)
        print(f"  {image} {size / 1e6:.0f} MB", flush=True)
    with timed("up, to the first answer of everything"):
        trial.up()
    trial.readme()
    trial.play("first")
    trial.memory()
    trial.scale()
    for service in ("tables", "wagers", "kafka", "postgres"):
        trial.kill(service)
    trial.everything_is_as_it_was()
    trial.stop()
    trial.everything_is_as_it_was()
    with timed("down, and up with the volumes that stayed"):
        compose("down")
        trial.up()
    trial.everything_is_as_it_was()
    trial.play("last")
    trial.roundlog("verify")
    trial.roundlog("rebuild", "--check")


def main() -> int:
    try:
        trial = Trial(what_is_here())
    except Missing as missing:
        print(missing, file=sys.stderr)
        return 2
    try:
        tried(trial)
    except AssertionError as error:
        print(f"\n{error}\n{compose('logs', '--tail', '5')}", file=sys.stderr)
        return 1
    finally:
        compose("down", "--volumes", "--remove-orphans")
    print("The house in containers holds.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
