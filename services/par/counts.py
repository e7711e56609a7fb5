"""How many hands of 2, 3, 5 and 6 cards make just these names: figures of the deck, the same for every submission.

They stand here so that a service can judge its submissions without counting; the tests count every hand anew.
"""

from collections.abc import Mapping
from math import comb

from services.core.cards import DECK
from services.core.names import HandName

HAND_CARDS = 5
"""Of a hand that a main table pays."""

_TWO = {
    "pair": 72,
    "pair pair_of_aces": 6,
    "ace_face_suited": 12,
    "ace_face_unsuited": 36,
    "": 1_200,
}
_THREE = {
    "straight_flush": 40,
    "straight_flush mini_royal": 4,
    "flush": 1_100,
    "straight": 660,
    "three_of_a_kind": 52,
    "pair": 3_744,
    "": 16_500,
}
_THREE_ACE_LOW = {
    "straight_flush": 44,
    "straight_flush mini_royal": 4,
    "flush": 1_096,
    "straight": 720,
    "three_of_a_kind": 52,
    "pair": 3_744,
    "": 16_440,
}
_FIVE = {
    "royal_flush straight_flush any": 4,
    "straight_flush any": 36,
    "four_of_a_kind any": 624,
    "full_house any": 3_744,
    "flush any": 5_108,
    "straight any": 10_200,
    "three_of_a_kind any": 54_912,
    "two_pair any": 123_552,
    "pair_of_jacks_or_better pair_of_8s_or_better pair any": 337_920,
    "pair_of_8s_or_better pair_of_6s_to_10s pair any": 253_440,
    "pair_of_6s_to_10s pair any": 168_960,
    "pair any": 337_920,
    "seven_high any": 4_080,
    "eight_high any": 14_280,
    "nine_high any": 34_680,
    "ten_high any": 70_380,
    "jack_high any": 127_500,
    "any": 1_051_620,
}
_SIX = {
    "royal_flush straight_flush any": 188,
    "straight_flush any": 1_656,
    "four_of_a_kind any": 14_664,
    "full_house any": 165_984,
    "flush any": 205_792,
    "straight any": 361_620,
    "three_of_a_kind any": 732_160,
    "two_pair any": 2_532_816,
    "pair_of_jacks_or_better pair_of_8s_or_better pair any": 3_000_756,
    "pair_of_8s_or_better pair_of_6s_to_10s pair any": 2_240_280,
    "pair_of_6s_to_10s pair any": 1_493_520,
    "pair any": 2_996_184,
    "any": 6_612_900,
}


def _read(table: Mapping[str, int]) -> Mapping[frozenset[HandName], int]:
    return {frozenset(names.split()): ways for names, ways in table.items()}


_MADE = {
    (2, False): _read(_TWO),
    (3, False): _read(_THREE),
    (3, True): _read(_THREE_ACE_LOW),
    (5, False): _read(_FIVE),
    (6, False): _read(_SIX),
}


def made(size: int, ace_low_straight: bool = False) -> Mapping[frozenset[HandName], int]:
    """How many hands of so many cards make just these names, as `hands.met` names them; together they are all hands.

    Raises KeyError where no paytable is for so many cards.
    """
    return _MADE[size, ace_low_straight and size == 3]


def hands_of(size: int) -> int:
    """How many hands of so many cards there are."""
    return comb(len(DECK), size)
