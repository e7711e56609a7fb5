"""What `roundlog rules` says of rules files: all that is wrong with them, and which submissions there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from services.core.published import PaytableBook
from services.core.rules import Submission
from services.runtime.submissions import Examined, RulesUnreadable, examine, files_of


@dataclass(frozen=True, slots=True)
class Report:
    """Lines for the person at the screen, and whether nothing is wrong."""

    lines: tuple[str, ...]
    sound: bool


def check(paths: Sequence[Path], paytables: PaytableBook) -> Report:
    """Every problem and departure of every file, a line each, and what becomes of the file; a folder is its files."""
    files, missing = _files(paths)
    examined = examine(files, paytables)
    lines = (*missing, *(line for each in examined for line in _said(each)))
    return Report(lines, not missing and not any(each.problems or each.departures for each in examined))


def listing(folder: Path, paytables: PaytableBook) -> Report:
    """The submissions of a folder, with what identifies them and the wagers they offer beside the main ones."""
    files, missing = _files((folder,))
    examined = examine(files, paytables)
    unread = tuple(problem for each in examined for problem in each.problems)
    read = [each.submission for each in examined if each.submission is not None and not each.problems]
    rows = sorted(read, key=lambda held: (held.id, held.in_force_from))
    return Report((*missing, *unread, *map(_row, rows)), not missing and not unread)


def _files(paths: Sequence[Path]) -> tuple[list[Path], tuple[str, ...]]:
    files: list[Path] = []
    missing: list[str] = []
    for path in paths:
        try:
            files += files_of(path)
        except RulesUnreadable as unreadable:
            missing += unreadable.problems
    return list(dict.fromkeys(files)), tuple(missing)


def _said(examined: Examined) -> tuple[str, ...]:
    found = (*examined.problems, *examined.departures)
    if examined.problems or examined.submission is None:
        return (*found, f"{examined.path}: it is not loaded before this is put right")
    read = examined.submission
    named = f"{examined.path}: {read.id}, {read.game}, in force from {read.in_force_from}"
    return (*found, f"{named}: it is loaded all the same" if found else f"{named}: nothing is wrong")


def _row(held: Submission) -> str:
    wagers = (*(("progressive",) if held.progressive is not None else ()), *held.bonuses)
    return f"{held.id:<24}  {held.game:<16}  {held.in_force_from}  {held.sha256.hex()}  {', '.join(wagers) or 'no bonuses'}"
