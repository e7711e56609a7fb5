"""Every paragraph of the law has its row and its tests, and RULES.md says so as it is now."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.law.answers import Answer, Answers, gaps, read, settings_of
from tests.law.citing import ROOT, Held
from tests.law.page import page
from tests.law.paragraphs import Section, WordsUnread, section, sections

TEXT = """\
Title 58
Section 1a.2 - Cutting the deck

(a) Who cuts:

(1) The player cuts first.

(2) If a card is exposed, the dealer shall:
(i) Shuffle again.

(ii) Offer the cut again.

(b) The following requirements apply:

(c) The cut ends.

This section cited in 58 Pa. Code § 1a.3.
"""
DECIDES = Answer(("decides",), "It is decided.")
LEFT = Answer(("leaves to people",), "Nothing is recorded.")
CITATIONS = (
    "1a.2(a)", "1a.2(a)(1)", "1a.2(a)(2)", "1a.2(a)(2)(i)", "1a.2(a)(2)(ii)", "1a.2(b)", "1a.2(c)"
)  # fmt: skip
ANSWERS = Answers(dict.fromkeys(CITATIONS, LEFT), {"1a.2(b)(1)": LEFT}, {})


def law() -> tuple[Section, ...]:
    return (section(TEXT),)


# The Code's words ---------------------------------------------------------------------------------------------


def test_paragraphs_are_cited_by_where_they_stand() -> None:
    read = section(TEXT)
    assert (read.number, read.title, read.cut) == ("1a.2", "Cutting the deck", ("1a.2(b)",))
    assert [paragraph.citation for paragraph in read.paragraphs] == list(CITATIONS)
    assert read.paragraphs[4].words == "Offer the cut again."


def test_an_i_is_a_letter_behind_h_and_a_number_below_what_announces_it() -> None:
    letters = "".join(f"({letter}) Words.\n" for letter in "abcdefg")
    text = f"§ 1a.2. Title.\n{letters}(h) Any of:\n(1) One.\n(i) Then:\n(1) Both:\n(i) Left.\n(ii) Right.\n(2) None.\n"
    assert [paragraph.citation for paragraph in section(text).paragraphs[7:]] == [
        "1a.2(h)", "1a.2(h)(1)", "1a.2(i)", "1a.2(i)(1)", "1a.2(i)(1)(i)", "1a.2(i)(1)(ii)", "1a.2(i)(2)"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("(c) The cut ends.", "(d)"),
        ("(2) If a card is exposed, the dealer shall:", "(3)"),
        ("(ii) Offer the cut again.", "(iii)"),
        ("(1) The player cuts first.", "(i)"),
    ],
)
def test_a_paragraph_that_follows_nothing_is_an_error(line: str, words: str) -> None:
    _, _, rest = line.partition(")")
    with pytest.raises(WordsUnread, match="follows no paragraph"):
        section(TEXT.replace(line, words + rest))


def test_a_sentence_without_a_mark_is_an_error_and_not_passed_over() -> None:
    with pytest.raises(WordsUnread, match="neither a paragraph nor a note"):
        section(TEXT.replace("(c) The cut", "The cut"))


def test_the_four_sections_are_held_with_all_their_paragraphs() -> None:
    # The lines of the files that begin with a mark in brackets, counted apart.
    counts = {read.number: len(read.paragraphs) for read in sections()}
    assert counts == {"639a.11": 26, "655a.10": 7, "655a.11": 32, "683a.11": 10}
    assert [citation for read in sections() for citation in read.cut] == [
        "655a.10(a)", "683a.11(a)", "683a.11(h)", "683a.11(i)"
    ]  # fmt: skip


# What is wrong with the answers ---------------------------------------------------------------------------------


def test_nothing_is_wrong_where_every_paragraph_is_answered() -> None:
    decided = replace(ANSWERS, paragraphs={**ANSWERS.paragraphs, "1a.2(c)": DECIDES})
    assert gaps(law(), decided, (Held("tests/test_a.py::test_a", ("1a.2(c)",)),), frozenset()) == ()


@pytest.mark.parametrize("does", ["decides", "records", "refuses"])
def test_a_row_that_no_test_holds_is_told(does: str) -> None:
    rows = {**ANSWERS.paragraphs, "1a.2(c)": Answer((does, "leaves to people"), "So.")}
    (wrong,) = gaps(law(), replace(ANSWERS, paragraphs=rows), (), frozenset())
    assert wrong == f"1a.2(c) {does} and leaves to people, and no test is marked with it."


def test_a_paragraph_without_a_row_and_a_row_without_a_paragraph_are_told() -> None:
    rows = {citation: LEFT for citation in CITATIONS if citation != "1a.2(a)(2)(i)"}
    (wrong,) = gaps(law(), replace(ANSWERS, paragraphs=rows), (), frozenset())
    assert wrong == "1a.2(a)(2)(i) has no row in answers.yaml."
    (wrong,) = gaps(law(), replace(ANSWERS, paragraphs={**ANSWERS.paragraphs, "1a.2(d)": LEFT}), (), frozenset())
    assert wrong == "1a.2(d) has a row, and the Code has no such paragraph."


def test_items_that_our_copy_lacks_are_answered_for_where_it_is_cut_and_nowhere_else() -> None:
    (wrong,) = gaps(law(), replace(ANSWERS, lacking={}), (), frozenset())
    assert wrong.startswith("1a.2(b) announces items that our copy lacks")
    (wrong,) = gaps(law(), replace(ANSWERS, lacking={**ANSWERS.lacking, "1a.2(a)(3)": LEFT}), (), frozenset())
    assert wrong == "1a.2(a)(3) stands under 'lacking', and nothing is cut there."


def test_a_mark_that_cites_nothing_is_told() -> None:
    (wrong,) = gaps(law(), ANSWERS, (Held("tests/test_a.py::test_a", ("1a.2(z)",)),), frozenset())
    assert wrong == "tests/test_a.py::test_a is marked with 1a.2(z), which is no paragraph here."
    assert not gaps(law(), ANSWERS, (Held("tests/test_a.py::test_a", ("1a.2(b)(1)",)),), frozenset())


def test_a_word_that_nothing_does_an_empty_row_and_a_setting_that_is_none_are_told() -> None:
    def wrong(answer: Answer) -> tuple[str, ...]:
        return gaps(law(), replace(ANSWERS, silent={"a point": answer}), (), frozenset({"seats"}))

    assert wrong(LEFT) == ()
    assert "which is none of" in wrong(Answer(("ignores",), "So."))[0]
    assert (
        wrong(Answer((), "So."))
        == wrong(Answer(("leaves to people",), ""))
        == ("a point says nothing of what is done.",)
    )
    assert wrong(Answer(("leaves to people",), "So.", ("seats",))) == ()
    assert "'chairs', which no submission" in wrong(Answer(("leaves to people",), "So.", ("chairs",)))[0]


def test_settings_are_named_by_their_way_through_a_submission() -> None:
    found = settings_of({"seats": 6, "progressive": {"levels": [{"name": "mega"}], "paytable": "A"}})
    assert found == {"seats", "progressive", "progressive.levels", "progressive.levels.name", "progressive.paytable"}


def test_answers_are_read() -> None:
    row = {"does": ["decides", "refuses"], "how": "So.\n", "settings": ["seats"]}
    assert read({"paragraphs": {"1a.2(a)": row}, "silent": {}}) == Answers(
        {"1a.2(a)": Answer(("decides", "refuses"), "So.", ("seats",))}, {}, {}
    )


# What the marks say ------------------------------------------------------------------------------------------------

TESTS = """
import pytest

