"""The counts that stand in the code against every hand dealt, against all patterns, and against arithmetic."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from services.core.cards import DECK
from services.core.hands import met
from services.par.counts import hands_of, made
from services.par.patterns import counted, patterns


@pytest.mark.parametrize(("size", "ace_low_straight"), [(2, False), (3, False), (3, True)])
def test_small_hands_are_counted_as_they_are_dealt(size: int, ace_low_straight: bool) -> None:
    dealt = Counter(met(cards, ace_low_straight=ace_low_straight) for cards in combinations(DECK, size))
    assert made(size, ace_low_straight) == dealt == counted(size, ace_low_straight)


@pytest.mark.parametrize("size", [5, 6])
def test_what_stands_in_the_code_is_what_patterns_count(size: int) -> None:
    assert made(size) == counted(size)
    assert sum(made(size).values()) == comb(52, size) == hands_of(size)


def test_patterns_keep_every_hand_of_five() -> None:
    # 1,287 sets of five ranks in one suit, and the 6,175 ways to have five ranks of which none comes five times.
    hands = list(patterns(5))
    assert len(hands) == 1_287 + 6_175
    assert sum(hand.ways for hand in hands) == 2_598_960
    # Of five different ranks four hands are of one suit, and 4^5 less those four are not.
    ways = {hand.cards: hand.ways for hand in hands}
    assert ways[("2c", "3c", "4c", "5c", "6c")] == 4 and ways[("2c", "3d", "4h", "5s", "6c")] == 1_020


def test_six_cards_fall_into_the_published_classes() -> None:
    # Brian Alspach, "6-Card Poker Hands", January 2000: of 20,358,520 hands, by their best five.
    ways: Counter[str] = Counter()
    for names, count in made(6).items():
        ways.update(dict.fromkeys(names, count))
    assert ways["royal_flush"] == 4 * 47  # the five and any sixth card
    assert ways["straight_flush"] == 188 + 1_656
    assert ways["four_of_a_kind"] == 13 * comb(48, 2)
    assert ways["full_house"] == 165_984
    assert ways["flush"] == 205_792
    assert ways["straight"] == 361_620
    assert ways["three_of_a_kind"] == 732_160
    assert ways["two_pair"] == 2_532_816
    assert ways["pair"] == 9_730_740
    assert made(6)[frozenset({"any"})] == 6_612_900
