"""Other parameters for a level: two people, and their moment. `tight`: reset 1,000, limit 1,100, 50 % shown, 10 % hidden."""

import pytest

from services.core.jackpots import (
    ApproveParameters,
    ChangeParameters,
    CloseProgressive,
    Contribute,
    ContributionAccepted,
    DropParameters,
    LevelHit,
    ParametersApproved,
    ParametersChanged,
    ParametersDropped,
    ParametersProposed,
    PayoutClaimed,
    RejectPayout,
    view,
)
from services.core.jackpots.levels import LevelTerms
from tests.support.told import CENT, Told, claim

LAW = pytest.mark.law("605a.7 and 605a.8, transfer and adjustment of meters")
BEFORE = LevelTerms(1_000 * CENT, 1_100 * CENT, 500_000, 100_000)
HOUR = 3_600_000


def terms(reset: int = 1_000, limit: int = 1_100, rate: int = 500_000, hidden: int = 100_000) -> LevelTerms:
    return LevelTerms(reset * CENT, limit * CENT, rate, hidden)


def change(level: str = "meter", idle_after_ms: int | None = None, **parameters: int) -> ChangeParameters:
    return ChangeParameters(level, "slow days", idle_after_ms=idle_after_ms, **parameters)


def approved(told: Told, command: ChangeParameters) -> None:
    """The change is proposed by one person and approved by another, and waits."""
    (proposed,) = told.when(command, actor="ruth")
    assert isinstance(proposed, ParametersProposed)
    assert told.when(ApproveParameters(proposed.change), actor="omar") == (
        ParametersApproved(proposed.change, proposed.name, "omar"),
    )


@LAW
def test_a_change_is_proposed_with_before_and_after_and_approved_by_a_second_person() -> None:
    told = Told("tight")
    assert told.when(change(limit_cents=1_500, rate_ppm=400_000), actor="ruth") == (
        ParametersProposed(1, "meter", BEFORE, terms(limit=1_500, rate=400_000), "slow days", "ruth", None),
    )
    told.refused(ApproveParameters(1), "another person", actor="ruth")
    assert told.when(ApproveParameters(1), actor="omar") == (ParametersApproved(1, "meter", "omar"),)
    told.refused(ApproveParameters(1), "approved already, by omar", actor="vera")
    told.shows(limit_cents=1_100, rate_ppm=500_000)
    assert view("p", told.state)["changes"] == [
        {
            "change": 1,
            "level": "meter",
            "reset_cents": 1_000,
            "limit_cents": 1_500,
            "rate_ppm": 400_000,
            "hidden_rate_ppm": 100_000,
            "reason": "slow days",
            "state": "approved",
        }
    ]


@LAW
def test_it_is_in_force_when_the_level_is_won() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 300, 3))  # 1,100 shown, 30 hidden, 50 above
    approved(told, change(limit_cents=1_500, rate_ppm=400_000, hidden_rate_ppm=200_000))
    told.when(claim("10% of meter", seat=3))  # of a share nothing changes: 110 won, 1,000 shown
    told.when(Contribute("table-1", "table-1-2", 100, 1))  # 50 and 10
    told.shows(value_cents=1_050, hidden_microcents=40 * CENT, limit_cents=1_100)
    changed, hit, claimed = told.when(claim("100% of meter", round_id="table-1-2"))
    after = terms(limit=1_500, rate=400_000, hidden=200_000)
    assert changed == ParametersChanged(1, "meter", BEFORE, after, 0)
    assert isinstance(hit, LevelHit) and isinstance(claimed, PayoutClaimed)
    # 1,000 and 40 hidden and 50 above.
    assert (hit.amount_cents, hit.value_microcents, hit.overflow_microcents) == (1_050, 1_090 * CENT, 0)
    assert (claimed.level_value_microcents, claimed.hit_sequence) == (1_050 * CENT, told.state.sequence - 1)
    told.when(Contribute("table-1", "table-1-3", 100, 1))  # 40 and 20
    told.shows(value_cents=1_130, hidden_microcents=20 * CENT, limit_cents=1_500)
    assert view("p", told.state)["changes"] == []
    # What is in force is done with: the next win changes nothing.
    assert len(told.when(claim("100% of meter", round_id="table-1-3"))) == 2


