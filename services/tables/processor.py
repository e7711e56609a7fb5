"""The processor of `rounds`: what is asked of a table becomes what happened at it."""

from services.core import rounds
from services.core.asking import Following
from services.flow import stream_of
from services.runtime.stepping import Processor


def _nothing_follows(_: str, __: rounds.Event) -> tuple[Following, ...]:
    # Whoever needs to know reads the round log.
    return ()


PROCESSOR = Processor(
    stream=stream_of("rounds"),
    initial=rounds.INITIAL,
    state_type=rounds.State,
    decide=rounds.decide,
    evolve=rounds.evolve,
    observe=None,
    following=_nothing_follows,
    refused=rounds.Refused,
    skipped=lambda asked, reason, by: rounds.Skipped(type(asked).__name__, reason, by),
)
