"""The back office on a real Kafka and PostgreSQL: operations, the archive, whether the logs hold, and rebuilding."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, Stored, partition_of
from services.wire.records import CONTRACTS
from tests.support import parts
from tests.support.exact import in_database, roundlog
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.playing import play, written
from tests.support.worlds import HouseWorld

SERVICES = (*COMMAND_SERVICES, "backoffice")
ROYAL = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"
ROUND, TABLE = "table-b-1-1", "table-b-1"


@pytest.fixture(scope="module")
def own() -> Iterator[House]:
    """A house of its own, with one round played: these tests stop it and put wrong records in its log."""
    with parts.broker() as broker, parts.database() as database:
        house = House(cast(Any, broker), cast(Any, database), database.dsn)
        house.start(*SERVICES)
        play(HouseWorld(house), written(ROYAL, "b"), "b")
        until("the archive has the round", lambda: archived(house), 15)
        yield house
        house.close()


def ask(house: House, path: str) -> httpx.Response:
    return house.client.get(house.url("backoffice") + path)


def archived(house: House) -> bool:
    said = ask(house, f"/rounds/{ROUND}/reconstruction.json")
    ops = ask(house, "/operations").json()
    caught_up = all(row["behind"] == 0 for row in (*ops["processors"], *ops["projections"]))
    return said.status_code == 200 and said.json()["state"] == "closed" and caught_up


def test_operations_say_what_stands_where(own: House) -> None:
    ops = ask(own, "/operations").json()
    assert ops["alarms"] == [] and ops["dead_letters"] == 0
    assert [(row["stream"], row["service"], row["behind"]) for row in ops["processors"]] == [
        ("rounds", "tables", 0), ("wagers", "wagers", 0), ("jackpots", "progressive", 0), ("accounts", "accounts", 0),
    ]  # fmt: skip
    assert {row["reader"] for row in ops["projections"]} == set(SERVICES)
    table = ops["tables"][0]
    assert (table["table_id"], table["round_id"], table["state"], table["rounds"]) == (TABLE, ROUND, "closed", 1)
    assert table["last_ms"] > 0
    assert ops["progressives"][0]["levels"][0]["value_cents"] == 1000000
    assert ops["rounds"][0]["round_id"] == ROUND and ops["rounds"][0]["won_cents"] == 1050038
    assert ops["refusals"] and ops["rounds_a_minute"] >= 0 and ops["claims"] == ops["envy_due"] == []


def test_the_pages_are_served(own: House) -> None:
    assert "Roundlog operations" in ask(own, "/").text
    page = ask(own, f"/rounds/{ROUND}/reconstruction").text
    assert f'"round_id":"{ROUND}"' in page and "/*ROUND*/" not in page
    assert "Par sheets" in ask(own, "/par").text
    assert "demo-mississippi-stud" in {row["rules"] for row in ask(own, "/par.json").json()}


def test_what_is_not_there_is_said_in_a_sentence(own: House) -> None:
    for path in ("/rounds/table-9-1/reconstruction", "/records/rounds/table-9", f"/records/claims/{TABLE}"):
        answer = ask(own, path)
        assert answer.status_code == 404 and answer.json()["detail"].endswith("."), path


def test_the_archive_has_every_record_of_a_key(own: House) -> None:
    records = ask(own, f"/records/rounds/{TABLE}?from=1&limit=1000").json()
    assert [record["sequence"] for record in records] == list(range(1, len(records) + 1))
    assert all(after["previous_hash"] == before["hash"] for before, after in pairwise(records))
    assert records[0]["event"]["event"] == "TableOpened"
    assert [record["sequence"] for record in ask(own, f"/records/rounds/{TABLE}?from=3&limit=2").json()] == [3, 4]


def test_the_round_is_told_at_the_terminal(own: House) -> None:
    told = roundlog(own, "reconstruct", ROUND)
    assert told.returncode == 0, told.stderr
    for words in (f"Round {ROUND}: Mississippi Stud, closed", "10♥ J♥ Q♥", "royal flush", "Envy Bonus $1,000.00"):
        assert words in told.stdout
    assert "HoldPosted" in told.stdout
    unknown = roundlog(own, "reconstruct", "table-9-1")
    assert unknown.returncode == 1 and unknown.stdout == "There is no round table-9-1 in the archive.\n"


def test_no_broker_and_no_database_are_a_sentence_each(own: House) -> None:
    for name, value in (("ROUNDLOG_KAFKA", "127.0.0.1:1"), ("ROUNDLOG_POSTGRES", "postgresql://x:y@127.0.0.1:1/z")):
        told = roundlog(own, "verify", **{name: value})
        assert told.returncode == 2 and "Traceback" not in told.stderr and told.stderr.count("\n") == 1, told.stderr


def test_there_are_no_dead_letters(own: House) -> None:
    assert roundlog(own, "dead-letters").stdout == "there are no dead letters\n"


def test_the_logs_hold_and_the_archive_agrees(own: House) -> None:
    told = roundlog(own, "verify")
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.splitlines()[-1] == "all logs hold" and len(told.stdout.splitlines()) == 5


def test_the_database_is_what_the_logs_make_also_while_services_run(own: House) -> None:
    told = roundlog(own, "rebuild", "--check")
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout.splitlines()[-1] == "the database is what the logs make"


def test_a_rebuild_waits_for_the_services_to_stop(own: House) -> None:
    told = roundlog(own, "rebuild")
    assert told.returncode == 1 and "stop the services first" in told.stderr


def test_what_was_lost_or_changed_is_found_and_made_again(own: House) -> None:
    own.stop()

    async def everything(connection: Any) -> dict[str, list[Any]]:
        names = ("snapshots", "marks", "positions", "heads", "outcomes", "sheets", "accounts_entries",
                 "backoffice_records", "backoffice_refusals", "backoffice_rounds")  # fmt: skip
        return {name: sorted(await connection.fetch(f"SELECT t::text FROM {name} t")) for name in names}

    async def harm(connection: Any) -> None:
        await connection.execute("DELETE FROM snapshots WHERE stream = 'rounds'")
        await connection.execute("DELETE FROM backoffice_records WHERE stream = 'wagers' AND sequence = 2")
        await connection.execute("UPDATE accounts_entries SET amount_cents = 1 WHERE sequence = 2")

    before = in_database(own, everything)
    in_database(own, harm)
    checked = roundlog(own, "rebuild", "--check")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "account-b-3 2: another amount_cents" in checked.stdout
    assert f"wagers {TABLE} 2: by the logs, but not in the database" in checked.stdout
    verified = roundlog(own, "verify")
    assert verified.returncode == 1 and f"wagers/{TABLE} sequence 2" in verified.stdout

    made = roundlog(own, "rebuild")
    assert made.returncode == 0, made.stdout + made.stderr
    assert in_database(own, everything) == before
    own.start(*SERVICES)
    assert own.get(f"/rounds/{ROUND}")["state"] == "closed"


def test_a_record_with_a_wrong_hash_is_named(own: House) -> None:
    offset = asyncio.run(_tamper(own.kafka.bootstrap))
    told = roundlog(own, "verify")
    assert told.returncode == 1, told.stdout + told.stderr
    place = f"(partition {partition_of(TABLE, PARTITIONS)}, offset {offset})"
    assert f"wagers/{TABLE} sequence 99 {place}: it comes after sequence" in told.stdout
    assert "1 contradictions" in told.stdout


async def _tamper(servers: str) -> int:
    """Appends the last record of the table's wagers again, under another sequence; gives its offset."""
    kafka, contract = Kafka(servers), CONTRACTS["wagers"]
    partition = partition_of(TABLE, PARTITIONS)
    _, end = (await kafka.ends(["wagers"]))["wagers", partition]
    stored: list[Stored] = [item async for item in kafka.read("wagers", partition, 0, end)]
    wrong = replace(contract.decode_record(stored[-1].value), sequence=99)
    behind = await kafka.append("wagers", partition, [[(TABLE, contract.encode_record(wrong))]])
    await kafka.close()
    return behind - 1
