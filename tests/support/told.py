"""A progressive to which commands are given: small submissions, and after every event the sums that must hold."""

from dataclasses import replace
from datetime import date
from types import MappingProxyType

import pytest

from services.core import jackpots, refusal
from services.core.asking import Asking
from services.core.jackpots import INITIAL, ClaimPayout, OpenProgressive, State, decide, evolve, view
from services.core.names import On, Source
from services.core.paytables import Paytable
from services.core.rules import AnteLimits, LevelRules, Progressive, RuleBook, StubCount, Submission

CENT = 1_000_000
EMPTY = Paytable((), "operator")


def submission(name: str, game: str, *levels: LevelRules, table: Paytable = EMPTY) -> Submission:
    progressive = Progressive("A", 100, table, levels, None) if levels else None
    return Submission(
        id=name,
        sha256=name.encode(),
        game=game,
        in_force_from=date(2026, 1, 1),
        seats=6,
        ante=AnteLimits(500, 50_000, 100),
        stub_count=StubCount(5, True),
        multiples=(1, 2, 3),
        main_tables=MappingProxyType({}),
        aggregate_limit_cents=5_000_000,
        progressive=progressive,
        bonuses=MappingProxyType({}),
        floorperson_at_odds=None,
    )


MISSISSIPPI = submission(
    "ms", "mississippi_stud", LevelRules("meter", 1_000_000, 1_000_000, 190_000, 10_000, 25_000_000)
)
CARIBBEAN = submission("cs", "caribbean_stud", LevelRules("meter", 1_000_000, 1_000_000, 290_000, 10_000, 30_000_000))
THREE_LEVELS = submission(
    "ms-c",
    "mississippi_stud",
    LevelRules("mega", 5_000_000, 5_000_000, 110_000, 15_000, 100_000_000),
    LevelRules("major", 500_000, 500_000, 45_000, 5_000, 5_000_000),
    LevelRules("minor", 20_000, 20_000, 33_333, 0, 30_000),
)
TIGHT = submission("tight", "mississippi_stud", LevelRules("meter", 1_000, 1_000, 500_000, 100_000, 1_100))
BOUND = submission("bound", "mississippi_stud", LevelRules("meter", 1_000, 1_000, 500_000, 100_000, 9_000, 360))
CAJUN = submission("cj", "cajun_stud")
BOOK = RuleBook((MISSISSIPPI, CARIBBEAN, THREE_LEVELS, TIGHT, BOUND, CAJUN))
ASKING = Asking("progressive-1", "floorperson", 1_800_000_000_000, BOOK)


class Told:
    """A progressive to which commands were given, and the events that came of each."""

    def __init__(self, rules: str, key: str = "progressive-1", book: RuleBook = BOOK) -> None:
        self.state = INITIAL
        self.asking = replace(ASKING, key=key, book=book)
        self.when(OpenProgressive(rules))

    def when(
        self, command: jackpots.Command, actor: str = "floorperson", later_ms: int = 0
    ) -> tuple[jackpots.Event, ...]:
        asking = replace(self.asking, actor=actor, at_ms=self.asking.at_ms + later_ms)
        events = decide(self.state, command, asking)
        for event in events:
            self.state = evolve(self.state, event)
            balanced(self.state)
        for level in self.state.levels if self.state.end is None else ():
            assert level.terms.reset <= level.meter.value, "a level is below its reset"
        return events

    def refused(self, command: jackpots.Command, *words: str, actor: str = "floorperson") -> None:
        with pytest.raises(refusal.Refused) as raised:
            decide(self.state, command, replace(self.asking, actor=actor))
        for word in words:
            assert word in raised.value.reason, raised.value.reason

    def level(self, name: str = "meter") -> dict[str, object]:
        shown = view(self.asking.key, self.state)
        return next(level for level in shown["levels"] if level["name"] == name)

    def shows(self, name: str = "meter", **figures: int | None) -> None:
        level = self.level(name)
        assert {figure: level[figure] for figure in figures} == figures

    def pay(self, claim_id: str) -> None:
        """Validates, documents and pays a payout by hand."""
        self.when(jackpots.ValidatePayout(claim_id))
        self.when(jackpots.DocumentPayout(claim_id, "slip"))
        self.when(jackpots.PayPayout(claim_id))


def balanced(state: State) -> None:
    """Nothing is made and nothing is lost, to the microcent."""
    for level in state.levels:
        there = level.meter.total + level.won_cents * CENT + level.transferred_out
        assert there == level.seeded + level.contributed + level.transferred_in
        assert min(level.meter.hidden, level.meter.overflow) >= 0


def claim(
    odds: str = "10% of meter",
    amount_cents: int | None = None,
    *,
    seat: int = 2,
    wager: str = "progressive",
    source: Source = Source.HAND_PAY,
    account_id: str | None = None,
    round_id: str = "table-1-1",
    entered_by: str = "dealer",
) -> ClaimPayout:
    return ClaimPayout(
        claim_id=f"{round_id}.{seat}.{wager}",
        table_id=round_id.rpartition("-")[0],
        round_id=round_id,
        seat=seat,
        wager=wager,
        on=On.PLAYER,
        hand="straight_flush",
        odds=odds,
        amount_cents=amount_cents,
        source=source,
        player_id=None,
        account_id=account_id,
        entered_by=entered_by,
    )


def refused(state: State, command: jackpots.Command, *words: str, section: str | None = None) -> None:
    with pytest.raises(refusal.Refused) as raised:
        decide(state, command, ASKING)
    assert raised.value.section == section
    for word in words:
        assert word in raised.value.reason
