"""A table of Mississippi Stud against a slow and obvious one: random commands, legal and not, in any order.

The model says in plain words what the house allows, command by command, and knows nothing of the code. Left out are the
progressive and the wager from a game account: what they wait for comes from other services.
"""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from services.core import rounds, wagers
from services.core.asking import Asking
from services.core.names import Result
from services.core.refusal import Refused
from tests.support.given import AT_MS, BOOK

SEATS = 6
BONUSES = ("three_card_bonus", "six_card_bonus")
DECK = [f"{rank}{suit}" for rank in "23456789TJQKA" for suit in "cdhs"]
RULES = "demo-mississippi-stud"
GAMES, STEPS = 150, 120


@dataclass
class Seat:
    """What one seat has done in the round."""

    wagers: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """Who was named with a wager."""
    bets: list[int] = field(default_factory=list)
    folded: bool = False
    forfeited: bool = False
    shown: tuple[str, ...] = ()
    by: str = ""

    @property
    def player(self) -> str | None:
        """The first who was named binds the seat, as long as that wager lies there."""
        return next((self.names[wager] for wager in self.wagers if wager in self.names), None)

    @property
    def decides(self) -> bool:
        return "ante" in self.wagers and not self.folded and not self.forfeited

    @property
    def waits(self) -> bool:
        """Has a wager that is not settled: a bonus outlives a fold, nothing outlives a forfeit."""
        if self.shown or self.forfeited:
            return False
        return self.decides or any(name in self.wagers for name in BONUSES)


@dataclass
class Model:
    """A table as a dealer would keep it on paper."""

    is_open: bool = False
    phase: str = "over"
    seats: dict[int, Seat] = field(default_factory=dict)
    community: list[str] = field(default_factory=list)
    six: list[str] = field(default_factory=list)
    counted: bool = False

    def seat(self, number: int) -> Seat:
        return self.seats.get(number, Seat())

    @property
    def cards(self) -> list[str]:
        return [*self.community, *self.six, *(card for seat in self.seats.values() for card in seat.shown)]

    @property
    def shown(self) -> bool:
        return any(seat.shown for seat in self.seats.values())

    @property
    def due(self) -> list[int]:
        """Who must decide before the next card: everybody, on each of the three streets."""
        if len(self.community) == 3:
            return []
        return sorted(number for number, seat in self.seats.items()
                      if seat.decides and len(seat.bets) == len(self.community))  # fmt: skip

    @property
    def turn(self) -> int | None:
        return max((number for number, seat in self.seats.items() if seat.waits), default=None)

    @property
    def stub(self) -> int:
        antes = sum("ante" in seat.wagers for seat in self.seats.values())
        six = any("six_card_bonus" in seat.wagers for seat in self.seats.values())
        return 52 - 2 * antes - 3 - (4 if six else 0)

    @property
    def staked(self) -> int:
        return sum(sum(seat.wagers.values()) + sum(seat.bets) for seat in self.seats.values())

    def fresh(self, cards: tuple[str, ...], but: tuple[str, ...] = ()) -> bool:
        seen = [card for card in self.cards if card not in but]
        return all(card in DECK for card in cards) and len(set(cards)) == len(cards) and not set(cards) & set(seen)

    def allows(self, command: Any, actor: str) -> bool:
        """The rules in the order of a round."""
        match command:
            case rounds.OpenTable():
                return not self.is_open
            case rounds.CloseTable() | rounds.OpenRound():
                return self.is_open and self.phase == "over"
            case _ if self.phase == "over":
                return False
            case rounds.PlaceWager(number, wager, cents, player):
                if self.phase != "betting" or not 1 <= number <= SEATS or wager not in ("ante", *BONUSES):
                    return False
                seat = self.seat(number)
                low, high = (500, 50_000) if wager == "ante" else (100, 10_000)
                step = 100 if wager == "ante" else 1
                return (
                    (wager == "ante" or "ante" in seat.wagers) and wager not in seat.wagers
                    and low <= cents <= high and cents % step == 0
                    and (player is None or seat.player in (None, player))
                )  # fmt: skip
            case rounds.WithdrawWager(number, wager):
                return self.phase == "betting" and wager in self.seat(number).wagers
            case rounds.CloseBetting():
                return self.phase == "betting" and any("ante" in seat.wagers for seat in self.seats.values())
            case rounds.DealHands(card):
                return self.phase == "bets are closed" and card is None
            case rounds.VoidRound():
                return not self.shown
            case rounds.CloseRound():
                return self.turn is None
            case _ if self.phase != "dealt":
                return False
            case rounds.CountStub(cards, misdealt):
                return not self.shown and not self.counted and not (cards == self.stub and misdealt)
            case rounds.Bet(number, multiple):
                return self.decides_now(number) and multiple in (1, 2, 3)
            case rounds.Fold(number):
                return self.decides_now(number)
            case rounds.RevealCommunityCard(card):
                return len(self.community) < 3 and not self.due and not self.shown and self.fresh((card,))
            case rounds.RevealSixCardBonus(cards):
                wanted = any("six_card_bonus" in seat.wagers and seat.waits for seat in self.seats.values())
                return wanted and not self.six and len(self.community) == 3 and len(cards) == 4 and self.fresh(cards)
            case rounds.ForfeitWagers(number):
                return len(self.community) < 3 and self.seat(number).waits
            case rounds.ShowHand(number, cards):
                if self.due or len(self.community) < 3 or number != self.turn:
                    return False
                ready = "six_card_bonus" not in self.seat(number).wagers or bool(self.six)
                return ready and len(cards) == 2 and self.fresh(cards)
            case rounds.ReplaceHand(number, cards):
                seat = self.seat(number)
                return (
                    bool(seat.shown) and seat.by != actor and len(cards) == 2 and set(cards) != set(seat.shown)
                    and self.fresh(cards, seat.shown)
                )  # fmt: skip
        raise AssertionError(f"the model does not know {command}")

    def decides_now(self, number: int) -> bool:
        """First decisions clockwise, the later ones in any order."""
        return number in self.due and (bool(self.community) or number == self.due[0])

    def takes(self, command: Any, actor: str) -> None:
        """What a legal command changes on the paper."""
        match command:
            case rounds.OpenTable():
                self.is_open = True
            case rounds.CloseTable():
                self.is_open = False
            case rounds.OpenRound():
                self.phase, self.seats, self.community, self.six, self.counted = "betting", {}, [], [], False
            case rounds.PlaceWager(number, wager, cents, player):
                seat = self.seats.setdefault(number, Seat())
                seat.wagers[wager] = cents
                if player is not None:
                    seat.names[wager] = player
            case rounds.WithdrawWager(number, wager):
                gone = list(self.seats[number].wagers) if wager == "ante" else [wager]
                for name in gone:
                    del self.seats[number].wagers[name]
                    self.seats[number].names.pop(name, None)
            case rounds.CloseBetting():
                self.phase = "bets are closed"
            case rounds.DealHands():
                self.phase = "dealt"
            case rounds.VoidRound() | rounds.CloseRound():
                self.phase = "over"
            case rounds.CountStub(cards):
                self.counted = True
                self.phase = self.phase if cards == self.stub else "over"
            case rounds.Bet(number, multiple):
                self.seats[number].bets.append(multiple * self.seats[number].wagers["ante"])
            case rounds.Fold(number):
                self.seats[number].folded = True
            case rounds.RevealCommunityCard(card):
                self.community.append(card)
            case rounds.RevealSixCardBonus(cards):
                self.six = list(cards)
            case rounds.ForfeitWagers(number):
                whose = self.seats[number].player
                for seat in self.seats.values():
                    if seat is self.seats[number] or (whose is not None and seat.player == whose):
                        seat.forfeited = seat.forfeited or seat.waits
            case rounds.ShowHand(number, cards) | rounds.ReplaceHand(number, cards):
                self.seats[number].shown, self.seats[number].by = cards, actor


