"""Rules Submissions: what is read, what is wrong with one, and which is in force."""

from copy import deepcopy
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

import pytest

from services.core import submission_documents
from services.core.names import On
from services.core.paytables import Kind
from services.core.rules import Envy, RuleBook, RulesMissing, Submission
from services.core.submission_documents import RulesInvalid
from services.runtime.published import load_paytables

Document = dict[str, Any]
PAYTABLES = load_paytables()


def submission(document: Document, content: bytes = b"") -> Submission:
    return submission_documents.submission(document, content, PAYTABLES)


def mississippi() -> Document:
    return {
        "id": "house-1",
        "game": "mississippi_stud",
        "in_force_from": date(2026, 1, 1),
        "seats": 6,
        "ante": {"minimum_cents": 500, "maximum_cents": 50000, "step_cents": 100, "source": "operator"},
        "stub_count": {"every_rounds": 5, "counting_shuffler": True, "source": "655a.10(d)"},
        "multiples": {"allowed": [1, 2, 3], "source": "655a.11(b)"},
        "main": {
            "source": "655a.12(a)",
            "lines": [
                {"hand": "two_pair", "odds": "2 to 1"},
                {"hand": "pair_of_jacks_or_better", "odds": "1 to 1"},
                {"hand": "pair_of_6s_to_10s", "odds": "push"},
            ],
        },
        "aggregate_limit": {"cents": 5000000, "on": "ante and streets", "source": "655a.12(b)"},
        "progressive": {
            "paytable": "A",
            "wager_cents": 100,
            "source": "655a.12(c)(1)",
            "several_winners": "in_order",
            "lines": [{"hand": "royal_flush", "odds": "100% of meter"}, {"hand": "full_house", "odds": "50 for 1"}],
            "levels": [
                {
                    "name": "meter",
                    "base_cents": 1000000,
                    "reset_cents": 900000,
                    "rate_ppm": 190000,
                    "hidden_rate_ppm": 10000,
                    "limit_cents": 25000000,
                    "source": "operator",
                }
            ],
            "envy": {
                "royal_flush_cents": 100000,
                "straight_flush_cents": 30000,
                "folded_hand_qualifies": True,
                "source": "operator",
            },
        },
        "three_card_bonus": {
            "minimum_cents": 100,
            "maximum_cents": 10000,
            "ace_low_straight": True,
            "source": "OCEAN",
            "lines": [{"hand": "straight", "odds": "6 to 1"}, {"hand": "flush", "odds": "3 to 1"}],
        },
        "five_card_hand_bonus": {
            "wager_cents": 100,
            "hands": ["player"],
            "source": "operator",
            "magic_card_cents": 400,
            "lucky_position_cents": 200,
            "lines": [{"hand": "royal_flush", "odds": "5% of meter"}],
        },
        "verification": {
            "floorperson_at_odds": "500 for 1",
            "and_any_share_of_a_meter": True,
            "and_every_progressive_payout": True,
            "source": "655a.11(i)(1)(iii)",
        },
    }


def caribbean() -> Document:
    document = mississippi()
    del document["main"], document["three_card_bonus"]
    any_hand = {"source": "TGO", "lines": [{"hand": "any", "odds": "1 to 1"}]}
    document |= {
        "game": "caribbean_stud",
        "ante_table": any_hand,
        "bet_table": deepcopy(any_hand),
        "multiples": {"allowed": [2], "source": "639a.11(b)"},
        "dealer_qualifies": {"with": "ace_king", "source": "639a.11(c)(3)"},
    }
    document["five_card_hand_bonus"]["hands"] = ["player", "dealer"]
    document["progressive"]["paytable"] = "D"
    return document


def cajun() -> Document:
    document = mississippi()
    for name in ("progressive", "three_card_bonus", "five_card_hand_bonus", "verification"):
        del document[name]
    document |= {
        "game": "cajun_stud",
        "lo_ball": {
            "minimum_cents": 100,
            "maximum_cents": 10000,
            "source": "QUEEN",
            "lines": [{"hand": "seven_high", "odds": "50 to 1"}, {"hand": "jack_high", "odds": "3 to 1"}],
        },
    }
    return document


