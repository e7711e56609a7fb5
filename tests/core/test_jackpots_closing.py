"""How a progressive ends: what it held less its resets is with another, and what comes later follows. By hand.

`tight`: reset 1,000, limit 1,100, 50 % shown, 10 % hidden.
"""

from collections import deque
from dataclasses import replace

import pytest

from services.core import jackpots
from services.core.jackpots import (
    AcceptTransfer,
    AwardEnvy,
    ChangeParameters,
    CloseProgressive,
    ClosingGivenUp,
    CommandForwarded,
    CompleteClosing,
    Contribute,
    ContributionTakenBack,
    EnvyBonusDue,
    EnvyBonusTakenBack,
    LevelHit,
    LevelMoved,
    OpenProgressive,
    PayEnvy,
    PayoutClaimed,
    PayoutTakenBack,
    ProgressiveClosed,
    ProgressiveClosing,
    RejectPayout,
    ReverseContribution,
    TakeBackEnvy,
    TakeBackPayout,
    TransferAccepted,
    TransferDeclined,
    ValidatePayout,
    following,
    view,
)
from services.core.names import Source
from services.core.paytables import Line, Odds, Paytable
from services.core.rules import LevelRules, RuleBook, Submission
from tests.support.told import ASKING, BOOK, CENT, Told, claim, submission

LAW = pytest.mark.law("605a.7 and 605a.8, transfer and adjustment of meters")
THIRTY_DAYS_MS = 2_592_000_000


def shares(name: str, *odds: str, game: str = "mississippi_stud") -> Submission:
    lines = tuple(
        Line(hand, Odds.parse(text)) for hand, text in zip(("royal_flush", "straight_flush"), odds, strict=False)
    )
    return submission(
        name, game, LevelRules("meter", 1_000, 1_000, 500_000, 0, 9_000), table=Paytable(lines, "operator")
    )


ONE, LIKE_ONE, OTHER_SHARE, OTHER_FIXED = (
    shares("one", "100% of meter", "10% of meter"),
    shares("like-one", "100% of meter", "10% of meter"),
    shares("other-share", "100% of meter", "20% of meter"),
    shares("other-fixed", "100% of meter", "10% of meter", "9 for 1"),
)
SIMILAR = RuleBook((*BOOK.submissions, ONE, LIKE_ONE, OTHER_SHARE, OTHER_FIXED))


class Link:
    """Progressives that send each other commands, in order; nothing arrives before `run`."""

    def __init__(self, **rules: str) -> None:
        self.of = {name: Told(submission, key=name, book=SIMILAR) for name, submission in rules.items()}
        self.sent: deque[tuple[str, jackpots.Command]] = deque()

    def when(self, name: str, command: jackpots.Command) -> tuple[jackpots.Event, ...]:
        events = self.of[name].when(command)
        for event in events:
            self.sent += [(each.key, each.command) for each in following(name, event) if each.stream == "jackpots"]
        return events

    def run(self) -> list[jackpots.Event]:
        happened: list[jackpots.Event] = []
        while self.sent:
            assert len(happened) < 100, "they send each other commands without end"
            happened += self.when(*self.sent.popleft())
        return happened

    def close(self, name: str, to: str) -> tuple[jackpots.Event, ...]:
        rules = self.of[to].state.rules
        assert rules is not None
        return self.when(name, CloseProgressive(to, rules, rules.encode()))


def moved(shown: int, hidden: int = 0, overflow: int = 0) -> LevelMoved:
    return LevelMoved("meter", shown * CENT, hidden * CENT, overflow * CENT)


def tight() -> Link:
    """`a` shows 1,100, with 30 hidden and 50 above; `b` shows 1,050, with 10 hidden."""
    link = Link(a="tight", b="tight")
    link.when("a", Contribute("table-1", "table-1-1", 300, 3))
    link.when("b", Contribute("table-2", "table-2-1", 100, 1))
    return link


