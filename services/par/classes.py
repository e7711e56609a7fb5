"""What the kernels know of five cards: arrays of their class, from the lowest hand to the highest, and of their names.

Of five cards only the ranks count, and whether all are of one suit: 7,462 classes, finer than the nine of 655a.6(b).
They are asked of `services.core.hands` once each, so a kernel has no opinion of its own about a hand.
"""

from dataclasses import dataclass
from functools import cache
from math import comb

import numba
import numpy as np
from numpy.typing import NDArray

from services.core.cards import DECK, RANKS
from services.core.hands import ace_king_or_better, met, strength
from services.core.names import HandName
from services.par.counts import HAND_CARDS
from services.par.patterns import patterns

CARDS = len(DECK)
CHOOSE = np.array([[comb(n, k) for k in range(HAND_CARDS + 1)] for n in range(CARDS + 1)], dtype=np.int64)
"""`CHOOSE[n, k]`; the kernels number combinations with it. The card at place p of the deck has rank p // SUIT_COUNT, suit p % SUIT_COUNT."""
RANK_SETS = comb(len(RANKS) + HAND_CARDS - 1, HAND_CARDS)


@dataclass(frozen=True, slots=True)
class Classes:
    """By the number of the ranks (`ranks_number`): the class, and the place of the names in `names`.

    `mixed` is for cards of several suits, `suited` for those of one. `qualifies` is the lowest class that a dealer
    plays with.
    """

    mixed: NDArray[np.int16]
    suited: NDArray[np.int16]
    named_mixed: NDArray[np.int16]
    named_suited: NDArray[np.int16]
    names: tuple[frozenset[HandName], ...]
    count: int
    qualifies: int


@cache
def classes() -> Classes:
    """The classes of five cards."""
    hands = [pattern.cards for pattern in patterns(HAND_CARDS)]
    strengths = sorted({strength(cards) for cards in hands})
    place = {each: number for number, each in enumerate(strengths)}
    names = sorted({met(cards) for cards in hands}, key=sorted)
    made = [np.full(RANK_SETS, -1, dtype=np.int16) for _ in range(4)]
    for cards in hands:
        number = _number_of(cards)
        suited = int(len({card[1] for card in cards}) == 1)
        made[suited][number] = place[strength(cards)]
        made[2 + suited][number] = names.index(met(cards))
    qualifies = min(place[strength(cards)] for cards in hands if ace_king_or_better(cards))
    return Classes(made[0], made[1], made[2], made[3], tuple(names), len(strengths), qualifies)


def _number_of(cards: tuple[str, ...]) -> int:
    ranks = sorted(RANKS.index(card[0]) for card in cards)
    return sum(comb(rank + place, place + 1) for place, rank in enumerate(ranks))


def require_exact(pays: NDArray[np.int64], counts: int) -> None:
    """Sums of so many payouts must be whole numbers of 64 bits. Raises OverflowError: a kernel would not notice."""
    most = max(abs(int(pays.min())), abs(int(pays.max())))
    if most * counts >= 2**63:
        raise OverflowError(f"Payouts of up to {most} cents in {counts} deals are too large to be counted exactly.")


@numba.njit(inline="always")
def ranks_number(a, b, c, d, e):  # type: ignore[no-untyped-def]
    """The number of five ranks, 0 to 12, in ascending order: that of their combination with repetition."""
    return a + CHOOSE[b + 1, 2] + CHOOSE[c + 2, 3] + CHOOSE[d + 3, 4] + CHOOSE[e + 4, 5]