def put(document: Document, path: str, value: object) -> None:
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = document
    for step in way:
        place = place[step]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value


MISSING = object()


def where_wrong(document: Document) -> set[str]:
    with pytest.raises(RulesInvalid) as caught:
        submission(document)
    assert all(problem.reason.endswith(".") for problem in caught.value.problems)
    return {".".join(map(str, problem.path)) for problem in caught.value.problems}


def test_a_submission_is_read() -> None:
    read = submission(mississippi(), b"its bytes")
    assert (read.id, read.sha256, read.game, read.seats) == (
        "house-1",
        sha256(b"its bytes").digest(),
        "mississippi_stud",
        6,
    )
    assert (read.ante.minimum_cents, read.ante.maximum_cents, read.ante.step_cents) == (500, 50000, 100)
    assert (read.stub_count.every_rounds, read.stub_count.counting_shuffler) == (5, True)
    assert (read.in_force_from, read.multiples, read.aggregate_limit_cents) == (date(2026, 1, 1), (1, 2, 3), 5000000)
    assert [line.odds.text for line in read.main_tables["main"].lines] == ["2 to 1", "1 to 1", "push"]
    assert read.main_tables["main"].source == "655a.12(a)"
    assert read.floorperson_at_odds is not None and read.floorperson_at_odds.multiple == 500


def test_a_progressive_is_read() -> None:
    progressive = submission(mississippi()).progressive
    assert progressive is not None
    assert (progressive.paytable_name, progressive.wager_cents) == ("A", 100)
    assert progressive.envy == Envy((("royal_flush", 100000), ("straight_flush", 30000)), True)
    (level,) = progressive.levels
    assert (level.name, level.base_cents, level.reset_cents) == ("meter", 1000000, 900000)
    assert (level.rate_ppm, level.hidden_rate_ppm, level.limit_cents) == (190000, 10000, 25000000)
    assert progressive.table.lines[0].odds.kind is Kind.SHARE


def test_bonuses_are_read_and_a_fixed_amount_is_minimum_and_maximum() -> None:
    bonuses = submission(mississippi()).bonuses
    three, five = bonuses["three_card_bonus"], bonuses["five_card_hand_bonus"]
    assert set(bonuses) == {"three_card_bonus", "five_card_hand_bonus"}
    assert (three.minimum_cents, three.maximum_cents, three.ace_low_straight) == (100, 10000, True)
    assert (five.minimum_cents, five.maximum_cents, five.hands) == (100, 100, (On.PLAYER,))
    assert (five.magic_card_cents, five.lucky_position_cents) == (400, 200)


def test_caribbean_stud_has_two_tables_and_a_dealer() -> None:
    read = submission(caribbean())
    assert set(read.main_tables) == {"ante_table", "bet_table"}
    assert read.bonuses["five_card_hand_bonus"].hands == (On.PLAYER, On.DEALER)


def test_a_game_without_meter_needs_no_progressive() -> None:
    assert submission(mississippi()).needs_progressive
    assert not submission(cajun()).needs_progressive


