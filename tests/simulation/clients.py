"""Who plays: dealers at their tables, floorpersons, the office, the cage. Each looks at the log and asks what may come next.

Hands are keyed so that what is rare in play is common here. A client that hears nothing asks again, with the same id or
with another; and now and then it asks twice for no reason, at two instances at once.
"""

import asyncio
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from services.core import accounts, jackpots, rounds
from services.core.cards import DECK
from services.core.games.game import ANTE, FIVE_CARD_HAND_BONUS, PROGRESSIVE, Area
from services.core.jackpots import ClaimState
from services.core.names import DEALER, Card, On, Source
from services.core.rounds.table import Phase, Round, Table, game_of, has_live, next_to_show, undecided
from services.core.rules import Submission
from services.runtime.desk import Answer
from services.wire.records import Asked
from tests.simulation.house import House
from tests.simulation.loop import Process

PATIENCE_SECONDS = 1.5
SEATS = (1, 2, 3)
RANKS = "AKQJT98765432"


@dataclass(frozen=True)
class Deal:
    """A table's game, and the progressive that it is linked to."""

    game: str
    rules: str
    progressive: str | None


DEALS = (
    Deal("mississippi_stud", "demo-mississippi-stud", "meter"),
    Deal("mississippi_stud", "near-limit-mississippi-stud-c", "levels"),
    Deal("caribbean_stud", "demo-caribbean-stud", "stud"),
    Deal("cajun_stud", "demo-cajun-stud", None),
)


class Client:
    """Somebody at a terminal. `told` is what was answered, by the id of the command."""

    def __init__(self, house: House, name: str, told: dict[str, Answer], left: "Left") -> None:
        self.house, self.name, self.told, self.left = house, name, told, left
        self.chance = Random(f"{house.seed} {name}")
        self.numbers = itertools.count(1)
        self.past: list[tuple[str, str, Asked]] = []

    async def do(self, stream: str, key: str, command: Any, actor: str) -> None:
        """Asks for one thing until it is answered, or there is no patience left."""
        await asyncio.sleep(self.chance.uniform(0, 0.05))
        if self.past and self.chance.random() < 0.15:
            # Somebody's terminal comes back with what it asked long ago.
            self._ask(*self.chance.choice(self.past))
        command_id = f"{self.name}-{next(self.numbers)}"
        while self.left.take():
            asked = Asked(command_id, actor, sha256(command_id.encode()).digest(), command)
            self.past.append((stream, key, asked))
            if self.chance.random() < 0.05:
                self._ask(stream, key, asked)
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    answer = await self._ask(stream, key, asked)
            except TimeoutError:
                answer = None
            if answer is not None:
                return
            await asyncio.sleep(self.chance.uniform(0.05, 0.3))
            again = self.chance.random()
            if again < 0.15:
                command_id += "-another"  # whoever does not know of idempotency
            elif again < 0.3:
                return

    def _ask(self, stream: str, key: str, asked: Asked) -> "asyncio.Future[Answer | None]":
        answered: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()

        def take(answer: Answer | None) -> None:
            if answer is not None:
                first = self.told.setdefault(asked.command_id, answer)
                same = (first.status, first.body) == (answer.status, answer.body)
                assert same, f"{asked.command_id} was answered {first} and then {answer}"
            if not answered.done():
                answered.set_result(answer)

        if not self.house.ask(stream, key, asked, take):
            take(None)
        return answered

    def state(self, stream: str, key: str) -> Any:
        """A key as its log has it; None where it has no record."""
        known = self.house.auditor.keys.get((stream, key))
        return None if known is None else known.state


