"""Odds as the Code writes them, and the first line that a hand meets."""

import pytest

from services.core.paytables import Kind, Line, Odds, Paytable, first_met


@pytest.mark.parametrize(
    ("text", "won", "returned"),
    [("500 to 1", 250_000, 500), ("1 to 1", 500, 500), ("300 for 1", 150_000, 0), ("push", 0, 500)],
)
def test_to_1_returns_the_stake_and_for_1_keeps_it(text: str, won: int, returned: int) -> None:
    odds = Odds.parse(text)
    assert odds.text == text
    assert (odds.won_cents(500), odds.returned_cents(500)) == (won, returned)


def test_a_share_names_its_level_and_its_amount_is_the_meters_to_say() -> None:
    odds = Odds.parse("100% of mega")
    assert odds == Odds(Kind.SHARE, "100% of mega", percent=100, level="mega")
    assert Odds.parse("5% of meter").percent == 5
    assert (odds.won_cents(100), odds.returned_cents(100)) == (None, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "3 to 2",
        "0 to 1",
        "-3 to 1",
        "1.5 to 1",
        "03 to 1",
        "3  to 1",
        "3 to 1 ",
        "٣ to 1",
        "3 by 1",
        "0% of meter",
        "101% of meter",
        "10% of",
        "10 % of meter",
        "10% of Meter",
        "Push",
        "3 TO 1",
        "3 to 1\n",
    ],
)
def test_what_is_no_odds_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="is no odds"):
        Odds.parse(text)


def table(*lines: tuple[str, str]) -> Paytable:
    return Paytable(tuple(Line(hand, Odds.parse(odds)) for hand, odds in lines), "655a.12(a)")


MAIN = table(
    ("royal_flush", "500 to 1"),
    ("straight_flush", "100 to 1"),
    ("four_of_a_kind", "40 to 1"),
    ("full_house", "10 to 1"),
    ("flush", "6 to 1"),
    ("straight", "4 to 1"),
    ("three_of_a_kind", "3 to 1"),
    ("two_pair", "2 to 1"),
    ("pair_of_jacks_or_better", "1 to 1"),
    ("pair_of_6s_to_10s", "push"),
)


@pytest.mark.parametrize(
    ("cards", "odds"),
    [
        ("As Ks Qs Js Ts", "500 to 1"),
        ("9s Ks Qs Js Ts", "100 to 1"),
        ("3s 3d 2s 2d Ah", "2 to 1"),
        ("Js Jd 2s 3d 4h", "1 to 1"),
        ("Ts Td 2s 3d 4h", "push"),
        ("6s 6d 2s 3d 4h", "push"),
        ("5s 5d As Kd Qh", None),
        ("As Kd Qh 2s 3d", None),
    ],
)
def test_the_first_line_that_is_met_pays(cards: str, odds: str | None) -> None:
    line = first_met(MAIN, cards.split())
    assert (line.odds.text if line else None) == odds


def test_a_royal_flush_meets_the_line_of_a_straight_flush_where_it_has_none_of_its_own() -> None:
    line = first_met(table(("straight_flush", "50 to 1"), ("any", "1 to 1")), ["As", "Ks", "Qs", "Js", "Ts"])
    assert line is not None and line.hand == "straight_flush"


def test_any_hand_meets_any() -> None:
    line = first_met(table(("any", "1 to 1")), ["7s", "5d", "4c", "3h", "2s"])
    assert line is not None and line.hand == "any"


@pytest.mark.law("A-2-3 as a straight of three cards")
def test_whether_a_2_3_is_a_straight_is_the_wagers_setting() -> None:
    three = table(("mini_royal", "50 to 1"), ("straight", "6 to 1"), ("flush", "3 to 1"))
    low = first_met(three, ["As", "2d", "3h"], ace_low_straight=True)
    assert low is not None and low.hand == "straight"
    assert first_met(three, ["As", "2d", "3h"]) is None
