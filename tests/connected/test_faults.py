"""Services are killed, paused and overtaken in the middle of play, and databases put back; the totals stay exact."""

import asyncio
import itertools
import os
import signal
from collections.abc import Iterator
from typing import Any, cast

import pytest
from aiokafka.admin import AIOKafkaAdminClient

from services.flow import PARTITIONS
from services.runtime.kafka import partition_of
from tests.support import parts
from tests.support.exact import Play, exact, grows, in_database, metric, pause_in_the_transaction, play, roundlog
from tests.support.house import COMMAND_SERVICES, House, until


@pytest.fixture(scope="module")
def own() -> Iterator[House]:
    """A house of its own, with every service."""
    with parts.broker() as broker, parts.database() as database:
        house = House(cast(Any, broker), cast(Any, database), database.dsn)
        house.start(*COMMAND_SERVICES, "backoffice")
        yield house
        house.close()


def stopped(house: House) -> list[str]:
    """Stops all services, all at once; gives their names."""
    names = list(house.processes)
    for process in house.processes.values():
        process.terminate()
    house.stop()
    return names


# Killed -----------------------------------------------------------------------------------------------


def test_every_service_is_killed_once_in_the_middle_of_play(own: House) -> None:
    floor = Play(own, seed=1)
    for name in COMMAND_SERVICES:
        grows(own, "rounds", 40)
        own.kill(name)
        own.start(name)
    grows(own, "rounds", 40)
    floor.ends_well()
    exact(own)


def test_a_table_that_does_not_hear_of_its_progressive_takes_no_progressive_wager(own: House) -> None:
    opened = {"command": "OpenProgressive", "rules": "demo-mississippi-stud"}
    assert own.post("/progressives/silent/commands", opened, "silent-1").status_code == 200
    table = {
        "command": "OpenTable", "game": "mississippi_stud", "seats": 6, "rules": "demo-mississippi-stud",
        "progressive_id": "silent",
    }  # fmt: skip
    wager = {"command": "PlaceWager", "seat": 1, "wager": "progressive", "amount_cents": 100}
    path, keys = "/tables/silent-1/commands", itertools.count()

    def ask(body: Any) -> Any:
        return own.post(path, body, f"silent-table-{next(keys)}")

    for body in (table, {"command": "OpenRound"}, {**wager, "wager": "ante", "amount_cents": 500}):
        assert ask(body).status_code == 200
    own.kill("progressive")

    def refused() -> bool:
        answer = ask(wager)
        if answer.status_code == 200:  # it was heard of within the second
            assert ask({"command": "WithdrawWager", "seat": 1, "wager": "progressive"}).status_code == 200
            return False
        assert answer.status_code == 409 and answer.json()["section"] is None
        return "The controller of the progressive silent has not answered for " in answer.json()["refused"]

    until("the wager is refused", refused, 10)
    assert ask({**wager, "wager": "three_card_bonus"}).status_code == 200, "every other wager is taken"
    own.start("progressive")
    until("the wager is taken again", lambda: ask(wager).status_code == 200, 10)
    assert ask({"command": "VoidRound", "reason": "played enough"}).status_code == 200


def test_the_archive_has_every_record_once_after_the_back_office_was_killed(own: House) -> None:
    floor = Play(own, seed=2)
    for _ in range(2):
        grows(own, "rounds", 40)
        own.kill("backoffice")
        grows(own, "rounds", 20)
        own.start("backoffice")
    floor.ends_well()
    audit = exact(own)

    async def count(connection: Any) -> int:
        return int(await connection.fetchval("SELECT count(*) FROM backoffice_records"))

    recorded = sum(len(records) for keys in audit.records.values() for records in keys.values())
    assert in_database(own, count) == recorded
    told = roundlog(own, "verify")
    assert told.returncode == 0, told.stdout + told.stderr


# Overtaken --------------------------------------------------------------------------------------------