def test_before_it_is_approved_a_win_changes_nothing() -> None:
    told = Told("tight")
    told.when(change(reset_cents=1_050), actor="ruth")
    assert len(told.when(claim("100% of meter"))) == 2
    told.shows(reset_cents=1_000, value_cents=1_000)
    told.when(ApproveParameters(1), actor="omar")
    told.when(claim("100% of meter", seat=1))
    told.shows(reset_cents=1_050, value_cents=1_050)


@LAW
@pytest.mark.parametrize(("reset", "starts", "seeded"), [(1_080, 1_080, 2_080), (400, 400, 1_400)])
def test_a_level_that_is_won_starts_from_its_new_reset(reset: int, starts: int, seeded: int) -> None:
    told = Told("tight")
    approved(told, change(reset_cents=reset))
    told.when(claim("100% of meter"))
    told.shows(value_cents=starts, seeded_microcents=seeded * CENT, pending_cents=1_000, reset_cents=reset)


def test_a_rejected_win_leaves_the_level_at_its_new_reset_and_the_house_lacks_the_difference() -> None:
    told = Told("tight")
    approved(told, change(reset_cents=1_080))
    told.when(claim("100% of meter"))  # 1,000 won; 1,080 of the house
    told.when(RejectPayout("table-1-1.2.progressive", "no"))
    # 1,080 + 1,000 - 1,080 are 1,000: 80 lack for the reset that two people set.
    told.shows(value_cents=1_080, seeded_microcents=1_080 * CENT, reset_cents=1_080, hits=0)


def test_a_start_above_a_lower_limit_is_overflow() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 60, 1))  # 1,030 shown, 6 hidden
    approved(told, change(limit_cents=1_040))
    told.when(Contribute("table-1", "table-1-2", 400, 4))  # 70 up to the old limit, 130 above, 40 hidden
    told.shows(value_cents=1_100, overflow_microcents=130 * CENT, hidden_microcents=46 * CENT)
    told.when(claim("100% of meter"))  # 1,000 + 130 + 46 are 1,176
    told.shows(value_cents=1_040, overflow_microcents=136 * CENT, hidden_microcents=0, limit_cents=1_040)


@LAW
def test_a_limit_is_set_above_what_the_level_shows_only() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 60, 1))  # 1,030 shown
    told.refused(change(limit_cents=1_030), "$10.30", "above the present amount")
    told.refused(change(limit_cents=900), "$10.30", "above the present amount")
    told.when(change(limit_cents=1_031))


def test_at_its_limit_a_level_may_have_its_other_parameters_changed() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 600, 6))
    told.shows(value_cents=1_100)
    told.when(change(rate_ppm=1))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (change("mega", rate_ppm=1), ("'mega'", "meter")),
        (change(), ("goes by already",)),
        (change(limit_cents=1_100), ("goes by already",)),
        (change(reset_cents=1_101), ("$11.01", "above the limit", "$11.00")),
        (change(rate_ppm=900_001), ("1000001",)),
        (ApproveParameters(1), ("No change 1",)),
        (DropParameters(1, "no"), ("No change 1",)),
    ],
)
def test_what_cannot_be_is_refused(command: ChangeParameters, words: tuple[str, ...]) -> None:
    Told("tight").refused(command, *words)


def test_the_rates_of_all_levels_together_take_no_more_than_the_wager() -> None:
    told = Told("ms-c")  # mega and major and minor: 125,000 + 50,000 + 33,333
    told.refused(change("minor", rate_ppm=825_001), "1000001")
    told.when(change("minor", rate_ppm=825_000))


def test_two_changes_that_fit_alone_and_not_together() -> None:
    told = Told("ms-c")
    approved(told, change("minor", rate_ppm=825_000))
    approved(told, change("major", rate_ppm=836_666))
    told.when(claim("100% of minor"))
    told.shows("minor", rate_ppm=825_000)
    dropped, _, _ = told.when(claim("100% of major", seat=1))
    assert isinstance(dropped, ParametersDropped) and dropped.change == 2 and "parts per million" in dropped.reason
    told.shows("major", rate_ppm=45_000)
    assert told.state.changes == ()


