"""A log that contradicts itself: what reads it stands still and says so, and everything else goes on."""

import asyncio
from collections.abc import Iterator

import asyncpg
import httpx
import pytest

from services.core.accounts import Deposited
from services.core.chain import GENESIS
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import start_kafka, start_postgres
from services.wire.records import CONTRACTS, Cause, Record
from tests.support.exact import in_database
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


def test_a_log_that_is_not_the_one_the_rows_were_made_of_is_found_at_the_start(forged: House) -> None:
    """One byte of the last record would do; here it is the hash beside the rows that differs."""
    assert forged.post("/accounts/account-1/commands", OPEN, "open-1").status_code == 200
    forged.stop(["accounts"])

    async def alter(connection: asyncpg.Connection) -> str:
        return str(await connection.execute("UPDATE heads SET hash = $1 WHERE reader = 'accounts'", GENESIS))

    assert in_database(forged, alter) == "UPDATE 1"
    forged.start("accounts", wait=False)

    def named() -> bool:
        try:
            answer = forged.client.get(f"{forged.url('accounts')}/readyz")
        except httpx.TransportError:
            return False
        return answer.status_code == 503 and "two different records claim sequence 1" in answer.text

    until("the contradiction is named", named)


def test_a_service_is_not_ready_where_it_is_not_made_of_what_was_expected(
    forged: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = forged.client.get(f"{forged.url('accounts')}/readyz").json()
    assert ready["ready"] and set(ready["made_of"]) == {"software", "configuration"}
    forged.stop(["accounts"])
    monkeypatch.setenv("ROUNDLOG_SOFTWARE_SHA256", ready["made_of"]["software"])
    monkeypatch.setenv("ROUNDLOG_CONFIGURATION_SHA256", "0" * 64)
    forged.start("accounts", wait=False)

    def missing() -> list[str]:
        try:
            return list(forged.client.get(f"{forged.url('accounts')}/readyz").json()["missing"])
        except httpx.TransportError:
            return []

    said = f"the configuration is {ready['made_of']['configuration']}, and {'0' * 64} was expected"
    until("that alone is missing", lambda: missing() == [said])
