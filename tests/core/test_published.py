"""Published paytables: the Code's own figures, what is not found, and what is wrong with a document of them."""

from copy import deepcopy
from datetime import date
from typing import Any

import pytest

from services.core.published import PaytableBook
from services.core.published_documents import paytables, sources
from services.core.submission_documents import RulesInvalid
from services.runtime.published import load_paytables

SHIPPED = load_paytables()
TODAY = date(2026, 11, 30)


def odds(game: str, part: str, table: str) -> dict[str, str]:
    found = SHIPPED.in_force(game, part, table, TODAY)
    assert found is not None and found.paytable is not None
    return {line.hand: line.odds.text for line in found.paytable.lines}


def test_the_main_table_is_that_of_655a_12_a() -> None:
    assert odds("mississippi_stud", "main", "655a.12(a)") == {
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


@pytest.mark.parametrize(
    ("letter", "royal", "straight_flush", "four", "three"),
    [
        ("A", "100% of meter", "10% of meter", "300 for 1", "9 for 1"),
        ("B", "100% of mega", "100% of major", "300 for 1", "9 for 1"),
        ("C", "100% of mega", "100% of major", "100% of minor", "10 for 1"),
        ("D", "100% of mega", "100% of major", "100% of minor", "9 for 1"),
    ],
)
def test_the_progressive_paytables_are_those_of_655a_12_c_1(
    letter: str, royal: str, straight_flush: str, four: str, three: str
) -> None:
    assert odds("mississippi_stud", "progressive", letter) == {
        "royal_flush": royal,
        "straight_flush": straight_flush,
        "four_of_a_kind": four,
        "full_house": "50 for 1",
        "flush": "40 for 1",
        "straight": "30 for 1",
        "three_of_a_kind": three,
    }


@pytest.mark.parametrize(
    ("game", "part", "section"),
    [
        ("mississippi_stud", "three_card_bonus", "655a.12(d)"),
        ("mississippi_stud", "five_card_hand_bonus", "655a.12(e)"),
        ("mississippi_stud", "six_card_bonus", "655a.12(f)"),
        ("caribbean_stud", "ante_table", "639a.12(a)"),
        ("caribbean_stud", "bet_table", "639a.12(b)"),
        ("caribbean_stud", "caribbean_stud_bonus", "639a.12(c)"),
        ("caribbean_stud", "five_card_hand_bonus", "639a.12(e)"),
        ("cajun_stud", "main", "683a.12"),
        ("cajun_stud", "pocket_bonus", "683a.12"),
        ("cajun_stud", "board_bonus", "683a.12"),
        ("cajun_stud", "lo_ball", "683a.12"),
        ("cajun_stud", "all_six_bonus", "683a.12"),
    ],
)
def test_a_table_that_no_source_gives_has_its_section_and_no_numbers(game: str, part: str, section: str) -> None:
    found = SHIPPED.in_force(game, part, section, TODAY)
    assert found is not None and found.paytable is None and found.section.startswith(section)


def test_no_letter_of_caribbean_stud_has_numbers() -> None:
    letters = [SHIPPED.in_force("caribbean_stud", "progressive", letter, TODAY) for letter in "ABCD"]
    assert [letter is not None and letter.paytable for letter in letters] == [None] * 4


def test_only_what_was_read_in_the_code_is_text() -> None:
    text = {(table.game, table.part, table.id) for table in SHIPPED.tables if table.basis == "text"}
    progressive = {("mississippi_stud", "progressive", letter) for letter in "ABCD"}
    assert text == {("mississippi_stud", "main", "655a.12(a)")} | progressive


# A document of them ------------------------------------------------------------------------------------

NAMES = ("PC-", "OCEAN")
DOCUMENT: dict[str, Any] = {
    "game": "mississippi_stud",
    "law": [
        {
            "in_force_from": date(2024, 1, 27),
            "basis": "text",
            "multiples": {"allowed": [1, 2, 3], "section": "655a.11(b)"},
            "main_tables": {"main": "655a.12(a)"},
            "lowest": [{"wager": "three_card_bonus", "hand": "pair", "section": "655a.11(i)(2)"}],
        }
    ],
    "tables": [
        {
            "id": "655a.12(a)",
            "part": "main",
            "in_force_from": date(2024, 1, 27),
            "basis": "text",
            "confidence": "high",
            "source": ["PC-655a.12(a)", "OCEAN (as posted)"],
            "lines": [{"hand": "royal_flush", "odds": "500 to 1"}, {"hand": "two_pair", "odds": "2 to 1"}],
        },
        {"id": "655a.12(d)", "part": "three_card_bonus", "status": "not_found", "section": "655a.12(d)"},
    ],
    "not_found": [{"what": "Envy Bonus amounts", "section": "655a.12(c)(5)"}],
}


def amended() -> dict[str, Any]:
    """The document, and from a day in 2027 another table of the same id and another law."""
    document = deepcopy(DOCUMENT)
    table, law = deepcopy(document["tables"][0]), deepcopy(document["law"][0])
    document["tables"].append(table | {"in_force_from": date(2027, 5, 1)})
    document["tables"][-1]["lines"][1]["odds"] = "3 to 1"
    document["law"].append(law | {"in_force_from": date(2027, 5, 1)})
    document["law"][-1]["multiples"]["allowed"] = [1, 2]
    return document


def test_an_amended_table_and_law_are_new_entries_from_their_day_on() -> None:
    book = paytables(amended(), NAMES)

    def two_pair(day: date) -> str | None:
        found = book.in_force("mississippi_stud", "main", "655a.12(a)", day)
        return found.paytable.lines[1].odds.text if found is not None and found.paytable is not None else None

    def multiples(day: date) -> tuple[int, ...] | None:
        law = book.law("mississippi_stud", day)
        return law.multiples.value if law is not None and law.multiples is not None else None

    days = [date(2024, 1, 26), date(2024, 1, 27), date(2027, 4, 30), date(2027, 5, 1)]
    assert [two_pair(day) for day in days] == [None, "2 to 1", "2 to 1", "3 to 1"]
    assert [multiples(day) for day in days] == [None, (1, 2, 3), (1, 2, 3), (1, 2)]


def test_a_table_without_a_date_is_of_any_day() -> None:
    document = deepcopy(DOCUMENT)
    del document["tables"][0]["in_force_from"]
    found = paytables(document, NAMES).in_force("mississippi_stud", "main", "655a.12(a)", date(1999, 1, 1))
    assert found is not None and found.paytable is not None
    assert found.paytable.source == "PC-655a.12(a), OCEAN (as posted)"


MISSING = object()


@pytest.mark.parametrize(
    ("way", "value", "where"),
    [
        (("game",), "baccarat", "game"),
        (("tables", 1, "part"), "ante_table", "tables.1.part"),
        (("tables", 0, "basis"), "rumour", "tables.0.basis"),
        (("tables", 0, "confidence"), MISSING, "tables.0.confidence"),
        (("tables", 0, "source"), MISSING, "tables.0.source"),
        (("tables", 0, "source", 1), "OCEANS", "tables.0.source.1"),
        (("tables", 0, "source", 1), 7, "tables.0.source.1"),
        (("tables", 0, "lines", 0, "hand"), "pair_jacks_or_better", "tables.0.lines.0.hand"),
        (("tables", 0, "lines", 0, "odds"), "500", "tables.0.lines.0.odds"),
        (("tables", 0, "in_force_from"), "soon", "tables.0.in_force_from"),
        (("tables", 1, "status"), "lost", "tables.1.status"),
        (("tables", 1, "section"), MISSING, "tables.1.section"),
        (("tables", 1, "lines"), [], "tables.1.lines"),
        (("not_found", 0, "section"), MISSING, "not_found.0.section"),
        (("law", 0, "basis"), "secondary", "law.0.basis"),
        (("law", 0, "multiples", "section"), MISSING, "law.0.multiples.section"),
        (("law", 0, "multiples", "allowed", 0), "one", "law.0.multiples.allowed.0"),
        (("law", 0, "main_tables", "main"), "655a.12(b)", "law.0.main_tables.main"),
        (("law", 0, "lowest", 0, "hand"), "full_house", "law.0.lowest.0.hand"),
        (("law", 0, "envy_bonus"), {}, "law.0.envy_bonus"),
    ],
)
def test_one_slip_is_found_where_it_is(way: tuple[Any, ...], value: object, where: str) -> None:
    document = deepcopy(DOCUMENT)
    place: Any = document
    for step in way[:-1]:
        place = place[step]
    if value is MISSING:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    with pytest.raises(RulesInvalid) as caught:
        paytables(document, NAMES)
    assert [".".join(map(str, problem.path)) for problem in caught.value.problems] == [where]


def test_one_table_from_one_day_is_there_once() -> None:
    document = amended()
    document["tables"][-1]["in_force_from"] = date(2024, 1, 27)
    with pytest.raises(RulesInvalid, match="twice from the same day"):
        paytables(document, NAMES)


def test_the_sources_have_names_and_say_what_they_are() -> None:
    assert list(sources({"sources": {"PC-": "the page of a section", "OCEAN": "a casino"}})) == ["PC-", "OCEAN"]
    with pytest.raises(RulesInvalid):
        sources({"sources": {"PC-": ""}})
    with pytest.raises(RulesInvalid):
        sources({})


def test_an_empty_book_has_nothing() -> None:
    assert PaytableBook().law("mississippi_stud", TODAY) is None
    assert PaytableBook().in_force("mississippi_stud", "main", "655a.12(a)", TODAY) is None
