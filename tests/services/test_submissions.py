"""The files of Rules Submissions: all problems of all files, each with its line."""

from collections.abc import Iterator
from errno import EACCES
from hashlib import sha256
from os import strerror
from pathlib import Path

import pytest

from services.runtime.submissions import load
from services.runtime.yaml_files import RulesUnreadable

DEMO = (Path(__file__).parents[2] / "deploy" / "rules" / "demo-caribbean-stud.yaml").read_text()
CAJUN = """\
id: house-cajun
game: cajun_stud
in_force_from: 2026-01-01
seats: 6
ante: {minimum_cents: 500, maximum_cents: 50000, step_cents: 100, source: operator}
stub_count: {every_rounds: 5, counting_shuffler: true, source: operator}
multiples: {allowed: [1, 2, 3], source: "683a.11(b)"}
main:
  source: HOBBY
  lines:
    - {hand: two_pair, odds: 2 to 1}
    - {hand: pair_of_jacks_or_better, odds: 1 to 1}
aggregate_limit: {cents: 5000000, on: winnings of one hand, source: operator}
"""


def problems(folder: Path) -> list[str]:
    with pytest.raises(RulesUnreadable) as caught:
        load(folder)
    return str(caught.value).removeprefix(f"{folder}/").replace(f"\n{folder}/", "\n").splitlines()


def places(folder: Path) -> list[str]:
    return [":".join(problem.split(":")[:2]) for problem in problems(folder)]


def write(folder: Path, text: str, name: str = "a.yaml") -> None:
    (folder / name).write_bytes(text.encode())


def test_a_file_is_read_with_the_hash_of_its_bytes(tmp_path: Path) -> None:
    write(tmp_path, CAJUN)
    write(tmp_path, "not read", "notes.txt")
    (read,) = load(tmp_path).submissions
    assert (read.id, read.sha256) == ("house-cajun", sha256(CAJUN.encode()).digest())


def test_the_submissions_of_the_demonstration_house_are_read() -> None:
    held = load(Path(__file__).parents[2] / "deploy" / "rules").submissions
    assert {"demo-mississippi-stud", "demo-mississippi-stud-c"} <= {read.id for read in held}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("seats: 6", "seats: 6.0", 4),
        ("seats: 6", "seats: 06", 4),
        ("seats: 6", "seats: 0:6", 4),
        ("seats: 6", "seats: true", 4),
        ("minimum_cents: 500,", "minimum_cents: 500.0,", 5),
        ("minimum_cents: 500,", "minimum_cents: 0500,", 5),
        ("2026-01-01", "2026-02-31", 3),
        ("2026-01-01", "2026-01-01T00:00:00Z", 3),
        ("counting_shuffler: true", "counting_shuffler: yes", 6),
        ("two_pair", "two_pairs", 11),
        ("1 to 1}", "1 to 1, note: x}", 12),
        ("1 to 1}", "1 to 1", 13),
        ("  source: HOBBY\n", "", 8),
        ("seats: 6\n", "seats: 6\nseats: 6\n", 5),
        ("{hand: two_pair,", "{hand: two_pair, hand: two_pair,", 11),
        ("id: house-cajun", "id: !!python/name:os.system x", 1),
        ("seats: 6", "seats: &six 6\nmore: *six", 5),
        ("seats: 6", "seats: 6\n? [a, b]\n: x", 5),
        ("seats: 6", "seats: 6\n---", 5),
        ("game: cajun_stud", "game: cajun\x07stud", 2),
        # What a tag forces would raise any error that Python has.
        ("seats: 6", "seats: !!bool maybe", 4),
        ("seats: 6", 'seats: !!int ""', 4),
        ("seats: 6", "seats: ! 6", 4),
        ("seats: 6", "seats: !!set {a, b}", 4),
        ("seats: 6", f"seats: {'9' * 5000}", 4),
        # An escape may write what no file may hold.
        ("game: cajun_stud", 'game: "cajun\\e[31mstud"', 2),
        ("source: HOBBY", 'source: "\\ud800"', 9),
        ("source: HOBBY", 'source: "\\UFFFFFFFF"', 9),
        ("source: HOBBY", 'source: "\\U00110000"', 9),
        ("seats: 6\n", 'seats: 6\n"a\\rb": 1\n', 5),
        # The name of a field is the word that is written, whatever it looks like.
        ("seats: 6\n", "seats: 6\n17: x\n", 5),
        ("seats: 6\n", "seats: 6\ntrue: x\n", 5),
        ("seats: 6\n", "seats: 6\n2026-01-01: x\n", 5),
        ("seats: 6\n", "seats: 6\n~: x\n", 5),
        ("seats: 6\n", f"seats: 6\nx: {'[' * 5000}", 5),
        # The day that stands for none.
        ("2026-01-01", "0001-01-01", 3),
    ],
)
def test_a_slip_is_reported_with_its_line(tmp_path: Path, old: str, new: str, line: int) -> None:
    write(tmp_path, CAJUN.replace(old, new))
    assert places(tmp_path) == [f"a.yaml:{line}"]


