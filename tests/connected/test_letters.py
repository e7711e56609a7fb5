"""What no schema reads and what cannot be decided, on real parts: seen, decided of by a person, and never lost."""

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from services.core import accounts
from services.core.letters import Origin
from services.flow import DEAD_LETTERS, PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.wire.letters import put_aside
from services.wire.records import CONTRACTS, Asked
from tests.support import parts
from tests.support.exact import roundlog
from tests.support.failing.accounts import UNDECIDABLE
from tests.support.house import House, until

ANN = "/accounts/ann"
TOPIC, PARTITION = "account-commands", partition_of("ann", PARTITIONS)
ONE_ON_EACH_SIDE = 2


@pytest.fixture(scope="module")
def own() -> Iterator[House]:
    """A house of its own: what is written here waits for a person."""
    with parts.broker() as broker, parts.database() as database:
        house = House(cast(Any, broker), cast(Any, database), database.dsn)
        house.start("accounts", "backoffice")
        opened = {"command": "OpenAccount", "player_id": "ann"}
        assert house.post(f"{ANN}/commands", opened, "open").status_code == 200
        yield house
        house.close()


def append(house: House, topic: str, partition: int, key: str, value: bytes) -> int:
    """Gives the offset at which it stands."""

    async def act() -> int:
        kafka = Kafka(house.kafka.bootstrap)
        try:
            return await kafka.append(topic, partition, [[(key, value)]]) - 1
        finally:
            await kafka.close()

    return asyncio.run(act())


def waiting(house: House) -> list[dict[str, Any]]:
    return list(house.client.get(f"{house.url('backoffice')}/operations").json()["letters"])


def said(house: House, *words: str, returns: int = 0) -> str:
    told = roundlog(house, *words)
    assert told.returncode == returns, told.stdout + told.stderr
    return told.stdout + told.stderr


def deposited(house: House, cents: int, key: str) -> None:
    body = {"command": "Deposit", "amount_cents": cents, "reference": key}
    assert house.post(f"{ANN}/commands", body, key).status_code == 200


def test_a_letter_is_shown_with_its_reason_and_discarded(own: House) -> None:
    offset = append(own, TOPIC, PARTITION, "ann", b"\xfe\x1b[2J")
    name = f"{TOPIC}-{PARTITION}-{offset}"
    until("the letter waits", lambda: [row["letter"] for row in waiting(own)] == [name])
    assert waiting(own)[0]["command"] == f"roundlog dead-letters show {name}"
    assert f"{name}  " in said(own, "dead-letters") and "open" in said(own, "dead-letters", "--open")
    shown = said(own, "dead-letters", "show", name)
    assert "key         ann" in shown and "fe1b5b32 4a" in shown and "this version does not read it" in shown
    assert "It would come back" in said(own, "dead-letters", "replay", name, "--by", "manager", returns=1)
    said(own, "dead-letters", "discard", name, "--by", "manager", "--reason", "a test of the wiring")
    assert waiting(own) == []
    listed = said(own, "dead-letters")
    assert "discarded" in listed and "by manager" in listed and "a test of the wiring" in listed
    again = said(own, "dead-letters", "discard", name, "--by", "other", "--reason", "again", returns=1)
    assert "was discarded by manager" in again
    assert "It is named by" in said(own, "dead-letters", "show", "nothing", returns=1)


def test_what_a_version_could_not_read_is_replayed_once(own: House) -> None:
    before = own.get(ANN)["balance_cents"]
    command = accounts.Deposit(300, "by an older house")
    value = CONTRACTS["accounts"].encode_command(Asked("older-1", "cage", b"", command))
    # It came from a place that is long gone by.
    letter = put_aside(Origin(TOPIC, PARTITION, 0), "ann", value, 5, "no command that this version knows")
    append(own, DEAD_LETTERS, 0, *letter)
    name = f"{TOPIC}-{PARTITION}-0"
    assert "Deposit(amount_cents=300" in said(own, "dead-letters", "show", name)
    said(own, "dead-letters", "replay", name, "--by", "manager")
    until("it was carried out", lambda: own.get(ANN)["balance_cents"] == before + 300)
    assert "was replayed by manager already" in said(own, "dead-letters", "replay", name, "--by", "other", returns=1)
    deposited(own, 1, "after-the-replay")
    assert own.get(ANN)["balance_cents"] == before + 301


def test_a_command_that_cannot_be_decided_is_passed_over_by_name_and_reason(own: House) -> None:
    own.stop(["accounts"])
    own.start("accounts", module="tests.support.failing")
    before = own.get(ANN)
    body = {"command": "Withdraw", "amount_cents": 1, "reference": UNDECIDABLE}
    assert own.post(f"{ANN}/commands", body, "undecidable-1", "cage").status_code == 202

    def missing() -> str:
        return " ".join(own.client.get(f"{own.url('accounts')}/readyz").json()["missing"])

    until("it is named", lambda: "a defect of ours" in missing())
    standing = said(own, "skip")
    place = standing.partition(": ")[0]
    assert place in missing() and "1 partitions stand still" in standing
    assert "Say who passes over it" in said(own, "skip", place, returns=1)
    another = place.rpartition("-")[0] + "-0"
    by = ("--by", "manager", "--reason", "the defect is known")
    assert f"No processor stands still at {another}" in said(own, "skip", another, *by, returns=1)
    assert said(own, "skip", place, *by) == f"{place} is passed over.\n"

    first, answer = (own.post(f"{ANN}/commands", body, "undecidable-1", "cage") for _ in range(2))
    assert first.content == answer.content and first.status_code == answer.status_code == 409
    assert answer.headers["Idempotency-Hit"] == "true"
    assert answer.json() == {
        "refused": "This could not be decided. manager passed over it, and nothing was carried out: the defect is known",
        "section": None,
        "sequence": before["sequence"] + 1,
    }
    deposited(own, 5, "behind-what-was-skipped")
    after = {**before, "sequence": before["sequence"] + ONE_ON_EACH_SIDE}
    after |= {name: before[name] + 5 for name in ("balance_cents", "available_cents")}
    assert own.get(ANN) == after
    assert "no partition stands still" in said(own, "skip")

    # A version that could decide it does not: the log has said what came of it.
    own.stop(["accounts"])
    own.start("accounts")
    assert own.get(ANN) == after
    deposited(own, 1, "by-the-mended-version")
    assert "all logs hold" in said(own, "verify")
    assert "the database is what the logs make" in said(own, "rebuild", "--check")
    own.stop(["accounts", "backoffice"])
    assert "made again" in said(own, "rebuild")
    own.start("accounts", "backoffice")
    assert own.get(ANN)["sequence"] == after["sequence"] + 1
