"""Wagers: what each came to, by which odds, from which source. Settled from the round log alone.

There are no commands: the input is the round log, and what is known is the fold of it by `rounds.evolve`.
"""

from services.core.wagers.decisions import decide
from services.core.wagers.events import (
    ContributionDue,
    ContributionReversed,
    EnvyBonusReversed,
    EnvyBonusWon,
    Event,
    HoldRequested,
    HoldReturned,
    RoundFinished,
    RoundStarted,
    Skipped,
    WagerReversed,
    WagerSettled,
)
from services.core.wagers.following import following

__all__ = [
    "ContributionDue",
    "ContributionReversed",
    "EnvyBonusReversed",
    "EnvyBonusWon",
    "Event",
    "HoldRequested",
    "HoldReturned",
    "RoundFinished",
    "RoundStarted",
    "Skipped",
    "WagerReversed",
    "WagerSettled",
    "decide",
    "following",
]