class Left:
    """How many commands of all clients are still to come."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def take(self) -> bool:
        """Whether there is one more."""
        self.steps -= 1
        return self.steps >= 0


class Dealer(Client):
    """One table, from opening it on."""

    def __init__(self, house: House, table_id: str, deal: Deal, told: dict[str, Answer], left: Left) -> None:
        super().__init__(house, f"dealer-{table_id}", told, left)
        self.table_id, self.deal = table_id, deal

    async def play(self) -> None:
        """Asks for what comes next, and now and then for what does not."""
        if self.deal.progressive is not None:
            await self.do("jackpots", f"{self.deal.progressive}-1", jackpots.OpenProgressive(self.deal.rules), "office")
        while self.left.steps > 0:
            table = self.state("rounds", self.table_id) or rounds.INITIAL
            actor = "floor" if self.chance.random() < 0.1 else self.name
            await self.do("rounds", self.table_id, self._next(table), actor)

    def _next(self, table: Table) -> Any:
        if table.game is None:
            progressive = None if self.deal.progressive is None else f"{self.deal.progressive}-{self._open_one()}"
            return rounds.OpenTable(self.deal.game, len(SEATS), self.deal.rules, progressive)
        round_ = table.round
        if round_ is None or round_.over:
            return rounds.CloseTable() if self.chance.random() < 0.1 else rounds.OpenRound()
        if self.chance.random() < 0.03:
            return rounds.VoidRound("alarm")
        if self.chance.random() < 0.02:
            return rounds.CloseRound()  # out of turn, most of the time
        match round_.phase:
            case Phase.BETTING:
                return self._wager(table, round_)
            case Phase.DEALING:
                card = self._cards(round_, 1)[0] if game_of(round_).dealer_cards else None
                return rounds.DealHands(card)
            case Phase.DECIDING:
                return self._decide(round_)
            case _:
                return self._settle(table, round_)

    def _open_one(self) -> int:
        first = self.state("jackpots", f"{self.deal.progressive}-1")
        return 1 if first is None or first.end is None else 2

    # Betting --------------------------------------------------------------------------------------------

    def _rules(self, round_: Round) -> Submission:
        return self.house.book.by_sha256(round_.rules_sha256)

    def _wager(self, table: Table, round_: Round) -> Any:
        seat = self.chance.choice(SEATS)
        seated = round_.seated(seat)
        made = sum(each.holds_place for one in round_.seats for each in one.wagers)
        if made > 3 and self.chance.random() < 0.35:
            return rounds.CloseBetting()
        player = f"player-{self.chance.choice((seat, seat, seat, 1))}"
        if seated.ante is None:
            return rounds.PlaceWager(seat, ANTE, 100 * self.chance.randint(5, 12), player)
        if self.chance.random() < 0.06:
            return rounds.WithdrawWager(seat, self.chance.choice([each.wager for each in seated.wagers]))
        wanted = [kind for kind in game_of(round_).optional if kind.wager != PROGRESSIVE or table.progressive_id]
        kind = self.chance.choice([*wanted, *(each for each in wanted if each.wager == PROGRESSIVE)])
        hand = On.DEALER if On.DEALER in kind.sees and self.chance.random() < 0.3 else On.PLAYER
        fixed = kind.wager in (PROGRESSIVE, FIVE_CARD_HAND_BONUS)
        amount = 100 if fixed else self.chance.choice((100, 200, 300))
        owner = seated.player_id or player
        account = f"account-{owner}" if kind.wager == FIVE_CARD_HAND_BONUS else None
        return rounds.PlaceWager(seat, kind.wager, amount, owner, account, hand)

    # Cards ----------------------------------------------------------------------------------------------

    def _cards(self, round_: Round, count: int, but: Iterable[Card] = ()) -> tuple[Card, ...]:
        """Cards that nobody has seen, with a leaning towards the best hands."""
        seen = {*round_.face_up, *but}
        fresh = [card for card in DECK if card not in seen]
        theme = Random(f"{self.house.seed} {round_.round_id}")
        suit, high = theme.choice("shdc"), theme.choice((0, 0, 5, 7))
        run = [f"{rank}{suit}" for rank in RANKS[high : high + 5]]
        if len(round_.community) >= 3 or count > 1:
            if count == 5:
                suit = self.chance.choice("shdc")
                run = [f"{rank}{suit}" for rank in RANKS[high : high + 5]]
            wanted = [card for card in run if card in fresh]
            quads = [card for card in fresh if round_.community and card[0] == round_.community[0][0]]
            for hand in (wanted, quads):
                if len(hand) >= count and self.chance.random() < 0.6:
                    return tuple(hand[-count:])
        elif round_.community or self.chance.random() < 0.8:
            # The layout shows the best of the run, or three of a kind.
            same = [card for card in fresh if round_.community and card[0] == round_.community[0][0]]
            trips = theme.random() < 0.25
            wanted = same if trips and same else [card for card in run if card in fresh]
            if wanted:
                return (wanted[0],)
        return tuple(self.chance.sample(fresh, count))

    # Deciding and settling --------------------------------------------------------------------------------

    def _decide(self, round_: Round) -> Any:
        game = game_of(round_)
        if not round_.stub_counted and self.chance.random() < 0.04:
            wrong = self.chance.random() < 0.2
            return rounds.CountStub((round_.stub_cards or 0) - wrong, wrong and self.chance.random() < 0.5)
        due = undecided(round_)
        if due:
            draw = self.chance.random()
            if draw < 0.15:
                return rounds.Fold(due[0])
            if draw < 0.19:
                return rounds.ForfeitWagers(due[0], "spoke of the hand")
            return rounds.Bet(due[0], self.chance.choice(self._rules(round_).multiples))
        if len(round_.community) < game.community_cards:
            return rounds.RevealCommunityCard(self._cards(round_, 1)[0])
        return rounds.RevealDealerHand(self._cards(round_, game.dealer_cards - 1))

    def _settle(self, table: Table, round_: Round) -> Any:
        game = game_of(round_)
        shown = [each for each in round_.seats if each.cards]
        if shown and self.chance.random() < 0.12:
            seated = self.chance.choice(shown)
            others = tuple(card for card in round_.face_up if card not in seated.cards)
            cards = self._cards(round_, game.own_cards, others)
            return rounds.ReplaceHand(seated.seat, cards, "keyed wrongly")
        if any(has_live(round_, each, FIVE_CARD_HAND_BONUS) for each in round_.seats):
            if round_.magic_card is None and FIVE_CARD_HAND_BONUS in self._rules(round_).bonuses:
                return rounds.DrawMagicCard(self.chance.choice(round_.face_up or DECK))
            if round_.lucky_position is None:
                return rounds.DrawLuckyPosition(
                    self.chance.choice([*map(str, SEATS), DEALER][: 3 + bool(round_.dealer)])
                )
        for kind in game.optional:
            wanted = any(has_live(round_, each, kind.wager) for each in round_.seats)
            if kind.extra_area is not None and wanted and not round_.extra(kind.extra_area):
                cards = self._cards(round_, kind.extra_cards)
                if kind.extra_area is Area.ALL_SIX:
                    return rounds.RevealAllSixCard(cards[0])
                return rounds.RevealSixCardBonus(cards)
        seat = next_to_show(round_)
        if seat is not None:
            return rounds.ShowHand(seat, self._cards(round_, game.own_cards))
        return rounds.CloseRound()


class Floorperson(Client):
    """Sees to the claims and Envy Bonuses of a progressive."""

    async def attend(self, progressive: str) -> None:
        """Takes the next step of whatever waits, or a step back."""
        while self.left.steps > 0:
            await asyncio.sleep(self.chance.uniform(0.05, 0.4))
            for key in (f"{progressive}-1", f"{progressive}-2"):
                state = self.state("jackpots", key)
                if state is not None:
                    command = self._next(state)
                    if command is not None:
                        await self.do("jackpots", key, command, self.chance.choice(("ruth", "omar")))

    def _next(self, state: jackpots.State) -> Any:
        due = [each for bonuses in state.envy.values() for each in bonuses]
        if due and self.chance.random() < 0.5:
            bonus = self.chance.choice(due)
            return jackpots.PayEnvy(bonus.round_id, bonus.recipient_seat)
        if not state.claims:
            return None
        claim_id = self.chance.choice(list(state.claims))
        claim = state.claims[claim_id]
        draw = self.chance.random()
        if draw < 0.08:
            return jackpots.RejectPayout(claim_id, "no such hand")
        if draw < 0.14:
            return jackpots.VoidSlip(claim_id, "torn")
        if draw < 0.2:
            return jackpots.SignPayout(claim_id)
        if claim.step is ClaimState.HIT:
            return jackpots.ValidatePayout(claim_id)
        if claim.step is ClaimState.VALIDATED and claim.claimed.source is Source.HAND_PAY:
            return jackpots.DocumentPayout(claim_id, "slip")
        return jackpots.PayPayout(claim_id)


class Office(Client):
    """Changes the parameters of a progressive, and closes it into another."""

    async def mind(self, deal: Deal) -> None:
        """Does now and then what an office does."""
        one, other = f"{deal.progressive}-1", f"{deal.progressive}-2"
        opened = self.chance.random() < 0.6
        if opened:
            await self.do("jackpots", other, jackpots.OpenProgressive(deal.rules), "office")
        while self.left.steps > 0:
            await asyncio.sleep(self.chance.uniform(0.3, 4.0))
            state = self.state("jackpots", one)
            if state is None or not state.levels:
                continue
            if opened and self.chance.random() < 0.2:
                command: Any = jackpots.CloseProgressive(other)
            elif state.changes and self.chance.random() < 0.7:
                change = self.chance.choice(state.changes)
                approve = self.chance.random() < 0.8
                command = (
                    jackpots.ApproveParameters(change.number)
                    if approve
                    else jackpots.DropParameters(change.number, "no")
                )
            else:
                command = self._proposal(state)
            await self.do("jackpots", one, command, self.chance.choice(("office", "vera")))

    def _proposal(self, state: jackpots.State) -> jackpots.ChangeParameters:
        level = self.chance.choice(state.levels)
        name, value = self.chance.choice(
            (
                ("rate_ppm", self.chance.randint(0, 400_000)),
                ("hidden_rate_ppm", self.chance.randint(0, 50_000)),
                ("limit_cents", level.meter.value // 1_000_000 + self.chance.randint(1, 500)),
                ("reset_cents", max(1, level.terms.reset // 1_000_000 + self.chance.randint(-300, 300))),
            )
        )
        return jackpots.ChangeParameters(level.name, "the office thinks so", **{name: value})


class Cage(Client):
    """Opens the game accounts of the players, takes and gives money."""

    async def serve(self) -> None:
        """Money comes and goes."""
        players = [f"player-{seat}" for seat in SEATS]
        for player in players:
            await self.do("accounts", f"account-{player}", accounts.OpenAccount(player), "cage")
            await self.do("accounts", f"account-{player}", accounts.Deposit(400, f"{player} comes"), "cage")
        while self.left.steps > 0:
            await asyncio.sleep(self.chance.uniform(0.3, 2.0))
            account = f"account-{self.chance.choice(players)}"
            amount, reference = 100 * self.chance.randint(1, 5), f"{self.name}-{self.chance.randint(1, 30)}"
            kind = accounts.Deposit if self.chance.random() < 0.7 else accounts.Withdraw
            await self.do("accounts", account, kind(amount, reference), "cage")


def begin(house: House, steps: int) -> tuple[dict[str, Answer], list["asyncio.Task[Any]"]]:
    """Lets everybody begin; gives what they are told, and their tasks. They leave off after so many commands."""
    told: dict[str, Answer] = {}
    left = Left(steps)
    deals = house.chance.choices(DEALS, k=2)
    people: list[Any] = [Cage(house, "cage", told, left).serve()]
    for number, deal in enumerate(deals, 1):
        people.append(Dealer(house, f"table-{number}", deal, told, left).play())
    for deal in {deal.progressive: deal for deal in deals if deal.progressive is not None}.values():
        people.append(Floorperson(house, f"floor-{deal.progressive}", told, left).attend(str(deal.progressive)))
        people.append(Office(house, f"office-{deal.progressive}", told, left).mind(deal))
    process = Process("clients")
    return told, [house.loop.spawn(process, each) for each in people]
