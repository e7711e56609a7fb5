"""The dealer: plays rounds at one table in the order of the regulation, and never asks out of turn."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from services.core.cards import DECK
from services.core.hands import met
from services.core.names import Card, ClaimId, Multiple, ProgressiveId, RoundId, RulesId, Seat, TableId, WagerName
from services.floor.calls import Answer, Backoff, Failure, Refusal, Services
from services.floor.floorperson import SEATS, Floorperson
from services.floor.players import Chairs, Player, decide, wishes
from services.floor.settings import Settings
from services.floor.shuffle import Deal, chance, deal, shuffled

COMMANDS_A_ROUND = 60
"""About as many as a full table needs: the pace is spread over them."""
STREETS = ("3rd street", "4th street", "5th street")
VOID_STAGES = ("betting", "dealing", *STREETS, "showing")
RELEASE_PATIENCE_S = 2.0
OVER = ("closed", "void")
PLAYER = "player"


class Voided(Exception):
    """The round in hand is void: nothing more is played in it."""


@dataclass(slots=True)
class Seated:
    """A seat in the round in hand, as the dealer sees it."""

    player: Player
    wagers: set[WagerName] = field(default_factory=set)
    multiples: list[Multiple] = field(default_factory=list)
    folded: bool = False
    forfeited: bool = False

    @property
    def in_play(self) -> bool:
        return not self.folded and not self.forfeited

    @property
    def live(self) -> bool:
        """Whether a wager is left to settle: every optional one outlives a fold. 655a.11(b)"""
        return not self.forfeited and (not self.folded or bool(self.wagers - {"ante"}))


@dataclass(slots=True)
class Hand:
    """The round in hand."""

    round_id: RoundId
    number: int
    void_stage: str | None
    seats: dict[Seat, Seated] = field(default_factory=dict)
    lit: frozenset[Seat] = frozenset()
    cards: Deal = field(default_factory=lambda: Deal({}, (), (), ()))
    shown: list[Seat] = field(default_factory=list)
    awaited: dict[ClaimId, bool] = field(default_factory=dict)
    """The claims that hold the round open, and whether each needs a document."""

    def live_with(self, wager: WagerName) -> bool:
        return any(seated.live and wager in seated.wagers for seated in self.seats.values())

    @property
    def live(self) -> list[Seat]:
        return sorted(seat for seat, seated in self.seats.items() if seated.live)

    @property
    def envy(self) -> int:
        """How many Envy Bonuses the hands that were shown earn: each for every other player with a light."""
        earning = {seat for seat in self.lit if not self.seats[seat].forfeited}
        made = {seat: met(self.cards.hands[seat] + self.cards.community) for seat in self.shown}
        return sum(len(earning - {seat}) for seat, hands in made.items() if "straight_flush" in hands)


class Dealer:
    """One table, from opening it to the last round."""

    def __init__(
        self,
        services: Services,
        floorperson: Floorperson,
        settings: Settings,
        number: int,
        rules: RulesId,
        progressive_id: ProgressiveId,
        stop: asyncio.Event,
    ) -> None:
        self._services, self._floorperson, self._settings, self._stop = services, floorperson, settings, stop
        self._rules, self._progressive_id = rules, progressive_id
        self._table_number = number
        self.table_id: TableId = f"table-{number}"
        self._actor = f"dealer-{self.table_id}"
        self._chairs = Chairs(services, number, SEATS, settings.leave_rate)
        self._uncounted = settings.stub_every - 1
        self._sequence = 0
        self._number = 0
        self._in_hand: RoundId | None = None
        self.finished: asyncio.Queue[RoundId] = asyncio.Queue()

    async def run(self, take: Callable[[], bool]) -> None:
        """Plays while `take` grants another round and nobody stops it."""
        interval_s = 60 / self._settings.pace if self._settings.pace else 0.0
        # Tables that start together would also close together, and the display would move in jerks.
        await self._rest(interval_s * (self._table_number - 1) / max(self._settings.tables, 1))
        ready = False
        while not self._stop.is_set() and take():
            started = asyncio.get_running_loop().time()
            try:
                if not ready:
                    await self._take_over()
                ready = True
                await self._chairs.between_rounds(self._chance(self._number + 1, "chairs"))
                await self._play()
            except (Refusal, Failure) as trouble:
                self._services.unmeant(trouble)
                ready = False
                await self._rest(1.0)
            await self._rest(started + interval_s - asyncio.get_running_loop().time())

    async def abandon(self) -> None:
        """Voids the round in hand, where there is one and no hand of it is shown."""
        if self._in_hand is not None:
            await self._do("VoidRound", reason="the floor closes")
            self._services.tally["rounds voided"] += 1

    # The round ------------------------------------------------------------------------------------

    async def _play(self) -> None:
        opened = (await self._do("OpenRound")).named("RoundOpened")[0]
        hand = self._hand(opened["round_id"])
        try:
            await self._take_wagers(hand)
            await self._deal(hand)
            for street in range(len(STREETS)):
                await self._play_street(hand, street)
            await self._show(hand)
            await self._close(hand)
            self._services.tally["rounds closed"] += 1
        except Voided:
            self._services.tally["rounds voided"] += 1
        self._in_hand = None
        self.finished.put_nowait(hand.round_id)

    def _hand(self, round_id: RoundId) -> Hand:
        self._in_hand, self._number = round_id, _number(round_id)
        random = self._chance(self._number, "void")
        voids = random.random() < self._settings.void_rate
        seats = {seat: Seated(player) for seat, player in sorted(self._chairs.seated.items())}
        return Hand(round_id, self._number, random.choice(VOID_STAGES) if voids else None, seats)

    async def _take_wagers(self, hand: Hand) -> None:
        random = self._chance(hand.number, "wagers")
        for seat, seated in hand.seats.items():
            player = seated.player
            for wager, amount_cents in wishes(player, random):
                fields: dict[str, Any] = {"seat": seat, "wager": wager, "amount_cents": amount_cents}
                if wager == "five_card_hand_bonus":
                    fields["account_id"] = player.account_id
                    player.available_cents -= amount_cents
                await self._do("PlaceWager", PLAYER, **fields, player_id=player.player_id)
                seated.wagers.add(wager)
            if "three_card_bonus" in seated.wagers and random.random() < self._settings.withdraw_rate:
                await self._do("WithdrawWager", PLAYER, seat=seat, wager="three_card_bonus")
                seated.wagers.discard("three_card_bonus")
                self._services.tally["wagers withdrawn"] += 1
        await self._perhaps_void(hand, "betting")
        await self._await_accounts(hand)
        closed = await self._do("CloseBetting")
        for declined in closed.named("WagerDeclined"):
            self._decline(hand, declined["seat"], declined["wager"])
        hand.lit = frozenset(closed.named("BettingClosed")[0]["lit"])

    async def _await_accounts(self, hand: Hand) -> None:
        """Waits until no wager is requested any more; what is after the deadline, CloseBetting declines."""
        if not any("five_card_hand_bonus" in seated.wagers for seated in hand.seats.values()):
            return
        backoff = Backoff(self._settings.patience_s, first_s=0.02)
        while True:
            table = await self._services.tables.get(self.table_id)
            states = (
                {
                    (at["seat"], wager["wager"]): wager["state"]
                    for at in table["round"]["seats"]
                    for wager in at["wagers"]
                }
                if table["sequence"] >= self._sequence
                else {}
            )
            if (states and "requested" not in states.values()) or not await backoff.wait():
                break
        for (seat, wager), state in states.items():
            if state == "declined":
                self._decline(hand, seat, wager)

    def _decline(self, hand: Hand, seat: Seat, wager: WagerName) -> None:
        if wager in hand.seats[seat].wagers:
            hand.seats[seat].wagers.discard(wager)
            hand.seats[seat].player.available_cents = 0
            self._services.tally["wagers declined"] += 1

    async def _deal(self, hand: Hand) -> None:
        await self._perhaps_void(hand, "dealing")
        await self._do("DealHands")
        hand.cards = self._cards(hand.number, list(hand.seats), hand.live_with("six_card_bonus"))
        random = self._chance(hand.number, "stub")
        miscount = random.random() < self._settings.miscount_rate
        self._uncounted += 1
        if miscount or self._uncounted >= self._settings.stub_every:
            fields: dict[str, Any] = {"cards": len(hand.cards.stub) - miscount}
            if miscount:
                fields["misdealt"] = random.random() < 0.5
            counted = await self._do("CountStub", **fields)
            self._uncounted = 0
            if counted.named("RoundVoided"):
                if not miscount:
                    raise Failure(f"{hand.round_id}: void by a count of {fields['cards']}, which is right")
                self._services.tally["wrong counts"] += 1
                raise Voided

    async def _play_street(self, hand: Hand, street: int) -> None:
        """The decisions of a street, clockwise, and its community card. 655a.11(b)-(g)"""
        if not hand.live:
            return
        community = hand.cards.community[:street]
        for seat, seated in hand.seats.items():
            if seated.in_play:
                multiple = decide(hand.cards.hands[seat], community, seated.multiples)
                if multiple:
                    await self._do("Bet", seat=seat, multiple=multiple)
                    seated.multiples.append(multiple)
                else:
                    await self._do("Fold", seat=seat)
                    seated.folded = True
        await self._perhaps_talk(hand, street)
        await self._perhaps_void(hand, STREETS[street])
        if hand.live:
            await self._do("RevealCommunityCard", card=hand.cards.community[street])

    async def _perhaps_talk(self, hand: Hand, street: int) -> None:
        random = self._chance(hand.number, f"talk on {STREETS[street]}")
        if hand.live and random.random() < self._settings.talk_rate / len(STREETS):
            seat = random.choice(hand.live)
            await self._do("ForfeitWagers", seat=seat, reason="spoke of the hand")
            hand.seats[seat].forfeited = True
            self._services.tally["forfeits"] += 1

    async def _perhaps_void(self, hand: Hand, stage: str) -> None:
        if hand.void_stage == stage:
            await self._do("VoidRound", reason=f"card exposed at {stage}")
            raise Voided

    async def _show(self, hand: Hand) -> None:
        """The draws, the Six Card Bonus, then the hands counterclockwise. 655a.11(h)-(i)"""
        await self._perhaps_void(hand, "showing")
        if hand.live_with("five_card_hand_bonus"):
            magic_card, position = self._draws(hand.number)
            await self._do("DrawMagicCard", card=magic_card)
            await self._do("DrawLuckyPosition", position=position)
        if hand.live_with("six_card_bonus"):
            await self._do("RevealSixCardBonus", cards=hand.cards.six)
        for seat in reversed(hand.live):
            shown = await self._do("ShowHand", seat=seat, cards=hand.cards.hands[seat])
            hand.shown.append(seat)
            hand.awaited.update({each["claim_id"]: each["documents"] for each in shown.named("PayoutAwaited")})

    async def _close(self, hand: Hand) -> None:
        if hand.awaited or hand.envy:
            await self._floorperson.attend(self._progressive_id, hand.round_id, hand.awaited, hand.envy)
        releases = sum(2 if documents else 1 for documents in hand.awaited.values())
        await self._await_releases(self._sequence + releases if releases else 0)
        await self._close_round(released_later=bool(hand.awaited))

    async def _await_releases(self, sequence: int) -> None:
        """Waits until the table heard of the floorperson's steps, so that closing is seldom asked too early."""
        backoff = Backoff(RELEASE_PATIENCE_S, first_s=0.02)
        while sequence and (await self._services.tables.get(self.table_id))["sequence"] < sequence:
            if not await backoff.wait():
                return

    async def _close_round(self, released_later: bool) -> None:
        backoff = Backoff(self._settings.patience_s)
        while True:
            try:
                await self._do("CloseRound")
                return
            except Refusal:
                if not released_later or not await backoff.wait():
                    raise
                self._services.tally["meant refusals"] += 1

    # A table that is not fresh --------------------------------------------------------------------

    async def _take_over(self) -> None:
        """Opens the table, or ends the round that an earlier floor, or trouble, left open there."""
        table = await self._floorperson.open_table(self.table_id, self._rules, self._progressive_id)
        self._progressive_id = table["progressive_id"]
        left = table["round"]
        if left is None:
            return
        round_id = left["round_id"]
        self._in_hand, self._number = None, _number(round_id)
        if left["state"] not in OVER:
            try:
                await self._do("VoidRound", reason="left open by an earlier shift")
                self._services.tally["rounds voided"] += 1
            except Refusal:
                self._services.tally["meant refusals"] += 1
                await self._finish(left)
                self._services.tally["rounds closed"] += 1
            self.finished.put_nowait(round_id)
        elif left["state"] == "closed":
            await self._floorperson.attend(self._progressive_id, round_id, (), 0)

    async def _finish(self, left: dict[str, Any]) -> None:
        """Ends a round of which hands are shown: it can not be void any more.

        The read does not tell whose hand was shown, and another seed dealt other cards, so refusals are meant here.
        """
        round_id = left["round_id"]
        wagered = {at["seat"]: _standing(at) for at in left["seats"] if "ante" in _standing(at)}
        six = any("six_card_bonus" in wagers for wagers in wagered.values())
        cards = self._cards(self._number, list(wagered), six)
        ours = cards.community[: len(left["community"])] == tuple(left["community"])
        random = self._chance(self._number, "unknown cards")
        backoff = Backoff(self._settings.patience_s)
        while True:
            if not ours:
                unseen = [card for card in DECK if card not in left["community"]]
                random.shuffle(unseen)
                cards = deal(unseen, list(wagered), six_card_bonus=True)
            await self._settle_again(cards)
            await self._floorperson.attend(self._progressive_id, round_id, (), 0)
            try:
                await self._do("CloseRound")
                return
            except Refusal:
                if not await backoff.wait():
                    raise
                self._services.tally["meant refusals"] += 1

    async def _settle_again(self, cards: Deal) -> None:
        magic_card, position = self._draws(self._number)
        steps: list[tuple[str, dict[str, Any]]] = [
            ("DrawMagicCard", {"card": magic_card}),
            ("DrawLuckyPosition", {"position": position}),
        ]
        if cards.six:
            steps.append(("RevealSixCardBonus", {"cards": cards.six}))
        counterclockwise = sorted(cards.hands, reverse=True)
        steps += [("ShowHand", {"seat": seat, "cards": cards.hands[seat]}) for seat in counterclockwise]
        for command, fields in steps:
            try:
                await self._do(command, **fields)
            except Refusal:
                self._services.tally["meant refusals"] += 1

    # Small things ---------------------------------------------------------------------------------

    def _chance(self, number: int, what: str) -> Random:
        return chance(self._settings.seed, self.table_id, number, what)

    def _cards(self, number: int, seats: list[Seat], six: bool) -> Deal:
        return deal(shuffled(self._settings.seed, self.table_id, number), seats, six_card_bonus=six)

    def _draws(self, number: int) -> tuple[Card, Seat]:
        random = self._chance(number, "draws")
        return random.choice(DECK), random.randint(1, SEATS)

    async def _do(self, command: str, actor: str | None = None, **fields: Any) -> Answer:
        """A command at this table, after the breath that the pace leaves."""
        if self._settings.pace:
            await self._rest(60 / self._settings.pace / COMMANDS_A_ROUND)
        answer = await self._services.tables.command(self.table_id, actor or self._actor, command, **fields)
        self._sequence = answer.sequence
        return answer

    async def _rest(self, seconds: float) -> None:
        if seconds > 0 and not self._stop.is_set():
            try:
                async with asyncio.timeout(seconds):
                    await self._stop.wait()
            except TimeoutError:
                pass


def _number(round_id: RoundId) -> int:
    return int(round_id.rpartition("-")[2])


def _standing(at: dict[str, Any]) -> set[WagerName]:
    return {wager["wager"] for wager in at["wagers"] if wager["state"] in ("placed", "accepted")}