@LAW
def test_what_it_holds_less_its_reset_is_added_to_the_other_part_by_part() -> None:
    link = tight()
    (closing,) = link.close("a", "b")
    assert isinstance(closing, ProgressiveClosing)
    assert (closing.transfer_to, closing.levels) == ("b", (moved(100, 30, 50),))
    assert closing.due_at_ms == ASKING.at_ms + THIRTY_DAYS_MS
    assert view("a", link.of["a"].state)["state"] == "closing"
    accepted, closed = link.run()
    # 50 of the 100 fit below the limit of `b`.
    assert isinstance(accepted, TransferAccepted) and accepted.levels == (moved(50, 30, 100),)
    assert closed == ProgressiveClosed("b", (moved(100, 30, 50),))
    link.of["b"].shows(
        value_cents=1_100,
        hidden_microcents=40 * CENT,
        overflow_microcents=100 * CENT,
        overflow_lifetime_microcents=100 * CENT,
        transferred_in_microcents=180 * CENT,
        seeded_microcents=1_000 * CENT,
    )
    # The house has its 1,000 again.
    link.of["a"].shows(
        value_cents=0,
        hidden_microcents=0,
        overflow_microcents=0,
        transferred_out_microcents=180 * CENT,
        seeded_microcents=0,
    )
    shown = view("a", link.of["a"].state)
    assert (shown["state"], shown["transfer_to"]) == ("closed", "b")
    assert shown["transfer_due_at_ms"] == ASKING.at_ms + THIRTY_DAYS_MS


def test_a_base_above_the_reset_goes_with_it() -> None:
    book = RuleBook((submission("based", "mississippi_stud", LevelRules("meter", 1_200, 1_000, 0, 0, 9_000)),))
    told = Told("based", book=book)
    (closing,) = told.when(CloseProgressive("b", "based", b"based"))
    assert isinstance(closing, ProgressiveClosing) and closing.levels == (moved(200),)


# Who may take it over -------------------------------------------------------------------------------------


@LAW
@pytest.mark.parametrize(("target", "similar"), [("like-one", True), ("other-fixed", True), ("other-share", False)])
def test_another_is_similar_where_the_same_hands_win_the_same_shares(target: str, similar: bool) -> None:
    told = Told("one", book=SIMILAR)
    command = CloseProgressive("b", target, target.encode())
    if similar:
        assert len(told.when(command)) == 1
    else:
        told.refused(command, f"b runs under {target}", "not similar")


def test_another_game_or_other_levels_are_not_similar() -> None:
    Told("ms").refused(CloseProgressive("b", "cs", b"cs"), "not similar")
    Told("ms").refused(CloseProgressive("b", "ms-c", b"ms-c"), "not similar")


def test_a_progressive_ends_once_into_another_that_is_open_when_nothing_of_it_is_owed() -> None:
    link = tight()
    a = link.of["a"]
    a.refused(CloseProgressive("a", "tight", b"tight"), "name another")
    a.refused(CloseProgressive("c"), "c is not open")
    close = CloseProgressive("b", "tight", b"tight")
    a.when(claim())
    a.refused(close, "table-1-1.2.progressive", "paid or rejected first")
    a.when(RejectPayout("table-1-1.2.progressive", "no"))
    a.when(AwardEnvy("table-1", "table-1-1", 2, (1,), "royal_flush", 100_000))
    a.refused(close, "Envy Bonuses of table-1-1")
    a.when(PayEnvy("table-1-1", 1))
    link.close("a", "b")
    a.refused(close, "is closing already", "b")
    link.run()
    a.refused(close, "is closed already", "b")
    a.refused(OpenProgressive("tight"), "a is closed", "go to b", "Open another")


def test_proposals_end_with_it() -> None:
    link = tight()
    link.when("a", ChangeParameters("meter", "slow days", rate_ppm=1))
    link.close("a", "b")
    link.run()
    assert view("a", link.of["a"].state)["changes"] == []


