"""Brokers as deploy/cluster has them, on this machine: TLS among them, TLS and SCRAM for clients, and what clients must say."""

import secrets
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self

from services.runtime.local import ROOT, LocalKafka, free_port

CLUSTER = ROOT / "deploy" / "cluster"
HOST = "127.0.0.1"
USER = "roundlog"
COUNTS = ("replication.factor", "min.insync.replicas", "min.isr")


def keys_in(folder: Path) -> Path:
    """An authority, and a broker's key for this machine, as deploy/cluster/keys.sh makes them."""
    subprocess.run([CLUSTER / "keys.sh", folder, HOST], check=True)
    return folder


class ClusterBroker(LocalKafka):
    """One broker with the settings of deploy/cluster, of which only the places and the number of copies are others."""

    # After a kill -9 of several, each looks through its logs before it takes part.
    start_seconds_max = 180.0

    def __init__(self, cluster: "Cluster", number: int) -> None:
        super().__init__(cluster.folder / f"broker-{number}", None)
        self.cluster, self.number = cluster, number
        self.cluster_id = cluster.id
        self.brokers_port = free_port()

    def _properties(self, data: Path) -> str:
        brokers = self.cluster.brokers
        places = f"CLIENTS://{HOST}:{self.port},CONTROLLER://{HOST}:{self.controller_port},BROKERS://{HOST}:{self.brokers_port}"
        here = {
            "node.id": str(self.number),
            "listeners": places,
            "advertised.listeners": places,
            "controller.quorum.voters": ",".join(f"{each.number}@{HOST}:{each.controller_port}" for each in brokers),
            "log.dirs": str(data),
            "ssl.keystore.location": str(self.cluster.keys / HOST / "broker.pem"),
            "ssl.truststore.location": str(self.cluster.keys / "ca.pem"),
        }
        written = (CLUSTER / "server.properties").read_text().splitlines()
        settings = dict(line.split("=", 1) for line in written if "=" in line and not line.startswith("#"))
        if len(brokers) == 1:
            settings |= {name: "1" for name in settings if name.endswith(COUNTS)}
        return "".join(f"{name}={value}\n" for name, value in {**settings, **here}.items())

    def _format(self, settings: Path, *words: str) -> None:
        super()._format(
            settings, *words, "--add-scram", f"SCRAM-SHA-512=[name={USER},password={self.cluster.password}]"
        )

    def _is_ready(self) -> bool:
        """Clients are let in once the broker has found its quorum."""
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0


class Cluster:
    """So many brokers in one folder, where clients find them, and the settings with which they are let in."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder, self.keys = folder, keys_in(folder / "keys")
        self.id, self.password = secrets.token_urlsafe(16), secrets.token_hex(16)
        (folder / "password").write_text(f"{self.password}\n")
        self.brokers = [ClusterBroker(self, number) for number in range(1, count + 1)]
        self.bootstrap = ",".join(broker.bootstrap for broker in self.brokers)
        self.settings = {
            "ROUNDLOG_KAFKA": self.bootstrap,
            "ROUNDLOG_KAFKA_PROTOCOL": "SASL_SSL",
            "ROUNDLOG_KAFKA_CA": str(self.keys / "ca.pem"),
            "ROUNDLOG_KAFKA_USER": USER,
            "ROUNDLOG_KAFKA_PASSWORD_FILE": str(folder / "password"),
            "ROUNDLOG_REPLICATION": str(count),
            "ROUNDLOG_MIN_ISR": str(min(count, 2)),
        }

    def start(self, *brokers: ClusterBroker) -> None:
        """Starts all, or those named, at once: one alone of three would wait for the others."""
        with ThreadPoolExecutor() as starters:
            list(starters.map(ClusterBroker.start, brokers or self.brokers))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with ThreadPoolExecutor() as stoppers:
            list(stoppers.map(ClusterBroker.close, self.brokers))
