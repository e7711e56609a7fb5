"""Best play for the pages: kept, or computed in a process of its own while the page says how far that is."""

import asyncio
import logging
import os
import pickle
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.core.rules import Submission
from services.par.cache import CacheBroken, key_of, read, write
from services.par.play import Play
from services.runtime.local import LEASH

PROGRESS = re.compile(r"(\d+) (\d+)\n?")
TRY_AGAIN_SECONDS = 60.0
LINE_MAX = 300

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Computation:
    """One best play that is asked for: waiting, then computing, then there or failed."""

    state: str = "waiting"
    done: int = 0
    of: int = 0
    plays: tuple[Play, Play] | None = None
    error: str | None = None
    failed_at: float = 0.0
    task: asyncio.Task[None] | None = None

    def document(self) -> dict[str, Any]:
        """As the page reads it."""
        return {"state": self.state, "done": self.done, "of": self.of, "error": self.error}


@dataclass(slots=True)
class BestPlays:
    """The best plays of the submissions held. One is computed at a time, so that the house has the other cores."""

    folder: Path
    clock: Callable[[], float] = time.monotonic
    _known: dict[str, Computation] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def kept(self, submission: Submission) -> tuple[Play, Play] | None:
        """Best play, if it is there already."""
        known = self._known.get(key_of(submission))
        if known is not None:
            return known.plays
        try:
            plays = read(self.folder, submission)
        except CacheBroken as broken:
            log.warning("%s", broken)
            return None
        if plays is not None:
            self._known[key_of(submission)] = Computation("there", plays=plays)
        return plays

    def ask(self, submission: Submission) -> Computation:
        """Where best play stands; its computation begins if nobody asked before, or if it failed a while ago."""
        if self.kept(submission) is None:
            key = key_of(submission)
            known = self._known.get(key)
            again = known is not None and known.state == "failed"
            if known is None or (again and self.clock() - known.failed_at >= TRY_AGAIN_SECONDS):
                begun = self._known[key] = Computation()
                begun.task = asyncio.create_task(self._compute(submission, begun), name=f"best play of {submission.id}")
        return self._known[key_of(submission)]

    async def _compute(self, submission: Submission, computation: Computation) -> None:
        async with self._turn:
            computation.state = "computing"
            try:
                plays = await _in_a_process(submission, computation)
            except Exception as error:
                log.exception("best play of %s cannot be computed", submission.id)
                computation.error, computation.failed_at = str(error), self.clock()
                computation.state = "failed"
                return
        computation.plays, computation.state = plays, "there"
        try:
            write(self.folder, submission, plays)
        except OSError as error:
            log.warning("best play cannot be kept in %s: %s", self.folder, error)


async def _in_a_process(submission: Submission, computation: Computation) -> tuple[Play, Play]:
    """Best play from `python -m services.par.own_process`, which ends with this process. Raises RuntimeError where it fails."""
    leash = [sys.executable, "-I", "-S", str(LEASH), str(os.getpid()), str(int(signal.SIGKILL)), "-"]
    process = await asyncio.create_subprocess_exec(
        *leash, sys.executable, "-m", "services.par.own_process",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        process.stdin.write(pickle.dumps(submission))
        process.stdin.close()
        answer, said = await asyncio.gather(process.stdout.read(), _follow(process.stderr, computation))
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    if code != 0:
        raise RuntimeError(said or f"The process ended with {code}.")
    plays: tuple[Play, Play] = pickle.loads(answer)
    return plays


async def _follow(lines: asyncio.StreamReader, computation: Computation) -> str:
    """Notes how far the process says that it is; answers the last line that says something else."""
    said = ""
    async for line in lines:
        text = line.decode(errors="replace")
        if progress := PROGRESS.fullmatch(text):
            computation.done, computation.of = int(progress[1]), int(progress[2])
        elif text.strip():
            said = text.strip()[:LINE_MAX]
    return said
