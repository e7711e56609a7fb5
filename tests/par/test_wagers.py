"""Optional wagers against arithmetic by hand and against published figures."""

from dataclasses import replace
from fractions import Fraction

import pytest

from services.core.names import On
from services.core.paytables import Line, Odds, Paytable
from services.core.rules import Submission
from services.par.wagers import WagerSheet, wager_sheets

HANDS = 2_598_960


def sheet(submission: Submission, wager: str) -> WagerSheet:
    return next(each for each in wager_sheets(submission) if each.wager == wager)


def paying(submission: Submission, **odds: str) -> Submission:
    """The submission with another progressive table."""
    assert submission.progressive is not None
    lines = tuple(Line(hand, Odds.parse(text)) for hand, text in odds.items())
    return replace(submission, progressive=replace(submission.progressive, table=Paytable(lines, "test")))


def test_every_wager_of_a_submission_has_a_sheet(
    mississippi: Submission, caribbean: Submission, cajun: Submission
) -> None:
    seen = {held.game: [(each.wager, each.cards) for each in wager_sheets(held)] for held in (mississippi, cajun)}
    assert seen == {
        "mississippi_stud": [
            ("progressive", 5), ("three_card_bonus", 3), ("five_card_hand_bonus", 5), ("six_card_bonus", 6),
        ],
        "cajun_stud": [("pocket_bonus", 2), ("board_bonus", 3), ("lo_ball", 5), ("all_six_bonus", 6)],
    }  # fmt: skip
    assert sheet(caribbean, "five_card_hand_bonus").hands == (On.PLAYER, On.DEALER)
    assert [each.outlives_fold for each in wager_sheets(caribbean)] == [False, False, True]


def test_three_card_bonus_by_hand(mississippi: Submission) -> None:
    # 50-40-30-6-3-1 to 1 with A-2-3 a straight: 4 mini-royals, 44 straight flushes, 52 trips, 720 straights,
    # 1,096 flushes and 3,744 pairs of 22,100. Published: a house edge of 7.10 %.
    three = sheet(mississippi, "three_card_bonus")
    assert [line.chance * 22_100 for line in three.lines] == [4, 44, 52, 720, 1_096, 3_744]
    returned = Fraction(4 * 51 + 44 * 41 + 52 * 31 + 720 * 7 + 1_096 * 4 + 3_744 * 2, 22_100)
    assert three.fixed == 1 - three.edge == returned
    square = Fraction(4 * 51**2 + 44 * 41**2 + 52 * 31**2 + 720 * 7**2 + 1_096 * 4**2 + 3_744 * 2**2, 22_100)
    assert three.variance == square - returned**2
    assert three.lost == Fraction(22_100 - 4 - 44 - 52 - 720 - 1_096 - 3_744, 22_100)


def test_without_ace_low_straights_a_2_3_is_a_flush_or_nothing(mississippi: Submission) -> None:
    bonus = replace(mississippi.bonuses["three_card_bonus"], ace_low_straight=False)
    held = replace(mississippi, bonuses={"three_card_bonus": bonus})
    assert [line.chance * 22_100 for line in sheet(held, "three_card_bonus").lines] == [4, 40, 52, 660, 1_100, 3_744]


def test_pocket_bonus_and_lo_ball_by_hand(cajun: Submission) -> None:
    # Six pairs of aces, an ace with a face: 12 suited, 36 not; 72 other pairs; of 1,326.
    assert sheet(cajun, "pocket_bonus").fixed == Fraction(6 * 31 + 12 * 21 + 36 * 11 + 72 * 6, 1_326)
    # N high: four ranks below it less the straight, times 1,020 mixed suits.
    low = sheet(cajun, "lo_ball")
    assert [line.chance * HANDS for line in low.lines] == [n * 1_020 for n in (4, 14, 34, 69, 125)]


def test_a_push_gives_the_stake_back_and_no_more(caribbean: Submission) -> None:
    # Pairs of 8 or better: 7 ranks of 84,480 hands; the six below push.
    lines = {line.hand: line for line in sheet(caribbean, "caribbean_stud_bonus").lines}
    assert lines["pair_of_8s_or_better"].chance == Fraction(7 * 84_480, HANDS)
    assert lines["pair"].chance == Fraction(6 * 84_480, HANDS)
    assert lines["pair"].made == Fraction(1_098_240, HANDS)
    assert lines["pair"].paid_cents(100, {}) == 100


@pytest.mark.parametrize(
    ("quads", "full_house", "flush", "meter_dollars"), [(100, 75, 50, 263_205), (150, 100, 50, 246_784)]
)
def test_published_break_even_meters(
    caribbean: Submission, quads: int, full_house: int, flush: int, meter_dollars: int
) -> None:
    # Shackleford, Contingencies, November/December 2000, tables 1 and 2: a dollar, 100 % and 10 % of the meter.
    held = paying(
        caribbean, royal_flush="100% of meter", straight_flush="10% of meter", four_of_a_kind=f"{quads} for 1",
        full_house=f"{full_house} for 1", flush=f"{flush} for 1",
    )  # fmt: skip
    progressive = sheet(held, "progressive")
    even = progressive.break_even(progressive.shared[0])
    assert even is not None
    fixed = 624 * quads + 3_744 * full_house + 5_108 * flush
    assert progressive.fixed == Fraction(fixed, HANDS)
    # 4 royals take it all, 36 other straight flushes a tenth: 7.6 meters in all deals.
    assert even.exact_cents == Fraction((HANDS - fixed) * 100 * 10, 76)
    assert even.exact_cents // 100 == meter_dollars
    assert progressive.returned({"meter": even.cents}) >= 1 > progressive.returned({"meter": even.cents - 1})


