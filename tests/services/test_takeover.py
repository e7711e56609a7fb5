"""A submission in force from a later date: it takes over at the next round, and the past is settled again by its own."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.core.rounds import RoundOpened
from services.core.rules import RuleBook
from services.flow import PARTITIONS
from services.runtime.memory import MemoryHouse
from services.runtime.stepping import Undecidable
from services.runtime.submissions import load
from services.wagers.processor import PROCESSOR as WAGERS
from tests.support.behaviour import RULES, Client
from tests.support.worlds import MemoryWorld

DEMO = Path(__file__).parents[2] / "deploy" / "rules" / f"{RULES}.yaml"
CHANGES = (
    ("in_force_from: 2026-01-01", "in_force_from: 2027-02-01"),
    ("minimum_cents: 500,", "minimum_cents: 1000,"),
    ("allowed: [1, 2, 3]", "allowed: [1, 2]"),
    ("{hand: two_pair, odds: 2 to 1}", "{hand: two_pair, odds: 3 to 1}"),
    ("paytable: A\n  wager_cents: 100", "paytable: A\n  wager_cents: 200"),
    ("rate_ppm: 190000", "rate_ppm: 290000"),
)
MIDNIGHT_MS = round(datetime(2027, 2, 1, tzinfo=UTC).timestamp() * 1000)
BASE_MICROCENTS = 1_000_000 * 1_000_000


@dataclass
class Clock:
    """A clock that stands until it is set."""

    now_ms: int = MIDNIGHT_MS - 1

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> RuleBook:
    folder = tmp_path_factory.mktemp("rules")
    text = DEMO.read_text()
    (folder / "first.yaml").write_text(text)
    for old, new in CHANGES:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (folder / "second.yaml").write_text(text)
    return load(folder)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def client(book: RuleBook, clock: Clock) -> Client:
    return Client(MemoryWorld(book, clock), "t")


def house(client: Client) -> MemoryHouse:
    assert isinstance(client.world, MemoryWorld)
    return client.world.house


def bets(client: Client) -> None:
    client.do(client.table, "CloseBetting")
    client.do(client.table, "DealHands")


def two_pair(client: Client, multiple: int) -> None:
    """All three streets with one multiple, and nines and fours."""
    for card in ("4c", "9d", "2s"):
        client.do(client.table, "Bet", seat=1, multiple=multiple)
        client.do(client.table, "RevealCommunityCard", card=card)
    client.do(client.table, "ShowHand", seat=1, cards=["9h", "4s"])
    client.do(client.table, "CloseRound")


def first_round(client: Client, clock: Clock) -> None:
    """Opened in the last millisecond of the day, played on the next."""
    client.open_round()
    clock.now_ms = MIDNIGHT_MS
    client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=500)
    client.do(client.table, "PlaceWager", seat=1, wager="progressive", amount_cents=100)
    bets(client)
    two_pair(client, multiple=3)


def second_round(client: Client) -> None:
    client.do(client.table, "OpenRound")
    client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=1000)
    client.do(client.table, "PlaceWager", seat=1, wager="progressive", amount_cents=200)
    bets(client)
    two_pair(client, multiple=2)


def won(client: Client, number: int) -> dict[str, int]:
    found = client.world.get(f"/rounds/{client.table.removeprefix('/tables/')}-{number}")
    return {row["wager"]: row["won_cents"] for row in found["wagers"] if row["result"] == "won"}


def test_an_open_round_keeps_its_own_submission_past_midnight(client: Client, clock: Clock) -> None:
    first_round(client, clock)
    # Two pair, 2 to 1 by the first: $5 ante and three streets of three times the ante.
    assert won(client, 1) == {"ante": 1000, "street_3": 3000, "street_4": 3000, "street_5": 3000}


def test_the_later_one_takes_over_at_the_next_round_of_the_same_table(
    client: Client, clock: Clock, book: RuleBook
) -> None:
    first_round(client, clock)
    client.do(client.table, "OpenRound")
    opened = [each.event for each in house(client).records("rounds") if isinstance(each.event, RoundOpened)]
    first, second = (book.in_force(RULES, at) for at in (MIDNIGHT_MS - 1, MIDNIGHT_MS))
    assert first is not None and second is not None and first.sha256 != second.sha256
    assert [each.rules_sha256 for each in opened] == [first.sha256, second.sha256]


def test_limits_multiples_and_odds_are_those_of_the_later_one_from_then_on(client: Client, clock: Clock) -> None:
    first_round(client, clock)
    client.do(client.table, "OpenRound")
    assert client.ask(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=500)[0] == 409
    client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=1000)
    assert client.ask(client.table, "PlaceWager", seat=1, wager="progressive", amount_cents=100)[0] == 409
    bets(client)
    assert client.ask(client.table, "Bet", seat=1, multiple=3)[0] == 409
    two_pair(client, multiple=2)
    # 3 to 1 by the second: $10 ante and three streets of twice the ante.
    assert won(client, 2) == {"ante": 3000, "street_3": 6000, "street_4": 6000, "street_5": 6000}


def test_contributions_go_by_the_rates_of_the_progressive_and_not_of_the_later_submission(
    client: Client, clock: Clock
) -> None:
    first_round(client, clock)
    second_round(client)
    (level,) = client.world.get(client.progressive)["levels"]
    # 190,000 ppm shown and 10,000 hidden, of one wager of $1 and one of $2.
    assert level["value_microcents"] == BASE_MICROCENTS + 300 * 190_000
    assert level["hidden_microcents"] == 300 * 10_000


def test_a_progressive_opened_under_the_later_one_has_its_rates(client: Client, clock: Clock) -> None:
    clock.now_ms = MIDNIGHT_MS
    client.open_round()
    client.do(client.table, "PlaceWager", seat=1, wager="ante", amount_cents=1000)
    client.do(client.table, "PlaceWager", seat=1, wager="progressive", amount_cents=200)
    bets(client)
    (level,) = client.world.get(client.progressive)["levels"]
    assert level["value_microcents"] == BASE_MICROCENTS + 200 * 290_000


def test_rounds_of_the_past_are_settled_again_by_theirs(client: Client, clock: Clock, book: RuleBook) -> None:
    first_round(client, clock)
    second_round(client)
    again = settled_again(house(client), book)
    logs = [("wagers", partition) for partition in range(PARTITIONS)]
    assert sum(len(house(client).topics.get(log, ())) for log in logs) >= 10
    for log in logs:
        assert [(item.key, item.value) for item in again.topics.get(log, ())] == [
            (item.key, item.value) for item in house(client).topics.get(log, ())
        ]


def test_without_the_submission_of_the_past_it_is_not_settled_at_all(
    client: Client, clock: Clock, book: RuleBook
) -> None:
    first_round(client, clock)
    later = RuleBook(tuple(held for held in book.submissions if held.in_force_from.year == 2027))
    with pytest.raises(Undecidable, match="No Rules Submission with the hash"):
        settled_again(house(client), later)


def settled_again(played: MemoryHouse, book: RuleBook) -> MemoryHouse:
    """A year later, the round log alone is given to a new processor of the wagers."""
    again = MemoryHouse((WAGERS,), book, Clock(MIDNIGHT_MS + 365 * 86_400_000))
    again.topics = {place: list(held) for place, held in played.topics.items() if place[0] == "rounds"}
    again.run()
    return again


def test_a_processor_that_forgot_everything_goes_on_under_the_later_one(client: Client, clock: Clock) -> None:
    first_round(client, clock)
    for stream in ("rounds", "wagers", "jackpots", "accounts"):
        house(client).forget(stream)
    second_round(client)
    assert won(client, 1)["ante"] == 1000
    assert won(client, 2)["ante"] == 3000
