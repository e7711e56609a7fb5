"""Loads the Rules Submissions of a folder, and says for each problem in which file and line it is."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from services.core.departures import departures
from services.core.fields import Problem
from services.core.names import RulesId
from services.core.published import PaytableBook
from services.core.rules import RuleBook, Submission
from services.core.submission_documents import RulesInvalid, submission
from services.runtime.published import load_paytables
from services.runtime.yaml_files import RulesUnreadable, YamlFile

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found in a file: its submission, or problems for which it is not loaded; and where it departs from the
    Code, for which it is. Each is a line: `file:line: reason`."""

    path: Path
    file: YamlFile | None
    submission: Submission | None
    problems: tuple[str, ...]
    departures: tuple[str, ...] = ()


def load(folder: Path, paytables: PaytableBook | None = None) -> RuleBook:
    """Every `*.yaml` of the folder; `paytables` are those that they may name, unless told those that are shipped.

    What departs from the Code is logged. Raises RulesUnreadable with the problems of all files at once, also where the
    folder holds no such file or two files state the same id from the same day.
    """
    examined = examine(files_of(folder), load_paytables() if paytables is None else paytables)
    problems = tuple(problem for each in examined for problem in each.problems)
    if problems:
        raise RulesUnreadable(problems)
    for each in examined:
        for departure in each.departures:
            log.warning("%s", departure)
    return RuleBook(tuple(each.submission for each in examined if each.submission is not None))


def files_of(path: Path) -> tuple[Path, ...]:
    """A file, or the `*.yaml` of a folder. Raises RulesUnreadable where there is none."""
    try:
        if not path.exists():
            raise RulesUnreadable((f"{path}: There is no such file or folder.",))
        if not path.is_dir():
            return (path,)
        # A pattern would find nothing in a folder that may not be read, and not say why.
        found = tuple(sorted(each for each in path.iterdir() if each.match("*.yaml")))
    except OSError as error:
        raise RulesUnreadable((f"{path}: It cannot be read: {error.strerror}.",)) from error
    if not found:
        raise RulesUnreadable((f"{path}: There is no *.yaml file in this folder.",))
    return found


def examine(paths: Iterable[Path], paytables: PaytableBook) -> tuple[Examined, ...]:
    """What is wrong with each file, taken by itself and beside the others of its folder."""
    stated_by: dict[tuple[Path, RulesId, date], Path] = {}
    return tuple(_examine(path, paytables, stated_by) for path in paths)


def _examine(path: Path, paytables: PaytableBook, stated_by: dict[tuple[Path, RulesId, date], Path]) -> Examined:
    try:
        file = YamlFile.read(path, "A Rules Submission")
    except RulesUnreadable as unreadable:
        return Examined(path, None, None, unreadable.problems)
    problems: list[Problem] = []
    read: Submission | None = None
    draft: Submission | None
    try:
        read = draft = submission(file.document, file.content, paytables)
    except RulesInvalid as invalid:
        problems += invalid.problems
        draft = invalid.draft
    unsound = {str(problem.path[0]) for problem in problems}
    if draft is not None and unsound.isdisjoint({"id", "in_force_from"}):
        first = stated_by.setdefault((path.parent, draft.id, draft.in_force_from), path)
        if first is not path:
            stated = f"'{draft.id}' from {draft.in_force_from} is stated by {first.name} already."
            problems.append(Problem(("id",), stated))
    departing = departures(draft, paytables, unsound) if draft is not None and (read or not file.repeated) else ()
    return Examined(path, file, read, (*file.repeated, *file.told_in_order(problems)), file.told_in_order(departing))
