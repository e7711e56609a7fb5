"""Versions of the processors: the one of today, one that says everything in other words, and one with other states."""

from dataclasses import fields, replace
from typing import Any

from services.core import rounds
from services.core.asking import Asking
from services.core.refusal import Refused
from services.runtime.stepping import Processor

COUNT = 3
MARK = " (another version)"
NAMED = str.maketrans({" ": "_", "(": None, ")": None})
WORDS = ("reason", "section", "hand", "at_ms")
"""Fields that say the same in other words, or a moment later; no figure depends on them."""


def of(processor: Processor, version: int) -> tuple[Processor, str | None]:
    """The processor of a version, and the shape of its states where it is not that of today."""
    if version == 0:
        return processor, None
    return replace(processor, decide=_otherwise(processor.decide)), "another shape" if version == 2 else None


def _otherwise(decide: Any) -> Any:
    """Decides otherwise: takes fewer wagers and smaller deposits, and says what it says in other words."""

    def decided(state: Any, command: Any, asking: Asking) -> tuple[Any, ...]:
        amount = getattr(command, "amount_cents", None)
        if isinstance(command, rounds.PlaceWager) and amount % 300 == 0:
            raise Refused("This version takes no wager of that amount." + MARK)
        try:
            return tuple(map(_reworded, decide(state, command, asking)))
        except Refused as refusal:
            raise Refused(refusal.reason + MARK, refusal.section) from None

    return decided


def _reworded(event: Any) -> Any:
    changed = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name in WORDS and type(value) is str:
            # A hand has a name, and a name no spaces: what has another form is no command.
            changed[field.name] = value + (MARK if field.name != "hand" else MARK.translate(NAMED))
        elif field.name == "at_ms":
            changed[field.name] = value + 1
    return replace(event, **changed) if changed else event
