"""The simulated casino: its cards, its players' decisions, its keys, and whole evenings against the core's rules."""

import asyncio
import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

from services.core import rounds
from services.core.asking import Asking
from services.core.cards import DECK
from services.core.refusal import Refused
from services.core.rounds.views import view
from services.floor import calls
from services.floor.__main__ import Floor, summary
from services.floor.calls import Failure, Keys, Services
from services.floor.dealer import Hand, Seated
from services.floor.players import Player, decide, wishes
from services.floor.settings import Settings, read
from services.floor.shuffle import Deal, deal, shuffled
from services.runtime.submissions import load

RUNS = count()
RULES = load(Path(__file__).parents[2] / "deploy" / "rules")

# Cards --------------------------------------------------------------------------------------------


def test_the_same_seed_table_and_round_have_the_same_cards() -> None:
    assert shuffled(1, "table-1", 7) == shuffled(1, "table-1", 7)
    others = {shuffled(2, "table-1", 7), shuffled(1, "table-2", 7), shuffled(1, "table-1", 8)}
    assert shuffled(1, "table-1", 7) not in others
    assert len(others) == 3


def test_the_deal_goes_clockwise_and_the_community_cards_come_last() -> None:
    dealt = deal(DECK, [5, 2], six_card_bonus=False)
    assert dealt.hands == {2: DECK[0:2], 5: DECK[2:4]}
    assert (dealt.six, dealt.community, dealt.stub) == ((), DECK[4:7], DECK[7:])


def test_a_six_card_bonus_wager_moves_the_community_cards_by_four() -> None:
    dealt = deal(DECK, [2, 5], six_card_bonus=True)
    assert (dealt.six, dealt.community, dealt.stub) == (DECK[4:8], DECK[8:11], DECK[11:])


# Decisions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "multiples", "multiple"),
    [
        # 3rd Street
        ("2c 2d", "", 3),
        ("As Ad", "", 3),
        ("Jc 2d", "", 1),
        ("9c 7d", "", 1),
        ("6h 5h", "", 1),
        ("6h 5d", "", 0),
        ("Tc 5d", "", 0),
        ("2c 3c", "", 0),
        # 4th Street
        ("6c 6d 2h", "1", 3),
        ("3c 3d 3h", "3", 3),
        ("Th Jh Ah", "1", 3),
        ("5h 6h 7h", "1", 3),
        ("4h 5h 6h", "1", 1),
        ("8h 9h Jh", "1", 3),
        ("6h 7h 9h", "1", 1),
        ("8h Jh Qh", "1", 3),
        ("7h 9h Jh", "1", 1),
        ("Ah 2h 3h", "1", 1),
        ("5c 5d 9h", "3", 1),
        ("Jc 9d 2h", "1", 1),
        ("Jc 4d 2h", "1", 0),
        ("4c 5d 6h", "1", 1),
        ("3c 4d 5h", "1", 0),
        ("5c 7d 8h", "1", 1),
        ("5c 6d 8h", "1", 1),
        ("4c 6d 7h", "1", 1),
        ("4c 5d 7h", "1", 0),
        ("6c 9d 3h", "1", 0),
        # 5th Street
        ("Tc Td 2h 3s", "1 1", 3),
        ("2c 2d 3h 3s", "1 1", 3),
        ("2h 5h 8h Jh", "1 1", 3),
        ("5c 6d 7h 8s", "1 1", 3),
        ("4c 5d 6h 7s", "1 1", 1),
        ("Jc Qd Kh As", "1 1", 1),
        ("Ac 2d 3h 4s", "1 1", 1),
        ("5c 6d 8h 9s", "1 1", 1),
        ("4c 4d Jh 9s", "1 1", 1),
        ("Jc Kd 2h 3s", "1 1", 1),
        ("Jc 8d 7h 2s", "1 1", 1),
        ("Jc 8d 2h 3s", "1 1", 0),
        ("6c 8d Th 2s", "1 1", 0),
        ("6c 8d Th 2s", "1 3", 1),
    ],
)
def test_players_decide_by_the_published_strategy(cards: str, multiples: str, multiple: int) -> None:
    own, community = cards.split()[:2], cards.split()[2:]
    assert decide(own, community, [int(each) for each in multiples.split()]) == multiple


