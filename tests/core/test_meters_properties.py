"""Meters under random play: nothing is made, nothing is lost, to the microcent, after every record.

The oracle counts in whole fractions of cents and knows only the words of the rules, not the code.
"""

from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import reduce
from types import MappingProxyType

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from services.core import jackpots
from services.core.asking import Asking
from services.core.jackpots import (
    INITIAL,
    ClaimPayout,
    Contribute,
    ContributionTakenBack,
    DocumentPayout,
    LevelHit,
    OpenProgressive,
    PayPayout,
    ReverseContribution,
    ValidatePayout,
    decide,
    evolve,
    view,
)
from services.core.meters import Level, Meter, Terms
from services.core.names import On, Source
from services.core.paytables import Paytable
from services.core.rules import AnteLimits, LevelRules, Progressive, RuleBook, StubCount, Submission

CENT = 1_000_000
TABLES = ("table-1", "table-2", "table-3")


def asking(levels: tuple[LevelRules, ...]) -> Asking:
    progressive = Progressive("A", 100, Paytable((), "operator"), levels, None)
    submission = Submission(
        id="rules",
        sha256=b"rules",
        game="mississippi_stud",
        in_force_from=date(2026, 1, 1),
        seats=6,
        ante=AnteLimits(500, 50_000, 100),
        stub_count=StubCount(5, True),
        multiples=(1,),
        main_tables=MappingProxyType({}),
        aggregate_limit_cents=5_000_000,
        progressive=progressive,
        bonuses=MappingProxyType({}),
        floorperson_at_odds=None,
    )
    return Asking("progressive-1", "somebody", 1_800_000_000_000, RuleBook((submission,)))


@st.composite
def levels_of_rules(draw: st.DrawFn, name: str) -> LevelRules:
    reset = draw(st.integers(0, 2_000))
    base = reset + draw(st.integers(0, 500))
    limit = base + draw(st.one_of(st.integers(0, 60), st.just(10_000_000)))  # tight, or never met
    return LevelRules(name, base, reset, draw(st.integers(0, 900_000)), draw(st.integers(0, 100_000)), limit)


@dataclass
class Pot:
    """One level as the rules describe it, in cents as fractions."""

    rules: LevelRules
    shown: Fraction
    house: Fraction
    hidden: Fraction = Fraction(0)
    above: Fraction = Fraction(0)
    gross: Fraction = Fraction(0)
    returned: Fraction = Fraction(0)
    won: Fraction = Fraction(0)
    hits: int = 0
    last: dict[str, tuple[Fraction, Fraction, Fraction]] = field(default_factory=dict)

    def wager(self, table: str, cents: int) -> None:
        gain = Fraction(cents * self.rules.rate_ppm, CENT)
        hidden = Fraction(cents * self.rules.hidden_rate_ppm, CENT)
        before = self.shown
        self.shown = min(Fraction(self.rules.limit_cents), self.shown + gain)
        above = gain - (self.shown - before)
        self.hidden += hidden
        self.above += above
        self.gross += gain + hidden
        self.last[table] = (self.shown - before, hidden, above)

    def void(self, table: str) -> None:
        shown, hidden, above = self.last.pop(table)
        self.returned += shown + hidden + above
        from_above = above if self.above >= above else self.above
        from_hidden = hidden if self.hidden >= hidden else self.hidden
        self.above -= from_above
        self.hidden -= from_hidden
        self.shown -= shown + (above - from_above) + (hidden - from_hidden)
        self.never_below_reset()

    def win(self, percent: int) -> int:
        paid = int(self.shown * percent / 100)
        self.hits += 1
        self.won += paid
        if percent == 100:
            start = self.rules.reset_cents + self.hidden + self.above + (self.shown - paid)
            self.house += self.rules.reset_cents
            self.shown = min(start, Fraction(self.rules.limit_cents))
            self.hidden, self.above = Fraction(0), start - self.shown
        else:
            self.shown -= paid
            self.never_below_reset()
        return paid

    def never_below_reset(self) -> None:
        if self.shown < self.rules.reset_cents:
            self.house += self.rules.reset_cents - self.shown
            self.shown = Fraction(self.rules.reset_cents)


