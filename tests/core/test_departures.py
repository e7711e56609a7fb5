"""Where a submission departs from the Code: each figure is the Code's, written here by hand."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.core.departures import departures
from services.core.fields import Problem
from services.core.submission_documents import RulesInvalid, submission
from services.runtime.published import load_paytables
from services.runtime.yaml_files import YamlFile

SHIPPED = load_paytables()
RULES = Path(__file__).parents[2] / "deploy" / "rules"
DEMO = "demo-mississippi-stud"


def document(name: str = DEMO) -> dict[str, Any]:
    return dict(YamlFile.read(RULES / f"{name}.yaml", "A Rules Submission").document)


def found(stated: dict[str, Any]) -> tuple[Problem, ...]:
    return departures(submission(stated, b"", SHIPPED), SHIPPED)


def where(stated: dict[str, Any]) -> list[str]:
    return [".".join(map(str, problem.path)) for problem in found(stated)]


def lines(stated: dict[str, Any], part: str) -> list[dict[str, str]]:
    held: list[dict[str, str]] = stated[part]["lines"]
    return held


@pytest.mark.law("a submission that differs from what the Code fixes")
def test_the_demonstration_house_departs_from_nothing() -> None:
    names = [path.stem for path in RULES.glob("*.yaml")]
    assert len(names) >= 5
    assert [found(document(name)) for name in names] == [()] * len(names)


@pytest.mark.law("655a.11(h)(3)", "a submission that differs from what the Code fixes")
def test_a_main_table_that_pays_otherwise_than_655a_12_a() -> None:
    stated = document()
    lines(stated, "main")[7]["odds"] = "3 to 1"
    (departure,) = found(stated)
    assert departure.path == ("main", "lines", 7)
    assert departure.reason == "Two pair is '3 to 1' here, and '2 to 1' by 655a.12(a)."


@pytest.mark.law("655a.11(h)(1)", "655a.11(h)(2)", "a submission that differs from what the Code fixes")
def test_a_main_table_with_a_line_less_or_more() -> None:
    stated = document()
    lines(stated, "main")[-1] = {"hand": "pair", "odds": "push"}
    less, more = sorted(found(stated), key=lambda problem: len(problem.path))
    assert less.path == ("main", "lines") and "no line for pair of 6s to 10s" in less.reason
    assert more.path == ("main", "lines", 9) and "has no line for pair" in more.reason


def test_caribbean_stud_has_no_main_table_to_be_held_against() -> None:
    stated = document("demo-caribbean-stud")
    lines(stated, "bet_table")[0]["odds"] = "250 to 1"
    assert found(stated) == ()


@pytest.mark.law("655a.12(b), the limit below its bound")
@pytest.mark.parametrize(
    ("minimum", "limit", "departs"),
    [
        (500, 5_000_000, False),
        (500, 5_000_001, True),
        # 500 to 1 on one ante and three streets of three antes: 5000 times the minimum, $50,000 at $10.
        (1_000, 5_000_001, True),
        (1_100, 5_500_000, False),
        (1_100, 5_500_001, True),
    ],
)
def test_the_limit_is_at_most_50000_dollars_or_the_most_won_at_the_minimum(
    minimum: int, limit: int, departs: bool
) -> None:
    stated = document()
    stated["ante"]["minimum_cents"] = minimum
    stated["aggregate_limit"]["cents"] = limit
    assert where(stated) == (["aggregate_limit.cents"] if departs else [])


def test_the_most_that_is_won_at_the_minimum_is_that_of_the_submissions_own_table_and_multiples() -> None:
    stated = document()
    stated["ante"]["minimum_cents"] = 1_100
    stated["aggregate_limit"]["cents"] = 5_500_000
    stated["multiples"]["allowed"] = [1, 2]
    # 500 to 1 on one ante and three streets of two: 3500 times $11 is $38,500.
    assert where(stated) == ["multiples.allowed", "aggregate_limit.cents"]
    stated["multiples"]["allowed"] = [1, 2, 3]
    lines(stated, "main")[0]["odds"] = "400 to 1"
    # 4000 times $11 is $44,000.
    assert where(stated) == ["main.lines.0", "aggregate_limit.cents"]


def test_there_is_no_limit_to_hold_the_other_games_to() -> None:
    for name in ("demo-caribbean-stud", "demo-cajun-stud"):
        stated = document(name)
        stated["aggregate_limit"]["cents"] = 90_000_000
        assert found(stated) == ()


@pytest.mark.law("655a.11(b)", "683a.11(b)", "a submission that differs from what the Code fixes")
@pytest.mark.parametrize(("game", "offered"), [(DEMO, [1, 3]), ("demo-cajun-stud", [2])])
def test_a_multiple_that_is_not_offered(game: str, offered: list[int]) -> None:
    stated = document(game)
    stated["multiples"]["allowed"] = offered
    assert where(stated) == ["multiples.allowed"]


@pytest.mark.law("655a.10(d)", "a submission that differs from what the Code fixes")
@pytest.mark.parametrize(("rounds", "counts", "departs"), [(5, False, False), (6, False, True), (6, True, False)])
def test_the_stub_is_counted_every_five_rounds_unless_a_shuffler_counts(
    rounds: int, counts: bool, departs: bool
) -> None:
    stated = document()
    stated["stub_count"] |= {"every_rounds": rounds, "counting_shuffler": counts}
    assert where(stated) == (["stub_count.every_rounds"] if departs else [])


@pytest.mark.law("655a.11(i)(1)(iv)", "a submission that differs from what the Code fixes")
@pytest.mark.parametrize(
    ("name", "place", "odds"),
    [
        (DEMO, 2, "299 for 1"),
        (DEMO, 1, "100% of meter"),
        (DEMO, 6, "10 for 1"),
        (DEMO, 3, "50 to 1"),
        ("demo-mississippi-stud-c", 6, "9 for 1"),
        ("demo-mississippi-stud-c", 2, "300 for 1"),
        ("demo-mississippi-stud-c", 2, "100% of mega"),
    ],
)
def test_a_progressive_that_pays_otherwise_than_its_letter(name: str, place: int, odds: str) -> None:
    stated = document(name)
    lines(stated, "progressive")[place]["odds"] = odds
    assert f"progressive.lines.{place}" in where(stated)


def test_the_letter_says_which_paytable_is_meant() -> None:
    stated = document("demo-mississippi-stud-c")
    stated["progressive"]["paytable"] = "D"
    (departure,) = found(stated)
    assert departure.path == ("progressive", "lines", 6)
    assert departure.reason == "Three of a kind is '10 for 1' here, and '9 for 1' by paytable D of 655a.12(c)(1)."


def test_a_level_may_have_a_name_of_the_houses_own() -> None:
    stated = document("demo-mississippi-stud-c")
    stated["progressive"]["levels"][0]["name"] = "grand"
    lines(stated, "progressive")[0]["odds"] = "100% of grand"
    lines(stated, "five_card_hand_bonus")[0]["odds"] = "5% of grand"
    assert found(stated) == ()


@pytest.mark.law("655a.11(i)(1)", "a submission that differs from what the Code fixes")
def test_a_mississippi_progressive_pays_nothing_below_three_of_a_kind() -> None:
    stated = document()
    lines(stated, "progressive").append({"hand": "two_pair", "odds": "2 for 1"})
    assert where(stated) == ["progressive.lines.7"]


def test_a_caribbean_progressive_may_pay_two_pair_and_nothing_below() -> None:
    stated = document("demo-caribbean-stud")
    lines(stated, "progressive").append({"hand": "two_pair", "odds": "2 for 1"})
    assert found(stated) == ()
    lines(stated, "progressive").append({"hand": "pair", "odds": "1 for 1"})
    (departure,) = found(stated)
    assert departure.path == ("progressive", "lines", 8) and "639a.1" in departure.reason


def test_a_level_that_no_line_pays_is_never_won() -> None:
    stated = document()
    stated["progressive"]["levels"].append(stated["progressive"]["levels"][0] | {"name": "minor", "rate_ppm": 10000})
    assert where(stated) == ["progressive.levels.1.name"]
    lines(stated, "five_card_hand_bonus")[0]["odds"] = "100% of minor"
    assert found(stated) == ()


@pytest.mark.law("655a.11(i)(1)(v)", "a submission that differs from what the Code fixes")
def test_a_progressive_of_mississippi_stud_has_an_envy_bonus() -> None:
    stated = document()
    stated["progressive"]["envy"]["straight_flush_cents"] = 0
    assert where(stated) == ["progressive.envy.straight_flush_cents"]
    del stated["progressive"]["envy"]
    (departure,) = found(stated)
    assert departure.path == ("progressive",) and "655a.11(i)(1)(v)" in departure.reason


@pytest.mark.law("639a.11(c)(5)(v)", "a submission that differs from what the Code fixes")
def test_in_caribbean_stud_paytable_d_alone_has_an_envy_bonus() -> None:
    stated = document("demo-caribbean-stud")
    del stated["progressive"]["envy"]
    assert where(stated) == ["progressive"]
    assert found(document("demo-caribbean-stud-a")) == ()


@pytest.mark.law("655a.11(i)(2)(i)", "a submission that differs from what the Code fixes")
def test_three_card_bonus_pays_a_pair_or_better() -> None:
    stated = document()
    del lines(stated, "three_card_bonus")[-1]
    (departure,) = found(stated)
    assert departure.path == ("three_card_bonus", "lines")
    assert departure.reason == "Pair loses, and by 655a.11(i)(2) it pays pair or better."
    stated = document()
    del lines(stated, "three_card_bonus")[3]
    assert ["Straight loses" in departure.reason for departure in found(stated)] == [True]
    stated = document()
    del lines(stated, "three_card_bonus")[0]
    assert found(stated) == (), "a mini-royal is a straight flush, and has its line"


@pytest.mark.law("655a.11(i)(4)(i)", "655a.11(i)(4)(ii)", "a submission that differs from what the Code fixes")
def test_six_card_bonus_pays_three_of_a_kind_or_better() -> None:
    stated = document()
    lines(stated, "six_card_bonus").append({"hand": "two_pair", "odds": "1 to 1"})
    (departure,) = found(stated)
    assert departure.path == ("six_card_bonus", "lines", 7) and "655a.11(i)(4)" in departure.reason
    del lines(stated, "six_card_bonus")[-2:]
    assert where(stated) == ["six_card_bonus.lines"]


@pytest.mark.law("639a.11(c)(6)(ii)", "655a.11(i)(3)(ii)", "a submission that differs from what the Code fixes")
@pytest.mark.parametrize(
    ("name", "section"), [(DEMO, "655a.11(i)(3)(ii)"), ("demo-caribbean-stud-a", "639a.11(c)(6)(ii)")]
)
def test_five_card_hand_bonus_has_a_line_of_500_for_1_and_one_of_a_meter(name: str, section: str) -> None:
    stated = document(name)
    lines(stated, "five_card_hand_bonus")[1]["odds"] = "400 for 1"
    (departure,) = found(stated)
    assert departure.reason == f"No line is '500 for 1', as {section} has it."
    del lines(stated, "five_card_hand_bonus")[0]
    assert len(found(stated)) == 2
    stated = document(name)
    lines(stated, "five_card_hand_bonus")[6]["odds"] = "6 to 1"
    assert where(stated) == ["five_card_hand_bonus.lines.6.odds"]


@pytest.mark.law("655a.11(i)(3)(ii)", "a submission that differs from what the Code fixes")
def test_the_floorperson_is_called_at_500_for_1() -> None:
    for odds in ("501 for 1", "499 for 1", "500 to 1"):
        stated = document()
        stated["verification"]["floorperson_at_odds"] = odds
        assert where(stated) == ["verification.floorperson_at_odds"]


@pytest.mark.law("a submission that differs from what the Code fixes")
def test_a_day_of_which_the_code_is_not_held_is_told() -> None:
    stated = document() | {"in_force_from": date(2024, 1, 26)}
    (departure,) = found(stated)
    assert departure.path == ("in_force_from",) and "not held here" in departure.reason


def test_what_is_not_the_codes_own_text_is_nothing_to_be_held_against() -> None:
    held = SHIPPED.in_force("mississippi_stud", "main", "655a.12(a)", date(2026, 1, 1))
    assert held is not None
    book = replace(SHIPPED, tables=(replace(held, basis="secondary"),))
    stated = document()
    lines(stated, "main")[7]["odds"] = "3 to 1"
    assert departures(submission(stated, b"", SHIPPED), book) == ()


@pytest.mark.parametrize(
    ("path", "also"),
    [
        (("seats",), ["main.lines.7", "aggregate_limit.cents"]),
        (("ante", "minimum_cents"), ["main.lines.7"]),
        (("main", "lines", 0, "hand"), []),
        (("multiples", "allowed"), ["main.lines.7"]),
        (("game",), []),
        (("in_force_from",), []),
    ],
)
def test_a_draft_is_held_against_the_code_in_its_sound_parts(path: tuple[Any, ...], also: list[str]) -> None:
    stated = document()
    lines(stated, "main")[7]["odds"] = "3 to 1"
    stated["aggregate_limit"]["cents"] = 9_000_000
    place: Any = stated
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = "nonsense"
    with pytest.raises(RulesInvalid) as caught:
        submission(stated, b"", SHIPPED)
    assert caught.value.draft is not None
    unsound = {str(problem.path[0]) for problem in caught.value.problems}
    told = departures(caught.value.draft, SHIPPED, unsound)
    assert [".".join(map(str, problem.path)) for problem in told] == also