# What comes later follows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("arrived", [False, True], ids=["closing", "closed"])
@LAW
def test_a_late_contribution_follows(arrived: bool) -> None:
    link = tight()
    link.close("a", "b")
    if arrived:
        link.run()
    late = Contribute("table-1", "table-1-2", 100, 1)
    assert link.when("a", late) == (CommandForwarded("b", contribute=late),)
    link.run()
    # 50 of it are above the limit that the transfer has reached.
    link.of["b"].shows(value_cents=1_100, hidden_microcents=50 * CENT, overflow_microcents=150 * CENT)
    link.of["b"].shows(contributed_microcents=120 * CENT, transferred_in_microcents=180 * CENT)
    link.of["a"].shows(contributed_microcents=180 * CENT, transferred_out_microcents=180 * CENT)


@pytest.mark.parametrize("arrived", [False, True], ids=["closing", "closed"])
@LAW
def test_a_round_that_is_void_later_takes_back_what_it_had_added_before(arrived: bool) -> None:
    link = tight()
    link.close("a", "b")
    if arrived:
        link.run()
    link.when("a", ReverseContribution("table-1", "table-1-1"))
    happened = link.run()
    assert [event for event in happened if isinstance(event, ContributionTakenBack)] == [
        ContributionTakenBack(
            "table-1", "table-1-1", (jackpots.LevelReversal("meter", 100 * CENT, 30 * CENT, 50 * CENT, 0),)
        )
    ]
    # 1,100 - 100, 40 - 30 and 100 - 50. What `b` has of contributions is 60 of its own less the 180.
    link.of["b"].shows(value_cents=1_000, hidden_microcents=10 * CENT, overflow_microcents=50 * CENT)
    link.of["b"].shows(contributed_microcents=-120 * CENT, transferred_in_microcents=180 * CENT)
    link.when("a", ReverseContribution("table-1", "table-1-1"))
    assert link.run() == []


def test_a_late_void_below_the_reset_is_made_good_by_the_house() -> None:
    link = tight()
    link.close("a", "b")
    link.run()
    link.when("b", claim("100% of meter", round_id="table-2-1"))  # 1,100 won; 1,000 + 40 + 100 are 1,100 and 40 above
    link.when("b", claim("100% of meter", round_id="table-2-1", seat=1))  # 1,100 won; 1,000 + 40
    link.when("a", ReverseContribution("table-1", "table-1-1"))  # 180, of which 140 lack
    link.run()
    link.of["b"].shows(value_cents=1_000, seeded_microcents=3_140 * CENT)


@pytest.mark.parametrize("arrived", [False, True], ids=["closing", "closed"])
def test_a_late_claim_is_of_the_other(arrived: bool) -> None:
    link = tight()
    link.close("a", "b")
    if arrived:
        link.run()
    link.when("a", claim("100% of meter"))
    hit, claimed = [event for event in link.run() if isinstance(event, LevelHit | PayoutClaimed)]
    assert isinstance(hit, LevelHit) and isinstance(claimed, PayoutClaimed)
    assert (hit.amount_cents, claimed.amount_cents) == (1_100, 1_100)
    assert len(link.of["b"].when(ValidatePayout("table-1-1.2.progressive"))) == 1
    assert link.of["a"].state.claims == {}
    # It is taken back where it is.
    link.when("a", TakeBackPayout("table-1-1.2.progressive", "table-1", "table-1-1"))
    assert isinstance(link.run()[-1], PayoutTakenBack)
    link.of["b"].shows(value_cents=1_100, hits=0)


def test_late_envy_bonuses_are_due_at_the_other_and_taken_back_there() -> None:
    link = tight()
    link.close("a", "b")
    link.run()
    link.when("a", AwardEnvy("table-1", "table-1-1", 2, (1,), "royal_flush", 100_000))
    assert link.run() == [EnvyBonusDue("table-1", "table-1-1", 2, 1, "royal_flush", 100_000)]
    link.when("a", TakeBackEnvy("table-1", "table-1-1", 2))
    assert link.run() == [EnvyBonusTakenBack("table-1-1", 2, 1, 100_000, paid=False)]