def test_a_worker_that_was_paused_and_overtaken_writes_nothing_more(own: House) -> None:
    """It is paused between its outputs and their snapshot, by a lock on the row that says where it stands."""
    floor = Play(own, seed=3)
    grows(own, "wagers", 20)
    partition = partition_of("table-1", PARTITIONS)
    before = metric(own, "roundlog_overtaken_total", "wagers")

    async def position(connection: Any) -> int:
        row = "SELECT position FROM positions WHERE stream = 'wagers' AND partition = $1"
        return int(await connection.fetchval(row, partition))

    try:
        stood = pause_in_the_transaction(own, "wagers", "wagers", partition)
        own.start("wagers-b", service="wagers")
        until("the other worker has moved on", lambda: in_database(own, position) > stood, 40)
    finally:
        os.kill(own.processes["wagers"].pid, signal.SIGCONT)
    until("the woken one finds out", lambda: metric(own, "roundlog_overtaken_total", "wagers") > before, 20)
    floor.ends_well()
    exact(own)
    own.stop(["wagers-b"])


# Gone -------------------------------------------------------------------------------------------------


def test_a_worker_that_stops_in_good_order_leaves_its_partitions_to_the_others_at_once(own: House) -> None:
    """After kill -9 they wait for it as long as a session lasts."""

    async def ask() -> int:
        admin = AIOKafkaAdminClient(bootstrap_servers=own.kafka.bootstrap)
        await admin.start()
        try:
            (answer,) = await admin.describe_consumer_groups(["roundlog-accounts"])
            return len(answer.groups[0][5])
        finally:
            await admin.close()

    own.start("accounts-b", service="accounts")
    until("both are in the group", lambda: asyncio.run(ask()) == 2, 30)
    own.stop(["accounts-b"])
    assert asyncio.run(ask()) == 1, "it is still in the group"


# Put back ---------------------------------------------------------------------------------------------


async def _as_template(connection: Any, name: str) -> None:
    template = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'CREATE DATABASE {name} TEMPLATE "{template}"')


def test_a_database_put_back_to_an_earlier_copy_catches_up_from_the_logs(own: House) -> None:
    names = stopped(own)
    in_database(own, lambda connection: _as_template(connection, "earlier"))
    own.start(*names)
    play(own, 6, seed=5)
    before = exact(own)
    stopped(own)

    own.dsn = own.dsn.rpartition("/")[0] + "/earlier"
    own.start(*names)
    after = exact(own)
    assert after.records == before.records, "what was said already is not said again in other words"
    play(own, 3, seed=6)


COPY = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' LOOP
        EXECUTE format('CREATE TABLE earlier.%I AS TABLE public.%I', name, name);
    END LOOP;
END $$
"""
PUT_BACK = """
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT table_name FROM information_schema.tables WHERE table_schema = 'earlier' LOOP
        EXECUTE format('TRUNCATE public.%I', name);
        EXECUTE format('INSERT INTO public.%I SELECT * FROM earlier.%I', name, name);
    END LOOP;
END $$
"""


def test_a_database_put_back_under_running_services_is_noticed(own: House) -> None:
    async def copy(connection: Any) -> None:
        await connection.execute("CREATE SCHEMA earlier")
        async with connection.transaction(isolation="repeatable_read"):
            await connection.execute(COPY)

    async def put_back(connection: Any) -> None:
        # All at once, whatever the services are writing at that moment.
        async with connection.transaction():
            await connection.execute("LOCK TABLE positions, readers IN ACCESS EXCLUSIVE MODE")
            await connection.execute(PUT_BACK)
        await connection.execute("DROP SCHEMA earlier CASCADE")

    async def accounts(connection: Any) -> list[str]:
        return [row["key"] for row in await connection.fetch("SELECT key FROM heads WHERE reader = 'accounts'")]

    floor = Play(own, seed=7)
    grows(own, "rounds", 40)
    in_database(own, copy)
    grows(own, "rounds", 80)
    in_database(own, put_back)
    grows(own, "rounds", 40)
    floor.ends_well()
    for number, account_id in enumerate(in_database(own, accounts)):
        # A partition learns of it with its next input, and not every account has had one since.
        body = {"command": "OpenAccount", "player_id": "nobody"}
        assert own.post(f"/accounts/{account_id}/commands", body, f"noticed-{number}").status_code == 409
    exact(own)
