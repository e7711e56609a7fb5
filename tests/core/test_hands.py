"""Hands against the published counts of all deals, and against the words of 655a.6."""

from collections import Counter
from itertools import combinations

import pytest

from services.core.cards import DECK, distinct, parse, rank_value
from services.core.hands import met


def hands(text: str, *, ace_low_straight: bool = False) -> set[str]:
    return set(met(text.split(), ace_low_straight=ace_low_straight)) - {"any"}


def test_the_deck_has_52_cards_and_the_ace_is_high() -> None:
    assert len(DECK) == 52 and distinct(DECK)
    assert rank_value("As") == 14 and rank_value("Td") == 10 and rank_value("2c") == 2


@pytest.mark.parametrize("text", ["", "A", "1s", "10s", "as", "AS", "Ax", "As ", "sA"])
def test_what_is_no_card_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        parse(text)


def test_all_2_598_960_five_card_hands_fall_into_the_published_classes() -> None:
    # The classes by combinatorics; of the 13 ranks a pair has, each takes 84,480 hands: J to A four, 6 to 10 five.
    count: Counter[str] = Counter()
    for names, hands_made in Counter(map(met, combinations(DECK, 5))).items():
        count.update(dict.fromkeys(names, hands_made))
    low = {name: count.pop(name) for name in ("seven_high", "eight_high", "nine_high", "ten_high", "jack_high")}
    assert count == {
        "any": 2_598_960,
        "royal_flush": 4,
        "straight_flush": 40,
        "four_of_a_kind": 624,
        "full_house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three_of_a_kind": 54_912,
        "two_pair": 123_552,
        "pair": 1_098_240,
        "pair_of_jacks_or_better": 4 * 84_480,
        "pair_of_6s_to_10s": 5 * 84_480,
        "pair_of_8s_or_better": 7 * 84_480,
    }
    # N high: four of the N - 2 ranks below, less the straights that end there; 4^5 suits less four flushes.
    assert low == {
        "seven_high": (5 - 1) * 1_020,
        "eight_high": (15 - 1) * 1_020,
        "nine_high": (35 - 1) * 1_020,
        "ten_high": (70 - 1) * 1_020,
        "jack_high": (126 - 1) * 1_020,
    }


@pytest.mark.parametrize(
    ("ace_low_straight", "straight_flushes", "straights", "flushes"),
    [(True, 48, 720, 1_096), (False, 44, 660, 1_100)],
)
def test_all_22_100_three_card_hands(
    ace_low_straight: bool, straight_flushes: int, straights: int, flushes: int
) -> None:
    # Twelve runs with A-2-3, eleven without; each has four suited forms and 60 others.
    count = Counter(name for cards in combinations(DECK, 3) for name in met(cards, ace_low_straight=ace_low_straight))
    assert count == {
        "mini_royal": 4,
        "straight_flush": straight_flushes,
        "three_of_a_kind": 52,
        "straight": straights,
        "flush": flushes,
        "pair": 3_744,
    }


def test_all_1_326_pockets() -> None:
    # 13 pairs of six; an ace with one of three faces, four suits alike and twelve not.
    count = Counter(name for cards in combinations(DECK, 2) for name in met(cards))
    assert count == {"pair": 78, "pair_of_aces": 6, "ace_face_suited": 12, "ace_face_unsuited": 36}


@pytest.mark.parametrize(
    ("cards", "made"),
    [
        ("As 2d 3h 4c 5s", {"straight"}),
        ("As 2s 3s 4s 5s", {"straight_flush"}),
        ("Ts As Ks Js Qs", {"royal_flush", "straight_flush"}),
        ("Ks As 2d 3h 4c", set()),
        ("Qs Ks As 2d 3h", set()),
        ("Ks As 2s 3s 4s", {"flush"}),
        ("3c 3d 2c 2d As", {"two_pair"}),
        ("Jc Jd 2c 3d 4s", {"pair", "pair_of_jacks_or_better", "pair_of_8s_or_better"}),
        ("Tc Td 2c 3d 4s", {"pair", "pair_of_6s_to_10s", "pair_of_8s_or_better"}),
        ("6c 6d 2c 3d As", {"pair", "pair_of_6s_to_10s"}),
        ("5c 5d As Kd Qs", {"pair"}),
        ("7c 5d 4s 3h 2s", {"seven_high"}),
        ("Qc 5d 4s 3h 2s", set()),
    ],
)
def test_five_cards(cards: str, made: set[str]) -> None:
    assert hands(cards) == made


@pytest.mark.parametrize(
    ("cards", "made"),
    [
        ("2s 9s 8s 7s 6s 5s", {"straight_flush"}),
        ("9s As Ks Qs Js Ts", {"royal_flush", "straight_flush"}),
        ("Ac Ad Kc Kd Qc Qd", {"two_pair"}),
        ("Ac Ad Ah Kc Kd Kh", {"full_house"}),
        ("2c 3c 4c 5c 6d Kc", {"flush"}),
        ("Ac 2d 3h 4s 5c Kd", {"straight"}),
        ("Qc Kd Ah 2s 3c 4d", set()),
    ],
)
def test_six_cards_count_as_their_best_five(cards: str, made: set[str]) -> None:
    assert hands(cards) == made


def test_with_three_cards_the_ace_is_low_only_where_the_rules_say_so() -> None:
    assert hands("Ac 2d 3h", ace_low_straight=True) == {"straight"}
    assert hands("Ac 2d 3h") == set()
    assert hands("Ac 2c 3c") == {"flush"}
    assert hands("Ac 2c 3c", ace_low_straight=True) == {"straight_flush"}
    assert hands("Kc Ad 2h", ace_low_straight=True) == set()
    assert hands("Ac Kd Qh") == {"straight"}


@pytest.mark.parametrize("cards", ["As As Kd Qc Jh", "As", "As Kd Qc Jh", "As Kd Qc Jh Ts 9s 8s", "As Kd Qc Jh 1s"])
def test_cards_that_no_hand_can_be_are_refused(cards: str) -> None:
    with pytest.raises(ValueError):
        met(cards.split())
