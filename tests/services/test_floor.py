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

from services.core import rounds, wagers
from services.core.asking import Asking
from services.core.cards import DECK
from services.core.games.cajun_stud import CAJUN_STUD
from services.core.games.caribbean_stud import CARIBBEAN_STUD
from services.core.games.game import Area
from services.core.games.mississippi_stud import MISSISSIPPI_STUD
from services.core.names import On
from services.core.refusal import Refused
from services.core.rounds.views import view
from services.floor import calls, dealer
from services.floor.__main__ import Floor, summary
from services.floor.calls import Failure, Keys, Services
from services.floor.offers import OFFERS, Offer, offer_at
from services.floor.players import Player, Wish, wishes
from services.floor.round_in_hand import RoundInHand, Seated
from services.floor.settings import Settings, read
from services.floor.shuffle import Deal, continued, deal, shuffled
from services.floor.strategies import STRATEGIES
from services.runtime.submissions import load

RUNS = count()
RULES = load(Path(__file__).parents[2] / "deploy" / "rules")
NOW_MS = 1_800_000_000_000
MISSISSIPPI, CARIBBEAN, CAJUN, MISSISSIPPI_C, CARIBBEAN_A = OFFERS

# Cards --------------------------------------------------------------------------------------------


def test_the_same_seed_table_and_round_have_the_same_cards() -> None:
    assert shuffled(1, "table-1", 7) == shuffled(1, "table-1", 7)
    others = {shuffled(2, "table-1", 7), shuffled(1, "table-2", 7), shuffled(1, "table-1", 8)}
    assert shuffled(1, "table-1", 7) not in others
    assert len(others) == 3


def test_the_deal_goes_clockwise_and_the_community_cards_come_last() -> None:
    dealt = deal(DECK, MISSISSIPPI_STUD, [5, 2])
    assert dealt == Deal({2: DECK[0:2], 5: DECK[2:4]}, (), {}, DECK[4:7], DECK[7:])


def test_a_six_card_bonus_wager_moves_the_community_cards_by_four() -> None:
    dealt = deal(DECK, MISSISSIPPI_STUD, [2, 5], {Area.SIX_CARD_BONUS})
    assert (dealt.extra, dealt.community, dealt.stub) == ({Area.SIX_CARD_BONUS: DECK[4:8]}, DECK[8:11], DECK[11:])


def test_in_caribbean_stud_the_dealer_has_five_cards_as_everybody_has() -> None:
    dealt = deal(DECK, CARIBBEAN_STUD, [1, 4])
    assert dealt == Deal({1: DECK[0:5], 4: DECK[5:10]}, DECK[10:15], {}, (), DECK[15:])


def test_in_cajun_stud_an_all_six_wager_takes_one_card() -> None:
    dealt = deal(DECK, CAJUN_STUD, [3], {Area.ALL_SIX})
    assert dealt == Deal({3: DECK[0:2]}, (), {Area.ALL_SIX: DECK[2:3]}, DECK[3:6], DECK[6:])


def test_a_deal_that_another_began_goes_on_with_its_own_cards_where_the_deck_is_the_same() -> None:
    whole = deal(DECK, CARIBBEAN_STUD, [1, 4, 6])
    face_up = Deal({6: whole.hands[6]}, whole.dealer[:1])
    assert continued(face_up, DECK, CARIBBEAN_STUD, {1, 4, 6}, set()) == whole


def test_a_deal_that_another_began_with_another_deck_goes_on_without_a_card_that_was_seen() -> None:
    began = deal(DECK, CARIBBEAN_STUD, [1, 4, 6])
    face_up = Deal({6: began.hands[6], 4: began.hands[4]}, began.dealer)
    taken = continued(face_up, DECK[::-1], CARIBBEAN_STUD, {1, 4, 6}, set())
    assert (taken.hands[6], taken.hands[4], taken.dealer) == (began.hands[6], began.hands[4], began.dealer)
    assert len(set(taken.cards)) == len(taken.cards) == 20


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
    for game in ("mississippi_stud", "cajun_stud"):
        assert STRATEGIES[game](own, community, [int(each) for each in multiples.split()]) == multiple


