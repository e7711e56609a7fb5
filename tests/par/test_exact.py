"""Fractions as decimals, without a float between."""

from fractions import Fraction

import pytest

from services.par.exact import decimal, fraction, percent, root


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (Fraction(1, 3), 12, "0.333333333333"),
        (Fraction(2, 3), 4, "0.6667"),
        (Fraction(-1, 8), 2, "-0.12"),
        (Fraction(-1, 1000), 2, "0.00"),
        (Fraction(205, 2), 0, "102"),
        (Fraction(10**30 + 1, 10**30), 30, "1." + "0" * 29 + "1"),
    ],
)
def test_decimals_are_rounded_to_the_nearest(value: Fraction, places: int, text: str) -> None:
    assert decimal(value, places) == text


def test_fractions_percent_and_roots() -> None:
    assert fraction(Fraction(-2, 6)) == "-1/3" and fraction(Fraction(4, 2)) == "2/1"
    assert percent(Fraction(53_223, 1_082_900)) == "4.9149 %"
    assert root(Fraction(2), 8) == "1.41421356" and root(Fraction(9, 4), 2) == "1.50"
    # 1.4142135623730950488: the thirteenth digit rounds the twelfth up.
    assert root(Fraction(2)) == "1.414213562373" and root(Fraction(2), 5) == "1.41421"
    assert root(Fraction(3), 3) == "1.732" and root(Fraction(10), 3) == "3.162" and root(Fraction(7), 3) == "2.646"
