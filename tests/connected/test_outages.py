"""Kafka or PostgreSQL goes away: callers are told at once, reads go on, and all goes on by itself when it is back."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from services.runtime.local import LocalKafka, LocalPostgres, start_kafka, start_postgres
from tests.support.exact import in_database
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.playing import play, written
from tests.support.worlds import HouseWorld

ROYAL = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"
ANSWER_SECONDS = 6.0
READ_SECONDS = 2.0
BACK_SECONDS = 45.0


@pytest.fixture(scope="module")
def own() -> Iterator[House]:
    """A house whose broker and database are processes at hand, to be killed and paused."""
    with start_kafka() as kafka, start_postgres() as postgres:
        house = House(kafka, postgres, postgres.dsn)
        house.start(*COMMAND_SERVICES)
        yield house
        house.close()


class Outage(NamedTuple):
    """How a part goes away and comes back. A part that hangs is worse than one that refuses."""

    part: str
    begin: Callable[[LocalKafka | LocalPostgres], None]
    end: Callable[[LocalKafka | LocalPostgres], None]


def _signal(number: signal.Signals) -> Callable[[LocalKafka | LocalPostgres], None]:
    def send(part: LocalKafka | LocalPostgres) -> None:
        # PostgreSQL has a process for each client. The server itself first: it starts no more of them.
        os.kill(part.pid, number)
        for child in Path(f"/proc/{part.pid}/task/{part.pid}/children").read_text().split():
            os.kill(int(child), number)

    return send


OUTAGES = [
    pytest.param(Outage(part, begin, end), id=f"{part}-{how}")
    for part in ("kafka", "postgres")
    for how, begin, end in (
        ("killed", lambda part: part.kill(), lambda part: part.start()),
        ("stopped", lambda part: part.stop(), lambda part: part.start()),
        ("hanging", _signal(signal.SIGSTOP), _signal(signal.SIGCONT)),
    )
]


@pytest.mark.parametrize("outage", OUTAGES)
def test_an_outage_is_said_at_once_and_passes(own: House, unique: str, outage: Outage) -> None:
    part = own.kafka if outage.part == "kafka" else own.postgres
    account = f"account-{unique}"
    _deposit(own, account, f"{unique}-open", command="OpenAccount", player_id="player-1")
    assert _deposit(own, account, f"{unique}-1", amount_cents=500, reference="one").status_code == 200
    before = own.get(f"/accounts/{account}")

    outage.begin(part)
    try:
        _is_told(own, account, unique, outage.part)
        _say_what_is_missing(own, [outage.part], ANSWER_SECONDS)
        began = time.monotonic()
        assert own.get(f"/accounts/{account}") == before
        assert own.client.get(own.url("tables") + "/tables").status_code == 200
        assert time.monotonic() - began < READ_SECONDS
    finally:
        outage.end(part)

    _say_what_is_missing(own, [], BACK_SECONDS)
    again: dict[str, Any] = {"amount_cents": 700, "reference": "two"}
    # 202 while the log has not answered: the same key asks for its outcome.
    until("taken", lambda: _deposit(own, account, f"{unique}-2", **again).status_code == 200, BACK_SECONDS)
    shown = own.get(f"/accounts/{account}")
    assert (shown["balance_cents"], shown["sequence"]) == (1200, 3), "it was carried out exactly once"
    play(HouseWorld(own), written(ROYAL, unique), unique)
    assert all(process.poll() is None for process in own.processes.values()), "a service ended"


def _deposit(house: House, account: str, key: str, command: str = "Deposit", **fields: Any) -> httpx.Response:
    return house.post(f"/accounts/{account}/commands", {"command": command, **fields}, key)


def _is_told(house: House, account: str, unique: str, part: str) -> None:
    """Also who asks in the first moment, and who asks once it is known, has the answer at once."""
    for patience in (ANSWER_SECONDS, READ_SECONDS):
        began = time.monotonic()
        answer = _deposit(house, account, f"{unique}-2", amount_cents=700, reference="two")
        took = time.monotonic() - began
        assert answer.status_code == 503, f"{answer.status_code} {answer.text} after {took:.1f} s"
        assert took < patience, f"answered after {took:.1f} s"
        said = answer.json()
        assert said["away"] == [part] and said["detail"].startswith(f"{part} cannot be reached.")
        assert answer.headers["Retry-After"] == "1"


def _say_what_is_missing(house: House, wanted: list[str], seconds: float) -> None:
    """Waits until every service is ready, or names just the part that is away."""

    def said(service: str) -> list[str]:
        answer = house.client.get(f"{house.url(service)}/readyz")
        missing: list[str] = answer.json()["missing"]
        assert answer.status_code == (503 if missing else 200)
        return [line for line in missing if line in ("kafka", "postgres")] or missing

    until(f"all services miss {wanted}", lambda: all(said(name) == wanted for name in COMMAND_SERVICES), seconds)


FULL = """
CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER no_room BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION no_room();
"""
EMPTIED = "DROP FUNCTION no_room() CASCADE"


@pytest.mark.parametrize(("table", "who"), [("readers", "projection"), ("positions", "processor")])
def test_a_database_that_answers_and_takes_nothing_is_named(own: House, unique: str, table: str, who: str) -> None:
    """As with a full disk: reads go on, no command is answered, and all that was asked is done once there is room."""
    account, again = f"account-{unique}", {"amount_cents": 700, "reference": "one"}
    _deposit(own, account, f"{unique}-open", command="OpenAccount", player_id="player-1")

    in_database(own, lambda connection: connection.execute(FULL.format(table=table)))
    try:
        answer = _deposit(own, account, f"{unique}-1", **again)
        # What the processor has said stands in the log, though it cannot note that it has said so.
        assert answer.status_code == (202 if table == "readers" else 200)

        def named() -> bool:
            said = own.client.get(f"{own.url('accounts')}/readyz")
            return said.status_code == 503 and any(
                f"the {who} waits" in line and "No space left on device" in line for line in said.json()["missing"]
            )

        until(f"it is said what the {who} waits for", named, ANSWER_SECONDS)
        assert own.get(f"/accounts/{account}")["player_id"] == "player-1"
    finally:
        in_database(own, lambda connection: connection.execute(EMPTIED))

    _say_what_is_missing(own, [], BACK_SECONDS)
    until("taken", lambda: _deposit(own, account, f"{unique}-1", **again).status_code == 200, BACK_SECONDS)
    assert own.get(f"/accounts/{account}")["balance_cents"] == 700, "it was carried out exactly once"


def test_a_service_that_has_not_read_its_log_does_not_say_that_nothing_is_there(own: House, unique: str) -> None:
    account = f"account-{unique}"
    _deposit(own, account, f"{unique}-open", command="OpenAccount", player_id="player-1")
    own.kafka.stop()
    try:
        own.start("accounts-2", service="accounts", wait=False)
        url = own.url("accounts-2")

        def lives() -> bool:
            try:
                return own.client.get(f"{url}/healthz").status_code == 200
            except httpx.TransportError:
                return False

        until("it lives", lives, 60)
        answer = own.client.get(f"{url}/accounts/{account}")
        assert answer.status_code == 503 and "has not read its log" in answer.json()["detail"], answer.text
        assert own.client.get(f"{url}/docs").status_code == 200
    finally:
        own.kafka.start()
    until("it knows", lambda: own.client.get(f"{url}/accounts/{account}").status_code == 200, BACK_SECONDS)
    own.stop(["accounts-2"])
