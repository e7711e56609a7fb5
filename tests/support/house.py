"""A real house for tests: Kafka, PostgreSQL and services as processes, on free ports and in temporary folders."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx

from services.runtime.issuing import issue
from services.runtime.local import LocalKafka, LocalPostgres, free_port, last_lines, start_process, stop_process

ROOT = Path(__file__).parents[2]
COMMAND_SERVICES = ("tables", "wagers", "progressive", "accounts")
READY_SECONDS = 60.0
HEARD_MS = 500


def until(what: str, condition: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Waits for a condition and gives its value; fails with `what` when the deadline passes."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come true within {seconds:.0f} s"
        time.sleep(0.02)


class House:
    """One broker, one database, and the services that were started on them."""

    def __init__(
        self,
        kafka: LocalKafka,
        postgres: LocalPostgres,
        dsn: str,
        rules: Path | None = None,
        tokens: Path | None = None,
        told: Mapping[str, str] | None = None,
    ) -> None:
        """With `tokens`, whoever asks shows one out of that folder; without, X-Actor says who acts.

        `told` is what every service is told beside, by the names of its settings.
        """
        self.told = told or {}
        self.tokens = tokens
        if tokens is not None:
            issue(tokens, tables=0)
        self.kafka = kafka
        self.postgres = postgres
        self.dsn = dsn
        self.rules = rules or ROOT / "deploy" / "rules"
        self.folder = Path(tempfile.mkdtemp(prefix="roundlog-house-"))
        self.ports: dict[str, int] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.client = httpx.Client(timeout=30)
        self.ready_seconds = READY_SECONDS

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[service]}"

    def environment(self, name: str, service: str) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name != "AUTH"},
            "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}",
            "ROUNDLOG_KAFKA": self.kafka.bootstrap,
            "ROUNDLOG_POSTGRES": self.dsn,
            "ROUNDLOG_PORT": str(self.ports[name]),
            "ROUNDLOG_HOST": "127.0.0.1",
            "ROUNDLOG_RULES": str(self.rules),
            "ROUNDLOG_INSTANCE": f"{name}-1",
            "ROUNDLOG_PROGRESSIVE_URL": f"http://127.0.0.1:{self.ports['progressive']}",
            **self.told,
            **({"AUTH": "off"} if self.tokens is None else {"ROUNDLOG_JWKS": str(self.tokens / "jwks.json")}),
        }

    def start(self, *names: str, service: str | None = None, wait: bool = True, module: str = "services") -> None:
        """Starts services; with `service`, one more instance of it under another name; with `module`, one like it."""
        for name in (*names, "progressive"):
            # Every service is told where the progressive is, whether it runs or not.
            self.ports.setdefault(name, free_port())
        for name in names:
            self.processes[name] = start_process(
                [sys.executable, "-m", f"{module}.{service or name}"],
                self.folder / f"{name}.log",
                env=self.environment(name, service or name),
                cwd=ROOT,
            )
        if wait:
            for name in names:
                self.wait_ready(name)

    def _hears(self) -> bool:
        """Whether the tables hear of the progressive, where both run."""
        if not {"tables", "progressive"} <= set(self.processes):
            return True
        if any(self.processes[name].poll() is not None for name in ("tables", "progressive")):
            return True
        try:
            return bool(self.client.get(f"{self.url('tables')}/readyz").json()["progressive_age_ms"] < HEARD_MS)
        except httpx.TransportError:
            return False

    def wait_ready(self, name: str) -> None:
        def ready() -> bool:
            assert self.processes[name].poll() is None, f"{name} ended:\n{last_lines(self.folder / f'{name}.log')}"
            try:
                return self.client.get(f"{self.url(name)}/readyz").status_code == 200
            except httpx.TransportError:
                return False

        try:
            until(f"{name} is ready", ready, self.ready_seconds)
            if name in ("tables", "progressive"):
                until("the tables hear of the progressive", self._hears, self.ready_seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{last_lines(self.folder / f'{name}.log')}") from None

    def kill(self, name: str) -> None:
        """kill -9, and waits until it is gone."""
        self.processes[name].kill()
        self.processes[name].wait()

    def stop(self, names: Iterable[str] | None = None) -> None:
        for name in list(names or self.processes):
            stop_process(self.processes.pop(name))

    def close(self) -> None:
        self.stop()
        self.client.close()

    # What a client does ----------------------------------------------------------------------------

    def post(self, path: str, body: Any, key: str, actor: str = "dealer") -> httpx.Response:
        return self.client.post(self.at(path), json=body, headers={"Idempotency-Key": key, "X-Actor": actor})

    def get(self, path: str) -> Any:
        answer = self.client.get(self.at(path))
        return answer.json() if answer.status_code == 200 else None

    def at(self, path: str) -> str:
        """The URL of a path, by the service that has it."""
        owner = {"tables": "tables", "rounds": "wagers", "progressives": "progressive", "accounts": "accounts"}
        return self.url(owner[path.split("/")[1]]) + path
