"""The test language: given(rounds, *events).when(command).then(*events), or .refused(section or words)."""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from services.core import rounds, wagers
from services.core.asking import Asking
from services.core.refusal import Refused
from services.core.rules import RuleBook
from services.runtime.submissions import load

BOOK = load(Path(__file__).parents[2] / "deploy" / "rules")
AT_MS = 1_800_000_000_000
"""In January 2027, when the submissions of the demonstration house are in force."""


@dataclass(frozen=True)
class Outcome:
    """What came of a command: events, or a refusal."""

    events: tuple[Any, ...] = ()
    refusal: Refused | None = None

    def then(self, *events: Any) -> None:
        assert self.refusal is None, self.refusal.reason if self.refusal else ""
        assert self.events == events

    def refused(self, *words: str | None) -> None:
        """By this section (or None), or with these words in its reason."""
        assert self.refusal is not None, f"it was not refused: {self.events}"
        for word in words:
            assert word == self.refusal.section or (word is not None and word in self.refusal.reason), (
                self.refusal.section,
                self.refusal.reason,
            )


@dataclass(frozen=True)
class Given:
    """A module, and what it knows after some events."""

    module: ModuleType
    state: Any

    def when(
        self, command: Any, *, key: str = "table-1", at: int = AT_MS, actor: str = "dealer", book: RuleBook = BOOK
    ) -> Outcome:
        try:
            return Outcome(events=self.module.decide(self.state, command, Asking(key, actor, at, book)))
        except Refused as refused:
            return Outcome(refusal=refused)


def given(module: ModuleType, *events: Any) -> Given:
    """The state after these events; that of `wagers` is the fold of the round log."""
    folds = rounds if module is wagers else module
    return Given(module, reduce(folds.evolve, events, folds.INITIAL))


def played(*commands: Any, after: tuple[Any, ...] = (), book: RuleBook = BOOK) -> tuple[Any, ...]:
    """The round log once these commands, none of them refused, were carried out at table-1 after those events."""
    log = after
    for command in commands:
        outcome = given(rounds, *log).when(command, book=book)
        assert outcome.refusal is None, f"{command}: {outcome.refusal.reason if outcome.refusal else ''}"
        log = (*log, *outcome.events)
    return log


def settled(log: tuple[Any, ...], *, book: RuleBook = BOOK) -> tuple[Any, ...]:
    """The wagers log that follows from a round log of table-1."""
    answers: list[Any] = []
    for count, event in enumerate(log):
        answers += given(wagers, *log[:count]).when(event, book=book).events
    return tuple(answers)
