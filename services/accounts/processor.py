"""The processor of `accounts`: deposits, holds and credits of game accounts."""

from services.core import accounts
from services.flow import stream_of
from services.runtime.stepping import Processor

PROCESSOR = Processor(
    stream=stream_of("accounts"),
    initial=accounts.INITIAL,
    state_type=accounts.State,
    decide=accounts.decide,
    evolve=accounts.evolve,
    observe=None,
    following=accounts.following,
    refused=accounts.Refused,
    skipped=lambda asked, reason, by: accounts.Skipped(type(asked).__name__, reason, by),
)
