"""Amounts: whole cents for people, microcents (millionths of a cent) for meters; never a float."""

from typing import Annotated

Cents = Annotated[int, "cents"]
Microcents = Annotated[int, "microcents"]
Ppm = Annotated[int, "ppm"]

MICROCENTS_PER_CENT = 1_000_000


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