def test_a_bonus_that_a_floorperson_verifies_needs_a_progressive_because_it_is_claimed_there() -> None:
    document = mississippi()
    del document["progressive"]
    bonus = document["five_card_hand_bonus"]
    bonus["lines"] = [{"hand": "straight_flush", "odds": "500 for 1"}, {"hand": "flush", "odds": "25 for 1"}]
    assert submission(document).needs_progressive
    bonus["lines"] = [{"hand": "straight_flush", "odds": "499 for 1"}, {"hand": "flush", "odds": "25 for 1"}]
    assert not submission(document).needs_progressive


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("extra", 1),
        ("id", MISSING),
        ("id", "two words"),
        ("id", 7),
        ("game", "baccarat"),
        ("seats", 0),
        ("seats", True),
        ("seats", 6.0),
        ("seats", "6"),
        ("seats", 23),
        ("in_force_from", "2026-01-01"),
        ("in_force_from", datetime(2026, 1, 1)),
        ("ante", []),
        ("ante.source", MISSING),
        ("ante.source", " "),
        ("ante.minimum_cents", 50100),
        ("ante.minimum_cents", 550),
        ("ante.maximum_cents", 50050),
        ("ante.minimum_cents", -500),
        ("ante.step_cents", 0),
        ("ante.minimum_cents", 500.0),
        ("ante.bonus", 1),
        ("stub_count.every_rounds", 0),
        ("stub_count.counting_shuffler", "yes"),
        ("stub_count.source", MISSING),
        ("multiples.allowed", []),
        ("multiples.allowed.0", 0),
        ("multiples.allowed.1", 1),
        ("multiples.allowed.2", True),
        ("multiples.source", MISSING),
        ("main", MISSING),
        ("main.lines", []),
        ("main.lines", MISSING),
        ("main.source", MISSING),
        ("main.lines.0.hand", "five_of_a_kind"),
        ("main.lines.0.odds", "2:1"),
        ("main.lines.0.odds", 2),
        ("main.lines.2.hand", "two_pair"),
        ("main.lines.2.hand", "royal_flush"),
        ("main.lines.0.odds", "5% of meter"),
        ("main.lines.0.note", "x"),
        ("main.lines.0", "two_pair"),
        ("aggregate_limit.cents", MISSING),
        ("aggregate_limit.source", MISSING),
        ("aggregate_limit.on", MISSING),
        ("progressive.paytable", "E"),
        ("progressive.wager_cents", 0),
        ("progressive.source", MISSING),
        ("progressive.lines", MISSING),
        ("progressive.lines.0.odds", "100% of mega"),
        ("progressive.several_winners", "x"),
        ("progressive.levels.0.source", MISSING),
        ("progressive.levels.0.reset_cents", 1000001),
        ("progressive.levels.0.base_cents", 25000001),
        ("progressive.levels.0.rate_ppm", 1000001),
        ("progressive.levels.0.rate_ppm", -1),
        ("progressive.envy.source", MISSING),
        ("progressive.envy.royal_flush_cents", -1),
        ("progressive.envy.folded_hand_qualifies", MISSING),
        ("progressive.envy.full_house_cents", 5),
        ("three_card_bonus.lines", MISSING),
        ("three_card_bonus.ace_low_straight", MISSING),
        ("three_card_bonus.source", MISSING),
        ("three_card_bonus.minimum_cents", 10001),
        ("three_card_bonus.lines.0.hand", "full_house"),
        ("three_card_bonus.magic_card_cents", 1),
        ("five_card_hand_bonus.ace_low_straight", True),
        ("five_card_hand_bonus.minimum_cents", 100),
        ("five_card_hand_bonus.hands.0", "dealer"),
        ("five_card_hand_bonus.hands", []),
        ("five_card_hand_bonus.lines.0.odds", "5% of mega"),
        ("five_card_hand_bonus.magic_card_cents", -1),
        ("lo_ball", {}),
        ("verification", MISSING),
        ("verification.source", MISSING),
        ("verification.floorperson_at_odds", "push"),
        ("verification.floorperson_at_odds", 500),
        ("verification.and_any_share_of_a_meter", False),
        ("dealer_qualifies", {}),
    ],
)
def test_one_slip_is_found_where_it_is(path: str, value: object) -> None:
    document = mississippi()
    put(document, path, value)
    assert where_wrong(document) == {path}


@pytest.mark.law("655a.6(c), 639a.6 and 683a.6, how hands rank")
def test_a_straight_of_three_cards_stands_above_a_flush() -> None:
    document = mississippi()
    document["three_card_bonus"]["lines"].reverse()
    assert where_wrong(document) == {"three_card_bonus.lines.1.hand"}


def test_the_rates_of_all_levels_together_are_at_most_the_wager() -> None:
    document = mississippi()
    level = document["progressive"]["levels"][0]
    document["progressive"]["levels"].append(level | {"name": "minor", "rate_ppm": 800000, "hidden_rate_ppm": 0})
    submission(document)
    document["progressive"]["levels"][1]["hidden_rate_ppm"] = 1
    assert where_wrong(document) == {"progressive.levels"}


