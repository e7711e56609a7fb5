"""What comes with a command, and what a record asks of others: the arguments that keep decisions pure."""

from dataclasses import dataclass
from typing import Any

from services.core.rules import RuleBook


@dataclass(frozen=True, slots=True)
class Asking:
    """For which key a command is, who asks, when (the broker's append time), and the submissions that are held."""

    key: str
    actor: str
    at_ms: int
    book: RuleBook


@dataclass(frozen=True, slots=True)
class Following:
    """A command that follows from a record: to which stream's processor, for which key."""

    stream: str
    key: str
    command: Any
