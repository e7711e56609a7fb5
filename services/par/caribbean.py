"""Best play of Caribbean Stud Poker: every hand of five against every dealer's hand, by what the dealer shows.

2 x 10^13 deals are not dealt. The classes of hands are gone through from the lowest to the highest, and for every set
of one to four cards it is kept how many hands below the class hold that set. Of the dealer's hands that hold the card
shown and none of the player's five, so many are below the player's hand: by inclusion and exclusion over the sets of
the player's cards, 31 looks at those counts. The player's hands that differ in suits alone are one: 134,459 for 2,598,960.

All numbers are whole. An expectation is kept as the sum over the dealer's C(46, 4) = 163,185 hands, times at most
10,100,000,000,000 cents (an ante of 10^11 and 101 times as much wagered): 1.7 x 10^18, below 2^63. Counts are at most
2,598,960 x 47 x 163,185 = 2 x 10^13.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import comb

import numba
import numpy as np
from numpy.typing import NDArray

from services.par.classes import CARDS, CHOOSE, classes, ranks_number, require_exact
from services.par.counts import HAND_CARDS
from services.par.patterns import SUIT_COUNT

HANDS = comb(CARDS, HAND_CARDS)
DEALT = comb(CARDS - HAND_CARDS - 1, HAND_CARDS - 1)
"""The dealer's hands when five cards and the one shown are known."""
SETS = 2**HAND_CARDS - 1
"""The sets of at most four of the player's cards: a dealer's hand has four beside the one shown."""
STEPS = 200


@dataclass(frozen=True, slots=True)
class _Dealing:
    """Every hand of five in the order of its class, and one of the player's for all that suits alone tell apart; `first` is where a class begins."""

    class_of: NDArray[np.int16]
    hands: NDArray[np.int8]
    hands_first: NDArray[np.int64]
    own: NDArray[np.int8]
    own_ways: NDArray[np.int64]
    own_names: NDArray[np.int64]
    own_first: NDArray[np.int64]


