"""The broker and the database under connected tests: containers where a Docker engine answers, local ones elsewhere."""

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from services.runtime.local import free_port, start_kafka, start_postgres

KAFKA_IMAGE = "apache/kafka:4.3.1"
POSTGRES_IMAGE = "postgres:18"
LOOPBACK = "127.0.0.1"
"""Ports are published there, and for nobody else."""


@dataclass(frozen=True)
class Broker:
    """A Kafka that answers."""

    bootstrap: str


@dataclass(frozen=True)
class Database:
    """A PostgreSQL that answers."""

    dsn: str


def docker_answers() -> bool:
    """Whether a Docker engine is there to be asked for containers: on its socket, or where DOCKER_HOST says."""
    engine = urlsplit(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock"))
    # The clients at hand forget to close a socket that nobody listens to, and a test that leaks one fails.
    family = socket.AF_UNIX if engine.scheme == "unix" else socket.AF_INET
    with socket.socket(family) as probe:
        probe.settimeout(3)
        try:
            probe.connect(engine.path if family == socket.AF_UNIX else (engine.hostname, engine.port))
            probe.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
            return b" 200 " in probe.recv(64)
        except OSError:
            return False


@contextlib.contextmanager
def broker() -> Iterator[Broker]:
    """A broker of its own, gone afterwards with its data."""
    if not docker_answers():
        with start_kafka() as local:
            yield Broker(local.bootstrap)
        return
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import LogMessageWaitStrategy

    # A client is sent to the address that the broker advertises, so inside and outside must be one port.
    port = free_port()
    settings = {
        "NODE_ID": "1",
        "PROCESS_ROLES": "broker,controller",
        "CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
        "CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "LISTENERS": f"PLAINTEXT://:{port},CONTROLLER://:9093",
        "ADVERTISED_LISTENERS": f"PLAINTEXT://{LOOPBACK}:{port}",
        "LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "AUTO_CREATE_TOPICS_ENABLE": "false",
        "OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }
    container = DockerContainer(KAFKA_IMAGE)
    container.ports = {port: (LOOPBACK, port)}
    container = container.waiting_for(LogMessageWaitStrategy("Kafka Server started"))
    for name, value in settings.items():
        container = container.with_env(f"KAFKA_{name}", value)
    with container:
        yield Broker(f"{LOOPBACK}:{port}")


@contextlib.contextmanager
def database() -> Iterator[Database]:
    """An empty database of its own, gone afterwards."""
    if not docker_answers():
        with start_postgres() as local:
            yield Database(local.dsn)
        return
    from testcontainers.community.postgres import PostgresContainer

    container = PostgresContainer(POSTGRES_IMAGE, driver=None)
    container.ports = {container.port: (LOOPBACK,)}
    with container:
        yield Database(container.get_connection_url(host=LOOPBACK))
