"""The processor of `jackpots`: levels, claims and Envy Bonuses of a progressive."""

from services.core import jackpots
from services.flow import stream_of
from services.runtime.stepping import Processor

PROCESSOR = Processor(
    stream=stream_of("jackpots"),
    initial=jackpots.INITIAL,
    state_type=jackpots.State,
    decide=jackpots.decide,
    evolve=jackpots.evolve,
    observe=None,
    following=jackpots.following,
    refused=jackpots.Refused,
    skipped=lambda asked, reason, by: jackpots.Skipped(type(asked).__name__, reason, by),
)
