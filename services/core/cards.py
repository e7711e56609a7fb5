"""Cards as two characters, rank and suit, of one deck of 52."""

from collections.abc import Sequence

from services.core.names import Card

RANKS = "23456789TJQKA"
"""From the lowest to the highest. 655a.6(a)"""
SUITS = "cdhs"
DECK: tuple[Card, ...] = tuple(rank + suit for rank in RANKS for suit in SUITS)

_CARDS = frozenset(DECK)
_VALUES = {card: RANKS.index(card[0]) + 2 for card in DECK}


def parse(text: str) -> Card:
    """The card of that name. Raises ValueError with a sentence where there is none in the deck."""
    if text not in _CARDS:
        raise ValueError(f"'{text}' is not a card: write rank and suit, such as As, Td or 9c.")
    return text


def rank_value(card: Card) -> int:
    """2 to 14, the ace as 14. 655a.6(a)"""
    return _VALUES[card]


def distinct(cards: Sequence[Card]) -> bool:
    """Whether no card occurs twice, as with one deck none can."""
    return len(set(cards)) == len(cards)
