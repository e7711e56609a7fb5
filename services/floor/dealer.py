"""The dealer: plays rounds at one table in the order of the regulation, and never asks out of turn."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any

from services.core.cards import DECK
from services.core.games.game import FIVE_CARD_HAND_BONUS, Area
from services.core.names import DEALER, Card, On, Position, RoundId, Seat, TableId, WagerName, words
from services.floor.calls import Answer, Backoff, Failure, Refusal, Services
from services.floor.floorperson import Floorperson
from services.floor.offers import SEATS, Offer
from services.floor.players import Chairs, wishes
from services.floor.round_in_hand import RoundInHand, Seated, taken_over
from services.floor.settings import Settings
from services.floor.shuffle import chance, continued, deal, shuffled
from services.floor.strategies import STRATEGIES

COMMANDS_A_ROUND = 60
"""About as many as a full table needs: the pace is spread over them."""
REVEALS = {Area.SIX_CARD_BONUS: "RevealSixCardBonus", Area.ALL_SIX: "RevealAllSixCard"}
RELEASE_PATIENCE_S = 2.0
OVER = ("closed", "void")
TERMINAL = "terminal"
"""Where the players wager."""


class Voided(Exception):
    """The round in hand is void: nothing more is played in it."""


class Dealer:
    """One table, from opening it to the last round."""

    def __init__(
        self,
        services: Services,
        floorperson: Floorperson,
        settings: Settings,
        number: int,
        offer: Offer,
        stop: asyncio.Event,
    ) -> None:
        self._services, self._floorperson, self._settings, self._stop = services, floorperson, settings, stop
        self._offer = offer
        self._table_number = number
        self.table_id: TableId = f"table-{number}"
        self._actor = f"dealer-{self.table_id}"
        self._chairs = Chairs(services, number, SEATS, settings.leave_rate)
        self._uncounted = settings.stub_every - 1
        self._sequence = 0
        self._number = 0
        self._open_round: RoundId | None = None
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
                await self._chairs.between_rounds(self._chance("chairs"))
                await self._play()
            except (Refusal, Failure) as trouble:
                self._services.unmeant(trouble)
                ready = False
                await self._rest(1.0)
            await self._rest(started + interval_s - asyncio.get_running_loop().time())

    async def abandon(self) -> None:
        """Voids the round in hand, where there is one and no hand of it is shown."""
        if self._open_round is not None:
            await self._do("VoidRound", reason="the floor closes")
            self._services.tally["rounds voided"] += 1

    # The round ------------------------------------------------------------------------------------

    async def _play(self) -> None:
        opened = (await self._do("OpenRound")).named("RoundOpened")[0]
        in_hand = self._begun(opened["round_id"])
        try:
            await self._take_wagers(in_hand)
            await self._deal(in_hand)
            for step in range(len(in_hand.game.streets)):
                await self._play_street(in_hand, step)
            await self._show(in_hand)
            await self._close(in_hand)
            self._over("closed", in_hand.round_id)
        except Voided:
            self._over("voided", in_hand.round_id)

    def _begun(self, round_id: RoundId) -> RoundInHand:
        self._open_round = round_id
        in_hand = RoundInHand(self._offer, round_id)
        in_hand.seats = {seat: Seated(player) for seat, player in sorted(self._chairs.seated.items())}
        self._number = in_hand.number
        random = self._chance("void")
        if random.random() < self._settings.void_rate:
            streets = (street.wager for street in in_hand.game.streets)
            in_hand.void_stage = random.choice(("betting", "dealing", *streets, "showing"))
        return in_hand

    def _over(self, how: str, round_id: RoundId) -> None:
        self._open_round = None
        self._services.tally[f"rounds {how}"] += 1
        self._services.tally[f"rounds of {self._offer.game.title}"] += 1
        self.finished.put_nowait(round_id)

    async def _take_wagers(self, in_hand: RoundInHand) -> None:
        random = self._chance("wagers")
        for seat, seated in in_hand.seats.items():
            player = seated.player
            for wish in wishes(in_hand.game.name, player, random):
                fields: dict[str, Any] = {"wager": wish.wager, "hand": wish.on, "amount_cents": wish.amount_cents}
                if wish.wager == FIVE_CARD_HAND_BONUS:
                    fields["account_id"] = player.account_id
                    player.available_cents -= wish.amount_cents
                try:
                    await self._do("PlaceWager", TERMINAL, seat=seat, **fields, player_id=player.player_id)
                except Refusal as refusal:
                    if not refusal.fails_closed:
                        raise
                    self._services.tally["meant refusals"] += 1
                    continue
                seated.wagers.add((wish.wager, wish.on))
            if random.random() < self._settings.withdraw_rate:
                await self._withdraw(in_hand, seat)
        await self._perhaps_void(in_hand, "betting")
        await self._await_accounts(in_hand)
        closed = await self._do("CloseBetting")
        for declined in closed.named("WagerDeclined"):
            self._decline(in_hand, declined["seat"], declined["wager"], declined["hand"])
        in_hand.lit = frozenset(closed.named("BettingClosed")[0]["lit"])

    async def _withdraw(self, in_hand: RoundInHand, seat: Seat) -> None:
        """The seat takes its last wager from the layout back, where it has one beside the ante."""
        on_layout = [kind.wager for kind, _ in in_hand.staked(seat) if not kind.from_account]
        if on_layout:
            await self._do("WithdrawWager", TERMINAL, seat=seat, wager=on_layout[-1])
            in_hand.seats[seat].wagers.discard((on_layout[-1], On.PLAYER))
            self._services.tally["wagers withdrawn"] += 1

    async def _await_accounts(self, in_hand: RoundInHand) -> None:
        """Waits until no wager is requested any more; what is after the deadline, CloseBetting declines."""
        if not in_hand.live_with(FIVE_CARD_HAND_BONUS):
            return
        backoff = Backoff(self._settings.patience_s, first_s=0.02)
        while True:
            table = await self._services.tables.get(self.table_id)
            states = (
                {
                    (at["seat"], wager["wager"], wager["hand"]): wager["state"]
                    for at in table["round"]["seats"]
                    for wager in at["wagers"]
                }
                if table["sequence"] >= self._sequence
                else {}
            )
            if (states and "requested" not in states.values()) or not await backoff.wait():
                break
        for (seat, wager, on), state in states.items():
            if state == "declined":
                self._decline(in_hand, seat, wager, on)

    def _decline(self, in_hand: RoundInHand, seat: Seat, wager: WagerName, on: str) -> None:
        seated = in_hand.seats[seat]
        if (wager, On(on)) in seated.wagers:
            seated.wagers.discard((wager, On(on)))
            seated.player.available_cents = 0
            self._services.tally["wagers declined"] += 1

    async def _deal(self, in_hand: RoundInHand) -> None:
        await self._perhaps_void(in_hand, "dealing")
        in_hand.cards = deal(self._deck(), in_hand.game, in_hand.seats, in_hand.extras)
        exposed = {"dealer_card": in_hand.cards.dealer[0]} if in_hand.game.dealer_cards else {}
        await self._do("DealHands", **exposed)
        random = self._chance("stub")
        miscount = random.random() < self._settings.miscount_rate
        self._uncounted += 1
        if miscount or self._uncounted >= self._settings.stub_every:
            fields: dict[str, Any] = {"cards": len(in_hand.cards.stub) - miscount}
            if miscount:
                fields["misdealt"] = random.random() < 0.5
            counted = await self._do("CountStub", **fields)
            self._uncounted = 0
            if counted.named("RoundVoided"):
                if not miscount:
                    raise Failure(f"{in_hand.round_id}: void by a count of {fields['cards']}, which is right")
                self._services.tally["wrong counts"] += 1
                raise Voided

    async def _play_street(self, in_hand: RoundInHand, step: int) -> None:
        """The decisions of a street, clockwise, and the cards that follow them where a wager needs any.

        655a.11(b)-(g), 639a.11(b)-(c), 683a.11(b)-(g)
        """
        if not in_hand.needs_table_cards:
            return
        street, face_up = in_hand.game.streets[step].wager, in_hand.face_up(step)
        for seat, seated in in_hand.seats.items():
            if seated.in_play:
                multiple = STRATEGIES[in_hand.game.name](in_hand.cards.hands[seat], face_up, seated.multiples)
                if multiple:
                    await self._do("Bet", seat=seat, multiple=multiple)
                    seated.multiples.append(multiple)
                else:
                    await self._do("Fold", seat=seat)
                    seated.folded = True
        await self._perhaps_talk(in_hand, street)
        await self._perhaps_void(in_hand, street)
        if not in_hand.needs_table_cards:
            return
        if in_hand.game.community_cards:
            await self._do("RevealCommunityCard", card=in_hand.cards.community[step])
        if in_hand.game.dealer_cards and step == len(in_hand.game.streets) - 1:
            await self._do("RevealDealerHand", cards=in_hand.cards.dealer[1:])

    async def _perhaps_talk(self, in_hand: RoundInHand, street: WagerName) -> None:
        """Somebody speaks of a hand, in a game that has a rule against it. 655a.11(a)(3)"""
        random = self._chance(f"talk on {street}")
        talks = random.random() < self._settings.talk_rate / len(in_hand.game.streets)
        if talks and in_hand.live and in_hand.game.sections.forfeit is not None:
            seat = random.choice(in_hand.live)
            await self._do("ForfeitWagers", seat=seat, reason="spoke of the hand")
            in_hand.seats[seat].forfeited = True
            self._services.tally["forfeits"] += 1

    async def _perhaps_void(self, in_hand: RoundInHand, stage: str) -> None:
        if in_hand.void_stage == stage:
            await self._do("VoidRound", reason=f"card exposed at {words(stage)}")
            raise Voided

    async def _show(self, in_hand: RoundInHand) -> None:
        await self._perhaps_void(in_hand, "showing")
        await self._settle(in_hand)

    async def _settle(self, in_hand: RoundInHand) -> None:
        """The draws, the cards of optional wagers, then the hands counterclockwise. 655a.11(h)-(i), 639a.11(c)"""
        for command, fields in self._draws(in_hand):
            if command not in in_hand.drawn:
                await self._do(command, **fields)
        for seat in reversed(in_hand.live):
            shown = await self._do("ShowHand", seat=seat, cards=in_hand.cards.hands[seat])
            in_hand.seats[seat].shown = True
            in_hand.awaited.update({each["claim_id"]: each["documents"] for each in shown.named("PayoutAwaited")})

    def _draws(self, in_hand: RoundInHand) -> list[tuple[str, dict[str, Any]]]:
        """What comes out for optional wagers before the hands are shown: draws of the system, and extra cards."""
        draws: list[tuple[str, dict[str, Any]]] = []
        if in_hand.live_with(FIVE_CARD_HAND_BONUS):
            random = self._chance("draws")
            positions: list[Position] = [str(seat) for seat in range(1, SEATS + 1)]
            positions += [DEALER] if in_hand.game.dealer_cards else []
            draws.append(("DrawMagicCard", {"card": random.choice(DECK)}))
            draws.append(("DrawLuckyPosition", {"position": random.choice(positions)}))
        for kind in in_hand.game.optional:
            if kind.extra_area is not None and in_hand.live_with(kind.wager):
                cards = in_hand.cards.extra[kind.extra_area]
                draws.append(
                    (REVEALS[kind.extra_area], {"card": cards[0]} if kind.extra_cards == 1 else {"cards": cards})
                )
        return draws

    async def _close(self, in_hand: RoundInHand) -> None:
        if in_hand.awaited or in_hand.envy:
            await self._floorperson.attend(self._offer.progressive_id, in_hand.round_id, in_hand.awaited, in_hand.envy)
        releases = sum(2 if documents else 1 for documents in in_hand.awaited.values())
        await self._await_releases(self._sequence + releases if releases else 0)
        await self._close_round(released_later=bool(in_hand.awaited))

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
        self._offer, left = await self._floorperson.open_table(self.table_id, self._offer)
        if left is None:
            return
        round_id = left["round_id"]
        self._open_round, self._number = None, taken_over(self._offer, left).number
        if left["state"] not in OVER:
            try:
                await self._do("VoidRound", reason="left open by an earlier shift")
                self._over("voided", round_id)
            except Refusal:
                self._services.tally["meant refusals"] += 1
                await self._finish(left)
                self._over("closed", round_id)
        elif left["state"] == "closed":
            await self._floorperson.attend(self._offer.progressive_id, round_id, (), 0)

    async def _finish(self, left: dict[str, Any]) -> None:
        """Ends a round of which hands are shown: it can not be void any more.

        A command of the earlier floor may still be on its way, or a payout on its way to the floorperson, so refusals
        are meant here, and the table is looked at anew after each.
        """
        backoff = Backoff(self._settings.patience_s)
        while True:
            in_hand = taken_over(self._offer, left)
            in_hand.cards = continued(in_hand.cards, self._deck(), in_hand.game, in_hand.seats.keys(), in_hand.extras)
            try:
                await self._settle(in_hand)
                await self._floorperson.attend(
                    self._offer.progressive_id, in_hand.round_id, in_hand.awaited, in_hand.envy
                )
                await self._do("CloseRound")
                return
            except Refusal:
                if not await backoff.wait():
                    raise
                self._services.tally["meant refusals"] += 1
            left = (await self._services.tables.get(self.table_id))["round"]

    # Small things ---------------------------------------------------------------------------------

    def _chance(self, what: str) -> Random:
        """Randomness of one kind in the round in hand, or after the last one."""
        return chance(self._settings.seed, self.table_id, self._number, what)

    def _deck(self) -> tuple[Card, ...]:
        return shuffled(self._settings.seed, self.table_id, self._number)

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
