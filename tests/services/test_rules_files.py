"""`roundlog rules`, as a person calls it, with no house running; and what a service says of its rules at its start."""

import logging
import re
from hashlib import sha256
from pathlib import Path

import pytest

from services.backoffice.command_line import main
from services.runtime.published import SHIPPED, load_paytables
from services.runtime.submissions import load
from services.runtime.yaml_files import RulesUnreadable

RULES = Path(__file__).parents[2] / "deploy" / "rules"
DEMO = (RULES / "demo-mississippi-stud.yaml").read_text()
PLAIN = (RULES / "demo-cajun-stud.yaml").read_text()
"""A file in which no figure is implausible either."""
NAMING = re.sub(r'  source: "655a.12\(a\)"\n  lines:\n(    - .*\n)+', '  table: "655a.12(a)"\n', DEMO, count=1)


@pytest.fixture(autouse=True)
def no_house(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("ROUNDLOG_PAR_CACHE", str(tmp_path_factory.mktemp("par")))
    for name in ("ROUNDLOG_KAFKA", "ROUNDLOG_POSTGRES", "ROUNDLOG_RULES", "ROUNDLOG_PAYTABLES"):
        monkeypatch.delenv(name, raising=False)


def line_of(text: str, words: str) -> int:
    """The line, from 1, that alone has these words."""
    (found,) = [number for number, line in enumerate(text.splitlines(), 1) if words in line]
    return found


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str]]:
    code = main(["rules", *words])
    return code, capsys.readouterr().out.splitlines()


def test_a_file_with_nothing_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(PLAIN)
    assert said(capsys, "check", str(path)) == (
        0,
        [f"{path}: demo-cajun-stud, cajun_stud, in force from 2026-01-01: nothing is wrong"],
    )


def test_the_whole_folder_of_the_demonstration_house(capsys: pytest.CaptureFixture[str]) -> None:
    code, lines = said(capsys, "check", str(RULES))
    assert code == 0
    closing = [line for line in lines if "in force from" in line]
    assert len(closing) == len(list(RULES.glob("*.yaml")))
    assert all(": nothing is wrong" in line for line in closing)
    assert all(": Implausible: " in line for line in lines if line not in closing)


def test_problems_and_departures_of_one_file_are_told_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = DEMO.replace("seats: 6", "seats: 60").replace(
        "{hand: two_pair, odds: 2 to 1}", "{hand: two_pair, odds: 3 to 1}"
    )
    text = text.replace("cents: 5000000, on", "cents: 6000000, on").replace(
        "{hand: flush, odds: 3 to 1}", "{hand: flush}"
    )
    path = tmp_path / "a.yaml"
    path.write_text(text)
    code, lines = said(capsys, "check", str(path))
    assert code == 1
    assert [line.partition(": ")[0] for line in lines] == [
        f"{path}:{line_of(text, 'seats: 60')}",
        f"{path}:{line_of(text, '{hand: flush}')}",
        f"{path}:{line_of(text, 'two_pair, odds: 3 to 1')}",
        f"{path}:{line_of(text, 'cents: 6000000, on')}",
        f"{path}",
    ]
    assert lines[-1] == f"{path}: it is not loaded before this is put right"


