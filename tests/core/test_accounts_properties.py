"""Accounts under random commands: never below zero, every cent accounted for, every hold ends once."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from services.core import accounts, refusal
from services.core.accounts import (
    INITIAL,
    CreditWinnings,
    Deposit,
    HoldDeclined,
    HoldPlaced,
    HoldPosted,
    HoldReleased,
    OpenAccount,
    PlaceHold,
    PostHold,
    ReleaseHold,
    Withdraw,
    decide,
    evolve,
    view,
)
from services.core.asking import Asking
from services.core.rules import RuleBook

ASKING = Asking("account-1", "somebody", 1_800_000_000_000, RuleBook(()))
CENTS = st.integers(-5, 400)
REFERENCES = st.integers(0, 30).map(str)
HOLDS = st.integers(0, 8).map(lambda number: f"hold-{number}")


class Use(RuleBasedStateMachine):
    """One account, and beside it a list of what moved, from which the amounts are added up."""

    @initialize()
    def opened(self) -> None:
        self.state = INITIAL
        self.moved: list[int] = []
        self.used: set[str] = set()
        self.open: dict[str, int] = {}
        self.tell(OpenAccount("player-1"))

    def tell(self, command: accounts.Command) -> tuple[accounts.Event, ...] | None:
        before = self.state.sequence
        try:
            events = decide(self.state, command, ASKING)
        except refusal.Refused:
            return None
        for event in events:
            self.state = evolve(self.state, event)
        assert self.state.sequence == before + len(events)
        return events

    def available(self) -> int:
        return sum(self.moved) - sum(self.open.values())

    @rule(cents=CENTS, reference=REFERENCES)
    def deposit(self, cents: int, reference: str) -> None:
        taken = cents > 0 and reference not in self.used
        assert (self.tell(Deposit(cents, reference)) is not None) == taken
        if taken:
            self.moved.append(cents)
            self.used.add(reference)

    @rule(cents=CENTS, reference=REFERENCES)
    def withdraw(self, cents: int, reference: str) -> None:
        taken = 0 < cents <= self.available() and reference not in self.used
        assert (self.tell(Withdraw(cents, reference)) is not None) == taken
        if taken:
            self.moved.append(-cents)
            self.used.add(reference)

    @rule(hold=HOLDS, cents=CENTS, player=st.sampled_from(("player-1", "player-1", "player-2")))
    def hold(self, hold: str, cents: int, player: str) -> None:
        events = self.tell(PlaceHold(hold, cents, player, "table-1", "table-1-1", 3))
        if hold in self.open:
            assert events == ()
        elif 0 < cents <= self.available() and player == "player-1":
            assert events == (HoldPlaced(hold, cents, "table-1", "table-1-1", 3),)
            self.open[hold] = cents
        else:
            assert events is not None
            assert isinstance(events[0], HoldDeclined)

    @rule(hold=HOLDS)
    def post(self, hold: str) -> None:
        cents = self.open.pop(hold, None)
        assert self.tell(PostHold(hold)) == (() if cents is None else (HoldPosted(hold, cents),))
        if cents is not None:
            self.moved.append(-cents)

    @rule(hold=HOLDS)
    def release(self, hold: str) -> None:
        cents = self.open.pop(hold, None)
        assert self.tell(ReleaseHold(hold)) == (() if cents is None else (HoldReleased(hold, cents),))

    @rule(cents=CENTS)
    def win(self, cents: int) -> None:
        assert (self.tell(CreditWinnings(cents, "table-1-1", 1, "magic_card")) is not None) == (cents > 0)
        self.moved.extend([cents] if cents > 0 else [])

    @invariant()
    def every_cent_is_accounted_for(self) -> None:
        shown = view("account-1", self.state)
        assert shown["balance_cents"] == sum(self.moved)
        assert shown["held_cents"] == sum(self.open.values())
        assert shown["available_cents"] == self.available() >= 0
        assert self.state.holds == self.open


TestUse = Use.TestCase
TestUse.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
