"""What the Code fixes and a submission states differently is told with the section, and some of it is not read at all."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from services.core import documents
from services.core.departures import departures
from services.runtime.published import load_paytables
from services.runtime.yaml_files import YamlFile

RULES = Path(__file__).parents[2] / "deploy" / "rules"
PAYTABLES = load_paytables()
POINT = "a submission that differs from what the Code fixes"
UNCOUNTED = {"every_rounds": 6, "counting_shuffler": False, "source": "operator"}


def told(name: str, changes: dict[str, Any]) -> list[tuple[str, str]]:
    """Where a submission of the demonstration house with these parts in place of its own departs, and why."""
    document = YamlFile.read(RULES / f"{name}.yaml", "A Rules Submission").document
    found = departures(documents.submission({**document, **changes}, b"", PAYTABLES), PAYTABLES)
    return [(str(problem.path[0]), problem.reason) for problem in found]


def multiples(*allowed: int) -> dict[str, Any]:
    return {"multiples": {"allowed": list(allowed), "source": "operator"}}


def bonus(wager: str, **odds: str) -> dict[str, Any]:
    lines = [{"hand": hand, "odds": each} for hand, each in odds.items()]
    own = {"ace_low_straight": True} if wager == "three_card_bonus" else {}
    return {wager: {"minimum_cents": 100, "maximum_cents": 10_000, "source": "operator", "lines": lines, **own}}


SIX = {
    "royal_flush": "1000 to 1",
    "straight_flush": "200 to 1",
    "four_of_a_kind": "50 to 1",
    "full_house": "25 to 1",
    "flush": "20 to 1",
    "straight": "10 to 1",
}
THREE = {"mini_royal": "50 to 1", "straight_flush": "40 to 1", "three_of_a_kind": "30 to 1", "straight": "6 to 1"}
MS, CS, CJ = "demo-mississippi-stud", "demo-caribbean-stud", "demo-cajun-stud"


@pytest.mark.law(POINT)
@pytest.mark.parametrize("path", sorted(RULES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_submissions_of_the_house_do_not_depart(path: Path) -> None:
    assert told(path.stem, {}) == []


@pytest.mark.law(POINT)
@pytest.mark.parametrize(
    ("name", "changes", "part", "section"),
    [
        pytest.param(
            MS, multiples(1, 2), "multiples", "655a.11(b)",
            marks=pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)"),
        ),
        pytest.param(
            CJ, multiples(2), "multiples", "683a.11(b)",
            marks=pytest.mark.law("683a.11(b)", "683a.11(d)", "683a.11(f)"),
        ),
        pytest.param(MS, {"stub_count": UNCOUNTED}, "stub_count", "655a.10(d)", marks=pytest.mark.law("655a.10(d)")),
        pytest.param(
            MS, bonus("three_card_bonus", **THREE, flush="3 to 1"), "three_card_bonus", "655a.11(i)(2)",
            marks=pytest.mark.law("655a.11(i)(2)(i)"), id="no pair",
        ),
        pytest.param(
            MS, bonus("six_card_bonus", **SIX), "six_card_bonus", "655a.11(i)(4)",
            marks=pytest.mark.law("655a.11(i)(4)(i)"), id="no three-of-a-kind",
        ),
        pytest.param(
            MS, bonus("six_card_bonus", **SIX, three_of_a_kind="5 to 1", two_pair="1 to 1"), "six_card_bonus",
            "655a.11(i)(4)", marks=pytest.mark.law("655a.11(i)(4)(ii)"), id="two pair",
        ),
        pytest.param(
            MS, bonus("six_card_bonus", royal_flush="1000 to 1", three_of_a_kind="5 to 1"), "six_card_bonus",
            "655a.11(i)(4)", id="a hole in the table",
        ),
    ],
)  # fmt: skip
def test_what_departs_is_told_with_the_section(name: str, changes: dict[str, Any], part: str, section: str) -> None:
    found = told(name, changes)
    assert found and {where for where, _ in found} == {part}
    assert all(section in reason for _, reason in found)


@pytest.mark.law(POINT)
@pytest.mark.parametrize(
    ("name", "allowed", "section"),
    [
        pytest.param(MS, (1, 2, 3, 5), "655a.11(b)", marks=pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)")),
        pytest.param(CS, (1, 2), "639a.11(b)", marks=pytest.mark.law("639a.11(b)")),
        pytest.param(CJ, (1, 4), "683a.11(b)", marks=pytest.mark.law("683a.11(b)", "683a.11(d)", "683a.11(f)")),
    ],
)
def test_a_multiple_that_the_code_does_not_have_is_not_read(name: str, allowed: tuple[int, ...], section: str) -> None:
    with pytest.raises(documents.RulesInvalid, match=re.escape(section)) as caught:
        told(name, multiples(*allowed))
    assert {problem.path[0] for problem in caught.value.problems} == {"multiples"}


@pytest.mark.law(POINT, "655a.11(i)(3)(ii)", "639a.11(c)(6)(ii)")
@pytest.mark.parametrize(("name", "section"), [(MS, "655a.11(i)(3)(ii)"), (CS, "639a.11(c)(6)(ii)")])
def test_a_floorperson_is_called_at_500_for_1(name: str, section: str) -> None:
    verification = {
        "floorperson_at_odds": "501 for 1",
        "and_any_share_of_a_meter": True,
        "and_every_progressive_payout": True,
        "source": "operator",
    }
    ((part, reason),) = told(name, {"verification": verification})
    assert part == "verification" and section in reason and "'500 for 1'" in reason


@pytest.mark.law(POINT, "655a.11(h)(1)", "655a.11(h)(2)", "655a.11(h)(3)")
def test_a_table_of_the_main_wagers_is_held_against_the_codes_own() -> None:
    lines = {
        "royal_flush": "500 to 1",
        "straight_flush": "100 to 1",
        "four_of_a_kind": "40 to 1",
        "full_house": "10 to 1",
        "flush": "6 to 1",
        "straight": "4 to 1",
        "three_of_a_kind": "3 to 1",
        "two_pair": "2 to 1",
        "pair_of_jacks_or_better": "1 to 1",
        "pair_of_6s_to_10s": "push",
    }

    def main(**changes: str | None) -> dict[str, Any]:
        odds = {hand: each for hand, each in (lines | changes).items() if each is not None}
        return {"main": {"source": "operator", "lines": [{"hand": hand, "odds": each} for hand, each in odds.items()]}}

    assert told(MS, main()) == []
    for changed in (main(two_pair="3 to 1"), main(pair_of_6s_to_10s=None), main(pair="push"), main(flush=None)):
        ((part, reason),) = told(MS, changed)
        assert part == "main" and "655a.12(a)" in reason


@pytest.mark.law(POINT)
def test_what_was_not_read_is_not_said_to_be_kept() -> None:
    ((part, reason),) = told(MS, {"in_force_from": date(1990, 1, 1)})
    assert part == "in_force_from" and "nothing was held against it" in reason
