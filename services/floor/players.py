"""Players: where they sit, what they wager, and their game accounts."""

from dataclasses import dataclass, field
from random import Random

from services.core.games.cajun_stud import CAJUN_STUD
from services.core.games.caribbean_stud import CARIBBEAN_STUD
from services.core.games.game import ANTE, FIVE_CARD_HAND_BONUS, PROGRESSIVE
from services.core.games.mississippi_stud import MISSISSIPPI_STUD
from services.core.money import Cents
from services.core.names import AccountId, GameName, On, PlayerId, Seat, WagerName
from services.floor.calls import Refusal, Services

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
        """Their game account."""
        return f"account-{self.player_id}"


@dataclass(frozen=True, slots=True)
class Taste:
    """How often an optional wager is made, for how much, and on whose hand."""

    wager: WagerName
    chance: float
    amounts_cents: tuple[Cents, ...]
    on: On = On.PLAYER


_DOLLAR = (100,)
_SOME = (100, 200, 500)
TASTES: dict[GameName, tuple[Taste, ...]] = {
    MISSISSIPPI_STUD.name: (
        Taste(PROGRESSIVE, 0.6, _DOLLAR),
        Taste("three_card_bonus", 0.25, _SOME),
        Taste(FIVE_CARD_HAND_BONUS, 0.3, _DOLLAR),
        Taste("six_card_bonus", 0.15, _SOME),
    ),
    CARIBBEAN_STUD.name: (
        Taste("caribbean_stud_bonus", 0.25, _SOME),
        Taste(PROGRESSIVE, 0.6, _DOLLAR),
        Taste(FIVE_CARD_HAND_BONUS, 0.3, _DOLLAR),
        Taste(FIVE_CARD_HAND_BONUS, 0.1, _DOLLAR, On.DEALER),
    ),
    CAJUN_STUD.name: (
        Taste("pocket_bonus", 0.3, _SOME),
        Taste("board_bonus", 0.15, _SOME),
        Taste("lo_ball", 0.15, _SOME),
        Taste("all_six_bonus", 0.15, _SOME),
    ),
}
"""By game: its optional wagers, in the order in which players make them."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A wager that a player makes before the cards."""

    wager: WagerName
    amount_cents: Cents
    on: On = On.PLAYER


def wishes(game: GameName, player: Player, random: Random) -> list[Wish]:
    """What a player wagers in a round, the ante first."""
    chosen = [
        Wish(taste.wager, random.choice(taste.amounts_cents), taste.on)
        for taste in TASTES[game]
        if random.random() < taste.chance
    ]
    return [Wish(ANTE, player.ante_cents), *chosen]


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
