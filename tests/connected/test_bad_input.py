"""What is malformed is said and changes nothing; what the rules refuse is in the log; a key serves once."""

import asyncio
import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.core import rounds
from services.core.accounts import Deposit
from services.core.letters import LetterPutAside
from services.flow import DEAD_LETTERS, PARTITIONS, stream_of
from services.runtime.forms import BODY_BYTES_MAX
from services.runtime.kafka import Group, Kafka, Stored, partition_of
from services.wire.letters import decode_letters
from services.wire.records import CONTRACTS, Asked, Record
from tests.support.behaviour import Client
from tests.support.house import ROOT, House, until
from tests.support.worlds import HouseWorld

DEPOSIT = {"command": "Deposit", "amount_cents": 500, "reference": "chips"}


@pytest.fixture
def client(house: House, unique: str) -> Client:
    return Client(HouseWorld(house), unique)


@pytest.fixture
def account(client: Client) -> str:
    """The path of an open account."""
    client.do(client.account, "OpenAccount", player_id="player-1")
    return client.account


def metric(house: House, name: str, service: str) -> float:
    lines = house.client.get(f"{house.url(service)}/metrics").text.splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))


def told_malformed(answer: httpx.Response, status: int = 422) -> None:
    assert answer.status_code == status, f"{answer.status_code} {answer.text[:300]}"
    sentence = answer.json()["malformed"]
    assert list(answer.json()) == ["malformed"] and sentence.endswith((".", "else."))
    assert len(sentence) < 1000 and "Traceback" not in sentence and "pydantic" not in sentence


def appended(house: House, topic: str, key: str, groups: list[Group]) -> None:
    async def append() -> None:
        kafka = Kafka(house.kafka.bootstrap)
        await kafka.append(topic, partition_of(key, PARTITIONS), groups)
        await kafka.close()

    asyncio.run(append())


def stored_in(house: House, topic: str, partition: int) -> list[Stored]:
    async def read() -> list[Stored]:
        kafka = Kafka(house.kafka.bootstrap)
        first, end = (await kafka.ends([topic]))[topic, partition]
        return [item async for item in kafka.read(topic, partition, first, end)]

    return asyncio.run(read())


def records_of(house: House, stream: str, key: str) -> list[Record]:
    stored = stored_in(house, stream, partition_of(key, PARTITIONS))
    return [CONTRACTS[stream].decode_record(item.value) for item in stored if item.key == key]


# Malformed --------------------------------------------------------------------------------------------

