"""Jackpots: the levels of a progressive, the claims on it, and the Envy Bonuses of its tables.

Levels count in microcents, exactly. A level falls only by a claim or by the reversal of a void round.
"""

from services.core.jackpots.commands import (
    AwardEnvy,
    ClaimPayout,
    Command,
    Contribute,
    DocumentPayout,
    OpenProgressive,
    PayEnvy,
    PayPayout,
    PeopleCommand,
    ProcessorCommand,
    ReverseContribution,
    ValidatePayout,
)
from services.core.jackpots.decisions import decide
from services.core.jackpots.events import (
    ContributionAccepted,
    ContributionTakenBack,
    EnvyBonusDue,
    EnvyBonusPaid,
    Event,
    LevelContribution,
    LevelHit,
    LevelOpened,
    LevelReversal,
    PayoutClaimed,
    PayoutDocumented,
    PayoutPaid,
    PayoutValidated,
    ProgressiveOpened,
    Refused,
)
from services.core.jackpots.evolution import evolve
from services.core.jackpots.progressive import AWARDS_KEPT, INITIAL, Award, Claim, State
from services.core.jackpots.views import following, view
from services.core.payouts import ClaimState

__all__ = [
    "AWARDS_KEPT",
    "INITIAL",
    "Award",
    "AwardEnvy",
    "Claim",
    "ClaimPayout",
    "ClaimState",
    "Command",
    "Contribute",
    "ContributionAccepted",
    "ContributionTakenBack",
    "DocumentPayout",
    "EnvyBonusDue",
    "EnvyBonusPaid",
    "Event",
    "LevelContribution",
    "LevelHit",
    "LevelOpened",
    "LevelReversal",
    "OpenProgressive",
    "PayEnvy",
    "PayPayout",
    "PayoutClaimed",
    "PayoutDocumented",
    "PayoutPaid",
    "PayoutValidated",
    "PeopleCommand",
    "ProcessorCommand",
    "ProgressiveOpened",
    "Refused",
    "ReverseContribution",
    "State",
    "ValidatePayout",
    "decide",
    "evolve",
    "following",
    "view",
]
