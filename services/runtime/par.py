"""What is implausible in the submissions that a process loads."""

import logging
from collections.abc import Callable
from pathlib import Path

from services.core.rules import RuleBook, Submission
from services.par.cache import CacheBroken, read
from services.par.main_game import main_sheet
from services.par.plausible import implausible

log = logging.getLogger(__name__)


def warn_of_the_implausible(book: RuleBook, folder: Path) -> None:
    """Logs a warning for each implausible figure of each submission. Nothing is computed that takes long.

    The main game's edge is judged where its best play is kept in the folder already.
    """
    for submission in book.submissions:
        for sentence in implausible_by(submission, folder, lambda broken: log.warning("%s", broken)):
            log.warning("%s from %s: %s", submission.id, submission.in_force_from, sentence)


def implausible_by(submission: Submission, folder: Path, broken: Callable[[str], None]) -> tuple[str, ...]:
    """A sentence for everything implausible in a submission, by the best play that is kept in the folder already.

    What is kept and broken is said to `broken`: it says nothing about the submission.
    """
    try:
        plays = read(folder, submission)
    except CacheBroken as error:
        broken(str(error))
        plays = None
    return implausible(submission, None if plays is None else main_sheet(submission, plays))
