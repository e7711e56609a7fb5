"""Best play, kept in a folder: a file for each main game, by what its figures depend on. A broken file is not trusted."""

import hashlib
import json
import os
from dataclasses import asdict
from functools import cache
from math import comb, perm
from pathlib import Path
from typing import Any

from services.core import cards, games, hands, paytables
from services.core.games import GAMES
from services.core.rules import Submission
from services.par import counts, patterns, play
from services.par.play import Ending, Play, Progress, best_play, terms_of

KERNELS = ("classes.py", "streets.py", "caribbean.py")


class CacheBroken(Exception):
    """A file of the folder is not what was put there; the sentence names it. Best play is computed anew."""


def key_of(submission: Submission) -> str:
    """The name of the submission's best play: a hash of its terms and of the code that computes it.

    Two submissions with the same main game share it. Another version of the code has other names, so it never reads
    what an earlier one made.
    """
    return hashlib.sha256(f"{_code()} {_text(_terms(submission))}".encode()).hexdigest()


def read(folder: Path, submission: Submission) -> tuple[Play, Play] | None:
    """The best play that is kept there, None where there is none. Raises CacheBroken."""
    path = _path(folder, submission)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CacheBroken(f"{path} cannot be read ({error.strerror}): best play is computed anew.") from error
    try:
        document = json.loads(content)
        said = document.pop("sha256")
        if said != _hash(document) or document["terms"] != json.loads(_text(_terms(submission))):
            raise ValueError("its hash is not that of its content")
        lowest, highest = (_play(each) for each in document["plays"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CacheBroken(f"{path} is broken: it is not used, and best play is computed anew.") from error
    expected = deals_of(submission)
    if any(each.deals != expected or min(end.ways for end in each.endings) < 0 for each in (lowest, highest)):
        raise CacheBroken(f"{path} does not count every deal once: it is not used, and best play is computed anew.")
    return lowest, highest


def write(folder: Path, submission: Submission, plays: tuple[Play, Play]) -> None:
    """Keeps best play there. Raises OSError where the folder cannot be written."""
    document = {"terms": _terms(submission), "plays": [_document(each) for each in plays]}
    path = _path(folder, submission)
    folder.mkdir(parents=True, exist_ok=True)
    # Whole or not at all: another process may be reading.
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(_text({**document, "sha256": _hash(document)}))
    part.replace(path)


def deals_of(submission: Submission) -> int:
    """How many deals a play of this game counts: own cards, and the order in which the rest is seen."""
    game = GAMES[submission.game]
    rest = len(cards.DECK) - game.own_cards
    # The community cards in their order; of the dealer's hand the card shown, then the others in any order.
    seen = rest * comb(rest - 1, game.dealer_cards - 1) if game.dealer_cards else perm(rest, game.community_cards)
    return comb(len(cards.DECK), game.own_cards) * seen


def kept_or_computed(
    submission: Submission, folder: Path | None, progress: Progress = lambda done, of: None
) -> tuple[tuple[Play, Play], tuple[str, ...]]:
    """Best play, from the folder where it is kept, and what there is to say about the folder. None: no folder."""
    said: list[str] = []
    kept = None
    if folder is not None:
        try:
            kept = read(folder, submission)
        except CacheBroken as broken:
            said.append(str(broken))
    if kept is not None:
        return kept, tuple(said)
    plays = best_play(submission, progress)
    if folder is not None:
        try:
            write(folder, submission, plays)
        except OSError as error:
            said.append(f"Best play cannot be kept in {folder} ({error.strerror}): the next time it is computed anew.")
    return plays, tuple(said)


def _path(folder: Path, submission: Submission) -> Path:
    return folder / f"{submission.game}-{key_of(submission)[:32]}.json"


@cache
def _code() -> str:
    modules = (cards, hands, paytables, counts, patterns, play)
    # The kernels by their files: to import them is to import numba.
    files = [*(Path(str(module.__file__)) for module in modules), *(Path(__file__).with_name(name) for name in KERNELS)]
    # A game says how many cards there are, and in which order they are seen.
    files += sorted(Path(str(games.__file__)).parent.glob("*.py"))
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def _terms(submission: Submission) -> dict[str, Any]:
    return asdict(terms_of(submission))


def _text(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _hash(document: Any) -> str:
    return hashlib.sha256(_text(document).encode()).hexdigest()


def _document(kept: Play) -> dict[str, Any]:
    endings = [[end.staked, sorted(end.names), end.ways, end.folded_at, end.against] for end in kept.endings]
    return {"ante_cents": kept.ante_cents, "endings": endings}


def _play(document: dict[str, Any]) -> Play:
    endings = (
        Ending(int(staked), frozenset(names), int(ways), folded_at, against)
        for staked, names, ways, folded_at, against in document["endings"]
    )
    return Play(int(document["ante_cents"]), tuple(endings))
