"""The logs that the first version wrote, on a real broker: today's services go on from them, and rebuild agrees."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from services.runtime.kafka import Kafka
from services.runtime.local import start_kafka, start_postgres
from services.runtime.provision import provision_topics
from tests.support.exact import roundlog
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.playing import differences
from tests.wire.past import PASTS, Past

ON = (
    {"command": "OpenRound"},
    {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500},
    {"command": "VoidRound", "reason": "A drink went over the layout."},
)


async def lay(servers: str, past: Past) -> None:
    """Stores every record where it stood."""
    await provision_topics(servers)
    kafka = Kafka(servers)
    try:
        for (topic, partition), held in past.topics.items():
            await kafka.append(topic, partition, [[(item.key, item.value)] for item in held])
    finally:
        await kafka.close()


def agrees(house: House, past: Past) -> None:
    """Every read answers what it answered then."""

    def wrong() -> list[str]:
        return [
            line for read in past.reads for line in differences(read["answers"], house.get(read["get"]), read["get"])
        ]

    with contextlib.suppress(AssertionError):
        until("every read answers what it answered then", lambda: not wrong())
    assert not wrong()


@pytest.mark.timeout(300)
def test_services_of_today_on_logs_of_the_first_version(tmp_path: Path) -> None:
    past = PASTS[0]
    with start_kafka() as kafka, start_postgres() as postgres:
        asyncio.run(lay(kafka.bootstrap, past))
        house = House(kafka, postgres, postgres.dsn, past.rules)
        try:
            house.start(*COMMAND_SERVICES)
            agrees(house, past)
            key = past.reads[0]["answers"]["table_id"]
            for number, body in enumerate(ON):
                answer = house.post(f"/tables/{key}/commands", body, f"on-{number}", "floorperson")
                assert answer.status_code == 200, answer.text
            house.stop()
            for words in (("verify",), ("rebuild", "--check"), ("rebuild",), ("verify",)):
                done = roundlog(house, *words)
                assert done.returncode == 0, (words, done.stdout, done.stderr)
            house.start(*COMMAND_SERVICES)
            agrees(house, past)
            second = past.reads[0]["get"].removesuffix("-1") + "-2"
            assert [row["result"] for row in house.get(second)["wagers"]] == ["returned"]
        finally:
            house.close()