@pytest.mark.parametrize(
    ("cards", "multiple"),
    [
        ("As Kd Jc 8h 3s", 2),
        ("As Kd Jc 8h 2s", 0),
        ("As Kd Jc 7h 6s", 0),
        ("As Kd Qc 3h 2s", 2),
        ("As Qd Jc Th 8s", 0),
        ("2s 2d 3c 4h 5s", 2),
        ("2s 3s 4s 5s 7s", 2),
    ],
)
def test_in_caribbean_stud_players_bet_with_ace_king_jack_8_3_or_better(cards: str, multiple: int) -> None:
    assert STRATEGIES["caribbean_stud"](cards.split(), ["2h"], []) == multiple


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.rules)
def test_the_ante_comes_first_and_every_optional_wager_is_made_sometimes(offer: Offer) -> None:
    made: set[tuple[str, On]] = set()
    for seed in range(200):
        wished = [(wish.wager, wish.on) for wish in wishes(offer.game.name, Player("player-1-1", 500), Random(seed))]
        assert wished[0] == ("ante", On.PLAYER)
        assert len(set(wished)) == len(wished)
        made.update(wished)
    assert made == {("ante", On.PLAYER), *((kind.wager, on) for kind in offer.game.optional for on in kind.sees)}


# What the house deals -----------------------------------------------------------------------------


def test_the_first_five_tables_deal_all_games_and_the_sixth_begins_again() -> None:
    assert [offer_at(number).rules for number in range(1, 7)] == [
        "demo-mississippi-stud",
        "demo-caribbean-stud",
        "demo-cajun-stud",
        "demo-mississippi-stud-c",
        "demo-caribbean-stud-a",
        "demo-mississippi-stud",
    ]


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer.rules)
def test_what_the_floor_knows_of_a_submission_is_what_it_says(offer: Offer) -> None:
    rules = RULES.in_force(offer.rules, NOW_MS)
    assert rules is not None and rules.game == offer.game.name
    assert rules.needs_progressive == (offer.progressive_id is not None)
    envy = None if rules.progressive is None else rules.progressive.envy
    assert (envy is not None) == offer.pays_envy
    assert (envy is not None and envy.folded_hand_qualifies) == offer.folded_hand_qualifies
    assert envy is None or {hand for hand, _ in envy.amounts_cents} == {"royal_flush", "straight_flush"}


# What the dealer keeps in mind --------------------------------------------------------------------


def _seats(*seats: int) -> dict[int, Seated]:
    return {seat: Seated(Player(f"player-1-{seat}", 500)) for seat in seats}


def test_envy_goes_to_every_other_light_that_was_not_forfeited() -> None:
    seats = _seats(1, 2, 3, 5)
    seats[5].forfeited = True
    for seat in (1, 2, 3):
        seats[seat].shown = True
    cards = Deal({1: ("5h", "6h"), 2: ("Th", "Jh"), 3: ("2c", "2d"), 5: ("3c", "3d")}, community=("7h", "8h", "9h"))
    in_hand = RoundInHand(MISSISSIPPI, "table-1-1", None, seats, frozenset({1, 3, 5}), cards)
    # Seat 2's hand earns for 1 and 3, seat 1's for 3 alone: never for one's own.
    assert in_hand.envy == 3


def test_in_caribbean_stud_a_folded_hand_brings_no_envy_and_its_seat_still_receives_it() -> None:
    seats = _seats(1, 2, 3)
    for seat in (1, 2):
        seats[seat].folded = True
    for seat in (1, 3):
        seats[seat].shown = True
    dealt = {1: ("2c", "3c", "4c", "5c", "6c"), 2: ("2s", "4d", "6h", "8s", "Tc"), 3: ("4d", "5d", "6d", "7d", "8d")}
    in_hand = RoundInHand(CARIBBEAN, "table-1-1", None, seats, frozenset({1, 2, 3}), Deal(dealt))
    # Seat 3's straight flush earns for 1 and 2; seat 1's for nobody, though it was shown for its five card bonus.
    assert in_hand.envy == 2
    # Only paytable D has an Envy Bonus. 639a.11(c)(5)(v)
    assert RoundInHand(CARIBBEAN_A, "table-1-1", None, seats, frozenset({1, 2, 3}), Deal(dealt)).envy == 0


