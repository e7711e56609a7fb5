"""One command is followed by its id, from HTTP through every service that had to do with it, by their logs alone."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from services.runtime.local import start_kafka, start_postgres
from tests.support.behaviour import Client
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.worlds import HouseWorld


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A house whose services say each step of each command, as JSON."""
    monkeypatch.setenv("ROUNDLOG_LOG", "json")
    monkeypatch.setenv("ROUNDLOG_LOG_COMMANDS", "on")
    with start_kafka() as kafka, start_postgres() as postgres:
        house = House(kafka, postgres, postgres.dsn)
        try:
            house.start(*COMMAND_SERVICES)
            yield house
        finally:
            house.close()


def lines(house: House, service: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (house.folder / f"{service}.log").read_text().splitlines()]


def follow(house: House, command_id: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """(service, what it said, the events) for a command and for all that followed from it, nearest first."""
    found: list[tuple[str, str, tuple[str, ...]]] = []
    wanted = [command_id]
    everything = [(service, line) for service in COMMAND_SERVICES for line in lines(house, service)]
    while wanted:
        this = wanted.pop(0)
        for service, line in everything:
            if line.get("command_id") == this or line.get("follows") == this:
                assert line["service"] == service and line["instance"] == f"{service}-1"
                found.append((service, line["event"], tuple(line.get("events", ()))))
                wanted += line.get("sent", ())
    return found


def test_a_wager_from_an_account_and_one_on_the_meter(talking: House) -> None:
    client = Client(HouseWorld(talking), "f")
    client.do(client.account, "OpenAccount", player_id="ann")
    client.do(client.account, "Deposit", amount_cents=500, reference="r-1")
    client.open_round()
    client.do(client.table, "PlaceWager", seat=2, wager="ante", amount_cents=500, player_id="ann")
    client.do(client.table, "PlaceWager", seat=2, wager="progressive", amount_cents=100)
    bonus = {"seat": 2, "wager": "five_card_hand_bonus", "amount_cents": 100, "account_id": "account-f"}
    client.do(client.table, "PlaceWager", key="the-bonus", **bonus)
    held = [
        ("tables", "asked", ()),
        ("tables", "decided", ("WagerRequested",)),
        ("tables", "answered", ()),
        ("wagers", "decided", ("HoldRequested",)),
        ("accounts", "decided", ("HoldPlaced",)),
        ("tables", "decided", ("WagerConfirmed",)),
    ]
    until("the wager is followed to its end", lambda: sorted(follow(talking, "the-bonus")) == sorted(held))
    (decided,) = (line for line in lines(talking, "tables") if line.get("events") == ["WagerRequested"])
    about = {"command_id": "the-bonus", "key": "table-f", "topic": "round-commands", "actor": "dealer"}
    assert about.items() <= decided.items() and {"partition", "offset", "sequence", "time"} <= decided.keys()
    client.do(client.table, "CloseBetting", key="the-lights")
    lit = [
        ("tables", "asked", ()),
        ("tables", "decided", ("BettingClosed",)),
        ("tables", "answered", ()),
        ("wagers", "decided", ("ContributionDue",)),
        ("progressive", "decided", ("ContributionAccepted",)),
    ]
    until("the lights are followed to the meter", lambda: sorted(follow(talking, "the-lights")) == sorted(lit))
