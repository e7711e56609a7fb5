"""What tables show: each table as its log has it, and under which submission each progressive is open."""

from collections.abc import Sequence
from typing import Any

from services.core import jackpots, rounds
from services.runtime.projecting import Fact, Log

ROUNDS = Log("rounds", rounds.INITIAL, rounds.State, rounds.evolve)


def _opened_under(rules: str | None, event: jackpots.Event) -> str | None:
    return event.rules if isinstance(event, jackpots.ProgressiveOpened) else rules


JACKPOTS = Log("jackpots", None, str | None, _opened_under)  # type: ignore[arg-type]


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """The folds are all that tables show; there are no rows of its own."""
