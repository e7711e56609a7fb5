"""A progressive as of any moment of its past, and behind any of its records, however many there are since."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from services.core import jackpots
from services.core.chain import ProcessorId
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.wire.records import CONTRACTS, Asked
from tests.support.exact import in_database
from tests.support.house import House, until

OPEN = {"command": "OpenProgressive", "rules": "demo-mississippi-stud"}
WAGER_CENTS = 600
BASE, SHOWN, HIDDEN = 1_000_000 * 1_000_000, WAGER_CENTS * 190_000, WAGER_CENTS * 10_000
"""In microcents: what the meter starts from, and what a round of six wagers adds to what is shown and to what is hidden."""
FIRST, ALL = 700, 1_100


async def contribute(servers: str, key: str, first: int, last: int) -> None:
    """A round of six progressive wagers for each number, each at a table that had none before."""
    kafka, encode = Kafka(servers), CONTRACTS["jackpots"].encode_command
    try:
        batch = []
        for number in range(first, last):
            table = f"{key}-table-{number}"
            asked = Asked(
                str(ProcessorId("wagers", table, 1, 0)),
                "wagers",
                b"",
                jackpots.Contribute(table, f"{table}-1", WAGER_CENTS, 6),
            )
            batch.append([(key, encode(asked))])
        await kafka.append("jackpot-commands", partition_of(key, PARTITIONS), batch)
    finally:
        await kafka.close()


def moment() -> str:
    """A moment behind all that was recorded, and before all that will be: a record's time is in whole milliseconds."""
    now = datetime.now(UTC) + timedelta(milliseconds=2)
    until("the clock has moved on", lambda: datetime.now(UTC) > now + timedelta(milliseconds=2))
    return now.isoformat()


def shows(levels: list[dict[str, Any]], contributions: int) -> bool:
    (meter,) = levels
    return (meter["value_microcents"], meter["hidden_microcents"], meter["wagered_cents"]) == (
        BASE + contributions * SHOWN,
        contributions * HIDDEN,
        contributions * WAGER_CENTS,
    )


def test_a_progressive_as_it_was(house: House, unique: str) -> None:
    key = f"meter-{unique}"
    path = f"/progressives/{key}"
    before = moment()
    assert house.post(f"{path}/commands", OPEN, f"open-{unique}").status_code == 200
    asyncio.run(contribute(house.kafka.bootstrap, key, 0, FIRST))
    until("the first are there", lambda: house.get(path)["sequence"] == FIRST + 1)
    between = moment()
    asyncio.run(contribute(house.kafka.bootstrap, key, FIRST, ALL))
    until("all are there", lambda: house.get(path)["sequence"] == ALL + 1)

    assert shows(house.get(path)["levels"], ALL)
    # The first record opens it; around a state that is kept, and far from one.
    for sequence in (1, 2, 499, 500, 501, 740, 1_000, 1_001, ALL + 1):
        then = house.client.get(house.at(path), params={"sequence": sequence}).json()
        assert then["sequence"] == sequence
        assert shows(then["levels"], sequence - 1), sequence
    then = house.client.get(house.at(path), params={"as_of": between}).json()
    assert then["sequence"] == FIRST + 1 and shows(then["levels"], FIRST)
    assert house.client.get(house.at(path), params={"as_of": before}).status_code == 404
    assert house.client.get(house.at(path), params={"as_of": "yesterday"}).status_code == 422
    beyond = house.client.get(house.at(path), params={"sequence": ALL + 2})
    assert (beyond.status_code, beyond.json()) == (
        404, {"detail": f"The progressive {key} has {ALL + 1} records, and no {ALL + 2}."}
    )  # fmt: skip

    async def kept(connection: Any) -> list[int]:
        rows = await connection.fetch("SELECT sequence FROM progressive_moments WHERE progressive_id = $1", key)
        return sorted(row["sequence"] for row in rows)

    assert in_database(house, kept) == [500, 1_000], "the way back does not grow with the log"
