"""Kafka and PostgreSQL on this machine: they keep their data, and leave no process behind."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from services.runtime.local import (
    ROOT,
    LocalError,
    LocalKafka,
    LocalPostgres,
    port_is_free,
    start_kafka,
    start_postgres,
    start_process,
)

pytestmark = pytest.mark.connected


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Not pytest's own folder: another run of pytest shuts that again to all but root, and PostgreSQL is not root."""
    with tempfile.TemporaryDirectory(prefix="roundlog-local-") as folder:
        yield Path(folder)


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[LocalPostgres]:
    with start_postgres(tmp_path / "postgres") as server:
        yield server


@pytest.fixture
def kafka(tmp_path: Path) -> Iterator[LocalKafka]:
    with start_kafka(tmp_path / "kafka") as server:
        yield server


def ask(dsn: str, question: str) -> list[tuple[object, ...]]:
    async def run() -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(dsn)
        try:
            return [tuple(row) for row in await connection.fetch(question)]
        finally:
            await connection.close()

    return asyncio.run(run())


async def make_topic(kafka: LocalKafka, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1)])
    finally:
        await admin.close()


async def append(kafka: LocalKafka, topic: str, value: bytes) -> None:
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, acks="all") as producer:
        await producer.send_and_wait(topic, value)


async def read(kafka: LocalKafka, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=kafka.bootstrap, auto_offset_reset="earliest")
    async with asyncio.timeout(20), consumer:
        return [(await consumer.getone()).value for _ in range(count)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def running_in(folder: Path) -> list[int]:
    """Every process whose command line or working directory names the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue
        if str(folder) in words or place.startswith(str(folder)):
            found.append(int(entry.name))
    return [pid for pid in found if is_alive(pid)]


def test_postgres_keeps_what_was_committed(postgres: LocalPostgres) -> None:
    ask(postgres.dsn, "create table chips (cents int)")
    ask(postgres.dsn, "insert into chips values (500)")
    postgres.kill()
    assert not postgres.running
    postgres.start()
    assert ask(postgres.dsn, "select cents from chips") == [(500,)]
    postgres.restart()
    assert ask(postgres.dsn, "select cents from chips") == [(500,)]


def test_postgres_flushes_to_disk_and_lets_nobody_in_without_its_password(postgres: LocalPostgres) -> None:
    assert ask(postgres.dsn, "show fsync") == [("on",)]
    with pytest.raises(asyncpg.InvalidPasswordError):
        ask(f"postgresql://postgres:guess@127.0.0.1:{postgres.port}/roundlog", "select 1")


def test_postgres_goes_on_in_the_same_folder_at_another_address(tmp_path: Path) -> None:
    with start_postgres(tmp_path) as first:
        ask(first.dsn, "create table chips (cents int)")
        second_database = first.create_database("spare")
        assert ask(second_database, "select current_database()") == [("spare",)]
    with start_postgres(tmp_path) as second:
        assert ask(second.dsn, "select cents from chips") == []


def test_kafka_keeps_what_was_acknowledged(kafka: LocalKafka) -> None:
    asyncio.run(make_topic(kafka, "rounds"))
    asyncio.run(append(kafka, "rounds", b"one"))
    kafka.kill()
    assert not kafka.running
    kafka.start()
    asyncio.run(append(kafka, "rounds", b"two"))
    kafka.restart()
    assert asyncio.run(read(kafka, "rounds", 2)) == [b"one", b"two"]


def test_a_lent_folder_is_gone_afterwards() -> None:
    with start_postgres() as server:
        folder = server.folder
        assert folder.exists()
    assert not folder.exists()


def test_a_port_in_use_is_named(postgres: LocalPostgres, tmp_path: Path) -> None:
    assert not port_is_free(postgres.port)
    with pytest.raises(LocalError, match=f"port {postgres.port} is in use"):
        start_postgres(tmp_path / "second", postgres.port)


def test_a_failed_start_quotes_the_log(tmp_path: Path) -> None:
    with start_postgres(tmp_path) as server:
        pass
    (tmp_path / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(LocalError, match="no_such_setting"):
        server.start()


def test_a_process_outlives_the_thread_that_asked_for_it(tmp_path: Path) -> None:
    async def from_another_thread() -> subprocess.Popen[bytes]:
        return await asyncio.to_thread(start_process, ["sleep", "30"], tmp_path / "log")

    process = asyncio.run(from_another_thread())
    time.sleep(0.3)
    assert process.poll() is None
    process.kill()
    process.wait()


def test_nothing_is_left_after_kill_9_of_the_parent(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from services.runtime.local import start_kafka, start_postgres, start_process
        folder = Path(sys.argv[1])
        kafka, postgres = start_kafka(folder / "kafka"), start_postgres(folder / "postgres")
        service = start_process(["sleep", "300"], folder / "service.log")
        print(kafka.pid, postgres.pid, service.pid, flush=True)
        time.sleep(300)
        """
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        children = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(children) == 3 and all(map(is_alive, children))
        assert len(running_in(tmp_path)) > 3
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and (any(map(is_alive, children)) or running_in(tmp_path)):
        time.sleep(0.05)
    assert not any(map(is_alive, children))
    assert running_in(tmp_path) == []
