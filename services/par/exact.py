"""Exact figures as people and machines read them: fractions, and decimals rounded to the nearest, without a float."""

from fractions import Fraction
from math import isqrt

PLACES = 12
"""Of a decimal in JSON, beside which the fraction itself stands."""


def fraction(value: Fraction) -> str:
    """The value as it is: 1/3, and 2/1 for a whole number."""
    return f"{value.numerator}/{value.denominator}"


def decimal(value: Fraction, places: int = PLACES) -> str:
    """The value with so many places, halves to the even digit: 1/3 is 0.333333333333."""
    scaled = round(value * 10**places)
    whole, part = divmod(abs(scaled), 10**places)
    sign = "-" if scaled < 0 else ""
    return f"{sign}{whole}.{part:0{places}}" if places else f"{sign}{whole}"


def percent(value: Fraction, places: int = 4) -> str:
    """A share of one as people write it: 49149/1000000 is 4.9149 %."""
    return f"{decimal(value * 100, places)} %"


def root(value: Fraction, places: int = PLACES) -> str:
    """The square root with so many places, rounded to the nearest."""
    doubled = isqrt(4 * value.numerator * 10 ** (2 * places) // value.denominator)
    return decimal(Fraction((doubled + 1) // 2, 10**places), places)
