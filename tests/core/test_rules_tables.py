"""A submission that names published tables: what it reads, what is refused, and what identifies it."""

from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import Any

import pytest

from services.core.paytables import Line, Odds
from services.core.published import PaytableBook
from services.core.rules import Submission
from services.core.submission_documents import RulesInvalid, submission
from services.runtime.published import load_paytables
from tests.core.test_rules import caribbean, mississippi, put

SHIPPED = load_paytables()
CONTENT = b"the bytes of the file\n"


def read(document: dict[str, Any], book: PaytableBook = SHIPPED) -> Submission:
    return submission(document, CONTENT, book)


def wrong(document: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(RulesInvalid) as caught:
        read(document)
    return {".".join(map(str, problem.path)): problem.reason for problem in caught.value.problems}


def naming(**tables: str) -> dict[str, Any]:
    """The submission with these tables named, in this order, in place of its own lines."""
    document = mississippi()
    for part, table in tables.items():
        fields = document.pop(part)
        del fields["lines"], fields["source"]
        document[part] = fields | {"table": table}
    return document


def test_a_named_table_is_read_with_its_lines_and_its_source() -> None:
    held = read(naming(main="655a.12(a)", progressive="A", three_card_bonus="alt-ocean"))
    main = held.main_tables["main"]
    assert [line.odds.text for line in main.lines][:3] == ["500 to 1", "100 to 1", "40 to 1"]
    assert main.source == "PC-655a.12(a), REG-655a.11(h), OCEAN, WIKI-MS"
    assert held.progressive is not None
    assert held.progressive.table.lines[1] == Line("straight_flush", Odds.parse("10% of meter"))
    assert held.bonuses["three_card_bonus"].table.lines[-1] == Line("pair", Odds.parse("1 to 1"))


def test_a_submission_that_brings_all_its_tables_is_identified_by_its_bytes() -> None:
    assert read(mississippi()).sha256 == sha256(CONTENT).digest()


def test_one_that_names_tables_is_identified_by_its_bytes_and_then_the_tables() -> None:
    table = (
        b"\nmississippi_stud three_card_bonus alt-ocean\n"
        b"mini_royal: 50 to 1\nstraight_flush: 40 to 1\nthree_of_a_kind: 30 to 1\n"
        b"straight: 6 to 1\nflush: 3 to 1\npair: 1 to 1\n"
    )
    assert read(naming(three_card_bonus="alt-ocean")).sha256 == sha256(CONTENT + table).digest()


def test_the_tables_go_into_the_hash_in_the_order_of_naming() -> None:
    one = read(naming(main="655a.12(a)", three_card_bonus="alt-ocean")).sha256
    other = read(naming(three_card_bonus="alt-ocean", main="655a.12(a)")).sha256
    assert one != other


def changed(part: str, table: str, **changes: Any) -> PaytableBook:
    """The shipped book with one table written over."""
    return replace(
        SHIPPED,
        tables=tuple(
            replace(held, **changes) if (held.part, held.id) == (part, table) else held for held in SHIPPED.tables
        ),
    )


def test_a_table_that_is_written_over_makes_it_another_submission() -> None:
    held = SHIPPED.in_force("mississippi_stud", "three_card_bonus", "alt-ocean", date(2026, 1, 1))
    assert held is not None and held.paytable is not None
    lines = (*held.paytable.lines[:-1], Line("pair", Odds.parse("2 to 1")))
    document = naming(three_card_bonus="alt-ocean")
    numbers = changed("three_card_bonus", "alt-ocean", paytable=replace(held.paytable, lines=lines))
    assert read(document, numbers).sha256 != read(document).sha256
    other_words = changed("three_card_bonus", "alt-ocean", paytable=replace(held.paytable, source="OCEAN, in 2026"))
    assert read(document, other_words).sha256 == read(document).sha256
    another = changed("main", "655a.12(a)", paytable=replace(held.paytable, lines=lines))
    assert read(document, another).sha256 == read(document).sha256


def test_an_amended_table_is_read_by_those_in_force_from_its_day_on() -> None:
    held = SHIPPED.in_force("mississippi_stud", "main", "655a.12(a)", date(2026, 1, 1))
    assert held is not None and held.paytable is not None
    amended = replace(
        held, in_force_from=date(2026, 7, 1), paytable=replace(held.paytable, lines=held.paytable.lines[:3])
    )
    book = replace(SHIPPED, tables=(amended, *SHIPPED.tables))
    document = naming(main="655a.12(a)")
    assert read(document, book) == read(document)
    later = document | {"in_force_from": date(2026, 7, 1)}
    assert len(read(later, book).main_tables["main"].lines) == 3
    assert read(later, book).sha256 != read(later).sha256


def test_a_table_named_and_lines_brought_is_one_too_many() -> None:
    document = mississippi()
    document["main"]["table"] = "655a.12(a)"
    assert list(wrong(document)) == ["main.lines"]
    assert "both" in wrong(document)["main.lines"]


def test_a_table_named_has_its_own_source() -> None:
    document = naming(main="655a.12(a)")
    document["main"]["source"] = "operator"
    assert list(wrong(document)) == ["main.source"]


def test_neither_a_table_nor_lines_is_told_once() -> None:
    document = mississippi()
    document["main"] = {}
    assert list(wrong(document)) == ["main.lines"]
    assert "published 'table'" in wrong(document)["main.lines"]


@pytest.mark.parametrize(
    ("part", "table", "words"),
    [
        ("three_card_bonus", "655a.12(d)", "no source gives 655a.12(d), and none are made up"),
        ("three_card_bonus", "alt-1", "there is alt-ocean, alt-tunica-2, alt-njflop"),
        ("five_card_hand_bonus", "DEQ", "there is none"),
        ("progressive", "B", "'B' pays shares of mega, major: there is no level of that name"),
    ],
)
def test_a_table_that_cannot_be_named_is_told(part: str, table: str, words: str) -> None:
    reasons = wrong(naming(**{part: table}))
    assert set(reasons) == {f"{part}.table"} and words in reasons[f"{part}.table"]


def test_a_name_is_words() -> None:
    document = naming(main="655a.12(a)")
    document["main"]["table"] = 655
    assert list(wrong(document)) == ["main.table"]


def test_a_table_that_is_not_in_force_yet_is_not_read() -> None:
    document = naming(main="655a.12(a)") | {"in_force_from": date(2024, 1, 26)}
    assert "known from 2024-01-27 on" in wrong(document)["main.table"]
    read(naming(main="655a.12(a)") | {"in_force_from": date(2024, 1, 27)})


def test_the_letter_of_the_progressive_stays_beside_the_table() -> None:
    document = naming(progressive="A")
    del document["progressive"]["paytable"]
    assert list(wrong(document)) == ["progressive.paytable"]


@pytest.mark.parametrize("letter", ["A", "D"])
def test_the_letters_of_caribbean_stud_have_no_numbers(letter: str) -> None:
    document = caribbean()
    del document["progressive"]["lines"], document["progressive"]["source"]
    document["progressive"]["table"] = letter
    assert "639a.12(d)(1)" in wrong(document)["progressive.table"]


@pytest.mark.parametrize("part", ["ante_table", "bet_table"])
def test_against_a_dealer_every_hand_has_a_line(part: str) -> None:
    document = caribbean()
    document[part]["lines"] = [{"hand": "two_pair", "odds": "2 to 1"}, {"hand": "pair", "odds": "1 to 1"}]
    assert set(wrong(document)) == {f"{part}.lines"}
    document[part] = {"table": "alt-hobby-3" if part == "bet_table" else "alt-standard"}
    if part == "bet_table":
        assert set(wrong(document)) == {"bet_table.table"}
    else:
        read(document)


@pytest.mark.law(
    "639a.11(b)",
    "655a.11(b)",
    "655a.11(d)",
    "655a.11(f)",
    "a submission that differs from what the Code fixes",
)
@pytest.mark.parametrize(
    ("document", "place"), [(mississippi(), "multiples.allowed.2"), (caribbean(), "multiples.allowed.0")]
)
def test_a_multiple_that_the_code_does_not_have_is_a_problem(document: dict[str, Any], place: str) -> None:
    put(document, place, 4)
    assert list(wrong(document)) == [place]
    assert "655a.11(b)" in wrong(document)[place] or "639a.11(b)" in wrong(document)[place]