def test_the_ante_comes_first_and_nothing_is_wagered_twice() -> None:
    for seed in range(200):
        names = [wager for wager, _ in wishes(Player("player-1-1", 500), Random(seed))]
        assert names[0] == "ante"
        assert len(set(names)) == len(names)


def test_envy_goes_to_every_other_light_that_was_not_forfeited() -> None:
    seats = {seat: Seated(Player(f"player-1-{seat}", 500)) for seat in (1, 2, 3, 5)}
    seats[5].forfeited = True
    cards = Deal({1: ("5h", "6h"), 2: ("Th", "Jh"), 3: ("2c", "2d"), 5: ("3c", "3d")}, (), ("7h", "8h", "9h"), ())
    hand = Hand("table-1-1", 1, None, seats, frozenset({1, 3, 5}), cards, shown=[3, 2, 1])
    # Seat 2's hand earns for 1 and 3, seat 1's for 3 alone: never for one's own.
    assert hand.envy == 3


# Calls --------------------------------------------------------------------------------------------


def test_keys_never_repeat_within_a_run_nor_between_runs() -> None:
    first, second = Keys("1-aa"), Keys("1-bb")
    scopes = ("table-1", "table-11", "table-1.1", "account-player-1-1")
    keys = [each.next(scope) for each in (first, second) for scope in scopes for _ in range(50)]
    assert len(set(keys)) == len(keys)
    assert Keys("1-aa").next("table-1") == keys[0]


def test_an_option_outranks_the_environment() -> None:
    environment = {"ROUNDLOG_FLOOR_SEED": "7", "ROUNDLOG_FLOOR_PACE": "0"}
    settings = read(["--seed", "9", "--tables-url", "http://tables:80"], environment)
    assert (settings.seed, settings.pace, settings.tables_url) == (9, 0.0, "http://tables:80")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(calls, "LONGEST_WAIT_S", 0.002)
    yield


async def test_a_command_is_repeated_under_its_key_until_it_is_answered() -> None:
    keys: list[str] = []
    troubles: list[Any] = [httpx.ConnectError("down"), httpx.ReadTimeout("slow"), 503, 202]

    def answer(request: httpx.Request) -> httpx.Response:
        keys.append(request.headers["Idempotency-Key"])
        trouble = troubles.pop(0) if troubles else 200
        if isinstance(trouble, Exception):
            raise trouble
        return httpx.Response(trouble, json={"sequence": 4, "events": []})

    async with _services(answer, Settings()) as services:
        answered = await services.tables.command("table-1", "dealer-table-1", "OpenRound")
        assert (answered.sequence, services.tally["calls repeated"]) == (4, 4)
        assert len(set(keys)) == 1
        await services.tables.command("table-1", "dealer-table-1", "OpenRound")
        assert len(set(keys)) == 2


async def test_patience_ends() -> None:
    async with _services(lambda _: httpx.Response(503), Settings(patience_s=0.01)) as services:
        with pytest.raises(Failure, match="no answer"):
            await services.tables.command("table-1", "dealer-table-1", "OpenRound")


def _services(answer: Any, settings: Settings) -> Services:
    # Every floor is a run of its own, as in life.
    return Services(httpx.AsyncClient(transport=httpx.MockTransport(answer)), settings, f"test-{next(RUNS)}")


# Evenings -----------------------------------------------------------------------------------------

COMMANDS = {each.__name__: each for each in rounds.PeopleCommand.__args__}


