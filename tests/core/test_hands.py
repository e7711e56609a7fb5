"""Hands against the words of 655a.6 and 639a.11(c)(3), and what is no hand at all."""

from collections.abc import Callable

import pytest

from services.core.cards import DECK, distinct, parse, rank_value
from services.core.hands import ace_king_or_better, met, strength


def hands(text: str, *, ace_low_straight: bool = False) -> set[str]:
    return set(met(text.split(), ace_low_straight=ace_low_straight)) - {"any"}


def test_the_deck_has_52_cards_and_the_ace_is_high() -> None:
    assert len(DECK) == 52 and distinct(DECK)
    assert rank_value("As") == 14 and rank_value("Td") == 10 and rank_value("2c") == 2


@pytest.mark.parametrize("text", ["", "A", "1s", "10s", "as", "AS", "Ax", "As ", "sA"])
def test_what_is_no_card_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        parse(text)


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


@pytest.mark.law("655a.11(i)(4)")
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
        ("2c 3d 4h 5s 7c 8d", set()),
        ("5c 5d As Kd Qs 9h", {"pair"}),
        ("6c 6d As Kd Qs 9h", {"pair", "pair_of_6s_to_10s"}),
        ("Tc Td 2s 3d 4s 7h", {"pair", "pair_of_6s_to_10s", "pair_of_8s_or_better"}),
        ("Jc Jd 2s 3d 4s 7h", {"pair", "pair_of_jacks_or_better", "pair_of_8s_or_better"}),
    ],
)
def test_six_cards_count_as_their_best_five(cards: str, made: set[str]) -> None:
    assert hands(cards) == made


@pytest.mark.law("A-2-3 as a straight of three cards")
def test_with_three_cards_the_ace_is_low_only_where_the_rules_say_so() -> None:
    assert hands("Ac 2d 3h", ace_low_straight=True) == {"straight"}
    assert hands("Ac 2d 3h") == set()
    assert hands("Ac 2c 3c") == {"flush"}
    assert hands("Ac 2c 3c", ace_low_straight=True) == {"straight_flush"}
    assert hands("Kc Ad 2h", ace_low_straight=True) == set()
    assert hands("Ac Kd Qh") == {"straight"}


@pytest.mark.law("639a.11(c)(3)(ii)", "655a.6(c), 639a.6 and 683a.6, how hands rank")
@pytest.mark.parametrize(
    ("low", "high"),
    [
        # The pair before the ace beside it, 653a.6(b)(9); the three before the pair of a full house, (b)(4).
        ("2c 2d As Kd Qs", "3c 3d 4s 5d 6s"),
        ("2c 2d 2h As Ad", "3c 3d 3h 2s 2d"),
        ("Ac Ad 3h 3s Kd", "Ah As 4h 4s 2d"),
        ("Ac Kd Qh Js 8d", "Ah Ks Qd Jc 9h"),
        ("As 2d 3h 4c 5s", "2s 3d 4h 5c 6s"),
        ("As Kd Qh Jc 9s", "2c 2d 3h 4s 5d"),
        ("Ks Qs Js Ts 9s", "Ac Kc Qc Jc Tc"),
    ],
)
def test_which_of_two_hands_is_higher(low: str, high: str) -> None:
    assert strength(low.split()) < strength(high.split())


@pytest.mark.law("639a.11(c)(3)(ii)(C)")
@pytest.mark.parametrize(
    ("one", "other"),
    [("Ac Kd Qh Js 9d", "9s Ah Kc Qd Jh"), ("2c 2d As Kd Qs", "2h 2s Ad Ks Qd"), ("As Ks 9s 3s 2s", "Ad Kd 9d 3d 2d")],
)
def test_hands_of_the_same_ranks_are_a_tie(one: str, other: str) -> None:
    assert strength(one.split()) == strength(other.split())


@pytest.mark.law("639a.11(c)(3)")
@pytest.mark.parametrize(
    ("cards", "plays"),
    [
        ("As Kd 4c 3h 2s", True),
        ("As Qd Jc Th 9s", False),
        ("Ks Qd Jc Th 8s", False),
        ("2s 2d 3c 4h 5s", True),
        ("7s 5s 4s 3s 2s", True),
        ("As 2d 3c 4h 5s", True),
    ],
)
def test_a_dealer_plays_from_ace_king_on(cards: str, plays: bool) -> None:
    assert ace_king_or_better(cards.split()) is plays


@pytest.mark.parametrize("cards", ["As As", "As Kd As", "As As Kd Qc Jh", "Jh Kd As Qc As", "As Kd Qc Jh Ts As"])
def test_a_card_that_occurs_twice_is_refused(cards: str) -> None:
    with pytest.raises(ValueError, match=r"^A card occurs twice\.$"):
        met(cards.split())


@pytest.mark.parametrize("cards", ["As 1s", "As Kd 1s", "As Kd Qc Jh 1s", "1s 1s Kd Qc Jh", "As Kd Qc Jh Ts 1s"])
def test_what_is_no_card_makes_no_hand(cards: str) -> None:
    with pytest.raises(ValueError, match=r"^'1s' is not a card: write rank and suit, such as As, Td or 9c\.$"):
        met(cards.split())


@pytest.mark.parametrize("cards", ["", "As", "As Kd Qc Jh", "As Kd Qc Jh Ts 9s 8s"])
def test_no_paytable_is_for_another_number_of_cards(cards: str) -> None:
    with pytest.raises(ValueError, match=rf"^No paytable is for {len(cards.split())} cards\.$"):
        met(cards.split())


@pytest.mark.parametrize("judge", [strength, ace_king_or_better])
@pytest.mark.parametrize(
    ("cards", "sentence"),
    [
        ("", r"Hands of five cards are compared, not of 0\."),
        ("As Kd Qc Jh", r"Hands of five cards are compared, not of 4\."),
        ("As Kd Qc Jh Ts 9s", r"Hands of five cards are compared, not of 6\."),
        ("As As Kd Qc Jh", r"A card occurs twice\."),
        ("As Kd Qc Jh 1s", r"'1s' is not a card: write rank and suit, such as As, Td or 9c\."),
    ],
)
def test_what_is_no_hand_of_five_cards_is_not_compared(
    judge: Callable[[list[str]], object], cards: str, sentence: str
) -> None:
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        judge(cards.split())
