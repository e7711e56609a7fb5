"""Every hand there is goes through `met` itself, none left out, against published counts and their arithmetic.

Brian Alspach counted the hands of three and of six cards: "3-Card Poker Hands" and "6-Card Poker Hands", both January
2000, people.math.sfu.ca/~alspach. The counts of five cards stand in every book on probability. Beside each figure is
how it comes about, so that nobody has to believe it. The bands of pairs and Lo Ball's hands are nobody's but the
paytables', and are counted the same way.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import pytest

from services.core.cards import DECK
from services.core.hands import met

# Every hand takes its time, on a busy machine more than another test may.
pytestmark = pytest.mark.timeout(600)


def each_name(made: Iterable[frozenset[str]]) -> Counter[str]:
    """How many hands have each name; a hand without any counts as `nothing`."""
    count: Counter[str] = Counter()
    for names, hands in Counter(made).items():
        count.update(dict.fromkeys(names or {"nothing"}, hands))
    return count


def test_all_1_326_pockets() -> None:
    # 13 pairs of six; an ace with one of three faces, four suits alike and twelve not.
    assert each_name(map(met, combinations(DECK, 2))) == {
        "pair": 13 * 6,
        "pair_of_aces": 6,
        "ace_face_suited": 3 * 4,
        "ace_face_unsuited": 3 * 12,
        "nothing": 1_326 - 78 - 48,
    }


RUNS_OF_THREE = {"234", "345", "456", "567", "678", "789", "89T", "9TJ", "TJQ", "JQK", "QKA"}


@pytest.mark.law("A-2-3 as a straight of three cards")
@pytest.mark.parametrize(
    ("ace_low_straight", "straight_flushes", "straights", "flushes", "nothing"),
    [(True, 48, 720, 1_096, 16_440), (False, 44, 660, 1_100, 16_500)],
)
def test_all_22_100_boards_of_three_cards(
    ace_low_straight: bool, straight_flushes: int, straights: int, flushes: int, nothing: int
) -> None:
    # Twelve runs with A-2-3, as Alspach counts, and eleven without: each has four suited forms, which are flushes where
    # it is no run, and 60 others, which are nothing then. A flush is any three of 13 ranks besides: 4 * 286 in all.
    made = {cards: met(cards, ace_low_straight=ace_low_straight) for cards in combinations(DECK, 3)}
    assert each_name(made.values()) == {
        "mini_royal": 4,
        "straight_flush": straight_flushes,
        "three_of_a_kind": 13 * 4,
        "straight": straights,
        "flush": flushes,
        "pair": 13 * 6 * 48,
        "nothing": nothing,
    }
    runs = {"".join(rank for rank, _ in cards) for cards, names in made.items() if "straight" in names}
    assert runs == (RUNS_OF_THREE | {"23A"} if ace_low_straight else RUNS_OF_THREE)


def test_all_2_598_960_hands_of_five_cards() -> None:
    assert each_name(map(met, combinations(DECK, 5))) == {
        "any": 2_598_960,
        # Ten runs from A-2-3-4-5 to 10-J-Q-K-A in four suits, of which four are royal.
        "royal_flush": 4,
        "straight_flush": 4 + 36,
        # 13 ranks and one of 48 other cards.
        "four_of_a_kind": 624,
        # 13 * 4 threes with 12 * 6 twos.
        "full_house": 3_744,
        # Five of 13 ranks, 1,287, in four suits, less 40 straight flushes.
        "flush": 5_108,
        # Ten runs in 4^5 ways, less 40.
        "straight": 10_200,
        # 13 * 4 threes, two of twelve other ranks in 4^2 ways.
        "three_of_a_kind": 54_912,
        # Two of 13 ranks in 6^2 ways, one of 44 other cards.
        "two_pair": 123_552,
        # 13 * 6 pairs, three of twelve other ranks in 4^3 ways: 84,480 for each rank.
        "pair": 1_098_240,
        "pair_of_jacks_or_better": 4 * 84_480,
        "pair_of_8s_or_better": 7 * 84_480,
        "pair_of_6s_to_10s": 5 * 84_480,
        # N high: four of the ranks from 2 to N - 1, less the run that ends with N; 4^5 ways less four flushes.
        "seven_high": (5 - 1) * 1_020,
        "eight_high": (15 - 1) * 1_020,
        "nine_high": (35 - 1) * 1_020,
        "ten_high": (70 - 1) * 1_020,
        "jack_high": (126 - 1) * 1_020,
    }


def test_all_20_358_520_hands_of_six_cards() -> None:
    # Six ranks hold a run of five in 71 ways: 10-J-Q-K-A with any of eight others, and each of the nine lower runs with
    # any of seven, the next higher rank being the higher run's. Six ranks have 4^6 ways in suits, 4,020 of them with no
    # five of a suit: all six alike 4, five alike 6 * 4 * 3. A pair and four ranks have 6 * 4^4, 1,524 with no five of a
    # suit: the four others all of one of the pair's two suits, 6 * 2.
    assert each_name(map(met, combinations(DECK, 6))) == {
        "any": 20_358_520,
        # With any of 47 other cards; the 36 others with any of 46, not the one that makes it higher.
        "royal_flush": 188,
        "straight_flush": 188 + 1_656,
        # 13 * C(48, 2)
        "four_of_a_kind": 14_664,
        # Two threes, 78 * 4^2, or a three, a pair and one of 44 others, 13 * 4 * 12 * 6 * 44.
        "full_house": 165_984,
        # Of four suits: all six cards, 1,716 - 71, or five, 1,287 - 10, with any of 39 cards of another suit.
        "flush": 205_792,
        # 71 * 4,020 of six ranks and 10 * 5 * 1,524 with a pair in the run.
        "straight": 361_620,
        # 13 * 4 threes, three of twelve other ranks in 4^3 ways.
        "three_of_a_kind": 732_160,
        # Three pairs, 286 * 6^3, or two and two other ranks, 78 * 6^2 * 55 * 4^2.
        "two_pair": 2_532_816,
        # A rank with four of twelve others, less the runs that hold the rank, 1,524 ways each. Of the ten runs two hold
        # an ace, two a king, three a queen, four a jack, five each rank from 10 to 5, four a 4, three a 3, two a 2.
        "pair": 9_730_740,
        "pair_of_jacks_or_better": (4 * 495 - 2 - 2 - 3 - 4) * 1_524,
        "pair_of_8s_or_better": (7 * 495 - 2 - 2 - 3 - 4 - 3 * 5) * 1_524,
        "pair_of_6s_to_10s": (5 * 495 - 5 * 5) * 1_524,
    }