def test_a_level_has_a_name_that_odds_can_name() -> None:
    document = mississippi()
    document["progressive"]["levels"][0]["name"] = "Meter One"
    assert "progressive.levels.0.name" in where_wrong(document)


def test_a_level_may_say_how_much_a_round_may_add_to_it() -> None:
    document = mississippi()
    level = document["progressive"]["levels"][0]
    assert submission(document).progressive.levels[0].contribution_bound_cents is None  # type: ignore[union-attr]
    level["contribution_bound_cents"] = 500
    assert submission(document).progressive.levels[0].contribution_bound_cents == 500  # type: ignore[union-attr]
    level["contribution_bound_cents"] = 0
    assert where_wrong(document) == {"progressive.levels.0.contribution_bound_cents"}


def test_two_levels_of_one_name_are_found() -> None:
    document = mississippi()
    document["progressive"]["levels"] *= 2
    assert where_wrong(document) == {"progressive.levels.1.name"}


@pytest.mark.law("639a.11(c)(5)(v)")
def test_caribbean_stud_has_envy_under_paytable_d_only() -> None:
    document = caribbean()
    document["progressive"]["paytable"] = "A"
    assert where_wrong(document) == {"progressive.envy"}


@pytest.mark.law("639a.11(c)(3)")
def test_in_caribbean_stud_the_dealers_qualification_must_be_stated() -> None:
    document = caribbean()
    document["dealer_qualifies"]["with"] = "queen_high"
    assert where_wrong(document) == {"dealer_qualifies.with"}
    del document["dealer_qualifies"]
    assert where_wrong(document) == {"dealer_qualifies"}


@pytest.mark.law("655a.11(i)(3)(iii)")
def test_a_share_without_a_progressive_is_found() -> None:
    document = mississippi()
    del document["progressive"]
    assert where_wrong(document) == {"five_card_hand_bonus.lines.0.odds"}


@pytest.mark.parametrize("game", ["mississippi_stud", "baccarat"])
def test_everything_that_is_wrong_is_told_at_once(game: str) -> None:
    document = mississippi()
    document["game"] = game
    put(document, "id", MISSING)
    put(document, "ante.source", MISSING)
    put(document, "main.lines.0.odds", "two")
    put(document, "progressive.levels.0.limit_cents", -1)
    put(document, "typo", 1)
    wrong = {"id", "ante.source", "main.lines.0.odds", "progressive.levels.0.limit_cents", "typo"}
    assert where_wrong(document) == (wrong if game == "mississippi_stud" else wrong | {"game"})


def test_an_empty_document_misses_everything() -> None:
    assert where_wrong({}) >= {"id", "game", "in_force_from", "seats", "ante", "stub_count", "multiples"}


def book() -> RuleBook:
    def dated(number: int, day: date, rules: str) -> Submission:
        read = submission(mississippi() | {"in_force_from": day, "id": rules})
        return replace(read, sha256=bytes([number]))

    return RuleBook(
        (
            dated(1, date(2026, 3, 1), "house-1"),
            dated(2, date(2026, 1, 1), "house-1"),
            dated(3, date(2026, 2, 1), "house-2"),
        )
    )


@pytest.mark.parametrize(
    ("at", "sha256"),
    [
        ("2025-12-31T23:59:59.999", None),
        ("2026-01-01T00:00:00.000", b"\x02"),
        ("2026-02-28T23:59:59.999", b"\x02"),
        ("2026-03-01T00:00:00.000", b"\x01"),
        ("2030-01-01T00:00:00.000", b"\x01"),
    ],
)
def test_the_latest_submission_that_has_begun_is_in_force_by_utc_day(at: str, sha256: bytes | None) -> None:
    at_ms = round(datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp() * 1000)
    held = book().in_force("house-1", at_ms)
    assert (held.sha256 if held else None) == sha256


def test_a_log_that_names_a_submission_not_held_stops_its_reader() -> None:
    assert book().by_sha256(b"\x03").id == "house-2"
    with pytest.raises(RulesMissing, match="ff00"):
        book().by_sha256(b"\xff\x00")
    assert book().in_force("house-3", 1_800_000_000_000) is None
