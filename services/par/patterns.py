"""Hands that differ only in what counts for nothing, as one pattern: ranks, and which of them are of one suit."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from math import comb, prod

from services.core.cards import RANKS, SUITS
from services.core.hands import met
from services.core.names import Card, HandName

SUIT_COUNT = len(SUITS)
FLUSH_MAX = 5
"""A flush is of five cards, or of all where there are fewer."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One hand for all that make the same; `ways` is how many they are."""

    cards: tuple[Card, ...]
    ways: int


def patterns(size: int) -> Iterator[Pattern]:
    """The patterns of 2, 3, 5 or 6 cards; the ways of all together are every hand of that size.

    Two hands are of one pattern where their ranks are the same, and the ranks of their flush, if there is one. A flush takes more
    than half of the cards, so there is never a second one.
    """
    for ranks in combinations_with_replacement(RANKS, size):
        times = Counter(ranks)
        if max(times.values()) > SUIT_COUNT:
            continue
        left = prod(comb(SUIT_COUNT, count) for count in times.values())
        for flush in _flushes(tuple(times), size):
            # In the flush's suit each of these ranks has one card and every other rank none.
            ways = SUIT_COUNT * prod(comb(SUIT_COUNT - 1, count - (rank in flush)) for rank, count in times.items())
            if ways:
                left -= ways
                yield Pattern(_suited(times, flush), ways)
        # Suits in turn: no rank has one suit twice, and no suit has half of the cards.
        yield Pattern(tuple(rank + SUITS[place % SUIT_COUNT] for place, rank in enumerate(ranks)), left)


def counted(size: int, ace_low_straight: bool = False) -> Mapping[frozenset[HandName], int]:
    """How many hands of so many cards make just these names: what stands in `counts`, counted anew."""
    ways: Counter[frozenset[HandName]] = Counter()
    for pattern in patterns(size):
        ways[met(pattern.cards, ace_low_straight=ace_low_straight)] += pattern.ways
    return dict(ways)


def _flushes(ranks: tuple[str, ...], size: int) -> Iterator[tuple[str, ...]]:
    for count in range(min(size, FLUSH_MAX), len(ranks) + 1):
        yield from combinations(ranks, count)


def _suited(times: Mapping[str, int], flush: tuple[str, ...]) -> tuple[Card, ...]:
    others = SUITS[1:]
    cards = []
    for rank, count in times.items():
        suits = SUITS if rank in flush else others
        cards += [rank + suit for suit in suits[:count]]
    return tuple(cards)
