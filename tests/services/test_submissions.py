"""The files of Rules Submissions: all problems of all files, each with its line."""

from hashlib import sha256
from pathlib import Path

import pytest

from services.runtime.submissions import load
from services.runtime.yaml_files import RulesUnreadable

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
    assert places(tmp_path) == ["a.yaml:4", "a.yaml:11", "b.yaml:1", "c.yaml:2", "d.yaml:1", "e.yaml:1"]


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
