"""What is malformed is said in a sentence, and nothing of it reaches a topic."""

import json
from typing import Any

import pytest

from services.accounts.api import FORMS as ACCOUNTS
from services.core import accounts, jackpots, rounds
from services.core.names import On
from services.progressive.api import FORMS as JACKPOTS
from services.runtime.forms import BODY_BYTES_MAX, CENTS_MAX, Malformed
from services.tables.api import FORMS as ROUNDS
from tests.support.worlds import MemoryWorld

ANTE = {"command": "PlaceWager", "seat": 1, "wager": "ante", "amount_cents": 500}
CENTS = "amount_cents must be a whole number of cents, from 1 to 1000000000000."
SEAT = "seat must be a seat's number, from 1."
CARD = "card must be a card such as As or Td: a rank of 23456789TJQKA and a suit of cdhs."
CARDS = "cards must be a list, each a card such as As or Td: a rank of 23456789TJQKA and a suit of cdhs."


def said(body: Any, forms: Any = ROUNDS) -> str:
    with pytest.raises(Malformed) as caught:
        forms.read(body if isinstance(body, bytes) else json.dumps(body).encode())
    return str(caught.value)


# Malformed JSON -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"command": "OpenRound",}', b"{'command': 'OpenRound'}", b"\xff\xfe", b'{"command": "OpenRound"} x',
     b'{"command": "\xc3"}', b'{"a": ' * 9_000],
)  # fmt: skip
def test_what_is_no_json_is_said_so(body: bytes) -> None:
    assert said(body).startswith("The body is not JSON: ")


@pytest.mark.parametrize("body", [b"[]", b'"OpenRound"', b"null", b"7", b"true"])
def test_json_that_is_no_object_is_said_so(body: bytes) -> None:
    assert said(body) == 'The body must be a JSON object such as {"command": "OpenRound"}.'


def test_a_body_that_is_too_long_is_not_even_read() -> None:
    body = b'{"command": "OpenRound"}' + b" " * BODY_BYTES_MAX
    assert said(body) == f"The body is too long: at most {BODY_BYTES_MAX} bytes are read."


@pytest.mark.parametrize("name", ["seat", "command"])
def test_a_field_that_stands_twice_is_said_so(name: str) -> None:
    body = json.dumps(ANTE)[:-1] + f', "{name}": 2}}'
    assert said(body.encode()) == f"The field {name} stands twice in the body."


# Unknown commands and fields ------------------------------------------------------------------------------


def test_a_body_without_a_command_is_told_which_there_are() -> None:
    assert said({}, ACCOUNTS) == 'The body has no "command". Known here: Deposit, OpenAccount, Withdraw.'


@pytest.mark.parametrize("name", ["Nope", "placewager", "", ["Fold"], None, 7, {"a": 1}])
def test_an_unknown_command_is_told_which_there_are(name: Any) -> None:
    sentence = said({"command": name}, ACCOUNTS)
    assert sentence == f"The command {json.dumps(name)} is not known here. Known: Deposit, OpenAccount, Withdraw."


@pytest.mark.parametrize("command", ["ConfirmWager", "DeclineWager", "ReleasePayout"])
def test_a_processors_command_is_not_for_people(command: str) -> None:
    assert "is not known here" in said({"command": command, "request_sequence": 1})


@pytest.mark.parametrize("command", ["Contribute", "ClaimPayout", "AwardEnvy", "CreditWinnings", "PostHold"])
def test_nobody_contributes_claims_or_credits_by_hand(command: str) -> None:
    for forms in (JACKPOTS, ACCOUNTS):
        assert "is not known here" in said({"command": command}, forms)


def test_an_unknown_field_is_told_which_there_are() -> None:
    assert said({"command": "Fold", "seat": 1, "colour": 2}) == "Fold has no field colour; it takes seat."
    assert said({"command": "OpenRound", "seat": 1}) == "OpenRound has no field seat; it takes nothing more."


def test_a_field_that_the_api_fills_in_is_nobody_elses() -> None:
    body = {
        "command": "OpenTable",
        "game": "mississippi_stud",
        "seats": 6,
        "rules": "demo",
        "progressive_rules": "demo",
    }
    assert said(body) == (
        "OpenTable has no field progressive_rules; it takes game, seats, rules, progressive_id."
    )  # fmt: skip


def test_a_missing_field_is_told_what_it_takes() -> None:
    assert said({"command": "Fold"}) == "Fold needs seat: a seat's number, from 1."


def test_everything_that_is_wrong_is_said_at_once() -> None:
    sentence = said({"command": "PlaceWager", "seat": "1", "wager": "ante", "stake": 5})
    assert sentence == (
        f"{SEAT} PlaceWager needs amount_cents: a whole number of cents, from 1 to 1000000000000."
        " PlaceWager has no field stake; it takes seat, wager, amount_cents, player_id, account_id, hand."
    )


