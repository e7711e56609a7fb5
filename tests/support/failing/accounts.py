"""The accounts with a defect: `python -m tests.support.failing.accounts` cannot decide a withdrawal named `undecidable`."""

from dataclasses import replace
from typing import Any

from services.accounts.__main__ import DEFINITION
from services.core.accounts import Withdraw
from services.core.asking import Asking
from services.runtime.service import run

assert DEFINITION.processor is not None
SOUND = DEFINITION.processor
UNDECIDABLE = "undecidable"


def decide(state: Any, command: Any, asking: Asking) -> tuple[Any, ...]:
    if isinstance(command, Withdraw) and command.reference == UNDECIDABLE:
        raise ZeroDivisionError("a defect of ours")
    return SOUND.decide(state, command, asking)


if __name__ == "__main__":
    run(replace(DEFINITION, processor=replace(SOUND, decide=decide)))
