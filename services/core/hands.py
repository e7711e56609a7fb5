"""Which hands of a paytable some cards make: two, three, five, or the best five of six."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement
from operator import itemgetter

import eval7

from services.core.cards import DECK, RANKS, parse, rank_value
from services.core.names import Card, HandName

FIVE_CARD_HANDS: tuple[HandName, ...] = (
    "royal_flush",
    "straight_flush",
    "four_of_a_kind",
    "full_house",
    "flush",
    "straight",
    "three_of_a_kind",
    "two_pair",
    "pair_of_jacks_or_better",
    "pair_of_8s_or_better",
    "pair_of_6s_to_10s",
    "pair",
    "any",
)
"""From the highest to the lowest. 655a.6(b); the bands of pairs are the paytables' own."""
THREE_CARD_HANDS: tuple[HandName, ...] = (
    "mini_royal",
    "straight_flush",
    "three_of_a_kind",
    "straight",
    "flush",
    "pair",
)
"""From the highest to the lowest: with three cards a straight beats a flush. 655a.6(c), 669a.6(c)"""
POCKET_HANDS: tuple[HandName, ...] = ("pair_of_aces", "ace_face_suited", "ace_face_unsuited", "pair")
LO_BALL_HANDS: tuple[HandName, ...] = ("seven_high", "eight_high", "nine_high", "ten_high", "jack_high")
"""From the best to the worst; no pair, no straight, no flush, the ace high."""

_TWICE = "A card occurs twice."
_CARDS = frozenset(DECK)
_EVAL7 = {card: eval7.Card(card) for card in DECK}
# eval7 packs a class and up to five ranks (deuce 0 to ace 12) into one number: class << 24, then four bits a rank.
_CLASSES: tuple[HandName | None, ...] = (
    None,
    "pair",
    "two_pair",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
)
_CLASS_SHIFT, _FIRST_SHIFT, _RANK_MASK, _DEUCE = 24, 16, 0xF, 2
_TEN, _JACK, _ACE = 10, 11, 14


def met(cards: Sequence[Card], *, ace_low_straight: bool = False) -> frozenset[HandName]:
    """Every hand that the cards make, chosen by how many they are; empty where they make none.

    A royal flush is a straight flush too, a pair of aces a pair too; but a full house is no three-of-a-kind:
    the classes of 655a.6(b) exclude each other. Six cards count as their best five. `ace_low_straight` says
    whether A-2-3 is a straight of three cards, which 655a.6 leaves open; A-2-3-4-5 always is one.
    Raises ValueError for another number of cards, a repeated card, or what is no card.
    """
    if len(cards) == 5:
        return _five(cards)[1]
    _check(cards)
    match len(cards):
        case 2:
            return _two(cards)
        case 3:
            return _three(cards, ace_low_straight)
        case 6:
            return _names(_evaluate(cards) >> _FIRST_SHIFT, False)
        case count:
            raise ValueError(f"No paytable is for {count} cards.")


def strength(cards: Sequence[Card]) -> int:
    """How high five cards rank as a poker hand: higher is better, equal is a tie; the number has no other meaning.

    The classes of 655a.6(b); within a class first the ranks that make it, then the other cards from the highest,
    as 653a.6(b) and (c) say of the same classes. Suits count for nothing.
    Raises ValueError for another number of cards, a repeated card, or what is no card.
    """
    if len(cards) != 5:
        raise ValueError(f"Hands of five cards are compared, not of {len(cards)}.")
    return _five(cards)[0]


def ace_king_or_better(cards: Sequence[Card]) -> bool:
    """Whether five cards hold an ace and a king, or a pair or better: the hand a dealer plays with. 639a.11(c)(3)

    Raises ValueError as `strength` does.
    """
    return strength(cards) >= _LOWEST_ACE_KING


def _check(cards: Sequence[Card]) -> None:
    held = set(cards)
    if not held <= _CARDS:
        for card in cards:
            parse(card)
    if len(held) != len(cards):
        raise ValueError(_TWICE)


def _evaluate(cards: Sequence[Card]) -> int:
    return int(eval7.evaluate(itemgetter(*cards)(_EVAL7)))