# Wrong types and amounts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cents", [0, -1, -500, 0.5, 500.0, 1e3, "500", None, True, [500], CENTS_MAX + 1, 10**400])
def test_an_amount_is_a_whole_number_of_cents_above_nothing(cents: Any) -> None:
    assert said({**ANTE, "amount_cents": cents}) == CENTS


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"1E2", b"500.00"])
def test_an_amount_is_no_float_however_it_is_written(number: bytes) -> None:
    assert said(json.dumps(ANTE).encode().replace(b"500", number)) == CENTS


def test_a_number_of_thousands_of_digits_is_malformed() -> None:
    long = json.dumps(ANTE).encode().replace(b"500", b"9" * 5_000)
    assert said(long) == "The body has a number of too many digits."


def test_the_greatest_amount_is_taken() -> None:
    assert ROUNDS.read(json.dumps({**ANTE, "amount_cents": CENTS_MAX}).encode()).amount_cents == CENTS_MAX


@pytest.mark.parametrize("seat", [True, False, 0, -1, 1.0, "1", None, 100, [1]])
def test_a_seat_is_a_number_and_true_is_none(seat: Any) -> None:
    assert said({**ANTE, "seat": seat}) == SEAT


@pytest.mark.parametrize("misdealt", [0, 1, "true", None])
def test_true_and_false_are_no_numbers(misdealt: Any) -> None:
    body = {"command": "CountStub", "cards": 41, "misdealt": misdealt}
    assert said(body) == "misdealt must be true or false."


@pytest.mark.parametrize("card", ["10h", "1h", "AS", "as", "Ax", "A", "", "As ", " As", "AsKs", "As\n", 7, None])
def test_a_card_is_a_rank_and_a_suit(card: Any) -> None:
    assert said({"command": "RevealCommunityCard", "card": card}) == CARD


@pytest.mark.parametrize("cards", [[], "AsKs", ["As", "xx"], [["As"]], None, {"0": "As"}, ["As"] * 53])
def test_cards_are_a_list_of_cards(cards: Any) -> None:
    assert said({"command": "ShowHand", "seat": 1, "cards": cards}) == CARDS


@pytest.mark.parametrize("hand", ["house", "PLAYER", "", None, 1])
def test_a_hand_is_the_players_or_the_dealers(hand: Any) -> None:
    assert said({**ANTE, "hand": hand}) == "hand must be player or dealer."


@pytest.mark.parametrize("position", [0, -1, True, "0", "player", "1 ", 1.0, None])
def test_a_position_is_a_seat_or_the_dealer(position: Any) -> None:
    body = {"command": "DrawLuckyPosition", "position": position}
    assert said(body) == "position must be a seat's number or dealer."


# Two references that look the same on paper must not be two: no space at an end, nothing invisible inside.
ODD_TEXTS = ["", " ", "a ", " a", "a\x00b", "a\nb", "a\u0085b", "a\u200bb", "a\u202eb", "x" * 201, "\ud800", None, 7]


@pytest.mark.parametrize("reason", ODD_TEXTS)
def test_a_reason_is_printable_and_short(reason: Any) -> None:
    sentence = "reason must be 1 to 200 printable characters, without a space at either end."
    assert said({"command": "VoidRound", "reason": reason}) == sentence


@pytest.mark.parametrize("reason", ["x", "x" * 200, "card exposed", "Zoë sah die Karte", "牌"])
def test_a_reason_may_be_in_any_language(reason: str) -> None:
    assert ROUNDS.read(json.dumps({"command": "VoidRound", "reason": reason}).encode()) == rounds.VoidRound(reason)


@pytest.mark.parametrize("player_id", ["", "-a", "a b", "a/b", "x" * 129, 7, "ä"])
def test_an_id_has_no_blanks_and_no_slashes(player_id: Any) -> None:
    sentence = said({**ANTE, "player_id": player_id})
    assert sentence == "player_id must be letters, digits, dots, dashes and underscores, at most 128."


# What is well formed --------------------------------------------------------------------------------------


def test_a_form_becomes_the_command() -> None:
    read = ROUNDS.read(json.dumps({**ANTE, "hand": "dealer"}).encode())
    assert read == rounds.PlaceWager(1, "ante", 500, None, None, On.DEALER)
    assert isinstance(read.hand, On)
    assert ROUNDS.read(b'{"command": "ShowHand", "seat": 2, "cards": ["As", "Kd"]}') == rounds.ShowHand(2, ("As", "Kd"))
    assert ROUNDS.read(b'{"command": "DrawLuckyPosition", "position": 3}') == rounds.DrawLuckyPosition("3")
    assert JACKPOTS.read(b'{"command": "PayPayout", "claim_id": "t-1.3.progressive"}') == jackpots.PayPayout(
        "t-1.3.progressive"
    )
    assert ACCOUNTS.read(b'{"command": "OpenAccount", "player_id": "p"}') == accounts.OpenAccount("p")


def test_what_is_malformed_reaches_no_topic() -> None:
    world = MemoryWorld()
    status, answer = world.post("/tables/table-1/commands", {**ANTE, "amount_cents": -500}, "key-1")
    assert (status, answer) == (422, {"malformed": CENTS})
    assert world.house.topics == {}
