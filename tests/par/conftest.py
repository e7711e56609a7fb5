"""Best play of the demonstration house, computed once for a session."""

from pathlib import Path

import pytest

from services.core.rules import Submission
from services.par.play import Play, best_play
from services.runtime.submissions import load

HELD = {each.id: each for each in load(Path(__file__).parents[2] / "deploy" / "rules").submissions}


@pytest.fixture(scope="session")
def mississippi() -> Submission:
    return HELD["demo-mississippi-stud"]


@pytest.fixture(scope="session")
def mississippi_c() -> Submission:
    return HELD["demo-mississippi-stud-c"]


@pytest.fixture(scope="session")
def caribbean() -> Submission:
    return HELD["demo-caribbean-stud-a"]


@pytest.fixture(scope="session")
def cajun() -> Submission:
    return HELD["demo-cajun-stud"]


@pytest.fixture(scope="session")
def mississippi_plays(mississippi: Submission) -> tuple[Play, Play]:
    return best_play(mississippi)


@pytest.fixture(scope="session")
def caribbean_plays(caribbean: Submission) -> tuple[Play, Play]:
    return best_play(caribbean)
