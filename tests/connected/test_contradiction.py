"""A log that contradicts itself: what reads it stands still and says so, and everything else goes on."""

import asyncio
from collections.abc import Iterator

import pytest

from services.core.accounts import Deposited
from services.core.chain import GENESIS
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import start_kafka, start_postgres
from services.wire.records import CONTRACTS, Cause, Record
from tests.support.house import House, until

OPEN = {"command": "OpenAccount", "player_id": "player-1"}


@pytest.fixture
def forged() -> Iterator[House]:
    """A house of its own: what is written here would stop every other test."""
    with start_kafka() as kafka, start_postgres() as postgres:
        house = House(kafka, postgres, postgres.dsn)
        try:
            house.start("accounts")
            yield house
        finally:
            house.close()


async def _forge(servers: str, key: str) -> None:
    """A record under a sequence that is taken, by somebody who is not the log's writer."""
    cause = Cause("account-commands", 0, 0)
    record = Record(1, GENESIS, 1, "forged", "nobody", cause, 0, 1, b"", Deposited(1_000_000, "forged"))
    kafka = Kafka(servers)
    try:
        stored = CONTRACTS["accounts"].encode_record(record)
        await kafka.append("accounts", partition_of(key, PARTITIONS), [[(key, stored)]])
    finally:
        await kafka.close()


def test_a_forged_record_stops_the_projection_which_says_so_and_stays_up(forged: House) -> None:
    assert forged.post("/accounts/account-1/commands", OPEN, "open-1").status_code == 200
    process = forged.processes["accounts"]
    asyncio.run(_forge(forged.kafka.bootstrap, "account-1"))

    def named() -> bool:
        answer = forged.client.get(f"{forged.url('accounts')}/readyz")
        return answer.status_code == 503 and "two different records claim sequence 1" in answer.text

    until("the contradiction is named", named)
    assert process.poll() is None, "the service is still there to say it"
    assert forged.get("/accounts/account-1")["balance_cents"] == 0, "what was forged is not believed"
    assert forged.client.get(f"{forged.url('accounts')}/healthz").status_code == 200