def drawn(chance: random.Random, model: Model) -> Any:
    """Any command; often one that fits the moment, and then often with one thing wrong."""
    seat = chance.choice([*model.seats, model.turn or 1, *model.due[:1], chance.randint(0, SEATS + 1)])
    left = [card for card in DECK if card not in model.cards]

    def cards(number: int) -> tuple[str, ...]:
        if chance.random() < 0.1:
            return tuple(chance.choice([*DECK, "Zz", ""]) for _ in range(number + chance.randint(-1, 1)))
        return tuple(chance.sample(left, number))

    player = chance.choice([None, None, "ann", "bob"])
    betting = [
        rounds.PlaceWager(seat, "ante", chance.choice([500, 600, 50_000, 400, 550, -500]), player),
        rounds.PlaceWager(chance.randint(1, SEATS), "ante", 500, player),
        rounds.PlaceWager(seat, chance.choice([*BONUSES, "lo_ball", "street_3", "magic_card"]), chance.choice([100, 10_000, 99]), player),
        rounds.WithdrawWager(seat, chance.choice(["ante", *BONUSES])),
        rounds.CloseBetting(),
    ]  # fmt: skip
    dealt = [
        rounds.Bet(seat, chance.choice([1, 1, 2, 3, 0, 4])), rounds.Bet(seat, 1), rounds.Fold(seat),
        rounds.RevealCommunityCard(*cards(1)[:1] or ("",)), rounds.RevealSixCardBonus(cards(4)), rounds.ShowHand(seat, cards(2)),
        rounds.ShowHand(seat, cards(2)),
    ]  # fmt: skip
    seldom = [
        rounds.ForfeitWagers(seat, "spoke"), rounds.ReplaceHand(seat, cards(2), "keyed wrongly"), rounds.VoidRound("a drink"),
        rounds.CountStub(model.stub + chance.choice([0, 0, 0, 1]), chance.random() < 0.2), rounds.DealHands("As"),
        rounds.CloseTable(), rounds.RevealDealerHand(cards(4)), rounds.RevealAllSixCard("As"), rounds.DrawMagicCard("As"),
        rounds.DrawLuckyPosition("1"),
    ]  # fmt: skip
    opening = [rounds.OpenTable("mississippi_stud", SEATS, RULES, "p", RULES), rounds.OpenRound()]
    fits = {"over": opening, "betting": betting, "bets are closed": [rounds.DealHands()], "dealt": dealt}[model.phase]
    if model.phase == "dealt" and model.turn is None:
        fits = [rounds.CloseRound()]
    hands = [number for number, each in model.seats.items() if each.shown]
    if model.phase == "dealt" and hands:
        fits = [*fits, rounds.ReplaceHand(chance.choice(hands), cards(2), "keyed wrongly")]
    lot = chance.random()
    return chance.choice(
        fits if lot < 0.8 else seldom if lot < 0.9 else [*betting, *dealt, *opening, rounds.CloseRound()]
    )


