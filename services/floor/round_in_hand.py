"""The round in hand, as the dealer keeps it in mind: who has which wagers, which cards lie where, what is due."""

from dataclasses import dataclass, field
from typing import Any

from services.core.games.game import ANTE, PROGRESSIVE, Area, Faces, Game, OptionalWager
from services.core.hands import met
from services.core.names import Card, ClaimId, Multiple, On, RoundId, Seat, WagerName
from services.floor.offers import Offer
from services.floor.players import Player
from services.floor.shuffle import Deal

ENVY_HAND = "straight_flush"
"""The least that brings an Envy Bonus under every submission of the house; a royal flush is one too."""


@dataclass(slots=True)
class Seated:
    """A seat in the round in hand, as the dealer sees it. `wagers` are those that stand, by name and hand."""

    player: Player
    wagers: set[tuple[WagerName, On]] = field(default_factory=set)
    multiples: list[Multiple] = field(default_factory=list)
    folded: bool = False
    forfeited: bool = False
    shown: bool = False

    @property
    def in_play(self) -> bool:
        """Whether its main wagers are still to be settled."""
        return not self.folded and not self.forfeited and not self.shown


@dataclass(slots=True)
class RoundInHand:
    """The round in hand."""

    offer: Offer
    round_id: RoundId
    void_stage: str | None = None
    """Where the round will be void: before `betting` closes, say. None for most."""
    seats: dict[Seat, Seated] = field(default_factory=dict)
    lit: frozenset[Seat] = frozenset()
    cards: Deal = field(default_factory=Deal)
    drawn: set[str] = field(default_factory=set)
    """The commands for draws and extra cards that an earlier dealer has given already."""
    awaited: dict[ClaimId, bool] = field(default_factory=dict)
    """The claims that hold the round open, and whether each needs a document."""

    @property
    def game(self) -> Game:
        """What the table deals."""
        return self.offer.game

    @property
    def number(self) -> int:
        """Which round of its table it is."""
        return int(self.round_id.rpartition("-")[2])

    def staked(self, seat: Seat) -> list[tuple[OptionalWager, On]]:
        """The optional wagers of a seat that are still to be settled, and whose hand each is on."""
        seated = self.seats[seat]
        if seated.forfeited or seated.shown:
            return []
        return [
            (kind, on)
            for kind in self.game.optional
            for on in kind.sees
            if (kind.wager, on) in seated.wagers and (kind.outlives_fold or not seated.folded)
        ]

    @property
    def live(self) -> list[Seat]:
        """The seats with a wager left to settle, ascending."""
        return sorted(seat for seat, seated in self.seats.items() if seated.in_play or self.staked(seat))

    def live_with(self, wager: WagerName) -> bool:
        """Whether somebody has that optional wager left to settle."""
        return any(kind.wager == wager for seat in self.seats for kind, _ in self.staked(seat))

    @property
    def extras(self) -> set[Area]:
        """The areas for which cards are dealt: somebody made the wager, whatever became of it since."""
        made = {wager for seated in self.seats.values() for wager, _ in seated.wagers}
        return {kind.extra_area for kind in self.game.optional if kind.extra_area is not None and kind.wager in made}

    @property
    def needs_table_cards(self) -> bool:
        """Whether community or dealer cards must come out for somebody's wager, where some are still face down."""
        return any(
            self.seats[seat].in_play or any(kind.needs_table_cards(on) for kind, on in self.staked(seat))
            for seat in self.seats
        )

    def face_up(self, step: int) -> tuple[Card, ...]:
        """What players see on the layout when they decide on a street, the first being 0."""
        return (*self.cards.community[:step], *self.cards.dealer[:1])

    @property
    def envy(self) -> int:
        """How many Envy Bonuses the hands that were shown earn: each for every other player with a light."""
        progressive = self.game.optional_wager(PROGRESSIVE)
        if progressive is None or not self.offer.pays_envy:
            return 0
        earning = {seat for seat in self.lit if not self.seats[seat].forfeited}
        holders = [
            seat
            for seat, seated in self.seats.items()
            if seated.shown and (self.offer.folded_hand_qualifies or not seated.folded)
        ]
        faces = {
            seat: Faces({Area.OWN: self.cards.hands[seat], Area.COMMUNITY: self.cards.community}) for seat in holders
        }
        made = {seat: met(faces[seat].of(progressive.sees[On.PLAYER])) for seat in holders}
        return sum(len(earning - {seat}) for seat in holders if ENVY_HAND in made[seat])


def taken_over(offer: Offer, left: dict[str, Any]) -> RoundInHand:
    """The round that an earlier dealer left, from the table's read; `cards` are those that are face up."""
    seats = {at["seat"]: _seated(at) for at in left["seats"]}
    seats = {seat: seated for seat, seated in seats.items() if (ANTE, On.PLAYER) in seated.wagers}
    lit = {at["seat"] for at in left["seats"] for wager in at["wagers"] if wager["state"] == "accepted"}
    draws = {
        "DrawMagicCard": left["magic_card"],
        "DrawLuckyPosition": left["lucky_position"],
        "RevealSixCardBonus": left["six_card_bonus"],
        "RevealAllSixCard": left["all_six"],
    }
    extra = {area: tuple(left[area.value]) for area in (Area.SIX_CARD_BONUS, Area.ALL_SIX) if left[area.value]}
    hands = {at["seat"]: tuple(at["cards"]) for at in left["seats"] if at["cards"]}
    return RoundInHand(
        offer,
        left["round_id"],
        seats=seats,
        lit=frozenset(lit),
        cards=Deal(hands, tuple(left["dealer"]), extra, tuple(left["community"])),
        drawn={command for command, drawn in draws.items() if drawn},
    )


def _seated(at: dict[str, Any]) -> Seated:
    wagers = {(wager["wager"], On(wager["hand"])) for wager in at["wagers"] if wager["state"] in ("placed", "accepted")}
    # Who sits there matters to nobody any more: no wager is made or declined in this round.
    player = Player(at["player_id"] or "", 0)
    return Seated(player, wagers, [], at["folded"], at["forfeited"], bool(at["cards"]))
