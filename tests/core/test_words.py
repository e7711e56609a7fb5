"""Amounts and names as people read them."""

from services.core.money import dollars
from services.core.names import words


def test_an_amount_is_in_dollars_and_cents() -> None:
    assert [dollars(cents) for cents in (0, 5, 123_456, -705)] == ["$0.00", "$0.05", "$1,234.56", "-$7.05"]


def test_a_name_is_spoken_without_its_lines() -> None:
    assert words("five_card_hand_bonus") == "five card hand bonus"
