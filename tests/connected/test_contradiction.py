"""A log that contradicts itself: what reads it stands still and says so, and everything else goes on."""

import asyncio
from collections.abc import Iterator

import asyncpg
import httpx
import pytest

from services.core import jackpots, rounds
from services.core.accounts import Deposited
from services.core.chain import GENESIS
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import start_kafka, start_postgres
from services.wire.records import CONTRACTS, Cause, Record
from tests.support.exact import in_database, roundlog
from tests.support.house import House, until

OPEN = {"command": "OpenAccount", "player_id": "player-1"}
UNKNOWN_FIELD = b"\xfa\x7c\x02\x08\x01"
"""A field with a number that no schema here has, holding two bytes."""


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


async def _append(servers: str, topic: str, key: str, stored: bytes) -> None:
    kafka = Kafka(servers)
    try:
        await kafka.append(topic, partition_of(key, PARTITIONS), [[(key, stored)]])
    finally:
        await kafka.close()


@pytest.mark.timeout(300)
def test_every_reader_of_a_log_stops_where_a_newer_version_wrote(forged: House) -> None:
    """A record with a field more than this version knows, behind what it wrote itself: nobody passes over it."""
    forged.start("progressive", "tables", "wagers")
    opening = {"command": "OpenProgressive", "rules": "demo-mississippi-stud"}
    assert forged.post("/progressives/progressive-1/commands", opening, "open-p").status_code == 200
    table = {"command": "OpenTable", "game": "cajun_stud", "seats": 6, "rules": "demo-cajun-stud"}
    assert forged.post("/tables/table-1/commands", table, "open-t").status_code == 200
    for topic, key, event in (
        ("jackpots", "progressive-9", jackpots.ProgressiveClosed("progressive-1", ())),
        ("rounds", "table-9", rounds.TableClosed()),
    ):
        record = Record(1, GENESIS, 1, "newer", "nobody", Cause(f"{topic[:-1]}-commands", 0, 0), 0, 1, b"", event)
        stored = CONTRACTS[topic].encode_record(record) + UNKNOWN_FIELD
        asyncio.run(_append(forged.kafka.bootstrap, topic, key, stored))

    def missing(service: str) -> str:
        try:
            return str(forged.client.get(f"{forged.url(service)}/readyz").json()["missing"])
        except httpx.TransportError:
            return ""

    def says(service: str, *starts: str) -> None:
        said = "with a field that this version does not know; a newer writer is at work"
        until(
            f"{service} says who stands still",
            lambda: missing(service).count(said) == len(starts) and all(start in missing(service) for start in starts),
        )

    rounds_partition, jackpots_partition = (partition_of(key, PARTITIONS) for key in ("table-9", "progressive-9"))
    says("progressive", f"projection: jackpots-{jackpots_partition} offset ")
    says("tables", "projection: ")
    says("wagers", f"partition {rounds_partition}: at input offset ")
    # The projection no longer follows its log, and the feed says so.
    with forged.client.stream("GET", f"{forged.url('progressive')}/progressives/progressive-1/events") as feed:
        assert any('"fresh":false' in line for line in feed.iter_lines())
    # Whoever takes the partition over finds the same, and what rebuilds and what verifies too.
    forged.stop(["progressive", "tables", "wagers"])
    forged.start("progressive", wait=False)
    says("progressive", f"partition {jackpots_partition}: jackpots/progressive-9: ", "projection: ")
    forged.stop()
    verified = roundlog(forged, "verify")
    assert verified.returncode == 1
    assert "jackpots/progressive-9 " in verified.stdout and "table-9" in verified.stdout
    rebuilt = roundlog(forged, "rebuild")
    assert rebuilt.returncode == 1 and "a newer writer is at work" in rebuilt.stderr


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


def test_a_service_does_not_work_where_it_is_not_made_of_what_was_expected(
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
    # Without this it has its partitions by now, and decides.
    for answer in (
        forged.post("/accounts/account-2/commands", OPEN, "open-2"),
        forged.client.get(forged.at("/accounts/account-1")),
        forged.client.get(f"{forged.url('accounts')}/commands/open-2"),
    ):
        assert (answer.status_code, answer.json()) == (503, {"detail": f"This service does not work: {said}."})
    assert forged.client.get(f"{forged.url('accounts')}/healthz").status_code == 200
    assert "assigned partitions" not in (forged.folder / "accounts.log").read_text().rpartition(said)[2]

    forged.stop(["accounts"])
    monkeypatch.setenv("ROUNDLOG_CONFIGURATION_SHA256", ready["made_of"]["configuration"])
    forged.start("accounts")
    assert forged.get("/accounts/account-2") is None
    assert forged.post("/accounts/account-2/commands", OPEN, "open-2").status_code == 200
