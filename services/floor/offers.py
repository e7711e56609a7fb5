"""What the house deals: which games, under which submissions, on which progressives. The tables take them in turn."""

from dataclasses import dataclass, replace
from typing import Any

from services.core.games.cajun_stud import CAJUN_STUD
from services.core.games.caribbean_stud import CARIBBEAN_STUD
from services.core.games.game import Game
from services.core.games.mississippi_stud import MISSISSIPPI_STUD
from services.core.names import ProgressiveId, RulesId

SEATS = 6
"""At every table, by every submission of the house."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One kind of table.

    `pays_envy` and `folded_hand_qualifies` are what the submission says of Envy Bonuses: the APIs do not tell, and
    the floor waits for each that it expects.
    """

    game: Game
    rules: RulesId
    progressive_id: ProgressiveId | None = None
    pays_envy: bool = False
    folded_hand_qualifies: bool = False


OFFERS = (
    Offer(MISSISSIPPI_STUD, "demo-mississippi-stud", "progressive-a", pays_envy=True, folded_hand_qualifies=True),
    Offer(CARIBBEAN_STUD, "demo-caribbean-stud", "progressive-caribbean", pays_envy=True),
    Offer(CAJUN_STUD, "demo-cajun-stud"),
    Offer(MISSISSIPPI_STUD, "demo-mississippi-stud-c", "progressive-c", pays_envy=True, folded_hand_qualifies=True),
    Offer(CARIBBEAN_STUD, "demo-caribbean-stud-a", "progressive-caribbean-a"),
)


def offer_at(number: int) -> Offer:
    """What the table of that number deals where nobody opened it otherwise; the first is number 1."""
    return OFFERS[(number - 1) % len(OFFERS)]


def offer_of(table: dict[str, Any]) -> Offer | None:
    """What an open table deals, on the progressive that it was opened on; None where the floor does not know it."""
    known = next((offer for offer in OFFERS if offer.rules == table["rules"]), None)
    return None if known is None else replace(known, progressive_id=table["progressive_id"])
