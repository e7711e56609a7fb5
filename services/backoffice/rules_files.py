"""What `roundlog rules` says of rules files: all that is wrong with them, and which submissions there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from services.core.fields import Problem
from services.core.published import PaytableBook
from services.core.rules import Submission
from services.runtime.par import implausible_by
from services.runtime.submissions import Examined, examine, files_of
from services.runtime.yaml_files import RulesUnreadable


@dataclass(frozen=True, slots=True)
class Report:
    """Lines for the person at the screen, and whether nothing is wrong."""

    lines: tuple[str, ...]
    sound: bool


def check(paths: Sequence[Path], paytables: PaytableBook, best_play: Path, note: Callable[[str], None]) -> Report:
    """Every problem, departure and implausible figure of every file, a line each, and what becomes of the file.

    An implausible figure is the house's own choice, so the file is sound with it. A folder is its files. `best_play` is
    the folder in which best play is kept: nothing is computed that takes long. What is broken there is said to `note`.
    """
    files, missing = _files(paths)
    lines = list(missing)
    sound = not missing
    for each in examine(files, paytables):
        implausible = _implausible(each, best_play, note)
        lines += (*each.problems, *each.departures, *implausible, _becomes(each, len(implausible)))
        sound = sound and not each.problems and not each.departures
    return Report(tuple(lines), sound)


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


def _implausible(examined: Examined, best_play: Path, note: Callable[[str], None]) -> tuple[str, ...]:
    """Of a file that can be read; each sentence is of the whole submission, so its line is that of the id."""
    if examined.submission is None or examined.file is None:
        return ()
    sentences = implausible_by(examined.submission, best_play, note)
    return tuple(examined.file.told(Problem(("id",), f"Implausible: {sentence}")) for sentence in sentences)


def _becomes(examined: Examined, implausible: int) -> str:
    """What becomes of a file, by what was found in it."""
    read = examined.submission
    if examined.problems or read is None:
        return f"{examined.path}: it is not loaded before this is put right"
    end = "it is loaded all the same" if examined.departures else "nothing is wrong"
    if implausible and not examined.departures:
        end += f", {implausible} figure{'s are' if implausible > 1 else ' is'} implausible"
    return f"{examined.path}: {read.id}, {read.game}, in force from {read.in_force_from}: {end}"


def _row(held: Submission) -> str:
    wagers = (*(("progressive",) if held.progressive is not None else ()), *held.bonuses)
    return f"{held.id:<24}  {held.game:<16}  {held.in_force_from}  {held.sha256.hex()}  {', '.join(wagers) or 'no bonuses'}"
