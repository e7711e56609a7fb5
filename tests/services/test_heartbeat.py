"""How long a controller has been silent, as a table hears it."""

from services.core.rounds.betting import PROGRESSIVE_AGE_MAX_MS
from services.runtime.heartbeat import Heartbeat


def test_a_controller_that_was_never_heard_is_not_believed() -> None:
    assert Heartbeat("http://127.0.0.1:9").age_ms > PROGRESSIVE_AGE_MAX_MS
