"""Hostile people and hostile bytes at a real house: everything is answered or put aside, nothing is believed, no page runs
what somebody typed."""

import asyncio
import itertools
import random
import resource
import select
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from services.core import rounds
from services.flow import PARTITIONS, STREAMS, Stream
from services.runtime.connections import HEAD_BYTES_MAX, HEAD_SECONDS, Bounded
from services.runtime.forms import BODY_BYTES_MAX
from services.runtime.kafka import Kafka, partition_of
from services.runtime.stepping import COMMAND_BYTES_MAX
from services.wire.records import CONTRACTS, Asked
from tests.support import parts
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.playing import play, written
from tests.support.screen import Screen, screen
from tests.support.worlds import HouseWorld

ROYAL = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"
SERVICES = (*COMMAND_SERVICES, "backoffice")
NARROW, NARROW_MOST = "accounts-narrow", 40
MANY = 10_000
MEMORY_MAX_MB = 400
"""Of a service with four thousand connections that say nothing."""
PEOPLE = 8
EVIL = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>'; DROP TABLE outcomes; --"
EVIL_NAME = "<img src=x onerror=window.pwned=1>'; DROP TABLE heads; --"
_numbers = itertools.count()


class NarrowHouse(House):
    """A house with one more instance of the accounts, that takes few connections."""

    def environment(self, name: str, service: str) -> dict[str, str]:
        most = {"ROUNDLOG_CONNECTIONS_MAX": str(NARROW_MOST)} if name == NARROW else {}
        return super().environment(name, service) | most


@pytest.fixture(scope="module")
def own() -> Iterator[NarrowHouse]:
    """A house of its own: what is written into its logs at the end stops it."""
    with parts.broker() as broker, parts.database() as database:
        house = NarrowHouse(cast(Any, broker), cast(Any, database), database.dsn)
        try:
            house.start(*SERVICES, wait=False)
            house.start(NARROW, service="accounts", wait=False)
            for name in (*SERVICES, NARROW):
                house.wait_ready(name)
            yield house
        finally:
            house.close()