def best_play(
    antes: NDArray[np.int64],
    pays: NDArray[np.int64],
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each end is reached under best play, for several antes at once.

    `pays[ante, multiple's place, against, names]` is what is added to the player in cents (less than zero: lost), by
    the place in `play.AGAINST` and that of the hand's names in `classes().names`. Of decisions that are worth the same,
    the largest wager is made.
    Answers `ends[ante, multiple's place, against, names]` and `folds[ante, names]`, in deals: the player's hand, the
    card shown, the dealer's other four.
    """
    require_exact(pays, DEALT)
    dealing, known = _dealing(), classes()
    ends = np.zeros(pays.shape, dtype=np.int64)
    folds = np.zeros((len(antes), len(known.names)), dtype=np.int64)
    below = _no_counts()
    qualifying = _no_counts()
    # As many hands in each step as in another, so that the progress is even.
    bounds = np.searchsorted(dealing.own_first, np.linspace(0, len(dealing.own), STEPS, endpoint=False))
    for first, last in pairwise((*map(int, bounds), known.count)):
        progress(int(dealing.own_first[first]), len(dealing.own))
        _sweep(
            first, last, known.qualifies, dealing.class_of, dealing.hands, dealing.hands_first, dealing.own,
            dealing.own_ways, dealing.own_names, dealing.own_first, *below, *qualifying, antes, pays, ends, folds,
        )  # fmt: skip
    _unqualified(
        known.qualifies, dealing.class_of, dealing.own, dealing.own_ways, dealing.own_names, dealing.own_first,
        *qualifying, antes, pays, ends, folds,
    )  # fmt: skip
    progress(len(dealing.own), len(dealing.own))
    return ends, folds


def _no_counts() -> tuple[NDArray[np.int32], ...]:
    return tuple(np.zeros(comb(CARDS, size), dtype=np.int32) for size in range(1, HAND_CARDS))


@cache
def _dealing() -> _Dealing:
    known = classes()
    cards = np.empty((HANDS, HAND_CARDS), dtype=np.int8)
    class_of = np.empty(HANDS, dtype=np.int16)
    names_of = np.empty(HANDS, dtype=np.int16)
    ways = np.empty(HANDS, dtype=np.int8)
    _deal(known.mixed, known.suited, known.named_mixed, known.named_suited, cards, class_of, names_of, ways)
    order = np.argsort(class_of, kind="stable")
    own = order[ways[order] > 0]
    each = np.arange(known.count + 1)
    return _Dealing(
        class_of=class_of,
        hands=cards[order],
        hands_first=np.searchsorted(class_of[order], each),
        own=cards[own],
        own_ways=ways[own].astype(np.int64),
        own_names=names_of[own].astype(np.int64),
        own_first=np.searchsorted(class_of[own], each),
    )


@numba.njit
def _deal(mixed, suited, named_mixed, named_suited, cards, class_of, names_of, ways):  # type: ignore[no-untyped-def]
    """Every five cards by the number of their combination; `ways` is 0 but for one of those that suits alone tell apart.

    The one is that whose suits' sets of ranks descend. It stands for as many as there are orders of those sets.
    """
    number = 0
    ranks = np.empty(HAND_CARDS, dtype=np.int64)
    for e in range(CARDS):
        for d in range(e):
            for c in range(d):
                for b in range(c):
                    for a in range(b):
                        hand = (a, b, c, d, e)
                        held = np.zeros(SUIT_COUNT, dtype=np.int64)
                        for place in range(HAND_CARDS):
                            ranks[place] = hand[place] // SUIT_COUNT
                            held[hand[place] % SUIT_COUNT] |= 1 << ranks[place]
                            cards[number, place] = hand[place]
                        at = ranks_number(ranks[0], ranks[1], ranks[2], ranks[3], ranks[4])
                        one_suit = held.max() == held.sum()
                        class_of[number] = suited[at] if one_suit else mixed[at]
                        names_of[number] = named_suited[at] if one_suit else named_mixed[at]
                        ways[number] = _orders(held)
                        number += 1


@numba.njit
def _orders(held):  # type: ignore[no-untyped-def]
    """How many orders four sets have, 0 where they do not descend."""
    orders, run = 1, 1
    for place in range(1, SUIT_COUNT):
        if held[place] > held[place - 1]:
            return 0
        run = run + 1 if held[place] == held[place - 1] else 1
        # (n + 1)! / (runs' factorials), one set after the other.
        orders = orders * (place + 1) // run
    return orders


@numba.njit
def _sweep(  # type: ignore[no-untyped-def]
    first, last, qualifies, class_of, hands, hands_first, own, own_ways, own_names, own_first,
    one, two, three, four, one_q, two_q, three_q, four_q, antes, pays, ends, folds,
):  # fmt: skip
    """The classes from `first` to before `last`; `one` to `four` count the hands below by their sets of so many cards."""
    most = 0
    for each in range(first, last):
        most = max(most, own_first[each + 1] - own_first[each])
    lower = np.zeros((most, CARDS), dtype=np.int64)
    up_to = np.zeros(CARDS, dtype=np.int64)
    unqualified = np.zeros(CARDS, dtype=np.int64)
    for each in range(first, last):
        if each == qualifies:
            one_q[:] = one
            two_q[:] = two
            three_q[:] = three
            four_q[:] = four
        for hand in range(own_first[each], own_first[each + 1]):
            _below(own[hand], each, class_of, one, two, three, four, lower[hand - own_first[each]])
        for hand in range(hands_first[each], hands_first[each + 1]):
            _add(hands[hand], one, two, three, four)
        if each < qualifies:
            continue
        for hand in range(own_first[each], own_first[each + 1]):
            _below(own[hand], each + 1, class_of, one, two, three, four, up_to)
            _below(own[hand], qualifies, class_of, one_q, two_q, three_q, four_q, unqualified)
            under = lower[hand - own_first[each]]
            for shown in range(CARDS):
                if not _holds(own[hand], shown):
                    _decide(
                        unqualified[shown], under[shown] - unqualified[shown], up_to[shown] - under[shown],
                        own_ways[hand], own_names[hand], antes, pays, ends, folds,
                    )  # fmt: skip


@numba.njit
def _unqualified(  # type: ignore[no-untyped-def]
    qualifies, class_of, own, own_ways, own_names, own_first,
    one_q, two_q, three_q, four_q, antes, pays, ends, folds,
):  # fmt: skip
    """The player's hands below ace-king: they beat no dealer's hand that qualifies."""
    unqualified = np.zeros(CARDS, dtype=np.int64)
    for hand in range(own_first[qualifies]):
        _below(own[hand], qualifies, class_of, one_q, two_q, three_q, four_q, unqualified)
        for shown in range(CARDS):
            if not _holds(own[hand], shown):
                _decide(unqualified[shown], 0, 0, own_ways[hand], own_names[hand], antes, pays, ends, folds)


@numba.njit
def _holds(hand, card):  # type: ignore[no-untyped-def]
    for held in hand:  # noqa: SIM110 - a kernel has no generators
        if held == card:
            return True
    return False


@numba.njit
def _decide(unqualified, lower, equal, ways, names, antes, pays, ends, folds):  # type: ignore[no-untyped-def]
    """Adds one hand against one card shown to what best play makes of it."""
    stands = (unqualified, lower, equal, DEALT - unqualified - lower - equal)
    for which in range(len(antes)):
        best, made = -antes[which] * DEALT, -1
        for multiple in range(pays.shape[1]):
            worth = 0
            for against in range(4):
                worth += stands[against] * pays[which, multiple, against, names]
            if worth >= best:
                best, made = worth, multiple
        if made < 0:
            folds[which, names] += ways * DEALT
        else:
            for against in range(4):
                ends[which, made, against, names] += ways * stands[against]


@numba.njit
def _below(hand, limit, class_of, one, two, three, four, found):  # type: ignore[no-untyped-def]
    """For each card shown: the hands below class `limit` that hold it and none of `hand`; the counts are of that class.

    Meaningless for a card of `hand` itself.
    """
    found[:] = 0
    held = np.empty(HAND_CARDS, dtype=np.int64)
    # The number of a set with the card shown put in at a place: the cards before keep theirs, those behind move up one.
    number = np.empty(HAND_CARDS, dtype=np.int64)
    for members in range(SETS):
        size = 0
        for place in range(HAND_CARDS):
            if members >> place & 1:
                held[size] = hand[place]
                size += 1
        sign = -1 if size % 2 else 1
        for place in range(size + 1):
            total = 0
            for member in range(size):
                total += CHOOSE[held[member], member + 1 if member < place else member + 2]
            number[place] = total
        place = 0
        for shown in range(CARDS):
            while place < size and held[place] < shown:
                place += 1
            if place < size and held[place] == shown:
                continue
            at = number[place] + CHOOSE[shown, place + 1]
            if size == 0:
                count = one[at]
            elif size == 1:
                count = two[at]
            elif size == 2:
                count = three[at]
            elif size == 3:
                count = four[at]
            else:
                count = 1 if class_of[at] < limit else 0
            found[shown] += sign * count


@numba.njit
def _add(hand, one, two, three, four):  # type: ignore[no-untyped-def]
    for members in range(1, SETS):
        number, size = 0, 0
        for place in range(HAND_CARDS):
            if members >> place & 1:
                size += 1
                number += CHOOSE[hand[place], size]
        if size == 1:
            one[number] += 1
        elif size == 2:
            two[number] += 1
        elif size == 3:
            three[number] += 1
        elif size == 4:
            four[number] += 1