class House:
    """The four services in a few lines: tables by the core's rules, the others by their contract alone."""

    def __init__(self, trouble_rate: float = 0.0) -> None:
        self.tables: dict[str, rounds.State] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.accounts: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, tuple[int, Any]] = {}
        self.commands: Counter[str] = Counter()
        self._random, self._trouble_rate = Random(1), trouble_rate

    def answer(self, request: httpx.Request) -> httpx.Response:
        _, path, id, *more = request.url.path.split("/")
        lost = self._random.random() < self._trouble_rate
        if lost and self._random.random() < 0.5:
            raise httpx.ConnectError("down")
        if request.method == "POST":
            key = request.headers["Idempotency-Key"]
            if key not in self.answers:
                body = json.loads(request.content)
                self.answers[key] = getattr(self, f"post_{path}")(id, body.pop("command"), body)
            status, content = self.answers[key]
        else:
            content = getattr(self, f"get_{path}")(id, *more, **dict(request.url.params))
            status = 404 if content is None else 200
        if lost:
            raise httpx.ReadTimeout("the answer was lost")
        return httpx.Response(status, json=content)

    def post_tables(self, table_id: str, command: str, body: dict[str, Any]) -> tuple[int, Any]:
        if command == "OpenTable":
            body["progressive_rules"] = body["rules"]
        typed = {name: tuple(value) if isinstance(value, list) else value for name, value in body.items()}
        if "position" in typed:
            typed["position"] = str(typed["position"])
        try:
            events = self.decide(table_id, COMMANDS[command](**typed))
        except Refused as refused:
            return 409, {"refused": refused.reason, "section": refused.section}
        self.commands[command] += 1
        for event in events:
            if isinstance(event, rounds.PayoutAwaited):
                self._claim(table_id, event)
            if isinstance(event, rounds.WagerRequested):
                self._hold(table_id, event)
        said = [{"event": type(event).__name__, **_plain(event)} for event in events]
        return 200, {"sequence": self.tables[table_id].sequence, "events": said}

    def decide(self, table_id: str, command: rounds.Command) -> tuple[rounds.Event, ...]:
        state = self.tables.get(table_id, rounds.INITIAL)
        events = rounds.decide(state, command, Asking(table_id, "test", 1_800_000_000_000, RULES))
        for event in events:
            # The sequence is the log's; whoever appends counts it.
            state = rounds.evolve(state, event)
        self.tables[table_id] = state
        return events

    def _claim(self, table_id: str, awaited: rounds.PayoutAwaited) -> None:
        source = "hand_pay" if awaited.documents else "table_inventory"
        odds = "100% of meter" if awaited.documents else "9 for 1"
        self.claims[awaited.claim_id] = {
            "claim_id": awaited.claim_id,
            "round_id": awaited.round_id,
            "table_id": table_id,
            "state": "hit",
            "source": source,
            "odds": odds,
            "amount_cents": 900,
        }

    def _hold(self, table_id: str, request: rounds.WagerRequested) -> None:
        account = self.accounts[request.account_id]
        sequence = next(
            wager.request_sequence
            for wager in self.tables[table_id].round.seated(request.seat).wagers
            if wager.wager == request.wager and wager.standing.value == "requested"
        )
        assert sequence is not None
        if account["available_cents"] < request.amount_cents:
            self.decide(table_id, rounds.DeclineWager(sequence, "not enough"))
        else:
            account["available_cents"] -= request.amount_cents
            self.decide(table_id, rounds.ConfirmWager(sequence))

    def get_tables(self, table_id: str) -> Any:
        return view(table_id, self.tables[table_id]) if table_id in self.tables else None

    def post_progressives(self, id: str, command: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.commands[command] += 1
        if command in ("ValidatePayout", "DocumentPayout"):
            claim = self.claims[body["claim_id"]]
            assert claim["state"] == {"ValidatePayout": "hit", "DocumentPayout": "validated"}[command]
            documented = command == "DocumentPayout"
            claim["state"] = "documented" if documented else "validated"
            self.decide(claim["table_id"], rounds.ReleasePayout(claim["claim_id"], documented))
        if command == "PayPayout":
            claim = self.claims[body["claim_id"]]
            assert claim["state"] == ("documented" if claim["source"] == "hand_pay" else "validated")
            claim["state"] = "paid"
        return 200, {"sequence": 1, "events": []}

    def get_progressives(self, id: str, what: str = "", round_id: str = "") -> Any:
        if what == "claims":
            return [claim for claim in self.claims.values() if claim["round_id"] == round_id]
        if what == "envy":
            return []
        return {"progressive_id": id, "rules": "demo", "levels": [{"name": "meter", "value_cents": 1_000_000}]}

    def post_accounts(self, id: str, command: str, body: dict[str, Any]) -> tuple[int, Any]:
        account = self.accounts.setdefault(id, {"player_id": body.get("player_id"), "available_cents": 0})
        sign = {"OpenAccount": 0, "Deposit": 1, "Withdraw": -1}[command]
        account["available_cents"] += sign * body.get("amount_cents", 0)
        assert account["available_cents"] >= 0
        return 200, {"sequence": 1, "events": []}

    def get_accounts(self, id: str) -> Any:
        return self.accounts.get(id)

    def get_rounds(self, round_id: str) -> Any:
        return {"round_id": round_id, "state": "closed", "wagers": []}


def _plain(event: rounds.Event) -> dict[str, Any]:
    values = {each.name: getattr(event, each.name) for each in dataclasses.fields(event)}
    return {name: value for name, value in values.items() if not isinstance(value, bytes)}


BUSY = Settings(
    tables=3,
    rounds=300,
    pace=0.0,
    seed=5,
    miscount_rate=0.03,
    void_rate=0.05,
    talk_rate=0.1,
    withdraw_rate=0.2,
    leave_rate=0.05,
)


async def _evening(house: House, settings: Settings) -> Counter[str]:
    async with _services(house.answer, settings) as services:
        floor = Floor(settings, services, asyncio.Event())
        await asyncio.wait_for(floor.play(), 120)
        assert "not meant" in summary(services.tally, floor.played(), floor.before, await floor.meters())
        return services.tally


async def test_an_evening_is_played_without_a_refusal() -> None:
    house = House()
    tally = await _evening(house, BUSY)
    assert (tally["unmeant refusals"], tally["failures"], tally["meant refusals"]) == (0, 0, 0)
    assert tally["rounds closed"] + tally["rounds voided"] == BUSY.rounds
    assert all(claim["state"] == "paid" for claim in house.claims.values())
    for command in ("WithdrawWager", "CountStub", "ForfeitWagers", "VoidRound", "DrawMagicCard", "RevealSixCardBonus"):
        assert house.commands[command], command
    assert tally["wrong counts"]
    assert tally["claims fixed odds"]


async def test_lost_answers_and_restarts_double_nothing() -> None:
    house = House(trouble_rate=0.02)
    tally = await _evening(house, replace(BUSY, rounds=100))
    assert (tally["unmeant refusals"], tally["failures"]) == (0, 0)
    assert tally["calls repeated"]
    assert house.commands["OpenRound"] == 100


@pytest.mark.parametrize("seed", [5, 6])
async def test_a_floor_ends_the_rounds_that_an_earlier_one_left(seed: int) -> None:
    """With the same seed it knows the cards on the table, with another it does not; it ends the round either way."""
    house = House()
    settings = replace(BUSY, tables=1, rounds=40, void_rate=0.0, miscount_rate=0.0)
    for commands in range(10, 90, 4):
        async with _services(house.answer, settings) as services:
            floor = Floor(settings, services, asyncio.Event())
            left = commands
            send = services.tables.send

            async def until(*arguments: Any, send: Any = send, **fields: Any) -> Any:
                nonlocal left
                left -= 1
                if left < 0:
                    raise asyncio.CancelledError
                return await send(*arguments, **fields)

            services.tables.send = until  # type: ignore[method-assign]
            with pytest.raises(asyncio.CancelledError):
                await floor.dealers[0].run(floor.take)
        tally = await _evening(house, replace(settings, seed=seed, rounds=2))
        assert (tally["unmeant refusals"], tally["failures"]) == (0, 0)