def test_in_caribbean_stud_only_the_five_card_bonus_outlives_a_fold() -> None:
    seats = _seats(1, 2)
    in_hand = RoundInHand(CARIBBEAN, "table-1-1", None, seats)
    for wager in ("caribbean_stud_bonus", "progressive"):
        seats[1].wagers.add((wager, On.PLAYER))
    seats[1].folded = seats[2].folded = True
    assert (in_hand.live, in_hand.needs_table_cards) == ([], False)
    seats[1].wagers.add(("five_card_hand_bonus", On.PLAYER))
    assert (in_hand.live, in_hand.needs_table_cards) == ([1], False)
    seats[2].wagers.add(("five_card_hand_bonus", On.DEALER))
    assert (in_hand.live, in_hand.needs_table_cards) == ([1, 2], True)


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
    """The four services in a few lines: tables, and what wagers say of Envy Bonuses, by the core's rules; the rest by
    contract alone."""

    def __init__(self, trouble_rate: float = 0.0) -> None:
        self.tables: dict[str, rounds.State] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.accounts: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, tuple[int, Any]] = {}
        self.envy: list[dict[str, Any]] = []
        self.commands: Counter[str] = Counter()
        self.said: list[str] = []
        """What the tables took, in order; a void with its reason."""
        self.progressive_age_ms: int | None = None
        """How long the tables have not heard of a progressive."""
        self._random, self._trouble_rate = Random(1), trouble_rate

    async def answer(self, request: httpx.Request) -> httpx.Response:
        # The tables take turns, as they do where an answer takes time.
        await asyncio.sleep(0)
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
        if command == "PlaceWager" and body["wager"] == "progressive":
            body["progressive_age_ms"] = self.progressive_age_ms
        typed = {name: tuple(value) if isinstance(value, list) else value for name, value in body.items()}
        if "position" in typed:
            typed["position"] = str(typed["position"])
        if "hand" in typed:
            typed["hand"] = On(typed["hand"])
        try:
            events = self.decide(table_id, COMMANDS[command](**typed))
        except Refused as refused:
            return 409, {"refused": refused.reason, "section": refused.section}
        self.commands[command] += 1
        self.said.append(body["reason"] if command == "VoidRound" else command)
        for event in events:
            if isinstance(event, rounds.PayoutAwaited):
                self._claim(table_id, event)
            if isinstance(event, rounds.WagerRequested):
                self._hold(table_id, event)
        said = [{"event": type(event).__name__, **_plain(event)} for event in events]
        return 200, {"sequence": self.tables[table_id].sequence, "events": said}

    def decide(self, table_id: str, command: rounds.Command) -> tuple[rounds.Event, ...]:
        state = self.tables.get(table_id, rounds.INITIAL)
        asking = Asking(table_id, "test", NOW_MS, RULES)
        events = rounds.decide(state, command, asking)
        for event in events:
            for fact in wagers.decide(state, event, asking):
                if isinstance(fact, wagers.EnvyBonusWon):
                    self._award(fact)
            # The sequence is the log's; whoever appends counts it.
            state = rounds.evolve(state, event)
        self.tables[table_id] = state
        return events

    def _award(self, won: wagers.EnvyBonusWon) -> None:
        self.envy += [
            {
                "round_id": won.round_id,
                "progressive_id": won.progressive_id,
                "recipient_seat": seat,
                "amount_cents": won.amount_cents,
                "state": "due",
            }
            for seat in won.recipient_seats
        ]

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
            if (wager.wager, wager.hand) == (request.wager, request.hand) and wager.standing.value == "requested"
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
        if command == "PayEnvy":
            due = [each for each in self._envy_of(id, body["round_id"]) if each["state"] == "due"]
            paid = [each for each in due if each["recipient_seat"] == body["recipient_seat"]]
            assert paid
            for each in paid:
                each["state"] = "paid"
        return 200, {"sequence": 1, "events": []}

    def get_progressives(self, id: str, what: str = "", round_id: str = "") -> Any:
        if what == "claims":
            return [claim for claim in self.claims.values() if claim["round_id"] == round_id]
        if what == "envy":
            return self._envy_of(id, round_id)
        return {"progressive_id": id, "rules": "demo", "levels": [{"name": "meter", "value_cents": 1_000_000}]}

    def _envy_of(self, progressive_id: str, round_id: str) -> list[dict[str, Any]]:
        return [each for each in self.envy if (each["progressive_id"], each["round_id"]) == (progressive_id, round_id)]

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
    tables=5,
    rounds=300,
    pace=0.0,
    seed=5,
    miscount_rate=0.03,
    void_rate=0.05,
    talk_rate=0.1,
    withdraw_rate=0.2,
    leave_rate=0.05,
)
QUIET = replace(BUSY, miscount_rate=0.0, void_rate=0.0, talk_rate=0.0, withdraw_rate=0.0)


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
    for game in ("Mississippi Stud", "Caribbean Stud Poker", "Cajun Stud"):
        assert tally[f"rounds of {game}"] > 30
    assert all(claim["state"] == "paid" for claim in house.claims.values())
    assert all(envy["state"] == "paid" for envy in house.envy)
    for command in (
        "WithdrawWager",
        "CountStub",
        "ForfeitWagers",
        "VoidRound",
        "DrawMagicCard",
        "DrawLuckyPosition",
        "RevealSixCardBonus",
        "RevealDealerHand",
        "RevealAllSixCard",
    ):
        assert house.commands[command], command
    assert tally["wrong counts"]
    assert tally["claims fixed odds"]


