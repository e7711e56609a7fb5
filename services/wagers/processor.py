"""The processor of `wagers`: settles from the round log alone."""

from services.core import rounds, wagers
from services.flow import stream_of
from services.runtime.stepping import Processor


def _skipped(event: rounds.Event, reason: str, skipped_by: str) -> wagers.Skipped:
    return wagers.Skipped(type(event).__name__, reason, skipped_by, getattr(event, "round_id", None))


PROCESSOR = Processor(
    stream=stream_of("wagers"),
    initial=rounds.INITIAL,
    state_type=rounds.State,
    decide=wagers.decide,
    evolve=None,
    observe=rounds.evolve,
    following=wagers.following,
    refused=None,
    skipped=_skipped,
)