BODIES = {
    "nothing": b"",
    "no JSON": b'{"command": "Deposit"',
    "no UTF-8": b'{"command": "\xff"}',
    "a list": b'[{"command": "Deposit"}]',
    "no command": b'{"amount_cents": 500}',
    "unknown command": b'{"command": "Steal"}',
    "a command of another service": b'{"command": "OpenRound"}',
    "unknown field": json.dumps({**DEPOSIT, "currency": "USD"}).encode(),
    "many unknown fields": json.dumps({**DEPOSIT, **dict.fromkeys(map(str, range(5000)), 0)}).encode(),
    "missing field": b'{"command": "Deposit", "amount_cents": 500}',
    "text for a number": json.dumps({**DEPOSIT, "amount_cents": "500"}).encode(),
    "negative": json.dumps({**DEPOSIT, "amount_cents": -1}).encode(),
    "zero": json.dumps({**DEPOSIT, "amount_cents": 0}).encode(),
    "fractional": json.dumps({**DEPOSIT, "amount_cents": 0.5}).encode(),
    "a whole float": json.dumps({**DEPOSIT, "amount_cents": 500.0}).encode(),
    "a truth for a number": json.dumps({**DEPOSIT, "amount_cents": True}).encode(),
    "not a number": json.dumps({**DEPOSIT, "amount_cents": float("nan")}).encode(),
    "endless": json.dumps({**DEPOSIT, "amount_cents": float("inf")}).encode(),
    "more than there is": json.dumps({**DEPOSIT, "amount_cents": 10**30}).encode(),
    "digits without end": b'{"command": "Deposit", "reference": "x", "amount_cents": ' + b"9" * 5000 + b"}",
    "nothing for a number": json.dumps({**DEPOSIT, "amount_cents": None}).encode(),
    "a new line": json.dumps({**DEPOSIT, "reference": "a\nb"}).encode(),
    "a zero byte": json.dumps({**DEPOSIT, "reference": "a\0"}).encode(),
    "half a pair as a value": json.dumps({**DEPOSIT, "reference": "\ud800"}).encode(),
    "half a pair as a field": json.dumps({**DEPOSIT, "\ud800": 1}).encode(),
    "half a pair as the command": json.dumps({"command": "\udfff"}).encode(),
    "half a pair twice": b'{"\\ud800": 1, "\\ud800": 2}',
    "a field twice": b'{"command": "Deposit", "amount_cents": 1, "amount_cents": 2, "reference": "x"}',
    "nested without end": b'{"command":' + b"[" * 30_000,
    "too long": json.dumps(DEPOSIT).encode() + b" " * BODY_BYTES_MAX,
    "far too long": b"9" * 20_000_000,
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_malformed_body_is_said_counted_and_changes_nothing(house: House, account: str, body: bytes) -> None:
    before = metric(house, "roundlog_malformed_total", "accounts")
    answer = house.client.post(house.at(f"{account}/commands"), content=body)
    told_malformed(answer, 413 if len(body) > BODY_BYTES_MAX else 422)
    assert metric(house, "roundlog_malformed_total", "accounts") == before + 1
    assert house.get(account)["sequence"] == 1
    assert [record.sequence for record in records_of(house, "accounts", account[10:])] == [1]


@pytest.mark.parametrize("cards", [["1s", "Ad"], ["sA", "Ad"], ["as", "Ad"], ["10h", "Ad"], [5, "Ad"], [], "As Ad"])
def test_a_malformed_card_is_said(client: Client, cards: Any) -> None:
    client.open_round()
    status, answer = client.ask(client.table, "ShowHand", seat=1, cards=cards)
    assert status == 422 and "cards must be a list" in answer["malformed"]
    assert client.world.get(client.table)["sequence"] == 2


HEADERS = {
    "a slash in the key": {"Idempotency-Key": "rounds/table-1/1/0"},
    "an empty key": {"Idempotency-Key": ""},
    "a key with a blank": {"Idempotency-Key": "a b"},
    "a key too long": {"Idempotency-Key": "k" * 129},
    "a key of other letters": {"Idempotency-Key": b"\xe9"},
    "an empty actor": {"X-Actor": ""},
    "an actor too long": {"X-Actor": "a" * 101},
    "an actor with a tab": {"X-Actor": "a\tb"},
}


@pytest.mark.parametrize("headers", HEADERS.values(), ids=HEADERS.keys())
def test_a_malformed_header_is_said(house: House, account: str, headers: dict[str, Any]) -> None:
    told_malformed(house.client.post(house.at(f"{account}/commands"), json=DEPOSIT, headers=headers))
    assert house.get(account)["sequence"] == 1


IDS = ["a%0A", "%0Aa", "a.b", "a%00", "-a", "a%20b", "..a", "a" * 65, "%ED%A0%80", "%C3%A9"]


@pytest.mark.parametrize("key", IDS)
def test_a_malformed_id_is_said_to_who_writes_and_to_who_reads(house: House, key: str) -> None:
    told_malformed(house.client.post(f"{house.url('accounts')}/accounts/{key}/commands", json=DEPOSIT))
    for service, path in (("accounts", "accounts"), ("tables", "tables"), ("progressive", "progressives")):
        told_malformed(house.client.get(f"{house.url(service)}/{path}/{key}"))
    told_malformed(house.client.get(f"{house.url('tables')}/tables/{key}/events"))


@pytest.mark.parametrize("key", ["a%2Fb", "%2E%2E%2F%2E%2E", "a/b"])
def test_a_slash_leads_nowhere(house: House, key: str) -> None:
    answer = house.client.post(f"{house.url('accounts')}/accounts/{key}/commands", json=DEPOSIT)
    assert answer.status_code == 404 and "detail" in answer.json()


def test_other_malformed_reads_are_said_and_are_no_absence_of_the_database(client: Client, house: House) -> None:
    client.open_round()
    client.do(client.account, "OpenAccount", player_id="player-1")
    for service, path in (
        ("accounts", f"{client.account}?as_of=yesterday"),
        ("accounts", f"{client.account}/entries?as_of=2026-11-29T20:00:00"),
        ("accounts", "/commands/%00"),
        ("wagers", "/rounds/a%00"),
        ("wagers", "/rounds/" + "a" * 129),
        ("progressive", f"{client.progressive}/claims?round_id=%00"),
        ("progressive", f"{client.progressive}/envy?round_id=a%0A"),
        ("progressive", f"{client.progressive}?sequence=0"),
        ("progressive", f"{client.progressive}?sequence=1.5"),
        ("progressive", f"{client.progressive}?sequence=last"),
        ("progressive", f"{client.progressive}?sequence={2**63}"),
    ):
        told_malformed(house.client.get(house.url(service) + path))
        assert house.client.get(f"{house.url(service)}/readyz").status_code == 200


def test_methods_and_paths_that_are_not_there_are_said_so(house: House, account: str) -> None:
    assert house.client.get(house.url("accounts") + "/nothing").status_code == 404
    assert house.client.delete(house.at(account)).status_code == 405
    assert house.client.get(house.at(f"{account}/commands")).status_code == 405


# Refused ----------------------------------------------------------------------------------------------

Steps = list[tuple[str, dict[str, Any]]]
ANTES: Steps = [("PlaceWager", {"seat": seat, "wager": "ante", "amount_cents": 500}) for seat in (1, 2)]
DEALT: Steps = [*ANTES, ("CloseBetting", {}), ("DealHands", {})]
FIRST_CARD: Steps = [*DEALT, ("Bet", {"seat": 1, "multiple": 1}), ("Bet", {"seat": 2, "multiple": 1}),
              ("RevealCommunityCard", {"card": "As"})]  # fmt: skip
AGAIN: Steps = [("Bet", {"seat": 1, "multiple": 1}), ("Bet", {"seat": 2, "multiple": 1})]
OF_PLAY: dict[str, tuple[Steps, str, dict[str, Any], bool]] = {
    "a card seen twice": ([*FIRST_CARD, *AGAIN], "RevealCommunityCard", {"card": "As"}, True),
    "out of turn": (DEALT, "Bet", {"seat": 2, "multiple": 1}, True),
    "in the wrong state": (ANTES, "Bet", {"seat": 1, "multiple": 1}, True),
    "a card too early": (DEALT, "RevealCommunityCard", {"card": "As"}, True),
    "a seat that nobody has": (DEALT, "Fold", {"seat": 5}, True),
    "a seat that is not there": ([], "PlaceWager", {"seat": 9, "wager": "ante", "amount_cents": 500}, False),
    "below the limit": ([], "PlaceWager", {"seat": 1, "wager": "ante", "amount_cents": 1}, False),
    "above the limit": ([], "PlaceWager", {"seat": 1, "wager": "ante", "amount_cents": 10**9}, False),
    "without an ante": ([], "PlaceWager", {"seat": 1, "wager": "three_card_bonus", "amount_cents": 100}, False),
    "a wager of another game": ([], "PlaceWager", {"seat": 1, "wager": "lo_ball", "amount_cents": 500}, False),
    "a round that is open": ([], "OpenRound", {}, False),
}


@pytest.mark.parametrize(("before", "command", "fields", "sectioned"), OF_PLAY.values(), ids=OF_PLAY.keys())
def test_what_the_rules_refuse_is_in_the_log(
    client: Client, house: House, before: Steps, command: str, fields: dict[str, Any], sectioned: bool
) -> None:
    client.open_round()
    for name, values in before:
        client.do(client.table, name, **values)
    stood = house.get(client.table)
    status, answer = client.ask(client.table, command, **fields)
    assert status == 409 and answer["refused"].endswith("."), answer
    assert not sectioned or answer["section"].startswith("655a."), answer
    assert answer["sequence"] == stood["sequence"] + 1
    last = records_of(house, "rounds", client.table.rpartition("/")[2])[-1]
    assert isinstance(last.event, rounds.Refused) and last.sequence == answer["sequence"]
    assert (last.event.reason, last.event.section) == (answer["refused"], answer["section"])
    client.sees(client.table, sequence=answer["sequence"], round=stood["round"])


def test_what_is_not_there_cannot_be_withdrawn(client: Client, account: str) -> None:
    client.do(account, "Deposit", amount_cents=500, reference="chips")
    status, answer = client.ask(account, "Withdraw", amount_cents=501, reference="out")
    assert (status, answer["section"], answer["sequence"]) == (409, None, 3)
    client.sees(account, balance_cents=500, sequence=3)


# One key, one command ---------------------------------------------------------------------------------


def test_a_repeat_is_marked_also_after_a_restart_and_another_body_is_malformed(
    client: Client, house: House, account: str
) -> None:
    key = next(client.keys)

    def deposit(cents: int = 500) -> httpx.Response:
        return house.post(f"{account}/commands", {**DEPOSIT, "amount_cents": cents}, key)

    first, again = deposit(), deposit()
    assert first.status_code == 200 and "Idempotency-Hit" not in first.headers
    house.stop(["accounts"])
    house.start("accounts")
    restarted = deposit()
    for repeat in (again, restarted):
        assert repeat.headers["Idempotency-Hit"] == "true"
        assert (repeat.status_code, repeat.json()) == (200, first.json())
    told_malformed(deposit(501))
    looked = house.client.get(f"{house.url('accounts')}/commands/{key}")
    assert (looked.status_code, looked.json()) == (200, first.json())
    client.sees(account, balance_cents=500, sequence=2)


def test_many_at_once_with_one_key_are_carried_out_once(client: Client, house: House, account: str) -> None:
    key = next(client.keys)
    with ThreadPoolExecutor(8) as together:
        answers = list(together.map(lambda _: house.post(f"{account}/commands", DEPOSIT, key), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1
    assert sum("Idempotency-Hit" not in answer.headers for answer in answers) == 1
    client.sees(account, balance_cents=500, sequence=2)


# Bytes and files --------------------------------------------------------------------------------------


def test_what_no_schema_reads_goes_to_the_dead_letters_and_play_goes_on(
    client: Client, house: House, account: str, unique: str
) -> None:
    account_id = account[10:]
    contract, topic = CONTRACTS["accounts"], stream_of("accounts").commands
    assert topic is not None
    good = contract.encode_command(Asked(f"{unique}-raw", "cage", b"", Deposit(300, "by hand")))
    wrong_key = f"{account_id}\0"
    before = metric(house, "roundlog_dead_letters_total", "accounts")
    bad = [[(account_id, b"\xff\xfe" + unique.encode())], [(account_id, b"")], [(wrong_key, good)]]
    appended(house, topic, account_id, [*bad, [(account_id, good)]])
    client.sees(account, balance_cents=300, sequence=2)
    assert client.do(account, "Deposit", amount_cents=500, reference="chips")["sequence"] == 3
    assert metric(house, "roundlog_dead_letters_total", "accounts") == before + 3
    put_aside = [decode_letters(item.key, item.value) for item in stored_in(house, DEAD_LETTERS, 0)]
    letters = [(event.key, event.value) for _, event in filter(None, put_aside) if isinstance(event, LetterPutAside)]
    assert all(letter in letters for group in bad for letter in group)


def test_an_unreadable_rules_file_stops_the_start_with_its_line(house: House, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    shutil.copytree(ROOT / "deploy" / "rules", rules)
    path = sorted(rules.glob("*.yaml"))[0]
    lines = path.read_text().splitlines()
    wrong = next(number for number, line in enumerate(lines, 1) if line.startswith("game:"))
    lines[wrong - 1] = "game: old_maid"
    path.write_text("\n".join(lines))
    (rules / "torn.yaml").write_text("id: torn\nwagers: [\n")
    environment = {**house.environment("tables", "tables"), "ROUNDLOG_RULES": str(rules), "ROUNDLOG_INSTANCE": "broken"}
    command = [sys.executable, "-m", "services.tables"]
    ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert ended.returncode != 0
    said = ended.stderr.splitlines()
    assert any(line.startswith(f"{path}:{wrong}: ") and "old_maid" in line for line in said), ended.stderr
    assert any(line.startswith(f"{rules / 'torn.yaml'}:") for line in said), ended.stderr
    assert "Traceback" not in ended.stderr


# Feeds ------------------------------------------------------------------------------------------------

Frame = tuple[str, int | None, Any]


def frames(answer: httpx.Response) -> Iterator[Frame]:
    """The events of a feed, but for its heartbeats."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            if fields["event"] != "heartbeat":
                number = int(fields["id"]) if "id" in fields else None
                yield fields["event"], number, json.loads(fields["data"])
            fields = {}


def deltas(found: Iterator[Frame], since: int, until_sequence: int) -> None:
    """Reads deltas up to a sequence; each must go on where the one before it ended."""
    sequence = since
    while sequence < until_sequence:
        event, number, data = next(found)
        assert event == "delta" and number == data["sequence"]
        assert data["sequence"] - len(data["events"]) == sequence, "a delta was left out, or came twice"
        sequence = data["sequence"]


def test_a_feed_begins_with_a_snapshot_and_resumes_without_a_gap(client: Client, house: House) -> None:
    client.open_round()
    url = house.at(f"{client.table}/events")
    with house.client.stream("GET", url) as answer:
        found = frames(answer)
        event, number, data = next(found)
        assert (event, number, data) == ("snapshot", 2, house.get(client.table))
        for name, values in DEALT:
            last = client.do(client.table, name, **values)["sequence"]
        deltas(found, 2, last)
    for name, values in FIRST_CARD[len(DEALT) :]:
        last = client.do(client.table, name, **values)["sequence"]
    with house.client.stream("GET", url, headers={"Last-Event-ID": "3"}) as answer:
        deltas(frames(answer), 3, last)


@pytest.mark.parametrize("said", ["999999", "0", "-1", "x", b"\xb2", "9" * 5000])
def test_a_last_event_id_that_is_not_known_gives_a_snapshot(client: Client, house: House, said: Any) -> None:
    client.open_round()
    headers = {"Last-Event-ID": said}
    with house.client.stream("GET", house.at(f"{client.table}/events"), headers=headers) as answer:
        event, number, data = next(frames(answer))
    if event == "delta":  # from the very first one on, where that is remembered
        assert said == "0" and number == 1 and data["sequence"] == 1
    else:
        assert (event, number, data) == ("snapshot", 2, house.get(client.table))


def test_a_reader_that_does_not_read_is_dropped(client: Client, house: House, unique: str) -> None:
    client.open_round()
    table_id = client.table.rpartition("/")[2]
    before = metric(house, "roundlog_feeds_open", "tables")
    with socket.socket() as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.connect(("127.0.0.1", house.ports["tables"]))
        silent.sendall(f"GET {client.table}/events HTTP/1.1\r\nHost: house\r\n\r\n".encode())
        until("it is known", lambda: metric(house, "roundlog_feeds_open", "tables") == before + 1, 5)
        encode = CONTRACTS["rounds"].encode_command
        asked = [Asked(f"{unique}-silent-{number}", "dealer", b"", rounds.OpenRound()) for number in range(200)]
        appended(house, "round-commands", table_id, [[(table_id, encode(each))] for each in asked])
        client.sees(client.table, sequence=202)
        until("it is dropped", lambda: metric(house, "roundlog_feeds_open", "tables") == before, 30)
