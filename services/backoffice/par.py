"""The par sheet of a submission: which one is meant, and its sheet for the terminal and for the pages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from services.backoffice.best_play import BestPlays
from services.core.names import RulesId
from services.core.published import PaytableBook
from services.core.rules import RuleBook, Submission
from services.par.cache import kept_or_computed
from services.par.exact import percent
from services.par.play import Progress
from services.par.sheet import Sheet, par_sheet, sheet_document
from services.runtime.submissions import examine, load
from services.runtime.yaml_files import RulesUnreadable

SUFFIX = ".yaml"
Say = Callable[[str], None]


def meant(rules: str, in_force_from: date | None, folder: Path, paytables: PaytableBook, note: Say) -> Submission:
    """The submission that a person names: by a file, also one that is not filed yet, or by its id in the folder.

    A file's departures from the Code are noted. Raises RulesUnreadable and NotHeld.
    """
    if not rules.endswith(SUFFIX) and not Path(rules).is_file():
        return chosen(load(folder, paytables), rules, in_force_from)
    (examined,) = examine((Path(rules),), paytables)
    if examined.submission is None or examined.problems:
        raise RulesUnreadable(examined.problems)
    for departure in examined.departures:
        note(departure)
    return chosen(RuleBook((examined.submission,)), examined.submission.id, in_force_from)


def computed(submission: Submission, folder: Path | None, note: Say) -> Sheet:
    """The whole sheet, with a bar while best play is computed, and a note of what is wrong with the folder that keeps it.

    `folder` is None where best play is computed anew and not kept.
    """
    with _bar(f"Best play of {submission.id}") as progress:
        plays, said = kept_or_computed(submission, folder, progress)
    for line in said:
        note(line)
    return par_sheet(submission, plays)


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
def _bar(title: str) -> Iterator[Progress]:
    """A bar on the error output, where that is a terminal."""
    # Imported here: most commands have no bar.
    from rich import progress
    from rich.console import Console

    console = Console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)