def test_what_was_paid_before_is_taken_back_where_it_was_paid() -> None:
    link = tight()
    a = link.of["a"]
    a.when(AwardEnvy("table-1", "table-1-1", 2, (1,), "royal_flush", 100_000))
    a.when(PayEnvy("table-1-1", 1))
    fixed = claim("50 for 1", 5_000, source=Source.GAME_ACCOUNT, account_id="account-1")
    a.when(fixed)
    a.when(ValidatePayout(fixed.claim_id))
    share = claim("10% of meter", seat=1)
    a.when(share)
    a.pay(share.claim_id)
    link.close("a", "b")
    link.run()
    assert a.when(TakeBackEnvy("table-1", "table-1-1", 2)) == (
        EnvyBonusTakenBack("table-1-1", 2, 1, 100_000, paid=True),
    )
    (said,) = a.when(TakeBackPayout(fixed.claim_id, "table-1", "table-1-1"))
    assert isinstance(said, PayoutTakenBack)
    # A level that is gone cannot regain anything: people must.
    a.refused(TakeBackPayout(share.claim_id, "table-1", "table-1-1"), share.claim_id, "tell the office")


# Where the other ends too ---------------------------------------------------------------------------------


@LAW
def test_two_that_end_into_each_other_both_go_on() -> None:
    link = tight()
    link.close("a", "b")
    link.close("b", "a")
    # What comes in between goes to and fro until one of them has given up, and is not lost.
    link.when("a", Contribute("table-1", "table-1-2", 100, 1))
    link.when("a", ReverseContribution("table-1", "table-1-2"))
    link.when("b", Contribute("table-2", "table-2-2", 100, 1))
    happened = link.run()
    assert sum(isinstance(event, TransferDeclined) for event in happened) == 2
    assert sum(isinstance(event, ClosingGivenUp) for event in happened) == 2
    assert all(told.state.end is None for told in link.of.values())
    assert all(view(name, told.state)["state"] == "open" for name, told in link.of.items())
    contributed = [told.state.levels[0].contributed for told in link.of.values()]
    assert sum(contributed) == (180 + 60 + 60) * CENT
    assert [told.state.levels[0].transferred_out for told in link.of.values()] == [0, 0]


def test_a_progressive_that_ends_takes_nothing_over() -> None:
    link = Link(a="tight", b="tight", c="tight")
    link.when("a", Contribute("table-1", "table-1-1", 100, 1))
    link.close("b", "c")
    link.close("a", "b")
    happened = link.run()
    assert TransferDeclined("a", "This progressive ends too: its levels go to c.") in happened
    assert ClosingGivenUp("b", "This progressive ends too: its levels go to c.") in happened
    link.of["a"].shows(value_cents=1_050, hidden_microcents=10 * CENT, seeded_microcents=1_000 * CENT)
    assert view("b", link.of["b"].state)["state"] == "closed"
    # It may end into the one that goes on.
    link.close("a", "c")
    link.run()
    link.of["c"].shows(value_cents=1_050, transferred_in_microcents=60 * CENT)


def test_what_follows_may_follow_further() -> None:
    link = Link(a="tight", b="tight", c="tight")
    link.close("a", "b")
    link.run()
    link.close("b", "c")
    link.run()
    link.when("a", Contribute("table-1", "table-1-1", 100, 1))
    link.run()
    link.of["c"].shows(value_cents=1_050)


def test_other_levels_are_declined() -> None:
    told = Told("ms-c")
    declined = told.when(AcceptTransfer("a", (moved(100),), ()))
    assert declined == (TransferDeclined("a", "The levels are not the same."),)


def test_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    link = tight()
    assert link.of["a"].when(CompleteClosing("b", None)) == ()
    link.close("a", "b")
    assert link.of["a"].when(CompleteClosing("c", None)) == ()
    link.run()
    assert link.of["a"].when(CompleteClosing("b", "no")) == ()
    assert view("a", link.of["a"].state)["state"] == "closed"


def test_the_contributions_of_the_other_tables_are_their_own() -> None:
    link = tight()
    # table-1 had moved to `b` and played there already.
    link.when("b", Contribute("table-1", "table-1-9", 100, 1))
    link.close("a", "b")
    link.run()
    assert link.when("b", ReverseContribution("table-1", "table-1-1")) == ()
    assert len(link.when("b", ReverseContribution("table-1", "table-1-9"))) == 1
    assert replace(link.of["b"].state).contributions.keys() == {"table-2"}