def test_all_problems_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, CAJUN.replace("seats: 6", "seats: 0").replace("2 to 1", "2"), "a.yaml")
    write(tmp_path, "[", "b.yaml")
    (tmp_path / "c.yaml").write_bytes(b"id: a\nname: \xff\n")
    (tmp_path / "d.yaml").mkdir()
    write(tmp_path, "", "e.yaml")
    write(tmp_path, CAJUN, "f.yaml")
    # What is wrong with the first file does not hide that another states the same.
    assert places(tmp_path) == ["a.yaml:4", "a.yaml:11", "b.yaml:1", "c.yaml:2", "d.yaml:1", "e.yaml:1", "f.yaml:1"]


def test_one_slip_hides_no_other(tmp_path: Path) -> None:
    text = CAJUN.replace("seats: 6", "seats: 60").replace("2026-01-01", "2026-02-31")
    text = text.replace("step_cents: 100", "step_cents: 0").replace("minimum_cents: 500,", "minimum_cents: 60000,")
    write(tmp_path, text.replace("every_rounds: 5", f"every_rounds: {'5' * 5000}"))
    assert places(tmp_path) == ["a.yaml:3", "a.yaml:4", "a.yaml:5", "a.yaml:5", "a.yaml:6"]
    assert any("'minimum_cents' 60000 is above 'maximum_cents' 50000" in problem for problem in problems(tmp_path))


def test_problems_are_told_from_the_first_line_to_the_last(tmp_path: Path) -> None:
    progressive = DEMO.replace("several_winners: in_order", "several_winners: shared").replace("seats: 6", "seats: 0")
    flags = "and_any_share_of_a_meter: false, and_every_progressive_payout: false"
    write(tmp_path, progressive.replace(flags.replace("false", "true"), flags))
    lines = [int(place.partition(":")[2]) for place in places(tmp_path)]
    assert len(lines) == 4
    assert lines == sorted(lines)


def test_a_line_whose_odds_cannot_be_read_is_not_told_to_be_missing(tmp_path: Path) -> None:
    write(tmp_path, DEMO.replace("hand: any, odds: 1 to 1", "hand: any, odds: 0 to 1"))
    assert all("is no odds" in problem for problem in problems(tmp_path))
    assert len(problems(tmp_path)) == 2


def test_a_sentence_is_one_line_of_a_length_that_is_read(tmp_path: Path) -> None:
    write(tmp_path, CAJUN.replace("seats: 6", f"seats: [{', '.join(['word'] * 20_000)}]\n{'y' * 900}: 1"))
    assert places(tmp_path) == ["a.yaml:4", "a.yaml:5"]
    assert all(len(problem) < 200 for problem in problems(tmp_path))


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("/dev/zero")
    write(tmp_path, "a: [1, 2, 3]\n" * 100_000, "b.yaml")
    assert places(tmp_path) == ["a.yaml:1", "b.yaml:1"]
    assert all("more than 1000000 bytes" in problem for problem in problems(tmp_path))


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(_: Path) -> Iterator[Path]:
        raise PermissionError(EACCES, strerror(EACCES))

    monkeypatch.setattr(Path, "iterdir", denied)
    with pytest.raises(RulesUnreadable, match="It cannot be read: Permission denied"):
        load(tmp_path)


def test_a_missing_field_has_the_line_of_what_it_is_missing_in(tmp_path: Path) -> None:
    write(tmp_path, CAJUN.replace("id: house-cajun\n", "").replace("two_pair, odds: 2 to 1", "two_pair"))
    assert places(tmp_path) == ["a.yaml:1", "a.yaml:10"]


def test_one_id_from_one_day_is_stated_once(tmp_path: Path) -> None:
    write(tmp_path, CAJUN, "a.yaml")
    write(tmp_path, "# again\n" + CAJUN, "b.yaml")
    (problem,) = problems(tmp_path)
    assert problem.startswith("b.yaml:2: 'house-cajun' from 2026-01-01") and "a.yaml" in problem
    write(tmp_path, CAJUN.replace("2026-01-01", "2026-01-02"), "b.yaml")
    assert len(load(tmp_path).submissions) == 2


def test_a_folder_without_submissions_is_told(tmp_path: Path) -> None:
    with pytest.raises(RulesUnreadable, match=r"no \*\.yaml file in this folder"):
        load(tmp_path)
    with pytest.raises(RulesUnreadable, match="no such file or folder"):
        load(tmp_path / "missing")