def test_each_of_several_levels_breaks_even_with_the_others_at_reset(mississippi_c: Submission) -> None:
    progressive = sheet(mississippi_c, "progressive")
    mega, major, minor = progressive.shared
    fixed = 3_744 * 50 + 5_108 * 40 + 10_200 * 30 + 54_912 * 10
    at_reset = {"mega": 4 * 50_000, "major": 36 * 5_000, "minor": 624 * 200}
    assert progressive.fixed == Fraction(fixed, HANDS)
    assert 1 - progressive.edge == Fraction(fixed + sum(at_reset.values()), HANDS)
    for level, royals in ((mega, 4), (major, 36), (minor, 624)):
        others = sum(paid for name, paid in at_reset.items() if name != level.name)
        even = progressive.break_even(level)
        assert even is not None and even.exact_cents == Fraction((HANDS - fixed - others) * 100, royals)
    assert progressive.rate == Fraction(110_000 + 15_000 + 45_000 + 5_000 + 33_333, 1_000_000)


def with_extras(submission: Submission, **changes: int) -> Submission:
    """The submission with a Five Card Hand Bonus that pays $4 for the Magic Card and $2 for the lucky position."""
    bonus = submission.bonuses["five_card_hand_bonus"]
    told = replace(bonus, **{"magic_card_cents": 400, "lucky_position_cents": 200, **changes})
    return replace(submission, bonuses={"five_card_hand_bonus": told})


def test_two_wagers_of_one_meter_have_figures_of_their_own(mississippi: Submission) -> None:
    bonus = sheet(with_extras(mississippi), "five_card_hand_bonus")
    # 36 x 500 + 624 x 150 + 3,744 x 40 + 5,108 x 25 + 10,200 x 15 + 54,912 x 6, the Magic Card among five of 52
    # for four dollars, the lucky position one of six for two; each beside a wager of one dollar.
    lines = Fraction(871_532, HANDS)
    assert bonus.fixed == lines + Fraction(4 * 5, 52) + Fraction(2, 6)
    # A twentieth of a meter of $10,000 to four of all hands.
    assert 1 - bonus.edge == bonus.fixed + Fraction(4 * 500, HANDS)
    assert bonus.slope(bonus.shared[0]) == Fraction(4 * 5, 100 * 100 * HANDS)
    assert bonus.rate == 0 and sheet(mississippi, "progressive").rate == Fraction(20, 100)


def test_the_extras_vary_beside_the_hand(mississippi: Submission) -> None:
    bonus = with_extras(mississippi).bonuses["five_card_hand_bonus"]
    only = replace(bonus, table=Paytable((Line("royal_flush", Odds.parse("1 for 1")),), "test"))
    held = replace(mississippi, bonuses={"five_card_hand_bonus": only}, progressive=None)
    royal, magic, lucky = Fraction(4, HANDS), Fraction(5, 52), Fraction(1, 6)
    expected = royal * (1 - royal) + 16 * magic * (1 - magic) + 4 * lucky * (1 - lucky)
    assert sheet(held, "five_card_hand_bonus").variance == expected


def test_the_dealer_has_a_lucky_position_too(caribbean: Submission) -> None:
    magic, lucky = sheet(with_extras(caribbean), "five_card_hand_bonus").extras
    assert (magic.chance, lucky.chance) == (Fraction(5, 52), Fraction(1, 7))


def test_a_fixed_sum_is_worth_less_to_a_larger_wager(mississippi: Submission) -> None:
    held = sheet(with_extras(mississippi, maximum_cents=1_000), "five_card_hand_bonus")
    assert held.depends_on_stake
    extras = Fraction(4 * 5, 52) + Fraction(2, 6)
    assert held.fixed - held.returned({"meter": 0}, 1_000) == extras - extras / 10


def test_envy_is_counted_for_each_other_hand(mississippi: Submission) -> None:
    progressive = sheet(mississippi, "progressive")
    # A royal flush is no second bonus: 36 straight flushes beside the four royals.
    assert [each.chance * HANDS for each in progressive.envy] == [4, 36]
    assert progressive.envy_return == Fraction(4 * 1_000 + 36 * 300, HANDS) and progressive.others == 5
    assert progressive.fixed == Fraction(1_378_928, HANDS)


def test_a_level_whose_hand_no_cards_make_has_no_break_even(mississippi: Submission) -> None:
    held = sheet(paying(mississippi, royal_flush="10 for 1"), "progressive")
    assert mississippi.progressive is not None
    assert held.shared == () and held.break_even(mississippi.progressive.levels[0]) is None


def test_shares_are_cut_to_whole_cents(mississippi: Submission) -> None:
    held = sheet(paying(mississippi, royal_flush="10% of meter"), "progressive")
    assert held.returned({"meter": 19}) == Fraction(4 * 1, HANDS * 100)
    assert held.returned({"meter": 20}) == Fraction(4 * 2, HANDS * 100)
