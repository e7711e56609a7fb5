"""Best play in a process of its own, for a service that has other things to do: `python -m services.par.own_process`.

Takes a submission, pickled, from its input and gives its best play, pickled, as its output. How far it is stands on the
error output, a line each time: `DONE OF`.
"""

import os
import pickle
import sys

from services.core.rules import Submission
from services.par.play import best_play

NICE = 10
"""Everything else on the machine goes first."""


def _tell(done: int, of: int) -> None:
    print(done, of, file=sys.stderr, flush=True)


if __name__ == "__main__":
    os.nice(NICE)
    submission = pickle.load(sys.stdin.buffer)
    assert isinstance(submission, Submission)
    pickle.dump(best_play(submission, _tell), sys.stdout.buffer)