@cache
def _names(leading: int, lo_ball: bool) -> frozenset[HandName]:
    """The names that a class and its first rank have; there are few of them, so each is made once."""
    hand = _CLASSES[leading >> (_CLASS_SHIFT - _FIRST_SHIFT)]
    rank = (leading & _RANK_MASK) + _DEUCE
    names = {"any"}
    if hand is not None:
        names.add(hand)
    elif lo_ball:
        # Seven high is the lowest hand there is without a pair or a straight, and the first of the tuple.
        names.update(LO_BALL_HANDS[rank - 7 : rank - 6])
    if hand == "straight_flush" and rank == _ACE:
        names.add("royal_flush")
    if hand == "pair":
        if rank >= _JACK:
            names.add("pair_of_jacks_or_better")
        if rank >= 8:
            names.add("pair_of_8s_or_better")
        if 6 <= rank <= _TEN:
            names.add("pair_of_6s_to_10s")
    return frozenset(names)


# Of five cards only the ranks count, and whether they are of one suit: 7,462 hands that differ. eval7 is asked about
# each of them once, here; a look at a table then takes less than half of the time of a call, checks included. The
# ranks of a hand are told apart by a sum with a digit to the base 5 for each rank, since no rank comes five times.
_DIGIT = {card: 5 ** RANKS.index(card[0]) for card in DECK}


def _table(suits: str, hands: Iterable[Sequence[str]]) -> dict[int, tuple[int, frozenset[HandName]]]:
    """Strength and names by the sum, for hands told by their ranks and all in these suits."""
    table = {}
    for ranks in hands:
        cards = list(map(str.__add__, ranks, suits))
        value = _evaluate(cards)
        table[sum(map(_DIGIT.__getitem__, cards))] = value, _names(value >> _FIRST_SHIFT, True)
    return table


_ONE_SUIT = _table("ccccc", combinations(RANKS, 5))
# Up to four ranks are alike and they stand together, so these suits make no card twice.
_MIXED_SUITS = _table("cdhsc", (ranks for ranks in combinations_with_replacement(RANKS, 5) if ranks[0] != ranks[4]))
_LOWEST_ACE_KING = _evaluate(("As", "Kd", "4c", "3h", "2s"))

FIVE_CARDS_MADE = frozenset(names for table in (_ONE_SUIT, _MIXED_SUITS) for _, names in table.values())
"""What five cards make, as `met` names it: each that occurs."""


def _five(cards: Sequence[Card]) -> tuple[int, frozenset[HandName]]:
    """The strength of five cards and the names of what they make. Written out card by card for speed."""
    a, b, c, d, e = cards
    try:
        ranks = _DIGIT[a] + _DIGIT[b] + _DIGIT[c] + _DIGIT[d] + _DIGIT[e]
    except KeyError as unknown:
        parse(*unknown.args)
        raise
    if len({a, b, c, d, e}) != 5:
        raise ValueError(_TWICE)
    return (_ONE_SUIT if a[1] == b[1] == c[1] == d[1] == e[1] else _MIXED_SUITS)[ranks]


def _three(cards: Sequence[Card], ace_low_straight: bool) -> frozenset[HandName]:
    low, middle, high = sorted(rank_value(card) for card in cards)
    flush = len({card[1] for card in cards}) == 1
    straight = (middle, high) == (low + 1, low + 2) or (ace_low_straight and (low, middle, high) == (2, 3, _ACE))
    if straight and flush:
        # The middle card tells A-K-Q from A-2-3.
        return frozenset({"straight_flush", "mini_royal"} if middle == _ACE - 1 else {"straight_flush"})
    if low == high:
        return frozenset({"three_of_a_kind"})
    if straight:
        return frozenset({"straight"})
    if flush:
        return frozenset({"flush"})
    return frozenset({"pair"} if middle in (low, high) else ())


def _two(cards: Sequence[Card]) -> frozenset[HandName]:
    low, high = sorted(rank_value(card) for card in cards)
    if low == high:
        return frozenset({"pair", "pair_of_aces"} if high == _ACE else {"pair"})
    if high == _ACE and low >= _JACK:
        return frozenset({"ace_face_suited" if cards[0][1] == cards[1][1] else "ace_face_unsuited"})
    return frozenset()
