"""TLS and passwords: the services work through them, and who is turned away is told which setting is behind it."""

import asyncio
import contextlib
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import asyncpg
import pytest

from services.runtime.kafka import BrokerAway, Kafka
from services.runtime.local import free_port
from services.runtime.provision import TopicWrong, provision_tables, provision_topics
from services.runtime.security import OPEN, Security, TurnedAway, kafka_security
from services.runtime.settings import Copies, copies
from tests.support.cluster import HOST, ROOT, Cluster, keys_in
from tests.support.house import COMMAND_SERVICES, House
from tests.support.parts import Database
from tests.support.playing import play, written
from tests.support.worlds import HouseWorld

ROYAL = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One broker that lets in who shows a password over TLS."""
    with Cluster(tmp_path_factory.mktemp("cluster"), 1) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The keys of another authority."""
    return keys_in(tmp_path_factory.mktemp("strangers"))


def _with(cluster: Cluster, **other: str) -> Security:
    return kafka_security({**cluster.settings, **{f"ROUNDLOG_KAFKA_{name}": value for name, value in other.items()}})


def test_a_round_is_played_over_tls_with_passwords(secure: Cluster, postgres: Database, unique: str) -> None:
    dsn = asyncio.run(_new_database(postgres.dsn, f"secure_{unique}"))
    house = House(cast(Any, secure), cast(Any, None), dsn, told=secure.settings)
    try:
        house.start(*COMMAND_SERVICES)
        play(HouseWorld(house), written(ROYAL, unique), unique)
        line = (house.folder / "tables.log").read_text()
        assert "(SASL_SSL)" in line and secure.password not in line
    finally:
        house.close()


async def _new_database(dsn: str, name: str) -> str:
    connection = await asyncpg.connect(dsn)
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    return urlsplit(dsn)._replace(path=f"/{name}").geturl()


async def test_what_is_wrong_is_said_by_the_setting_behind_it(secure: Cluster, strangers: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("not the password")
    cases = {
        "refuses the user roundlog.*ROUNDLOG_KAFKA_PASSWORD_FILE": _with(secure, PASSWORD_FILE=str(wrong)),
        "refuses the user nobody.*ROUNDLOG_KAFKA_USER": _with(secure, USER="nobody"),
        "not trusted.*ROUNDLOG_KAFKA_CA": _with(secure, CA=str(strangers / "ca.pem")),
        "does not take PLAIN.*ROUNDLOG_KAFKA_MECHANISM": _with(secure, MECHANISM="PLAIN"),
    }
    for sentence, security in cases.items():
        with pytest.raises(TurnedAway, match=sentence):
            await provision_topics(secure.bootstrap, security)
    another_name = secure.bootstrap.replace(HOST, "localhost")
    with pytest.raises(TurnedAway, match=r"another name.*ROUNDLOG_KAFKA "):
        await provision_topics(another_name, _with(secure))


async def test_another_protocol_than_the_brokers_is_a_silence_with_a_hint(kafka: Any, secure: Cluster) -> None:
    # It closes the connection, as a broker that stops does: so it is asked again, and the setting is named.
    for servers, security, protocol in (
        (kafka.bootstrap, _with(secure), "SASL_SSL"),
        (secure.bootstrap, OPEN, "PLAINTEXT"),
    ):
        with pytest.raises(BrokerAway, match=rf"answers as {protocol}.*ROUNDLOG_KAFKA_PROTOCOL"):
            await provision_topics(servers, security)


def test_a_service_and_the_command_line_end_with_the_sentence(
    secure: Cluster, postgres: Database, strangers: Path
) -> None:
    told = {**os.environ, **secure.settings, "ROUNDLOG_POSTGRES": postgres.dsn, "AUTH": "off", "ROUNDLOG_PORT": str(free_port()),
            "ROUNDLOG_KAFKA_CA": str(strangers / "ca.pem"), "PYTHONPATH": f"{ROOT}:{ROOT / 'proto'}"}  # fmt: skip
    for words, code in ((["services.accounts"], 1), (["services.backoffice.command_line", "dead-letters"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", *words], env=told, cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "ROUNDLOG_KAFKA_CA must name the file of the authority" in done.stdout + done.stderr


async def test_topics_have_the_copies_that_were_asked_for_or_that_is_said(secure: Cluster) -> None:
    security, kept = _with(secure), copies(secure.settings)
    await provision_topics(secure.bootstrap, security, kept)
    assert await provision_topics(secure.bootstrap, security, kept) == [], "all are there, with one copy"
    with pytest.raises(TopicWrong, match="has 1 copies, ROUNDLOG_REPLICATION says 3"):
        await provision_topics(secure.bootstrap, security, Copies(3, 2))
    with pytest.raises(TopicWrong, match=r"has min.insync.replicas=1, ROUNDLOG_MIN_ISR says 2"):
        await provision_topics(secure.bootstrap, security, Copies(1, 2))
    ends = await Kafka(secure.bootstrap, security).ends(["rounds"])
    assert len(ends) == 6


# PostgreSQL ------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _behind_tls(dsn: str, keys: Path) -> AsyncIterator[str]:
    """The same database behind TLS, as a server of PostgreSQL speaks it: asked first, in the clear."""
    behind = urlsplit(dsn)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(keys / HOST / "certificate", keys / HOST / "key")

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readexactly(8)
        assert request[4:] == b"\x04\xd2\x16\x2f", "no SSLRequest"
        writer.write(b"S")
        with contextlib.suppress(OSError):
            await writer.start_tls(context)
            inner, outer = await asyncio.open_connection(behind.hostname, behind.port)
            await asyncio.gather(pump(reader, outer), pump(inner, writer))

    server = await asyncio.start_server(serve, HOST, 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        before = behind.netloc.rpartition("@")[0]
        yield behind._replace(netloc=f"{before}@{HOST}:{port}").geturl()


async def test_the_database_is_reached_over_tls_by_whom_its_authority_is_known(
    secure: Cluster, postgres: Database, strangers: Path
) -> None:
    async with _behind_tls(postgres.dsn, secure.keys) as dsn:
        await provision_tables(f"{dsn}?sslmode=verify-full&sslrootcert={secure.keys / 'ca.pem'}")
        with pytest.raises(TurnedAway, match=r"not trusted.*sslrootcert in ROUNDLOG_POSTGRES"):
            await provision_tables(f"{dsn}?sslmode=verify-full&sslrootcert={strangers / 'ca.pem'}")
    with pytest.raises(TurnedAway, match=r"speaks no TLS, and sslmode in ROUNDLOG_POSTGRES"):
        await provision_tables(f"{postgres.dsn}?sslmode=require")
    wrong = urlsplit(postgres.dsn)
    wrong = wrong._replace(netloc=f"{wrong.username}:wrong@{wrong.hostname}:{wrong.port}")
    with pytest.raises(TurnedAway, match=r"password authentication failed.*ROUNDLOG_POSTGRES_PASSWORD_FILE"):
        await provision_tables(wrong.geturl())
