"""The deck and the deal: the same seed, table and round number give the same cards."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from services.core.cards import DECK
from services.core.names import Card, Seat


@dataclass(frozen=True, slots=True)
class Deal:
    """The cards of a round as they lie on the table."""

    hands: dict[Seat, tuple[Card, ...]]
    six: tuple[Card, ...]
    """The Six Card Bonus cards; empty where nobody wagered on them."""
    community: tuple[Card, ...]
    stub: tuple[Card, ...]
    """What is left in the dealer's hand."""


def chance(seed: int, table_id: str, number: int, what: str) -> Random:
    """Randomness of one kind for one round: what players do never changes which cards come."""
    return Random(f"{seed}/{table_id}/{number}/{what}")


def shuffled(seed: int, table_id: str, number: int) -> tuple[Card, ...]:
    """The deck of that round, the top card first."""
    deck = list(DECK)
    chance(seed, table_id, number, "shuffle").shuffle(deck)
    return tuple(deck)


def deal(deck: Sequence[Card], seats: Sequence[Seat], *, six_card_bonus: bool) -> Deal:
    """Stacks of two clockwise, then four to the Six Card Bonus if anyone wagered on it, then three. 655a.10(b)-(c)"""
    rest = list(deck)

    def take(count: int) -> tuple[Card, ...]:
        taken = tuple(rest[:count])
        del rest[:count]
        return taken

    hands = {seat: take(2) for seat in sorted(seats)}
    six = take(4) if six_card_bonus else ()
    community = take(3)
    return Deal(hands, six, community, tuple(rest))