def test_one_change_of_a_level_waits_at_a_time() -> None:
    told = Told("ms-c")
    told.when(change("minor", rate_ppm=1))
    told.refused(change("minor", rate_ppm=2), "Change 1 waits")
    told.when(change("major", rate_ppm=2))
    assert told.when(DropParameters(1, "a slip")) == (ParametersDropped(1, "minor", "a slip"),)
    (proposed,) = told.when(change("minor", rate_ppm=2))
    assert isinstance(proposed, ParametersProposed) and proposed.change == 3
    told.refused(ApproveParameters(1), "No change 1", actor="omar")


def test_an_approved_change_may_be_dropped_too() -> None:
    told = Told("tight")
    approved(told, change(reset_cents=400))
    told.when(DropParameters(1, "no"))
    told.when(claim("100% of meter"))
    told.shows(reset_cents=1_000, value_cents=1_000)


# Idle -----------------------------------------------------------------------------------------------------


@LAW
def test_where_the_house_says_so_it_is_in_force_once_the_link_was_idle() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 100, 1))  # 1,050
    approved(told, change(rate_ppm=0, idle_after_ms=HOUR))
    (early,) = told.when(Contribute("table-2", "table-2-1", 20, 1), later_ms=HOUR - 1)  # 1,060
    assert isinstance(early, ContributionAccepted)
    # The hour counts from the last contribution.
    assert len(told.when(Contribute("table-1", "table-1-2", 20, 1), later_ms=2 * HOUR - 2)) == 1  # 1,070
    changed, accepted = told.when(Contribute("table-2", "table-2-2", 20, 1), later_ms=3 * HOUR - 2)
    assert changed == ParametersChanged(1, "meter", BEFORE, terms(rate=0), 0)
    assert isinstance(accepted, ContributionAccepted) and accepted.levels[0].shown_microcents == 0
    told.shows(value_cents=1_070, hidden_microcents=16 * CENT, rate_ppm=0)


def test_where_the_link_is_idle_already_it_is_in_force_when_it_is_approved() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 60, 1))  # 1,030
    told.when(change(reset_cents=1_080, idle_after_ms=HOUR), actor="ruth")
    _, changed = told.when(ApproveParameters(1), actor="omar", later_ms=HOUR)
    assert changed == ParametersChanged(1, "meter", BEFORE, terms(reset=1_080), 50 * CENT)
    told.shows(value_cents=1_080, seeded_microcents=1_050 * CENT, reset_cents=1_080, hidden_microcents=6 * CENT)


def test_a_lower_reset_takes_nothing_out() -> None:
    told = Told("tight")
    told.when(change(reset_cents=400, idle_after_ms=HOUR), actor="ruth")
    told.when(ApproveParameters(1), actor="omar")
    told.shows(value_cents=1_000, seeded_microcents=1_000 * CENT, reset_cents=400)
    told.when(claim("50% of meter"))
    told.shows(value_cents=500, seeded_microcents=1_000 * CENT)


def test_a_limit_that_the_level_has_reached_by_then_is_dropped_and_said() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 60, 1))  # 1,030
    approved(told, change(limit_cents=1_040, idle_after_ms=HOUR))
    told.when(Contribute("table-1", "table-1-2", 60, 1))  # 1,060
    dropped, accepted = told.when(Contribute("table-1", "table-1-3", 60, 1), later_ms=HOUR)
    assert isinstance(dropped, ParametersDropped) and "above the present amount" in dropped.reason
    assert isinstance(accepted, ContributionAccepted)
    told.shows(value_cents=1_090, limit_cents=1_100)


def test_without_such_a_setting_an_idle_link_changes_nothing() -> None:
    told = Told("tight")
    approved(told, change(rate_ppm=0))
    assert len(told.when(Contribute("table-1", "table-1-1", 20, 1), later_ms=1_000 * HOUR)) == 1
    told.shows(value_cents=1_010)


def test_no_parameter_changes_of_a_progressive_that_ends() -> None:
    told = Told("tight")
    told.when(change(reset_cents=400), actor="ruth")
    told.when(CloseProgressive("progressive-2", "tight", b"tight"))
    told.refused(change(rate_ppm=1), "progressive-2")
    told.refused(ApproveParameters(1), "progressive-2", actor="omar")
