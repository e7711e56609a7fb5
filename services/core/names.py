"""The trade's ids and small words, each with the form in which a person may write it.

The words are the regulation's; the tags let the edges check the form before a command is taken.
"""

import reprlib
from enum import StrEnum
from typing import Annotated

TableId = Annotated[str, "key"]
ProgressiveId = Annotated[str, "key"]
AccountId = Annotated[str, "key"]
"""As the two above, the key of a log: without a dot, because a claim's id is divided by dots."""
PlayerId = Annotated[str, "id"]
RulesId = Annotated[str, "id"]
RoundId = Annotated[str, "id"]
ClaimId = Annotated[str, "id"]
Text = Annotated[str, "text"]
"""A sentence or reference that a person wrote: 1 to 200 printable characters."""
Seat = Annotated[int, "seat"]
"""A seat's number, clockwise from the dealer's left, from 1."""
Card = Annotated[str, "card"]
"""Rank and suit: 23456789TJQKA and cdhs."""
Multiple = Annotated[int, "multiple"]
Count = Annotated[int, "count"]
Number = Annotated[int, "number"]
"""Of a thing that is counted from 1, such as a proposal."""
Position = Annotated[str, "position"]
"""A seat's number as text, or `dealer`."""
GameName = Annotated[str, "game"]
WagerName = Annotated[str, "wager"]
HandName = Annotated[str, "hand"]
LevelName = Annotated[str, "level"]
OddsText = Annotated[str, "odds"]
"""Odds as a submission writes them, such as `3 to 1`."""

DEALER: Position = "dealer"


class On(StrEnum):
    """Whose hand a wager is on."""

    PLAYER = "player"
    DEALER = "dealer"


class Result(StrEnum):
    """What a wager came to. `returned`: the stake goes back without a paytable's push."""

    WON = "won"
    LOST = "lost"
    PUSHED = "pushed"
    RETURNED = "returned"


class Source(StrEnum):
    """Where a payout comes from. A share of a meter is a hand pay: never the table inventory, never an account."""

    TABLE_INVENTORY = "table_inventory"
    GAME_ACCOUNT = "game_account"
    HAND_PAY = "hand_pay"


def quoted(found: object) -> str:
    """What a person wrote, as a sentence about it quotes it: in one line, and shortened where it is long."""
    return _SHORT.repr(found)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


def round_of_claim(claim_id: ClaimId) -> RoundId:
    """A claim's id begins with its round's, which has no dot."""
    return claim_id.partition(".")[0]


def words(name: str) -> str:
    """A name as it is spoken: royal_flush is royal flush."""
    return name.replace("_", " ")
