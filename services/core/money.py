"""Amounts: whole cents for people, microcents (millionths of a cent) for meters; never a float."""

from typing import Annotated

Cents = Annotated[int, "cents"]
Microcents = Annotated[int, "microcents"]
Ppm = Annotated[int, "ppm"]

MICROCENTS_PER_CENT = 1_000_000
METER_MICROCENTS_MAX = 10**18
"""What a level holds at most, ten billion dollars: sums of several still fit in what a record and a snapshot hold."""


def contribution_microcents(wager_cents: int, rate_ppm: int) -> Microcents:
    """What a wager adds to a meter. Cents times parts per million are microcents, exactly."""
    return wager_cents * rate_ppm


def whole_cents(amount_microcents: int) -> Cents:
    """An amount cut to whole cents; the fraction stays where it was."""
    return amount_microcents // MICROCENTS_PER_CENT


def dollars(amount_cents: int) -> str:
    """An amount as people read it: 123456 is $1,234.56."""
    sign = "-" if amount_cents < 0 else ""
    return f"{sign}${abs(amount_cents) // 100:,}.{abs(amount_cents) % 100:02}"


_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_GROUPS = ("billion", 10**9), ("million", 10**6), ("thousand", 1000)


def dollars_in_words(amount_cents: int) -> str:
    """An amount as a cheque has it: 123456 is `one thousand two hundred thirty-four dollars and 56 cents`."""
    assert 0 <= amount_cents < 10**14, "an amount on paper is below a thousand billion dollars"
    whole, cents = divmod(amount_cents, 100)
    return f"{_spelt(whole)} dollar{'' if whole == 1 else 's'} and {cents:02} cents"


def _spelt(number: int) -> str:
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_SMALL[ones]}" if ones else "")
    name, size = next(((name, size) for name, size in _GROUPS if number >= size), ("hundred", 100))
    count, rest = divmod(number, size)
    return f"{_spelt(count)} {name}" + (f" {_spelt(rest)}" if rest else "")