async def test_play_goes_on_without_the_progressive_wager_while_its_controller_is_away() -> None:
    house = House()
    house.progressive_age_ms = 5_000
    tally = await _evening(house, replace(QUIET, rounds=40))
    assert (tally["unmeant refusals"], tally["failures"]) == (0, 0)
    assert tally["meant refusals"] and tally["rounds closed"] == 40
    assert not any(claim["claim_id"].endswith(".progressive") for claim in house.claims.values())


async def test_lost_answers_and_restarts_double_nothing() -> None:
    house = House(trouble_rate=0.02)
    tally = await _evening(house, replace(BUSY, rounds=100))
    assert (tally["unmeant refusals"], tally["failures"]) == (0, 0)
    assert tally["calls repeated"]
    assert house.commands["OpenRound"] == 100


# Rounds -------------------------------------------------------------------------------------------

GAMES = pytest.mark.parametrize("number", (1, 2, 3), ids=lambda number: OFFERS[number - 1].game.name)
"""The first three tables: each deals another game."""


async def _rounds(house: House, settings: Settings, number: int) -> Counter[str]:
    """Plays the rounds of the settings at one table alone."""
    async with _services(house.answer, settings) as services:
        floor = Floor(settings, services, asyncio.Event())
        await asyncio.wait_for(floor.dealers[number - 1].run(floor.take), 60)
        return services.tally


