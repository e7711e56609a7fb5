"""Best play is kept by what it depends on, and a file that was touched is not trusted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from services.core.paytables import Line, Odds, Paytable
from services.core.rules import Submission
from services.par import cache
from services.par.cache import CacheBroken, kept_or_computed, key_of, read, write
from services.par.play import Play

Plays = tuple[Play, Play]
# Kernels are compiled first, which on a busy machine takes its time.
pytestmark = pytest.mark.timeout(600)


def test_what_was_kept_is_read_again(tmp_path: Path, mississippi: Submission, mississippi_plays: Plays) -> None:
    assert read(tmp_path / "new", mississippi) is None
    write(tmp_path / "new", mississippi, mississippi_plays)
    assert read(tmp_path / "new", mississippi) == mississippi_plays
    assert len(list((tmp_path / "new").iterdir())) == 1


def test_the_name_is_that_of_the_main_game_alone(mississippi: Submission, mississippi_c: Submission) -> None:
    assert key_of(mississippi) == key_of(mississippi_c)
    ante = mississippi.ante
    table = Paytable((Line("two_pair", Odds.parse("2 to 1")),), "test")
    others = [
        replace(mississippi, game="cajun_stud"),
        replace(mississippi, multiples=(1, 2)),
        replace(mississippi, aggregate_limit_cents=4_999_999),
        replace(mississippi, ante=replace(ante, minimum_cents=ante.minimum_cents + 100)),
        replace(mississippi, ante=replace(ante, maximum_cents=ante.maximum_cents + 100)),
        replace(mississippi, main_tables={"main": table}),
    ]
    assert len({key_of(mississippi), *map(key_of, others)}) == 1 + len(others)


@pytest.mark.parametrize("file", ["core/games/mississippi_stud.py", "core/hands.py", "par/play.py", "par/streets.py"])
def test_another_version_of_the_code_has_another_name(
    file: str, mississippi: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, read_bytes = key_of(mississippi), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read_bytes(path) + b"#" * str(path).endswith(file))
    cache._code.cache_clear()
    try:
        assert key_of(mississippi) != before
    finally:
        cache._code.cache_clear()


@pytest.mark.parametrize(
    "harm", ["half", "nothing", "list", "a list without end", "a way more", "another's", "without a hash"]
)
def test_a_broken_file_is_computed_anew_and_said(
    harm: str, tmp_path: Path, mississippi: Submission, mississippi_plays: Plays
) -> None:
    write(tmp_path, mississippi, mississippi_plays)
    (file,) = tmp_path.iterdir()
    text = file.read_text()
    document = json.loads(text)
    if harm == "half":
        file.write_text(text[: len(text) // 2])
    elif harm == "nothing":
        file.write_text("")
    elif harm == "list":
        file.write_text("[]")
    elif harm == "a list without end":
        file.write_text("[" * 100_000)
    elif harm == "a way more":
        document["plays"][0]["endings"][0][2] += 1
        file.write_text(json.dumps(document))
    elif harm == "another's":
        other = replace(mississippi, aggregate_limit_cents=1)
        write(tmp_path / "other", other, mississippi_plays)
        (another,) = (tmp_path / "other").iterdir()
        file.write_text(another.read_text())
    else:
        del document["sha256"]
        file.write_text(json.dumps(document))
    with pytest.raises(CacheBroken, match="computed anew"):
        read(tmp_path, mississippi)
    plays, (said,) = kept_or_computed(mississippi, tmp_path)
    assert plays == mississippi_plays and str(file) in said
    assert kept_or_computed(mississippi, tmp_path) == (mississippi_plays, ())


def test_plays_that_do_not_count_every_deal_are_not_trusted(
    tmp_path: Path, mississippi: Submission, mississippi_plays: Plays
) -> None:
    lowest, highest = mississippi_plays
    write(tmp_path, mississippi, (replace(lowest, endings=lowest.endings[1:]), highest))
    with pytest.raises(CacheBroken, match="does not count every deal once"):
        read(tmp_path, mississippi)


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, mississippi: Submission) -> None:
    (tmp_path / "file").write_text("in the way")
    plays, said = kept_or_computed(mississippi, tmp_path / "file" / "par")
    assert plays[0].deals == 155_937_600 and "cannot be kept" in said[-1]
