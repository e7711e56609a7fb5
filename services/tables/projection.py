"""What tables show: each table as its log has it, and under which submission each progressive is open."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.core import jackpots, rounds
from services.runtime.projecting import Fact, Log

ROUNDS = Log("rounds", rounds.INITIAL, rounds.State, rounds.evolve)


@dataclass(frozen=True, slots=True)
class OpenUnder:
    """The submission under which a progressive is open, None where it is not; `ends` where it is closing or closed."""

    rules: str | None = None
    rules_sha256: bytes | None = None
    ends: bool = False


def _opened_under(known: OpenUnder, event: jackpots.Event) -> OpenUnder:
    match event:
        case jackpots.ProgressiveOpened(rules, rules_sha256):
            return OpenUnder(rules, rules_sha256)
        case jackpots.ProgressiveClosing():
            return replace(known, ends=True)
        case jackpots.ClosingGivenUp():
            return replace(known, ends=False)
        case _:
            return known


JACKPOTS = Log("jackpots", OpenUnder(), OpenUnder, _opened_under)


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """The folds are all that tables show; there are no rows of its own."""
