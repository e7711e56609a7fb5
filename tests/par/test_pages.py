"""The par sheet at the terminal and on its page: what stands there, and best play that is computed beside the house."""

import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from services.backoffice.api import par_routes
from services.backoffice.best_play import TRY_AGAIN_SECONDS, BestPlays
from services.backoffice.command_line import main
from services.backoffice.par_text import sheet_as_text
from services.core.paytables import Line, Odds, Paytable
from services.core.rules import RuleBook, Submission
from services.par import cache
from services.par.cache import write
from services.par.exact import decimal
from services.par.play import Play
from services.par.sheet import par_sheet
from services.runtime.par import warn_of_the_implausible

ROOT = Path(__file__).parents[2]
Plays = tuple[Play, Play]
# Kernels are compiled first, which on a busy machine takes its time.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def kept(tmp_path: Path, mississippi: Submission, mississippi_plays: Plays) -> Path:
    """A folder where the best play of Mississippi Stud is kept."""
    write(tmp_path / "par", mississippi, mississippi_plays)
    return tmp_path / "par"


@pytest.fixture
def terminal(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUNDLOG_PAR_CACHE", str(kept))
    monkeypatch.delenv("ROUNDLOG_RULES", raising=False)


def values(said: Any) -> list[dict[str, str]]:
    """Every figure in a document."""
    if isinstance(said, dict):
        return (
            [said]
            if set(said) == {"fraction", "decimal"}
            else [each for part in said.values() for each in values(part)]
        )
    return [each for part in said for each in values(part)] if isinstance(said, list) else []


def test_the_sheet_at_the_terminal(terminal: None, capsys: pytest.CaptureFixture[str], mississippi: Submission) -> None:
    assert main(["par", "demo-mississippi-stud"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for words in (
        "Par sheet: Mississippi Stud", "demo-mississippi-stud, in force from 2026-01-01", mississippi.sha256.hex(),
        "155,937,600 deals", "Three card bonus: $1.00 to $100.00, on 3 cards", "92.9050 %  ", "5133/5525",
        # Fixed lines leave 122,003,200 cents: 4 x 16,053,055 and 36 tenths of it, cut to 1,605,305, are just as much.
        "$160,530.55", "cuts hands from an ante of $11.00 on", "One deck of 52 cards",
    ):  # fmt: skip
        assert words in said.out, words


def test_the_sheet_as_json_says_every_figure_twice(terminal: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["par", "demo-mississippi-stud", "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    found = values(sheet)
    assert len(found) > 100
    assert all(decimal(Fraction(each["fraction"])) == each["decimal"] for each in found)
    (three,) = (each for each in sheet["wagers"] if each["wager"] == "three_card_bonus")
    assert three["house_edge"] == {"fraction": "392/5525", "decimal": "0.070950226244"}
    (progressive,) = (each for each in sheet["wagers"] if each["wager"] == "progressive")
    assert progressive["meters"]["levels"][0]["break_even"]["cents"] == 16_053_055


def test_a_file_that_is_not_in_the_folder_has_a_sheet_too(
    terminal: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = (ROOT / "deploy" / "rules" / "demo-mississippi-stud.yaml").read_text()
    (tmp_path / "draft.yaml").write_text(text.replace("id: demo-mississippi-stud", "id: a-draft"))
    assert main(["par", str(tmp_path / "draft.yaml")]) == 0
    assert "a-draft, in force from" in capsys.readouterr().out
    assert main(["par", str(tmp_path / "draft.yaml"), "--in-force-from", "2020-01-01"]) == 1
    assert "'a-draft' is not in force from 2020-01-01, but from 2026-01-01." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["par", "nothing"], "There is no submission 'nothing'. There are: demo-cajun-stud, "),
        (["par", "missing.yaml"], "missing.yaml"),
        (
            ["par", "demo-cajun-stud", "--in-force-from", "2027-01-01"],
            "not in force from 2027-01-01, but from 2026-01-01",
        ),
    ],
)
def test_what_is_not_held_is_said(
    terminal: None, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(words) == 1
    assert said in capsys.readouterr().err


def test_a_broken_cache_is_said_at_the_terminal(terminal: None, kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = kept.iterdir()
    file.write_text("{}")
    assert main(["par", "demo-mississippi-stud"]) == 0
    assert f"{file} is broken" in capsys.readouterr().err


def test_ctrl_c_stops_what_is_computed_at_once(terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    # As a terminal sends it. A loop of asyncio would put it off until best play is there.
    monkeypatch.setenv("ROUNDLOG_PAR_CACHE", "/dev/null/par")
    went_on = False

    def computing(*_: object) -> Plays:
        nonlocal went_on
        signal.raise_signal(signal.SIGINT)
        went_on = True
        raise AssertionError

    monkeypatch.setattr(cache, "best_play", computing)
    # Whoever starts the tests in the background may have told them not to hear a Ctrl-C.
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["par", "demo-mississippi-stud"]) == 130
    finally:
        signal.signal(signal.SIGINT, heard)
    assert not went_on


def test_several_hands_and_stands_are_named(caribbean: Submission, caribbean_plays: Plays) -> None:
    text = sheet_as_text(par_sheet(caribbean, caribbean_plays))
    for words in (
        "on the player's or the dealer's hand", "bet, the dealer does not qualify", "19,933,230,517,200 deals",
        "5.2243 %", "2.5553 %", "seats and the dealer's at random",
    ):  # fmt: skip
        assert words in text, words
    assert text.count("folded under best play") == 2


def test_each_implausible_figure_is_logged_at_a_start(
    kept: Path, mississippi: Submission, caplog: pytest.LogCaptureFixture
) -> None:
    table = Paytable((Line("flush", Odds.parse("25 for 1")),), "test")
    bonus = replace(mississippi.bonuses["five_card_hand_bonus"], table=table, magic_card_cents=10_000)
    held = replace(mississippi, bonuses={"five_card_hand_bonus": bonus}, progressive=None)
    warn_of_the_implausible(RuleBook((held,)), kept)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith(
        "demo-mississippi-stud from 2026-01-01: The five card hand bonus's house edge"
    )


@pytest.fixture
async def pages(
    tmp_path: Path, mississippi: Submission, mississippi_c: Submission
) -> AsyncIterator[tuple[httpx.AsyncClient, BestPlays]]:
    """The pages of two submissions with one main game, of which nothing is kept."""
    best_plays = BestPlays(tmp_path / "par")
    app = FastAPI()
    app.include_router(par_routes(RuleBook((mississippi, mississippi_c)), best_plays))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://office") as client:
        yield client, best_plays


@pytest.mark.parametrize("service", ["tables", "wagers", "progressive", "accounts", "backoffice"])
def test_no_service_imports_the_compiler(service: str) -> None:
    script = f"import sys, services.{service}.__main__; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=120).returncode == 0


async def test_best_play_is_computed_beside_the_house(
    pages: tuple[httpx.AsyncClient, BestPlays], mississippi: Submission, mississippi_plays: Plays, tmp_path: Path
) -> None:
    client, best_plays = pages
    assert [each["house_edge"] for each in (await client.get("/par.json")).json()] == [None, None]
    first = (await client.get("/par/demo-mississippi-stud.json")).json()
    assert first["main"] is None and first["best_play"]["state"] in ("waiting", "computing")
    assert len(first["wagers"]) == 4
    task = best_plays.ask(mississippi).task
    assert task is not None and not task.done()
    await task
    there = (await client.get("/par/demo-mississippi-stud.json?in_force_from=2026-01-01")).json()
    assert there["best_play"] == {"state": "there", "done": 169, "of": 169, "error": None}
    assert there["main"]["at_minimum_ante"]["average_wager"]["decimal"].startswith("3.5")
    assert best_plays.kept(mississippi) == mississippi_plays
    # The other submission has the same main game, and another process finds both.
    assert None not in [each["house_edge"] for each in (await client.get("/par.json")).json()]
    assert BestPlays(tmp_path / "par").kept(mississippi) == mississippi_plays


async def test_a_best_play_that_fails_is_said_and_tried_again_later(tmp_path: Path, mississippi: Submission) -> None:
    now = [0.0]
    best_plays = BestPlays(tmp_path, lambda: now[0])
    impossible = replace(mississippi, main_tables={})
    task = best_plays.ask(impossible).task
    assert task is not None
    await task
    failed = best_plays.ask(impossible)
    assert (failed.state, failed.error) == ("failed", "KeyError: 'main'")
    now[0] += TRY_AGAIN_SECONDS
    again = best_plays.ask(impossible)
    assert again is not failed and again.task is not None
    await again.task


async def test_the_pages_are_served_and_what_is_not_held_is_said(pages: tuple[httpx.AsyncClient, BestPlays]) -> None:
    client, _ = pages
    assert "<title>Par sheets</title>" in (await client.get("/par")).text
    assert (await client.get("/par/demo-mississippi-stud")).headers["content-type"].startswith("text/html")
    for path in ("/par/nothing", "/par/nothing.json", "/par/demo-mississippi-stud.json?in_force_from=2020-01-01"):
        answer = await client.get(path)
        assert answer.status_code == 404 and answer.json()["detail"].endswith("."), path
    assert (await client.get("/par/demo-mississippi-stud?in_force_from=soon")).status_code == 422
