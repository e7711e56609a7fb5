"""Best play of Mississippi Stud and Cajun Stud: backward through three decisions, over every order of the cards.

Own cards are of 169 patterns. For each of them all 50 x 49 x 48 orders of the community cards are
looked at: what is held before the last card is a pair of community cards, whose order no longer matters.

All numbers are whole: an expectation is kept as the sum over the cards still to come. The greatest is below
30,100,000,000,000 cents (an ante of 10^11 and 301 times as much wagered) x 50 x 49 x 48, which is 3.6 x 10^18 and
below 2^63. Counts are below 1,326 x 50 x 49 x 48.
"""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import perm

import numba
import numpy as np
from numpy.typing import NDArray

from services.par.classes import CARDS, classes, ranks_number, require_exact
from services.par.counts import HAND_CARDS
from services.par.patterns import SUIT_COUNT

REST = CARDS - 2
"""The cards that one player does not see before the first community card."""
ORDERS = perm(REST, 3)
FOLD = -1


def stakes(multiples: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """What may be wagered in all before the first decision, the second, the third, and at the end; in antes."""
    reached: list[tuple[int, ...]] = [(1,)]
    for _ in range(3):
        reached.append(tuple(sorted({staked + multiple for staked in reached[-1] for multiple in multiples})))
    return tuple(reached)


def best_play(
    multiples: Sequence[int],
    antes: NDArray[np.int64],
    pays: NDArray[np.int64],
    own: Sequence[tuple[int, int]] | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each end is reached under best play, for several antes at once.

    `pays[ante, staked, names]` is what is added to the player in cents (less than zero: lost), by the place of the
    hand's names in `classes().names`, where `staked` antes were wagered. Of decisions that are worth the same, the
    largest wager is made, as in the published figures. `own` are the own cards as places in the deck, all hands unless told.
    Answers `ends[ante, staked, names]` and `folds[ante, decision, staked]`, in orders of the community cards.
    """
    require_exact(pays, ORDERS)
    known = classes()
    reached = [np.array(each, dtype=np.int64) for each in stakes(multiples)]
    ends = np.zeros(pays.shape, dtype=np.int64)
    folds = np.zeros((len(antes), 3, pays.shape[1]), dtype=np.int64)
    hands = [(pair, 1) for pair in own] if own is not None else _own_patterns()
    offered = np.array(multiples, dtype=np.int64)
    for done, ((low, high), ways) in enumerate(hands):
        progress(done, len(hands))
        _one_hand(low, high, ways, offered, antes, pays, *reached, known.named_mixed, known.named_suited, ends, folds)
    progress(len(hands), len(hands))
    return ends, folds


def _own_patterns() -> list[tuple[tuple[int, int], int]]:
    """A pair, two suits alike, two suits that differ: six, four and twelve ways."""
    ranks = range(CARDS // SUIT_COUNT)
    pairs = [((SUIT_COUNT * rank, SUIT_COUNT * rank + 1), 6) for rank in ranks]
    two = list(combinations(ranks, 2))
    alike = [((SUIT_COUNT * low, SUIT_COUNT * high), 4) for low, high in two]
    differ = [((SUIT_COUNT * low, SUIT_COUNT * high + 1), 12) for low, high in two]
    return pairs + alike + differ


@numba.njit
def _one_hand(  # type: ignore[no-untyped-def]
    low, high, ways, offered, antes, pays, first, second, third, last, named_mixed, named_suited, ends, folds
):
    rest = np.empty(REST, dtype=np.int64)
    count = 0
    for card in range(CARDS):
        if card not in (low, high):
            rest[count] = card
            count += 1
    rivers = _rivers(low, high, rest, pays.shape[2], named_mixed, named_suited)
    size = pays.shape[1]
    for which in range(len(antes)):
        ante, pay = antes[which], pays[which]
        worth_two = np.zeros((REST, REST, size), dtype=np.int64)
        made_two = np.full((REST, REST, size), FOLD, dtype=np.int64)
        at_end = np.zeros(size, dtype=np.int64)
        for i in range(REST):
            for j in range(i):
                for staked in last:
                    total = 0
                    for names in range(pay.shape[1]):
                        total += rivers[i, j, names] * pay[staked, names]
                    at_end[staked] = total
                for staked in third:
                    worth, made = _best(staked, -staked * ante * (REST - 2), offered, at_end)
                    worth_two[i, j, staked] = worth_two[j, i, staked] = worth
                    made_two[i, j, staked] = made_two[j, i, staked] = made
        worth_one = np.zeros((REST, size), dtype=np.int64)
        made_one = np.full((REST, size), FOLD, dtype=np.int64)
        after_two = np.zeros(size, dtype=np.int64)
        for i in range(REST):
            for staked in third:
                total = 0
                for j in range(REST):
                    if j != i:
                        total += worth_two[i, j, staked]
                after_two[staked] = total
            for staked in second:
                fold = -staked * ante * (REST - 2) * (REST - 1)
                worth_one[i, staked], made_one[i, staked] = _best(staked, fold, offered, after_two)
        after_one = np.zeros(size, dtype=np.int64)
        for staked in second:
            total = 0
            for i in range(REST):
                total += worth_one[i, staked]
            after_one[staked] = total
        _, made = _best(1, -ante * ORDERS, offered, after_one)
        if made == FOLD:
            folds[which, 0, 1] += ways * ORDERS
            continue
        for i in range(REST):
            staked_one = 1 + made
            one = made_one[i, staked_one]
            if one == FOLD:
                folds[which, 1, staked_one] += ways * (REST - 1) * (REST - 2)
                continue
            for j in range(REST):
                if j == i:
                    continue
                staked_two = staked_one + one
                two = made_two[i, j, staked_two]
                if two == FOLD:
                    folds[which, 2, staked_two] += ways * (REST - 2)
                    continue
                for names in range(pay.shape[1]):
                    ends[which, staked_two + two, names] += ways * rivers[i, j, names]


@numba.njit
def _best(staked, fold, offered, worth):  # type: ignore[no-untyped-def]
    """The worth of the best decision, and its multiple; the largest wager of equals, and a fold last."""
    best, made = fold, FOLD
    for multiple in offered:
        if worth[staked + multiple] >= best:
            best, made = worth[staked + multiple], multiple
    return best, made


@numba.njit
def _rivers(low, high, rest, names_count, named_mixed, named_suited):  # type: ignore[no-untyped-def]
    """For each two community cards: how many third ones make which names."""
    rivers = np.zeros((REST, REST, names_count), dtype=np.int64)
    ranks = np.empty(HAND_CARDS, dtype=np.int64)
    for i in range(REST):
        for j in range(i):
            for k in range(j):
                cards = (low, high, rest[i], rest[j], rest[k])
                for place in range(HAND_CARDS):
                    rank = cards[place] // SUIT_COUNT
                    at = place
                    while at > 0 and ranks[at - 1] > rank:
                        ranks[at] = ranks[at - 1]
                        at -= 1
                    ranks[at] = rank
                number = ranks_number(ranks[0], ranks[1], ranks[2], ranks[3], ranks[4])
                suit = low % SUIT_COUNT
                suited = suit == high % SUIT_COUNT and suit == cards[2] % SUIT_COUNT
                suited = suited and suit == cards[3] % SUIT_COUNT and suit == cards[4] % SUIT_COUNT
                names = named_suited[number] if suited else named_mixed[number]
                for one, two in ((i, j), (i, k), (j, k)):
                    rivers[one, two, names] += 1
                    rivers[two, one, names] += 1
    return rivers
