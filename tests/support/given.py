"""The test language: given(rounds, *events).when(command).then(*events), or .refused(section or words).

Below it what all games have in common: antes, a bonus from a game account, and what a shown hand comes to.
"""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from services.core import rounds, wagers
from services.core.asking import Asking
from services.core.names import On, Result
from services.core.refusal import Refused
from services.core.rounds import ConfirmWager, PlaceWager, ShowHand
from services.core.rules import RuleBook
from services.runtime.submissions import load

BOOK = load(Path(__file__).parents[2] / "deploy" / "rules")
Log = tuple[rounds.Event, ...]
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


def ante(*seats: int, cents: int = 500, player: str | None = None) -> tuple[PlaceWager, ...]:
    """An ante at each of these seats."""
    return tuple(PlaceWager(seat, "ante", cents, player) for seat in seats)


def bonus(seat: int, wager: str, cents: int = 100) -> PlaceWager:
    """An optional wager, of a dollar unless told."""
    return PlaceWager(seat, wager, cents)


def hand_bonus(seat: int, after: Log, hand: On = On.PLAYER) -> Log:
    """The round log with a Five Card Hand Bonus whose stake the account of the seat's player holds."""
    log = played(PlaceWager(seat, "five_card_hand_bonus", 100, f"player-{seat}", f"account-{seat}", hand), after=after)
    return played(ConfirmWager(len(log)), after=log)


def round_state(log: Log) -> str:
    """The state of the round in the table's view."""
    state: str = rounds.view("table-1", given(rounds, *log).state)["round"]["state"]
    return state


def show(seat: int, hand: str, after: Log, *, book: RuleBook = BOOK) -> tuple[wagers.Event, ...]:
    """What follows in `wagers` from showing one hand."""
    log = played(ShowHand(seat, tuple(hand.split())), after=after, book=book)
    return tuple(
        answer
        for count in range(len(after), len(log))
        for answer in given(wagers, *log[:count]).when(log[count], book=book).events
    )


def rows(events: tuple[wagers.Event, ...]) -> dict[str, wagers.WagerSettled]:
    """What each wager came to, by its name; `.dealer` behind that of a wager on the dealer's hand."""
    return {
        event.wager + (".dealer" if event.on is On.DEALER else ""): event
        for event in events
        if isinstance(event, wagers.WagerSettled)
    }


def figures(row: wagers.WagerSettled) -> tuple[Result, str | None, int | None, int]:
    """Result, odds, cents won and cents returned."""
    return row.result, row.odds, row.won_cents, row.returned_cents
