"""A submission that is filed while a round is open: real services, started again with one file more."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.runtime.local import start_kafka, start_postgres
from tests.support.behaviour import Client
from tests.support.house import House
from tests.support.worlds import HouseWorld

RULES = "demo-cajun-stud"
DEMO = Path(__file__).parents[2] / "deploy" / "rules" / f"{RULES}.yaml"
SERVICES = ("tables", "wagers")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[House]:
    """A house with a rules folder of its own, which has one submission."""
    (tmp_path / "first.yaml").write_bytes(DEMO.read_bytes())
    with start_kafka() as kafka, start_postgres() as postgres:
        house = House(kafka, postgres, postgres.dsn, tmp_path)
        house.start(*SERVICES)
        yield house
        house.close()


def file_another(house: House) -> None:
    """The services stop, a file comes into the folder, in force from today, and they start again."""
    text = DEMO.read_text()
    for old, new in (
        ("in_force_from: 2026-01-01", f"in_force_from: {datetime.now(UTC).date()}"),
        ("ante: {minimum_cents: 500,", "ante: {minimum_cents: 1000,"),
        ("{hand: two_pair, odds: 2 to 1}", "{hand: two_pair, odds: 3 to 1}"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    house.stop()
    (house.rules / "second.yaml").write_text(text)
    house.start(*SERVICES)


def play(client: Client, ante_cents: int) -> None:
    """The rest of a round: every raise twice the ante, and nines and fours."""
    client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=ante_cents)
    client.do(client.table, "CloseBetting")
    client.do(client.table, "DealHands")
    for card in ("4c", "9d", "2s"):
        client.do(client.table, "Bet", seat=1, multiple=2)
        client.do(client.table, "RevealCommunityCard", card=card)
    client.do(client.table, "ShowHand", seat=1, cards=["9h", "4s"])
    client.do(client.table, "CloseRound")


def won(client: Client, number: int) -> list[int]:
    path = f"/rounds/{client.table.removeprefix('/tables/')}-{number}"
    client.sees(path, state="closed")
    return [row["won_cents"] for row in client.world.get(path)["wagers"]]


def test_it_takes_over_at_the_next_round_of_the_open_table(own: House, unique: str) -> None:
    client = Client(HouseWorld(own), unique)
    client.do(client.table, "OpenTable", game="cajun_stud", seats=6, rules=RULES)
    client.do(client.table, "OpenRound")
    file_another(own)

    play(client, 500)
    # 2 to 1 on $5 and three raises of $10.
    assert won(client, 1) == [1000, 2000, 2000, 2000]

    client.do(client.table, "OpenRound")
    assert client.ask(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=500)[0] == 409
    play(client, 1000)
    # 3 to 1 on $10 and three raises of $20.
    assert won(client, 2) == [3000, 6000, 6000, 6000]