def do(house: House, path: str, command: str, actor: str = "dealer", **fields: Any) -> Any:
    answer = ask(house, path, command, actor, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


def ask(house: House, path: str, command: str, actor: str = "dealer", **fields: Any) -> httpx.Response:
    return house.post(f"{path}/commands", {"command": command, **fields}, f"hostile-{next(_numbers)}", actor)


def is_sound(house: House) -> None:
    for name in house.processes:
        answer = house.client.get(f"{house.url(name)}/readyz")
        assert answer.status_code == 200, answer.text


# Bytes on command topics ------------------------------------------------------------------------------


def append(house: House, topic: str, partition: int, records: list[tuple[str, bytes]]) -> None:
    async def act() -> None:
        kafka = Kafka(house.kafka.bootstrap)
        try:
            await kafka.append(topic, partition, [[record] for record in records])
        finally:
            await kafka.close()

    asyncio.run(act())


def fuzzed(stream: Stream, key: str) -> list[tuple[str, bytes]]:
    """Records for a command topic, none of which any form takes; always the same."""
    chance = random.Random(f"connected {stream.name}")
    other = next(each for each in STREAMS if each.commands is not None and each is not stream)
    sound = [CONTRACTS[stream.name].encode_command(Asked(f"fuzz-{number}", "dealer", b"", command))
             for number, command in enumerate(SOUND[stream.name])]  # fmt: skip
    values = [chance.randbytes(chance.randint(0, 300)) for _ in range(100)]
    values += [value[:end] for value in sound for end in range(len(value))]
    values += [
        b"\xfa\x7c\x02\x08\x01",
        sound[0][:7] + b"\xfa\x7c\x02\x08\x01",
        b"x" * (COMMAND_BYTES_MAX + 1),
        b"\0" * 850_000,
    ]
    values += [CONTRACTS[other.name].encode_command(Asked("", "dealer", b"", SOUND[other.name][0]))]
    keys = [("a.b", sound[0]), ("", sound[0]), (f"{key}\0", sound[0]), ("x" * 480_000, b"\0" * 400_000)]
    return [(key, value) for value in values] + keys


SOUND: dict[str, list[Any]] = {
    "rounds": [rounds.PlaceWager(1, "ante", 500), rounds.VoidRound("why")],
    "jackpots": [CONTRACTS["jackpots"].command_types[0]("demo-mississippi-stud")],
    "accounts": [CONTRACTS["accounts"].command_types[0]("player-1")],
}
PATHS = {"rounds": "/tables/fuzz-1", "jackpots": "/progressives/fuzz-1", "accounts": "/accounts/fuzz-1"}


@pytest.mark.parametrize("stream", [each for each in STREAMS if each.commands], ids=lambda each: each.name)
def test_fuzzed_bytes_on_a_command_topic_are_letters_and_the_partition_goes_on(
    own: NarrowHouse, stream: Stream
) -> None:
    def waiting() -> int:
        return int(own.client.get(f"{own.url('backoffice')}/operations").json()["dead_letters"])

    before, sent = waiting(), fuzzed(stream, "fuzz-1")
    assert stream.commands is not None
    append(own, stream.commands, partition_of("fuzz-1", PARTITIONS), sent)
    until("all of them wait for a person", lambda: waiting() == before + len(sent), 60)
    opening = {"rounds": ("OpenTable", {"game": "cajun_stud", "seats": 6, "rules": "demo-cajun-stud"}),
               "jackpots": ("OpenProgressive", {"rules": "demo-mississippi-stud"}),
               "accounts": ("OpenAccount", {"player_id": "player-1"})}  # fmt: skip
    name, fields = opening[stream.name]
    assert do(own, PATHS[stream.name], name, **fields)["sequence"] == 1, "nothing was written for any of them"
    is_sound(own)


# Bodies, heads and connections --------------------------------------------------------------------------


@pytest.mark.parametrize("size", [BODY_BYTES_MAX + 1, 20_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_long_is_said_so(own: NarrowHouse, size: int, chunked: bool) -> None:
    def pieces() -> Iterator[bytes]:
        for start in range(0, size, 65_536):
            yield b" " * min(65_536, size - start)

    content: Any = pieces() if chunked else b" " * size
    answer = own.client.post(own.at("/accounts/body-1/commands"), content=content)
    assert answer.status_code == 413
    assert answer.json() == {"malformed": f"The body is too long: at most {BODY_BYTES_MAX} bytes are read."}
    assert own.get("/accounts/body-1") is None
    is_sound(own)


def test_a_body_without_end_is_cut_off(own: NarrowHouse) -> None:
    def without_end() -> Iterator[bytes]:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            yield b" " * 65_536

    with pytest.raises(httpx.TransportError):
        answer = own.client.post(own.at("/accounts/body-2/commands"), content=without_end())
        # Where the answer came before the connection was cut, it says so.
        assert answer.status_code == 413
        raise httpx.TransportError("answered")
    is_sound(own)


def test_a_head_that_does_not_come_or_has_no_end_is_cut_off(own: NarrowHouse) -> None:
    address = ("127.0.0.1", own.ports["accounts"])
    slow = socket.create_connection(address)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: ho")
    silent = socket.create_connection(address)
    with socket.create_connection(address) as endless:
        endless.settimeout(30)
        endless.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ")
        endless.sendall(b"x" * (HEAD_BYTES_MAX + 1))
        assert _said(endless).startswith(b"HTTP/1.1 431 ")
    for connection, said in ((slow, b"HTTP/1.1 408 "), (silent, b"")):
        connection.settimeout(HEAD_SECONDS + 20)
        answer = _said(connection)
        assert answer.startswith(said) if said else answer == b""
        connection.close()
    is_sound(own)


def _said(connection: socket.socket) -> bytes:
    """What is said until the connection is closed."""
    said = bytearray()
    try:
        while part := connection.recv(65_536):
            said += part
    except ConnectionResetError:
        pass
    return bytes(said)


def test_who_opens_many_connections_and_says_nothing_keeps_nobody_out(own: NarrowHouse) -> None:
    with ExitStack() as stack:
        silent = [
            stack.enter_context(socket.create_connection(("127.0.0.1", own.ports[NARROW])))
            for _ in range(4 * NARROW_MOST)
        ]
        assert httpx.get(f"{own.url(NARROW)}/healthz", timeout=10).json() == {"ok": True}
        until("the longest silent ones made room", lambda: _closed(silent[: 3 * NARROW_MOST]) == 3 * NARROW_MOST, 10)
        assert httpx.get(f"{own.url(NARROW)}/accounts/nobody", timeout=10).status_code == 404


def _closed(connections: list[socket.socket]) -> int:
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    return len(poll.poll(0))


def test_ten_thousand_connections_leave_the_service_answering_and_its_memory_bounded(own: NarrowHouse) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Where a process may not have so many files, root may allow it; anybody else is told that it is not allowed.
    most = max(hard, MANY + 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    status = Path(f"/proc/{own.processes['accounts'].pid}/status")
    before = _resident_mb(status)
    try:
        with ExitStack() as stack:
            address = ("127.0.0.1", own.ports["accounts"])
            silent = [stack.enter_context(socket.create_connection(address)) for _ in range(MANY)]
            answer = httpx.get(f"{own.url('accounts')}/readyz", timeout=20)
            assert answer.status_code == 200, answer.text
            do(own, "/accounts/many-1", "OpenAccount", player_id="player-1")
            now = _resident_mb(status)
            assert now < MEMORY_MAX_MB, f"{before:.0f} MB before, {now:.0f} MB with {MANY} connections"
            assert _closed(silent) >= MANY - Bounded.most, "the longest silent ones made room"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    is_sound(own)


def _resident_mb(status: Path) -> float:
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


# What people type -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def royal(own: NarrowHouse) -> str:
    """A royal flush with an Envy Bonus for another, whose claims wait; gives the table, also where nothing else is asked."""
    return played(own, "evil")


def played(own: NarrowHouse, unique: str) -> str:
    document = written(ROYAL, unique)
    shown = [number for number, step in enumerate(document["commands"]) if step["body"]["command"] == "ShowHand"]
    play(HouseWorld(own), {"commands": document["commands"][: shown[-1] + 1], "then": []}, unique)
    meter = f"/progressives/progressive-{unique}-2"
    until("both claims wait", lambda: len((own.get(meter) or {"claims": ()})["claims"]) == 2)
    return f"table-{unique}-1"


@pytest.fixture(scope="module")
def shown() -> Iterator[Screen]:
    with screen() as page:
        yield page


def test_no_page_runs_what_somebody_typed(own: NarrowHouse, royal: str, shown: Screen) -> None:
    meter, account = "/progressives/progressive-evil-2", "/accounts/account-evil-3"
    claim = f"{royal}-1.3.progressive"
    do(own, account, "Deposit", EVIL_NAME, amount_cents=500, reference=EVIL)
    assert ask(own, account, "Deposit", EVIL_NAME, amount_cents=501, reference=EVIL).status_code == 409
    do(own, meter, "ValidatePayout", EVIL_NAME, claim_id=claim)
    do(own, meter, "DocumentPayout", EVIL_NAME, claim_id=claim, document=EVIL)
    do(own, meter, "VoidSlip", EVIL_NAME, claim_id=claim, reason=EVIL)
    do(own, meter, "DocumentPayout", EVIL_NAME, claim_id=claim, document=EVIL)
    do(own, meter, "ChangeParameters", EVIL_NAME, level="meter", limit_cents=30_000_000, reason=EVIL)
    other = "/tables/table-evil-9"
    do(own, other, "OpenTable", EVIL_NAME, game="mississippi_stud", seats=6, rules="demo-mississippi-stud",
       progressive_id="progressive-evil-2")  # fmt: skip
    do(own, other, "OpenRound", EVIL_NAME)
    for command, fields in (("PlaceWager", {"seat": 1, "wager": "ante", "amount_cents": 500}), ("CloseBetting", {}),
                            ("DealHands", {}), ("ForfeitWagers", {"seat": 1, "reason": EVIL})):  # fmt: skip
        do(own, other, command, EVIL_NAME, **fields)
    assert ask(own, other, "ForfeitWagers", EVIL_NAME, seat=1, reason=EVIL).status_code == 409
    do(own, other, "VoidRound", EVIL_NAME, reason=EVIL)
    append(own, "account-commands", 0, [(EVIL, b"\xff" + EVIL.encode())])

    records = own.client.get(f"{own.url('backoffice')}/records/jackpots/progressive-evil-2?limit=1000").json()
    assert {record["actor"] for record in records} >= {EVIL_NAME}
    assert [record["event"]["document"] for record in records if "document" in record["event"]] == [EVIL, EVIL]
    assert own.get(f"{account}/entries")[-1]["reference"] == EVIL, "it is text, and is kept as it was typed"

    office, screens = own.url("backoffice"), own.url("progressive")
    pages = {
        f"{office}/": EVIL_NAME,
        f"{office}/desk": EVIL_NAME,
        f"{office}/rounds/{royal}-1/reconstruction": EVIL,
        f"{office}/rounds/table-evil-9-1/reconstruction": EVIL,
        f"{office}/desk/slips/progressive-evil-2/1": EVIL_NAME,
        f"{office}/par": None,
        f"{screens}/display": None,
        f"{screens}/display/progressive-evil-2": None,
    }
    for url, words in pages.items():
        shown.show(url)
        if words is not None:
            until(
                f"{url} shows it as text",
                lambda words=words: words in str(shown.run("return document.body.textContent")),
            )
        else:
            until(f"{url} is there", lambda: shown.run("return document.readyState") == "complete")
        assert shown.run("return window.pwned === undefined"), url
        assert shown.run("return document.querySelectorAll('img[src=x], script[src]').length") == 0, url
    is_sound(own)


@pytest.mark.parametrize("path", [f"/{EVIL}", "/par/%3Cscript%3Ewindow.pwned=1%3C%2Fscript%3E", "/desk/slips/%3Cimg%20src%3Dx%3E/1",
                                  "/rounds/%22%3E%3Cscript%3E/reconstruction", "/records/%3Cscript%3E/a"])  # fmt: skip
def test_what_stands_in_a_path_is_not_a_page(own: NarrowHouse, path: str) -> None:
    answer = own.client.get(own.url("backoffice") + path, headers={"Accept": "text/html"})
    assert answer.status_code in (404, 422) and answer.headers["content-type"] == "application/json"


SQL = [
    "'; DROP TABLE outcomes; --",
    "' OR '1'='1",
    '" OR 1=1 --',
    "1; SELECT pg_sleep(60)",
    "%27%3B--",
    "\\'; --",
    "$1",
    "%s",
    "{0}",
]


@pytest.mark.parametrize("words", SQL)
def test_sql_is_text(own: NarrowHouse, words: str) -> None:
    account = f"/accounts/sql-{next(_numbers)}"
    do(own, account, "OpenAccount", words, player_id="player-1")
    do(own, account, "Deposit", words, amount_cents=7, reference=words)
    assert own.get(f"{account}/entries")[0]["reference"] == words
    for path in (f"/accounts/{words}", f"/accounts/{words}/entries", f"/commands/{words}"):
        answer = own.client.get(own.url("accounts") + httpx.URL(path).raw_path.decode())
        assert answer.status_code in (404, 422), path
    assert own.get(account)["balance_cents"] == 7


# Numbers and names in JSON ------------------------------------------------------------------------------

NUMBERS = [
    "1e400",
    "-1e400",
    "1e2",
    "NaN",
    "Infinity",
    "-Infinity",
    "9" * 400,
    "1" + "0" * 5_000,
    "0x10",
    "1_000",
    "01",
    "+1",
    "1.",
    "--1",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_no_number_but_a_whole_one_is_taken(own: NarrowHouse, number: str) -> None:
    body = '{"command": "Deposit", "reference": "x", "amount_cents": ' + number + "}"
    answer = own.client.post(own.at("/accounts/number-1/commands"), content=body.encode())
    assert answer.status_code == 422 and answer.json()["malformed"].endswith("."), answer.text
    refused_at_the_desk(
        own, '{"progressive_id": "a", "command": "PayEnvy", "round_id": "a-1", "recipient_seat": ' + number + "}"
    )
    assert own.get("/accounts/number-1") is None


@pytest.mark.parametrize("body", ['{"progressive_id": "a", "command": "PayEnvy", "command": "PayPayout"}', "[" * 30_000, '"a"',
                                  '{"progressive_id": "a", "command": "PayPayout", "claim_id": "\\ud800"}'])  # fmt: skip
def test_the_desk_takes_no_other_bodies_either(own: NarrowHouse, body: str) -> None:
    refused_at_the_desk(own, body)


def refused_at_the_desk(own: NarrowHouse, errand: str) -> None:
    answer = own.client.post(
        own.url("backoffice") + "/desk/commands", content=errand.encode(),
        headers={"Content-Type": "application/json", "X-Actor": "anna", "Idempotency-Key": f"number-{next(_numbers)}"},
    )  # fmt: skip
    assert answer.status_code == 422 and answer.json()["malformed"].endswith("."), answer.text


# Races ------------------------------------------------------------------------------------------------


def raced(own: NarrowHouse, path: str, command: str, **fields: Any) -> list[httpx.Response]:
    """So many people ask for the same at the same moment."""
    start = threading.Barrier(PEOPLE)
    keys = [f"at-once-{next(_numbers)}" for _ in range(PEOPLE)]

    def one(number: int) -> httpx.Response:
        def answered(client: httpx.Client) -> httpx.Response | None:
            # Where the log does not answer in time, the same command with the same key finds its outcome.
            answer = client.post(
                own.at(f"{path}/commands"), json={"command": command, **fields},
                headers={"Idempotency-Key": keys[number], "X-Actor": f"person-{number}"},
            )  # fmt: skip
            return None if answer.status_code == 202 else answer

        with httpx.Client(timeout=30) as client:
            start.wait()
            return cast(httpx.Response, until("the log has answered", lambda: answered(client), 60))

    with ThreadPoolExecutor(PEOPLE) as people:
        return list(people.map(one, range(PEOPLE)))


def test_of_people_who_race_for_the_same_exactly_one_wins(own: NarrowHouse) -> None:
    table = played(own, "race")
    meter = "/progressives/progressive-race-2"
    claim = f"{table}-1.3.progressive"
    wanted = next(row["amount_cents"] for row in own.get(meter)["claims"] if row["claim_id"] == claim)
    due = next(row for row in own.get(meter)["envy"])
    races = [
        ("ValidatePayout", {"claim_id": claim}),
        ("DocumentPayout", {"claim_id": claim, "document": "W-2G"}),
        ("PayPayout", {"claim_id": claim}),
        ("PayEnvy", {"round_id": due["round_id"], "recipient_seat": due["recipient_seat"]}),
    ]
    for command, fields in races:
        answers = raced(own, meter, command, **fields)
        said = [answer.text for answer in answers if answer.status_code not in (200, 409)]
        assert sorted(answer.status_code for answer in answers) == [200] + [409] * (PEOPLE - 1), (command, said)
        for answer in answers:
            if answer.status_code == 409:
                assert answer.json()["refused"].endswith("."), command
    records = own.client.get(f"{own.url('backoffice')}/records/jackpots/progressive-race-2?limit=1000").json()
    for event in ("PayoutValidated", "PayoutDocumented", "PayoutPaid"):
        assert [row["event"]["claim_id"] for row in records if row["event"]["event"] == event].count(claim) == 1
    assert [row["event"]["event"] for row in records].count("EnvyBonusPaid") == 1
    assert own.get(meter)["levels"][0]["paid_cents"] == wanted


# Bytes in a log: these stop the house, so they come last ------------------------------------------------


def test_bytes_in_a_log_stop_whoever_reads_it_and_are_named_and_never_skipped(own: NarrowHouse) -> None:
    for number, stream in enumerate(STREAMS):
        append(own, stream.name, 0, [("forged-1", random.Random(number).randbytes(40))])

    def missing(service: str) -> str:
        answer = own.client.get(f"{own.url(service)}/readyz")
        return "" if answer.status_code == 200 else " ".join(answer.json()["missing"])

    for stream in STREAMS:
        until(f"{stream.service} names its log", lambda stream=stream: "projection: " in missing(stream.service))
    # Who settles reads the log of the tables: that partition stands still, and is named.
    until("the processor of wagers stops", lambda: "partition 0: " in missing("wagers"))
    until("the back office stops", lambda: "projection: " in missing("backoffice"))
    for service in SERVICES:
        assert own.client.get(f"{own.url(service)}/healthz").status_code == 200, "it is still there to say so"
    alarms = " ".join(own.client.get(f"{own.url('backoffice')}/operations").json()["alarms"])
    assert "wagers-0 stands still" in alarms and "roundlog skip" not in alarms

    # It does not help to start again: what is contradicted is not passed over.
    own.stop(["accounts", "wagers"])
    own.start("accounts", "wagers", wait=False)
    for service in ("accounts", "wagers"):

        def named(service: str = service) -> bool:
            try:
                return "projection: " in missing(service)
            except httpx.TransportError:
                return False

        until(f"{service} names it again", named)
