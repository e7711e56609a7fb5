"""The deck and the deal: the same seed, table and round number give the same cards."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from random import Random

from services.core.cards import DECK
from services.core.games.game import Area, Game
from services.core.names import Card, Seat


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a round as they lie on the table; or, of a round that is taken over, those that are face up."""

    hands: dict[Seat, tuple[Card, ...]] = field(default_factory=dict)
    dealer: tuple[Card, ...] = ()
    """The dealer's hand, the card that is dealt face up first; empty where the dealer has none."""
    extra: dict[Area, tuple[Card, ...]] = field(default_factory=dict)
    """The cards of optional wagers, such as the Six Card Bonus cards; none where nobody made the wager."""
    community: tuple[Card, ...] = ()
    stub: tuple[Card, ...] = ()
    """What is left in the dealer's hand."""

    @property
    def cards(self) -> tuple[Card, ...]:
        """All of them but the stub."""
        stacks = (*self.hands.values(), self.dealer, *self.extra.values(), self.community)
        return tuple(card for stack in stacks for card in stack)

    def may_be_of(self, whole: "Deal") -> bool:
        """Whether these cards, as far as they are face up, lie where another deal has them."""
        return (
            all(whole.hands.get(seat) == cards for seat, cards in self.hands.items())
            and all(whole.extra.get(area) == cards for area, cards in self.extra.items())
            and whole.dealer[: len(self.dealer)] == self.dealer
            and whole.community[: len(self.community)] == self.community
        )


def chance(seed: int, table_id: str, number: int, what: str) -> Random:
    """Randomness of one kind for one round: what players do never changes which cards come."""
    return Random(f"{seed}/{table_id}/{number}/{what}")


def shuffled(seed: int, table_id: str, number: int) -> tuple[Card, ...]:
    """The deck of that round, the top card first."""
    deck = list(DECK)
    chance(seed, table_id, number, "shuffle").shuffle(deck)
    return tuple(deck)


def deal(deck: Sequence[Card], game: Game, seats: Collection[Seat], extras: Collection[Area] = ()) -> Deal:
    """The players' stacks clockwise and the dealer's, then the cards of the optional wagers in `extras`, then the
    community cards. 655a.10(b)-(c); the other games' order of the deal is not known here and taken to be the same.
    """
    rest = list(deck)

    def take(count: int) -> tuple[Card, ...]:
        taken = tuple(rest[:count])
        del rest[:count]
        return taken

    hands = {seat: take(game.own_cards) for seat in sorted(seats)}
    dealer = take(game.dealer_cards)
    extra = {
        kind.extra_area: take(kind.extra_cards)
        for kind in game.optional
        if kind.extra_area is not None and kind.extra_area in extras
    }
    community = take(game.community_cards)
    return Deal(hands, dealer, extra, community, tuple(rest))


def continued(
    face_up: Deal, deck: Sequence[Card], game: Game, seats: Collection[Seat], extras: Collection[Area]
) -> Deal:
    """The deal of a round that another began: that of the deck where the face-up cards are of it; else those, and in
    the place of every stack that is still face down others from the deck."""
    whole = deal(deck, game, seats, extras)
    if face_up.may_be_of(whole):
        return whole
    unseen = [card for card in deck if card not in face_up.cards]
    others = deal(unseen, game, seats - face_up.hands.keys(), extras - face_up.extra.keys())
    return Deal(
        others.hands | face_up.hands,
        face_up.dealer,
        others.extra | face_up.extra,
        face_up.community,
        others.stub,
    )