NEVER = (rounds.RevealDealerHand, rounds.RevealAllSixCard, rounds.DrawMagicCard, rounds.DrawLuckyPosition)
"""No dealer's hand and no All-Six at this game, and nobody has a wager for which something is drawn."""


@pytest.mark.parametrize("seed", range(GAMES))
def test_the_table_allows_what_the_rules_allow(seed: int) -> None:
    chance, model, state = random.Random(seed), Model(), rounds.INITIAL
    for step in range(STEPS):
        command, actor = drawn(chance, model), chance.choice(["dealer", "floorperson"])
        asking = Asking("table-1", actor, AT_MS + step, BOOK)
        legal = not isinstance(command, NEVER) and model.allows(command, actor)
        where = f"seed {seed}, step {step}: {command} by {actor} at {model}"
        try:
            events = rounds.decide(state, command, asking)
        except Refused as refused:
            assert not legal, f"{where}: refused, {refused.reason}"
            assert refused.reason.endswith("."), where
            after = rounds.evolve(state, rounds.Refused(type(command).__name__, refused.reason, refused.section))
            assert (after.sequence, after.round) == (state.sequence + 1, state.round), f"{where}: a refusal changed it"
            state = after
            continue
        assert legal, f"{where}: allowed"
        assert events, f"{where}: nothing came of it"
        staked = model.staked
        model.takes(command, actor)
        for event in events:
            if isinstance(event, rounds.RoundVoided):
                rows = [row for row in wagers.decide(state, event, asking) if isinstance(row, wagers.WagerSettled)]
                assert {row.result for row in rows} <= {Result.RETURNED}, where
                assert sum(row.returned_cents for row in rows) == staked, f"{where}: not all of it goes back"
            state = rounds.evolve(state, event)
        agrees(state, model, where)


def agrees(state: rounds.State, model: Model, where: str) -> None:
    """What both of them have on the table."""
    assert (state.game is not None) == model.is_open, where
    round_ = state.round
    assert (round_ is None or round_.over) == (model.phase == "over"), where
    if round_ is None or round_.over:
        return
    up = round_.face_up
    assert sorted(up) == sorted(model.cards) and len(set(up)) == len(up), f"{where}: a card twice, or another"
    for number in range(1, SEATS + 1):
        seated, seat = round_.seated(number), model.seat(number)
        standing = {wager.wager: wager.amount_cents for wager in seated.wagers if wager.stands}
        bets = {f"street_{street + 3}": cents for street, cents in enumerate(seat.bets)}
        assert standing == {**seat.wagers, **bets}, where
        assert (seated.folded, seated.forfeited) == (seat.folded, seat.forfeited), where


def test_the_games_go_through_everything() -> None:
    """Else the test above would look at nothing: every command is allowed somewhere, and refused somewhere."""
    allowed, refused = set(), set()
    for seed in range(GAMES):
        chance, model = random.Random(seed), Model()
        for _ in range(STEPS):
            command, actor = drawn(chance, model), chance.choice(["dealer", "floorperson"])
            name = type(command).__name__
            if isinstance(command, NEVER) or not model.allows(command, actor):
                refused.add(name)
            else:
                allowed.add(name)
                model.takes(command, actor)
    names = {kind.__name__ for kind in rounds.PeopleCommand.__args__}
    never = {kind.__name__ for kind in NEVER}
    assert allowed == names - never and refused == names