class Play(RuleBasedStateMachine):
    """Tables wager, void and win at one progressive of three levels, in any order."""

    @initialize(levels=st.tuples(levels_of_rules("mega"), levels_of_rules("major"), levels_of_rules("minor")))
    def opened(self, levels: tuple[LevelRules, ...]) -> None:
        self.asking = asking(levels)
        self.state = INITIAL
        self.pots = {level.name: Pot(level, Fraction(level.base_cents), Fraction(level.base_cents)) for level in levels}
        self.rounds = dict.fromkeys(TABLES, 0)
        self.voidable: set[str] = set()
        self.unpaid: list[tuple[str, str, int]] = []
        self.paid = dict.fromkeys(self.pots, 0)
        self.overflow_lifetime = dict.fromkeys(self.pots, 0)
        self.tell(OpenProgressive("rules"))

    def tell(self, command: jackpots.Command) -> tuple[jackpots.Event, ...]:
        events = decide(self.state, command, self.asking)
        for event in events:
            self.state = evolve(self.state, event)
            self.balanced()
        return events

    def balanced(self) -> None:
        for level in self.state.levels:
            assert level.meter.total + level.won_cents * CENT == level.seeded + level.contributed
            assert min(level.meter.value - level.terms.reset, level.meter.hidden, level.meter.overflow) >= 0
            assert level.overflow_lifetime >= max(self.overflow_lifetime[level.name], level.meter.overflow)
            self.overflow_lifetime[level.name] = level.overflow_lifetime

    @rule(table=st.sampled_from(TABLES), cents=st.integers(1, 6).map(lambda wagers: wagers * 100) | st.integers(1, 999))
    def wager(self, table: str, cents: int) -> None:
        self.rounds[table] += 1
        (event,) = self.tell(Contribute(table, f"{table}-{self.rounds[table]}", cents, 1))
        assert isinstance(event, jackpots.ContributionAccepted)
        self.voidable.add(table)
        for pot in self.pots.values():
            pot.wager(table, cents)

    @rule(table=st.sampled_from(TABLES))
    def void(self, table: str) -> None:
        events = self.tell(ReverseContribution(table, f"{table}-{self.rounds[table]}"))
        if table not in self.voidable:
            assert events == ()
            return
        self.voidable.remove(table)
        (event,) = events
        assert isinstance(event, ContributionTakenBack)
        for part, pot in zip(event.levels, self.pots.values(), strict=True):
            # Everything that the round put in leaves, the hidden part included.
            taken = part.shown_microcents + part.hidden_microcents + part.overflow_microcents
            assert Fraction(taken, CENT) == sum(pot.last[table])
            pot.void(table)

    @rule(
        name=st.sampled_from(("mega", "major", "minor")),
        percent=st.just(100) | st.integers(1, 99),
        seat=st.integers(1, 6),
    )
    def win(self, name: str, percent: int, seat: int) -> None:
        claim_id = f"claim-{sum(pot.hits for pot in self.pots.values())}"
        hit, claimed = self.tell(
            ClaimPayout(
                claim_id,
                "table-1",
                "table-1-1",
                seat,
                "progressive",
                On.PLAYER,
                "royal_flush",
                f"{percent}% of {name}",
                None,
                Source.HAND_PAY,
                None,
                None,
                "dealer",
            )
        )
        assert isinstance(hit, LevelHit)
        assert isinstance(claimed, jackpots.PayoutClaimed)
        expected = self.pots[name].win(percent)
        assert hit.amount_cents == claimed.amount_cents == expected
        self.unpaid.append((claim_id, name, expected))

    @rule(data=st.data())
    def pay(self, data: st.DataObject) -> None:
        if not self.unpaid:
            return
        claim_id, name, amount_cents = self.unpaid.pop(data.draw(st.integers(0, len(self.unpaid) - 1)))
        for command in (ValidatePayout(claim_id), DocumentPayout(claim_id, "slip"), PayPayout(claim_id)):
            self.tell(command)
        self.paid[name] += amount_cents

    @invariant()
    def as_the_rules_say(self) -> None:
        for shown in view("progressive-1", self.state)["levels"]:
            pot = self.pots[shown["name"]]
            assert Fraction(shown["value_microcents"], CENT) == pot.shown
            assert Fraction(shown["hidden_microcents"], CENT) == pot.hidden
            assert Fraction(shown["overflow_microcents"], CENT) == pot.above
            assert Fraction(shown["contributed_microcents"], CENT) == pot.gross - pot.returned
            assert Fraction(shown["seeded_microcents"], CENT) == pot.house
            assert pot.shown + pot.hidden + pot.above + pot.won + pot.returned == pot.house + pot.gross
            assert (shown["value_cents"], shown["hits"]) == (int(pot.shown), pot.hits)
            assert (shown["paid_cents"], shown["pending_cents"]) == (
                self.paid[shown["name"]],
                pot.won - self.paid[shown["name"]],
            )
            assert pot.shown <= pot.rules.limit_cents


TestPlay = Play.TestCase
TestPlay.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


@given(
    wagers=st.lists(st.integers(1, 10_000), min_size=1, max_size=60),
    rate=st.integers(1, 999_999),
    hidden_rate=st.integers(0, 99_999),
)
def test_a_fraction_is_carried_from_win_to_win(wagers: list[int], rate: int, hidden_rate: int) -> None:
    """Won after every wager: what was paid in whole cents and the fraction that is left are all there ever was."""
    level = Level(Terms("meter", 0, 0, rate, hidden_rate, 10**18), Meter(0, 0, 0), contributed=0, seeded=0)
    for wager_cents in wagers:
        gain = level.gain(wager_cents)
        level = level.gained(wager_cents, gain.value, gain.hidden, gain.overflow)
        level = level.won(level.share(100))
    put_in = sum(wagers) * (rate + hidden_rate)
    assert level.won_cents * CENT + level.meter.total == put_in
    # A hidden part is shown from the win after which it came in; nothing else may be left but a fraction.
    assert level.won(level.share(100)).meter.total < CENT


@given(order=st.permutations(range(6)), cents=st.lists(st.integers(1, 600), min_size=6, max_size=6))
def test_voiding_every_round_leaves_what_was_there(order: list[int], cents: list[int]) -> None:
    """In whatever order, over a limit met on the way, without a win in between."""
    told = asking((LevelRules("meter", 1_000, 1_000, 500_000, 30_000, 1_300),))
    state = reduce(evolve, decide(INITIAL, OpenProgressive("rules"), told), INITIAL)
    before = state.levels[0].meter
    for number, wager_cents in enumerate(cents):
        state = reduce(evolve, decide(state, Contribute(f"t-{number}", f"t-{number}-1", wager_cents, 1), told), state)
    for number in order:
        state = reduce(evolve, decide(state, ReverseContribution(f"t-{number}", f"t-{number}-1"), told), state)
    assert (state.levels[0].meter, state.levels[0].contributed, state.contributions) == (before, 0, {})
    assert state.levels[0].seeded == 1_000 * CENT
