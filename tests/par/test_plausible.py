"""What is implausible in a submission is said, and what is sound is not."""

from dataclasses import replace
from fractions import Fraction

from services.core.paytables import Line, Odds, Paytable
from services.core.rules import Bonus, Submission
from services.par.main_game import PlayFigures, main_sheet
from services.par.plausible import implausible
from services.par.play import Ending, Play


def table(**odds: str) -> Paytable:
    return Paytable(tuple(Line(hand, Odds.parse(text)) for hand, text in odds.items()), "test")


def bonus(submission: Submission, wager: str, paytable: Paytable) -> Submission:
    """The submission with this one bonus and no progressive."""
    return replace(submission, progressive=None, bonuses={wager: Bonus(wager, 100, 100, paytable)})


def progressive(submission: Submission, **changes: int) -> Submission:
    """The submission with its progressive alone, on one meter from $10,000 to $20,000."""
    assert submission.progressive is not None
    level = replace(
        submission.progressive.levels[0],
        **{"reset_cents": 1_000_000, "base_cents": 1_000_000, "limit_cents": 2_000_000, **changes},
    )
    return replace(submission, bonuses={}, progressive=replace(submission.progressive, levels=(level,)))


def test_a_sound_submission_is_not_warned_about(cajun: Submission, mississippi: Submission) -> None:
    assert implausible(cajun) == ()
    assert implausible(progressive(mississippi)) == ()


def test_an_edge_below_zero_is_said(cajun: Submission) -> None:
    # 78 of 1,326 pairs: at 16 to 1 they return 78 x 17, which is all; at 17 to 1 78 more.
    assert implausible(bonus(cajun, "pocket_bonus", table(pair="16 to 1"))) == ()
    assert implausible(bonus(cajun, "pocket_bonus", table(pair="17 to 1"))) == (
        "The pocket bonus's house edge is below zero: it returns 105.8824 %.",
    )


def test_a_meter_that_makes_an_edge_below_zero_is_said(mississippi: Submission) -> None:
    # Fixed lines return 1,378,928 of 2,598,960, and each dollar of the meter 7.6 of them: all at $160,530.53. (1,378,928 + 1,520,000) / 2,598,960 = 1.115418.
    assert implausible(progressive(mississippi, limit_cents=16_053_052)) == ()
    (said,) = implausible(progressive(mississippi, limit_cents=16_053_060))
    assert "with the meter at its limit of $160,530.60: it returns 100.0000 %" in said
    (said,) = implausible(progressive(mississippi, reset_cents=20_000_000, limit_cents=30_000_000))
    assert "with the meter at its reset of $200,000.00: it returns 111.5418 %" in said


def test_what_goes_into_the_meters_counts_too(mississippi: Submission) -> None:
    # 53.0569 % by fixed lines leave 46.9431 % at most for the meter.
    assert implausible(progressive(mississippi, rate_ppm=459_430, hidden_rate_ppm=10_000)) == ()
    (said,) = implausible(progressive(mississippi, rate_ppm=459_440, hidden_rate_ppm=10_000))
    assert "it returns 53.0569 % without any share of a meter, and 46.9440 % goes into the meters" in said


def test_a_line_that_cannot_be_hit_is_said(cajun: Submission) -> None:
    assert implausible(bonus(cajun, "pocket_bonus", table(pair="2 to 1", pair_of_aces="30 to 1"))) == (
        "The pocket bonus's line pair of aces cannot be hit: every hand that makes it meets a line above.",
    )
    assert implausible(bonus(cajun, "all_six_bonus", table(flush="2 to 1", seven_high="9 to 1"))) == (
        "The all six bonus's line seven high cannot be hit: no 6 cards make it.",
    )
    main = replace(cajun, bonuses={}, main_tables={"main": table(pair="push", pair_of_jacks_or_better="1 to 1")})
    assert implausible(main) == (
        "The main table's line pair of jacks or better cannot be hit: every hand that makes it meets a line above.",
    )


def test_a_wager_that_no_hand_wins_is_said(cajun: Submission) -> None:
    said = implausible(bonus(cajun, "all_six_bonus", table(seven_high="9 to 1")))
    assert said[-1] == "The all six bonus cannot be won: no hand meets a line."


def test_a_main_game_that_wins_blindly_is_said_without_best_play(cajun: Submission) -> None:
    # Every hand pays even money: four antes win four.
    held = replace(cajun, bonuses={}, main_tables={"main": table(any="1 to 1")}, multiples=(1,))
    (said,) = implausible(held)
    assert "even who bets on every hand without looking gets 500.0000 % of the ante back" in said


def test_the_main_games_edge_is_judged_where_best_play_is_known(cajun: Submission) -> None:
    play = Play(500, (Ending(10, frozenset({"any", "straight"}), 3), Ending(1, frozenset(), 1, folded_at="raise_1")))
    main = main_sheet(cajun, (play, play))
    (first, _) = implausible(cajun, main)
    # Three wins of forty antes and one ante lost: 119 of four.
    assert first.endswith(f"best play at an ante of $5.00 returns {100 + 100 * 119 / 4:.4f} % of it.")
    sound = PlayFigures(500, Fraction(1, 20), Fraction(3), Fraction(9))
    assert implausible(cajun, replace(main, at_minimum=sound, at_maximum=sound)) == ()
