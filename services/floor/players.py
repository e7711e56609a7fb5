"""Players: where they sit, what they wager, how they decide, and their game accounts.

They decide by the Mississippi Stud strategy published by Michael Shackleford at wizardofodds.com. High cards (jack to
ace) count two points, middle cards (6 to 10) one, low cards (2 to 5) none; the first line that fits decides.

3rd Street, two cards: 3x with any pair; 1x with two points; 1x with 6-5 suited; else fold.
4th Street, three cards: 3x with a pair of 6s or better, a royal flush draw, a straight flush draw without a gap from
5-6-7 up, with one gap and a high card, or with two gaps and two high cards; 1x with any other three suited cards, a low
pair, three points, a straight draw without a gap from 4-5-6 up, or with one gap and two middle cards; else fold.
5th Street, four cards: 3x with a pair of 6s or better, four to a flush, or four to an outside straight, 8 high or
better; 1x with any other straight draw, a low pair, four points, or three middle cards after a 3x wager; else fold.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from services.core.cards import rank_value
from services.core.names import AccountId, Card, Multiple, PlayerId, Seat, WagerName
from services.floor.calls import Refusal, Services

SIX, TEN, JACK, ACE = 6, 10, 11, 14
PLAYERS_KNOWN = 24
"""How many regulars a table has; a chair that is left is taken by another of them."""
CAGE = "cage"
LOW_CENTS, HIGH_CENTS = 500, 5_000
"""A game account below the one may be topped up; above the other its player may take some home."""


@dataclass(slots=True)
class Player:
    """A person in a chair. `available_cents` is what they believe is in their game account."""

    player_id: PlayerId
    ante_cents: int
    available_cents: int = 0

    @property
    def account_id(self) -> AccountId:
        return f"account-{self.player_id}"


@dataclass(frozen=True, slots=True)
class Taste:
    """How often an optional wager is made, and for how much."""

    wager: WagerName
    chance: float
    amounts_cents: tuple[int, ...]


TASTES = (
    Taste("progressive", 0.6, (100,)),
    Taste("three_card_bonus", 0.25, (100, 200, 500)),
    Taste("five_card_hand_bonus", 0.3, (100,)),
    Taste("six_card_bonus", 0.15, (100, 200, 500)),
)


def wishes(player: Player, random: Random) -> list[tuple[WagerName, int]]:
    """What a player wagers in a round, the ante first."""
    chosen = [(taste.wager, random.choice(taste.amounts_cents)) for taste in TASTES if random.random() < taste.chance]
    return [("ante", player.ante_cents), *chosen]


def decide(own: Sequence[Card], community: Sequence[Card], multiples: Sequence[Multiple]) -> Multiple:
    """The multiple of the next street wager, or 0 to fold. `multiples` are those of the streets so far."""
    cards = (*own, *community)
    ranks = sorted(rank_value(card) for card in cards)
    suited = len({card[1] for card in cards}) == 1
    match len(cards):
        case 2:
            return _third_street(ranks, suited)
        case 3:
            return _fourth_street(ranks, suited)
        case 4:
            return _fifth_street(ranks, suited, 3 in multiples)
        case count:
            raise ValueError(f"No decision is due with {count} cards.")


def _third_street(ranks: list[int], suited: bool) -> Multiple:
    if ranks[0] == ranks[1]:
        return 3
    return 1 if _points(ranks) >= 2 or (suited and ranks == [5, 6]) else 0


def _fourth_street(ranks: list[int], suited: bool) -> Multiple:
    if _made(ranks):
        return 3
    # An ace below a 2 is no draw here: one end of such a straight is closed, and the published lines count it high.
    gaps = ranks[-1] - ranks[0] - 2 if len(set(ranks)) == 3 else None
    high = sum(rank >= JACK for rank in ranks)
    if suited and gaps is not None:
        royal = ranks[0] >= TEN
        open_ended = gaps == 0 and ranks[0] >= 5
        return 3 if royal or open_ended or (gaps == 1 and high >= 1) or (gaps == 2 and high >= 2) else 1
    middle = sum(SIX <= rank <= TEN for rank in ranks)
    worth = _points(ranks) >= 3 or (gaps == 0 and ranks[0] >= 4) or (gaps == 1 and middle >= 2)
    return 1 if worth or len(set(ranks)) < 3 else 0


def _fifth_street(ranks: list[int], suited: bool, raised_three_times: bool) -> Multiple:
    distinct = len(set(ranks)) == 4
    straight_draw = distinct and (ranks[-1] - ranks[0] <= 4 or _ace_low(ranks)[-1] <= 5)
    outside = distinct and ranks[-1] - ranks[0] == 3 and 8 <= ranks[-1] < ACE
    if _made(ranks) or suited or outside:
        return 3
    middle = sum(SIX <= rank <= TEN for rank in ranks)
    worth = straight_draw or _points(ranks) >= 4 or (middle >= 3 and raised_three_times)
    return 1 if worth or not distinct else 0


def _points(ranks: Sequence[int]) -> int:
    return sum(2 if rank >= JACK else 1 if rank >= SIX else 0 for rank in ranks)


def _made(ranks: Sequence[int]) -> bool:
    """A pair of 6s or better, two pair and three-of-a-kind of any rank among it."""
    counts = Counter(ranks)
    repeated = [rank for rank, count in counts.items() if count >= 2]
    return len(repeated) >= 2 or any(rank >= SIX or counts[rank] >= 3 for rank in repeated)


def _ace_low(ranks: Sequence[int]) -> list[int]:
    return sorted(1 if rank == ACE else rank for rank in ranks)


@dataclass(slots=True)
class Chairs:
    """Who sits at a table: two to six people, who come, go, and mind their game accounts at the cage."""

    services: Services
    table_number: int
    seats: int
    leave_rate: float
    seated: dict[Seat, Player] = field(default_factory=dict)
    _arrivals: int = 0

    async def between_rounds(self, random: Random) -> None:
        """Somebody may leave, somebody may come, and who sits looks after the account."""
        if not self.seated:
            for seat in sorted(random.sample(range(1, self.seats + 1), random.randint(2, self.seats))):
                await self._arrive(seat, random)
        for seat in sorted(self.seated):
            if random.random() < self.leave_rate:
                await self._take_home(self.seated.pop(seat))
        for seat in range(1, self.seats + 1):
            if seat not in self.seated and (len(self.seated) < 2 or random.random() < 0.04):
                await self._arrive(seat, random)
        for seat in sorted(self.seated):
            await self._mind_account(self.seated[seat], random)

    async def _arrive(self, seat: Seat, random: Random) -> None:
        present = {player.player_id for player in self.seated.values()}
        while True:
            self._arrivals += 1
            player_id = f"player-{self.table_number}-{(self._arrivals - 1) % PLAYERS_KNOWN + 1}"
            if player_id not in present:
                break
        player = Player(player_id, random.randrange(500, 2501, 500))
        account = await self.services.accounts.get(player.account_id)
        if account is None or account.get("player_id") is None:
            await self._open_account(player)
        else:
            player.available_cents = account["available_cents"]
        if player.available_cents < 2 * LOW_CENTS:
            await self._deposit(player, random)
        self.seated[seat] = player
        self.services.tally["players seated"] += 1

    async def _open_account(self, player: Player) -> None:
        try:
            await self.services.accounts.command(player.account_id, CAGE, "OpenAccount", player_id=player.player_id)
        except Refusal:
            # It was opened in the moment since it was looked for: it is there, which is all that is wanted.
            self.services.tally["meant refusals"] += 1

    async def _mind_account(self, player: Player, random: Random) -> None:
        top_up, take = random.random() < 0.5, random.random() < 0.02
        if player.available_cents < LOW_CENTS and top_up:
            await self._look(player)
            if player.available_cents < LOW_CENTS:
                await self._deposit(player, random)
        elif player.available_cents > HIGH_CENTS and take:
            await self._take_home(player)

    async def _deposit(self, player: Player, random: Random) -> None:
        amount_cents = random.randrange(2_000, 10_001, 1_000)
        await self._move(player, "Deposit", amount_cents)
        player.available_cents += amount_cents

    async def _take_home(self, player: Player) -> None:
        """Withdraws half: a hold that the read does not show yet can never make that too much."""
        await self._look(player)
        amount_cents = player.available_cents // 200 * 100
        if amount_cents > 0:
            await self._move(player, "Withdraw", amount_cents)
            player.available_cents -= amount_cents

    async def _look(self, player: Player) -> None:
        account = await self.services.accounts.get(player.account_id)
        if account is not None:
            player.available_cents = account["available_cents"]

    async def _move(self, player: Player, command: str, amount_cents: int) -> None:
        accounts = self.services.accounts
        key = accounts.key(player.account_id)
        await accounts.send(player.account_id, CAGE, key, command, amount_cents=amount_cents, reference=key)
        self.services.tally[f"{command.lower()}_cents"] += amount_cents