pytestmark = pytest.mark.law("1a.2(a)")

@pytest.mark.law("1a.2(b)", "1a.2(c)")
@pytest.mark.parametrize("number", [1, 2])
def test_plain(number): ...

@pytest.mark.parametrize("path", [pytest.param(1, marks=pytest.mark.law("1a.2(c)", recorded="tests/rounds/a.yaml"))])
def test_round(path): ...

@pytest.mark.skip
@pytest.mark.law("1a.2(b)")
def test_left_out(): ...

@pytest.mark.law("1a.2(b)")
def not_a_test(): ...
"""


def collected(folder: Path) -> str:
    """What `held` says of the tests in a folder, in a process of its own."""
    script = (
        "import sys; from pathlib import Path; from tests.law.citing import held; print(held(['.'], Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", script, str(folder)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def test_marks_are_read_from_the_tests_that_would_be_run(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\nmarkers = ['law(*citations): x']\n")
    (tmp_path / "test_a.py").write_text(TESTS)
    assert collected(tmp_path) == str(
        (
            Held("test_a.py::test_plain", ("1a.2(a)", "1a.2(b)", "1a.2(c)")),
            Held("test_a.py::test_round", ("1a.2(a)",)),
            Held("tests/rounds/a.yaml", ("1a.2(c)",)),
        )
    )


# The page ---------------------------------------------------------------------------------------------------------


def test_the_page_has_the_words_what_is_done_and_links_to_the_tests() -> None:
    rows = {**ANSWERS.paragraphs, "1a.2(c)": Answer(("decides", "refuses"), "The cut\nends.", ("seats",))}
    tests = (Held("tests/rounds/ms-a.yaml", ("1a.2(c)",)), Held("tests/test_a.py::TestA::test_b", ("1a.2(c)",)))
    written = page(law(), Answers(rows, ANSWERS.lacking, {"a point": LEFT}), tests).splitlines()
    assert (
        "| 1a.2(c) | The cut ends. | **decides**, **refuses**: The cut ends. *By* `seats`. "
        "| [ms-a](tests/rounds/ms-a.yaml)<br>[TestA.test_b](tests/test_a.py) |"
    ) in written
    cut = written.index(
        "| 1a.2(b) | The following requirements apply: | **leaves to people**: Nothing is recorded. | – |"
    )
    assert written[cut + 1] == "| 1a.2(b)(1) | *Our copy lacks it.* | **leaves to people**: Nothing is recorded. | – |"
    assert written[-1] == "| a point | **leaves to people**: Nothing is recorded. | – |"


def test_of_many_words_the_beginning_is_shown() -> None:
    many = " ".join(f"word{number}" for number in range(1, 26))
    written = page((section(TEXT.replace("The cut ends.", many)),), ANSWERS, ())
    assert "word23 word24 …" in written and "word25" not in written


# The project itself -----------------------------------------------------------------------------------------------


def test_every_paragraph_of_the_law_is_answered_and_the_page_is_the_present_one() -> None:
    command = [sys.executable, "-m", "tests.law", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150)
    assert checked.returncode == 0, f"{checked.stdout}{checked.stderr}"


def test_what_cannot_be_collected_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import nothing_of_that_name\n")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        collected(tmp_path)
    assert "NotCollected" in raised.value.stderr and "nothing_of_that_name" in raised.value.stderr