def test_a_departure_alone_is_wrong_and_loaded_and_logged(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(DEMO.replace("floorperson_at_odds: 500 for 1", "floorperson_at_odds: 400 for 1"))
    code, (departure, *_, closing) = said(capsys, "check", str(path))
    assert code == 1
    assert departure.startswith(f"{path}:{line_of(path.read_text(), '400 for 1')}: ")
    assert "655a.11(i)(3)(ii) has '500 for 1'" in departure
    assert closing.endswith("it is loaded all the same")
    with caplog.at_level(logging.WARNING):
        assert len(load(tmp_path).submissions) == 1
    assert [record.getMessage() for record in caplog.records] == [departure]


def test_an_implausible_figure_is_told_and_the_file_is_loaded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.yaml"
    # Every sixth three cards are a pair: at 9 to 1 it alone brings back more than was wagered.
    text = PLAIN.replace("{hand: pair, odds: 1 to 1}", "{hand: pair, odds: 9 to 1}")
    path.write_text(text)
    code, (implausible, closing) = said(capsys, "check", str(path))
    assert code == 0
    assert implausible.startswith(f"{path}:{line_of(text, 'id: ')}: Implausible: The board bonus's house edge is below")
    assert closing.endswith("nothing is wrong, 1 figure is implausible")


def test_the_demonstration_house_is_loaded_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    load(RULES)
    assert caplog.records == []


def test_several_files_and_folders_are_checked_together(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.yaml").write_text(PLAIN)
    (tmp_path / "folder" / "b.yaml").write_text(PLAIN.replace("seats: 6", "seats: 5"))
    (tmp_path / "c.yaml").write_text("[")
    code, lines = said(capsys, "check", str(tmp_path / "folder"), str(tmp_path / "c.yaml"), str(tmp_path / "gone"))
    assert code == 1
    assert [line.removeprefix(f"{tmp_path}/").partition(": ")[0] for line in lines] == [
        "gone",
        "folder/a.yaml",
        "folder/b.yaml:1",
        "folder/b.yaml",
        "c.yaml:1",
        "c.yaml",
    ]
    assert "no such file or folder" in lines[0]
    assert "stated by a.yaml already" in lines[2]


def test_a_file_that_names_a_table_without_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = re.sub(r"  source: OCEAN\n  lines:\n(    - .*\n)+", '  table: "655a.12(d)"\n', DEMO)
    path = tmp_path / "a.yaml"
    path.write_text(text)
    code, lines = said(capsys, "check", str(path))
    place = f"{path}:{line_of(text, '  table: ')}"
    assert code == 1 and lines[0].startswith(f"{place}: The numbers of '655a.12(d)' are not found: no source gives")


def test_the_submissions_of_a_folder_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "new.yaml").write_text(DEMO.replace("2026-01-01", "2027-02-01"))
    (tmp_path / "old.yaml").write_text(DEMO)
    code, lines = said(capsys, "list", str(tmp_path))
    assert code == 0
    hashes = [sha256((tmp_path / name).read_bytes()).hexdigest() for name in ("old.yaml", "new.yaml")]
    bonuses = "progressive, three_card_bonus, five_card_hand_bonus, six_card_bonus"
    assert [re.split(r"  +", line) for line in lines] == [
        ["demo-mississippi-stud", "mississippi_stud", day, held, bonuses]
        for day, held in zip(("2026-01-01", "2027-02-01"), hashes, strict=True)
    ]


def test_the_house_says_where_its_rules_and_paytables_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rules, paytables = tmp_path / "rules", tmp_path / "paytables"
    rules.mkdir()
    paytables.mkdir()
    (rules / "a.yaml").write_text(NAMING)
    for path in SHIPPED.glob("*.yaml"):
        text = path.read_text().replace("{hand: two_pair, odds: 2 to 1}", "{hand: two_pair, odds: 3 to 1}")
        (paytables / path.name).write_text(text)
    monkeypatch.setenv("ROUNDLOG_RULES", str(rules))
    _, (shipped,) = said(capsys, "list")
    monkeypatch.setenv("ROUNDLOG_PAYTABLES", str(paytables))
    _, (own,) = said(capsys, "list")
    assert shipped.split()[0] == own.split()[0] == "demo-mississippi-stud"
    assert shipped.split()[3] != own.split()[3]


# Paytables that cannot be read ----------------------------------------------------------------------------


@pytest.fixture
def paytables(tmp_path: Path) -> Path:
    for path in SHIPPED.glob("*.yaml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_paytables_that_cannot_be_read_are_told_with_their_lines(paytables: Path) -> None:
    first, second = paytables / "cajun_stud.yaml", paytables / "mississippi_stud.yaml"
    first.write_text(first.read_text().replace("{hand: two_pair, odds: 2 to 1}", "{hand: two_pair, odds: 2:1}"))
    second.write_text(second.read_text().replace("source: [TWOKINGS, HOBBY]", "source: [THREEKINGS, HOBBY]"))
    with pytest.raises(RulesUnreadable) as caught:
        load_paytables(paytables)
    assert [problem.partition(": ")[0] for problem in caught.value.problems] == [
        f"{first}:{line_of(first.read_text(), '2:1')}",
        f"{second}:{line_of(second.read_text(), 'THREEKINGS')}",
    ]


def test_two_files_of_one_game_are_told(paytables: Path) -> None:
    (paytables / "other.yaml").write_bytes((paytables / "cajun_stud.yaml").read_bytes())
    with pytest.raises(
        RulesUnreadable, match=r"other\.yaml:\d+: The paytables of 'cajun_stud' are in cajun_stud\.yaml"
    ):
        load_paytables(paytables)


def test_paytables_without_a_list_of_sources_are_told(
    paytables: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (paytables / "sources.yaml").unlink()
    monkeypatch.setenv("ROUNDLOG_PAYTABLES", str(paytables))
    assert main(["rules", "check", str(RULES)]) == 1
    assert f"{paytables / 'sources.yaml'}:1: The file cannot be read" in capsys.readouterr().err


def test_best_play_that_is_kept_and_broken_is_no_figure_of_the_submission(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROUNDLOG_PAR_CACHE", str(tmp_path / "no folder"))
    (tmp_path / "no folder").write_text("")
    path = tmp_path / "a.yaml"
    path.write_text(PLAIN)
    assert main(["rules", "check", str(path)]) == 0
    told = capsys.readouterr()
    assert told.out == f"{path}: demo-cajun-stud, cajun_stud, in force from 2026-01-01: nothing is wrong\n"
    assert "cannot be read" in told.err
