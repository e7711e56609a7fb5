"""The par sheet of a submission: at the terminal, also from a file that is not filed yet, and for the pages."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from services.backoffice.best_play import BestPlays
from services.backoffice.par_text import sheet_as_text
from services.core.names import RulesId
from services.core.rules import RuleBook, Submission
from services.par.cache import kept_or_computed
from services.par.exact import percent
from services.par.play import Progress
from services.par.sheet import par_sheet, sheet_document
from services.runtime.par import par_folder
from services.runtime.published import load_paytables
from services.runtime.reaching import paytables_folder, rules_folder
from services.runtime.submissions import RulesUnreadable, examine, load

SUFFIX = ".yaml"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Adds `par` to the command line."""
    parser = commands.add_parser("par", help="the par sheet of a Rules Submission: chances, returns, the house edge")
    parser.add_argument("rules", metavar="RULES", help="a submission's id, or a file of one")
    parser.add_argument(
        "--in-force-from", metavar="DATE", type=date.fromisoformat, help="of several with one id, that of this day"
    )
    parser.add_argument("--json", action="store_true", help="as JSON, each figure as a fraction and as a decimal")
    parser.add_argument("--no-cache", action="store_true", help="compute best play anew, and keep nothing")
    return parser


def par(options: argparse.Namespace, environment: dict[str, str], say: Callable[[str], None]) -> None:
    """Says the par sheet; what is to be said of the cache goes to the error output. Raises
    RulesUnreadable and NotHeld."""
    submission = _submission(options.rules, options.in_force_from, environment)
    with _progress(f"Best play of {submission.id}") as progress:
        plays, said = kept_or_computed(submission, None if options.no_cache else par_folder(environment), progress)
    for line in said:
        print(line, file=sys.stderr)
    sheet = par_sheet(submission, plays)
    if options.json:
        say(orjson.dumps(sheet_document(sheet), option=orjson.OPT_INDENT_2).decode())
    else:
        say(sheet_as_text(sheet))


def _submission(rules: str, in_force_from: date | None, environment: dict[str, str]) -> Submission:
    paytables = load_paytables(paytables_folder(environment))
    if rules.endswith(SUFFIX) or Path(rules).is_file():
        (examined,) = examine((Path(rules),), paytables)
        if examined.submission is None or examined.problems:
            raise RulesUnreadable(examined.problems)
        for departure in examined.departures:
            print(departure, file=sys.stderr)
        return examined.submission
    return chosen(load(rules_folder(environment), paytables), rules, in_force_from)


class NotHeld(Exception):
    """No submission of that id, or none of that day; the sentence says which there are."""


def chosen(book: RuleBook, rules: RulesId, in_force_from: date | None) -> Submission:
    """The submission of that day; unless told that in force today (UTC), else the first that will be. Raises NotHeld."""
    held = sorted((each for each in book.submissions if each.id == rules), key=lambda each: each.in_force_from)
    if not held:
        ids = ", ".join(sorted({each.id for each in book.submissions}))
        raise NotHeld(f"There is no submission '{rules}'. There are: {ids}.")
    if in_force_from is None:
        today = datetime.now(UTC).date()
        return next((each for each in reversed(held) if each.in_force_from <= today), held[0])
    for each in held:
        if each.in_force_from == in_force_from:
            return each
    days = ", ".join(str(each.in_force_from) for each in held)
    raise NotHeld(f"'{rules}' is not in force from {in_force_from}, but from {days}.")


def listed(book: RuleBook, best_plays: BestPlays) -> list[dict[str, Any]]:
    """Every submission held, for the page that lists them: what is implausible, and the main game where it is known."""
    said = []
    for held in sorted(book.submissions, key=lambda each: (each.id, each.in_force_from)):
        sheet = par_sheet(held, best_plays.kept(held))
        said.append({
            "rules": held.id,
            "title": sheet.title,
            "in_force_from": held.in_force_from.isoformat(),
            "sha256": held.sha256.hex(),
            "house_edge": None if sheet.main is None else percent(sheet.main.at_minimum.edge),
            "element_of_risk": None if sheet.main is None else percent(sheet.main.at_minimum.element_of_risk),
            "warnings": list(sheet.warnings),
        })  # fmt: skip
    return said


def shown(submission: Submission, best_plays: BestPlays) -> dict[str, Any]:
    """The sheet for its page, and where its best play stands, which begins now where it is not there."""
    asked = best_plays.ask(submission)
    return {**sheet_document(par_sheet(submission, asked.plays)), "best_play": asked.document()}


@contextmanager
def _progress(title: str) -> Iterator[Progress]:
    """A bar on the error output, where that is a terminal."""
    # Imported here: most commands have no bar.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
