"""Who acts is recorded as it was written, and what does not exist is said not to."""

import asyncio

from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.wire.records import CONTRACTS
from tests.support.house import House


async def _actors(servers: str, key: str) -> list[str]:
    """Who acted on an account, as its log has it."""
    kafka, partition = Kafka(servers), partition_of(key, PARTITIONS)
    end = (await kafka.ends(["accounts"]))["accounts", partition][1]
    stored = [item async for item in kafka.read("accounts", partition, 0, end) if item.key == key]
    return [CONTRACTS["accounts"].decode_record(item.value).actor for item in stored]


def test_a_name_beyond_ascii_is_recorded_as_it_was_written(house: House, unique: str) -> None:
    path, key = f"/accounts/account-{unique}/commands", f"{unique}-1"
    body = {"command": "OpenAccount", "player_id": "player-1"}
    headers = {"Idempotency-Key": key, "X-Actor": "Zoë".encode()}
    assert house.client.post(house.at(path), json=body, headers=headers).status_code == 200
    assert asyncio.run(_actors(house.kafka.bootstrap, f"account-{unique}")) == ["Zoë"]
    again = house.client.post(house.at(path), json=body, headers=headers)
    assert again.headers["Idempotency-Hit"] == "true"
    latin = house.client.post(house.at(path), json=body, headers={**headers, "X-Actor": b"Zo\xeb"})
    assert (latin.status_code, latin.json()) == (422, {"malformed": "X-Actor must be UTF-8."})


def test_the_feed_of_a_table_that_does_not_exist_is_not_found(house: House, unique: str) -> None:
    assert house.client.get(house.at(f"/tables/never-{unique}/events")).status_code == 404


def test_a_moment_has_the_form_of_rfc_3339(house: House, unique: str) -> None:
    account = f"/accounts/account-{unique}"
    body = {"command": "OpenAccount", "player_id": "player-1"}
    assert house.post(f"{account}/commands", body, f"{unique}-1").status_code == 200

    def status(moment: str) -> int:
        return house.client.get(house.at(account), params={"as_of": moment}).status_code

    for right in ("2026-11-29T20:00:00Z", "2026-11-29t20:00:00z", "2026-11-29T20:00:00.5+05:30"):
        assert status(right) == 200, right
    for wrong in ("20261129T200000Z", "2026-W01-1T00:00Z", "2026-11-29X20:00:00Z", "2026-11-29T20:00:00", "now"):
        assert status(wrong) == 422, wrong