@pytest.fixture
def everybody_folds(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A round in which everybody makes the same wagers and folds at once; gives what was said after the folds."""

    async def play(offer: Offer, *wished: tuple[str, On]) -> list[str]:
        monkeypatch.setitem(STRATEGIES, offer.game.name, lambda *_: 0)
        monkeypatch.setattr(
            dealer, "wishes", lambda *_: [Wish("ante", 500), *(Wish(wager, 100, on) for wager, on in wished)]
        )
        house = House()
        tally = await _rounds(house, replace(QUIET, rounds=1), OFFERS.index(offer) + 1)
        assert (tally["unmeant refusals"], tally["failures"], tally["rounds closed"]) == (0, 0, 1)
        # The stub is counted in a floor's first round.
        after = house.said[house.said.index("CountStub") + 1 :]
        folds = after.count("Fold")
        assert folds >= 2 and after[:folds] == ["Fold"] * folds
        # Everybody has the same wagers, so all hands are shown or none.
        assert after.count("ShowHand") in (0, folds)
        assert after.count("RevealCommunityCard") in (0, 3)
        return list(dict.fromkeys(after[folds:]))

    return play


FIVE, BOTH_DRAWS = "five_card_hand_bonus", ["DrawMagicCard", "DrawLuckyPosition"]
THREE_CARDS = "RevealCommunityCard"


@pytest.mark.parametrize(
    ("offer", "wished", "said"),
    [
        (CARIBBEAN, [], []),
        (CARIBBEAN, [("progressive", On.PLAYER), ("caribbean_stud_bonus", On.PLAYER)], []),
        (CARIBBEAN, [(FIVE, On.PLAYER)], [*BOTH_DRAWS, "ShowHand"]),
        (CARIBBEAN, [(FIVE, On.DEALER)], ["RevealDealerHand", *BOTH_DRAWS, "ShowHand"]),
        (CARIBBEAN_A, [(FIVE, On.PLAYER), (FIVE, On.DEALER)], ["RevealDealerHand", *BOTH_DRAWS, "ShowHand"]),
        (CAJUN, [], []),
        (CAJUN, [("pocket_bonus", On.PLAYER)], ["ShowHand"]),
        (CAJUN, [("board_bonus", On.PLAYER)], [THREE_CARDS, "ShowHand"]),
        (CAJUN, [("lo_ball", On.PLAYER)], [THREE_CARDS, "ShowHand"]),
        (CAJUN, [("all_six_bonus", On.PLAYER)], [THREE_CARDS, "RevealAllSixCard", "ShowHand"]),
        (MISSISSIPPI, [("progressive", On.PLAYER)], [THREE_CARDS, "ShowHand"]),
        (MISSISSIPPI, [("six_card_bonus", On.PLAYER)], [THREE_CARDS, "RevealSixCardBonus", "ShowHand"]),
    ],
)
async def test_when_everybody_folds_only_the_cards_that_a_wager_looks_at_come_out(
    everybody_folds: Any, offer: Offer, wished: list[tuple[str, On]], said: list[str]
) -> None:
    assert await everybody_folds(offer, *wished) == [*said, "CloseRound"]


@GAMES
async def test_a_round_may_be_void_at_every_stage(number: int) -> None:
    house = House()
    tally = await _rounds(house, replace(QUIET, tables=5, void_rate=1.0, rounds=60), number)
    assert (tally["unmeant refusals"], tally["failures"], tally["meant refusals"]) == (0, 0, 0)
    assert tally["rounds voided"] == 60 - tally["rounds closed"]
    main = [street.wager for street in OFFERS[number - 1].game.streets]
    stages = ["betting", "dealing", *(each.replace("_", " ") for each in main), "showing"]
    assert {f"card exposed at {stage}" for stage in stages} <= set(house.said)


async def test_a_table_that_somebody_opened_otherwise_is_played_as_it_is() -> None:
    house = House()
    house.post_tables("table-1", "OpenTable", {"game": "cajun_stud", "seats": 6, "rules": "demo-cajun-stud"})
    tally = await _rounds(house, replace(BUSY, rounds=5), 1)
    assert (tally["unmeant refusals"], tally["failures"], tally["rounds of Cajun Stud"]) == (0, 0, 5)


async def test_a_table_under_a_submission_that_the_floor_does_not_know_is_left_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    house = House()
    house.get_tables = lambda table_id: {  # type: ignore[method-assign]
        "game": "mississippi_stud", "rules": "riverside-3", "progressive_id": None, "round": None,
    }  # fmt: skip
    async with _services(house.answer, BUSY) as services:
        floor = Floor(BUSY, services, asyncio.Event())
        with pytest.raises(Failure, match="table-1 deals mississippi_stud under riverside-3"):
            await floor.floorperson.open_table("table-1", MISSISSIPPI)
    assert not house.commands


@GAMES
@pytest.mark.parametrize("seed", [5, 6])
async def test_a_floor_ends_the_rounds_that_an_earlier_one_left(seed: int, number: int) -> None:
    """With the same seed it knows the cards on the table, with another it does not; it ends the round either way."""
    house = House()
    settings = replace(QUIET, rounds=40)
    finished = 0
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
                await floor.dealers[number - 1].run(floor.take)
        shown = house.tables[f"table-{number}"].round.hand_shown
        over = house.tables[f"table-{number}"].round.over
        tally = await _rounds(house, replace(settings, seed=seed, rounds=2), number)
        assert (tally["unmeant refusals"], tally["failures"]) == (0, 0)
        # A round of which a hand is shown is not voided, and from there on nothing is asked in vain.
        assert tally["meant refusals"] == (shown and not over)
        assert tally["rounds voided"] == (not shown and not over)
        finished += shown and not over
    assert finished
    assert all(claim["state"] == "paid" for claim in house.claims.values())
    assert all(envy["state"] == "paid" for envy in house.envy)
