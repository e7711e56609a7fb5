"""How levels are opened, raised by wagers, and lowered again where a round is void."""

from services.core import refusal
from services.core.asking import Asking
from services.core.jackpots import parameters
from services.core.jackpots.commands import Contribute, OpenProgressive, ReverseContribution
from services.core.jackpots.events import (
    ContributionTakenBack,
    Event,
    LevelOpened,
    LevelReversal,
    ProgressiveOpened,
)
from services.core.jackpots.levels import ContributionAccepted, LevelContribution, meter_of
from services.core.jackpots.progressive import State
from services.core.money import METER_MICROCENTS_MAX, MICROCENTS_PER_CENT, dollars, whole_cents


def open_under(state: State, command: OpenProgressive, asking: Asking) -> tuple[Event, ...]:
    """The levels as the submission has them."""
    if state.end is not None:
        raise refusal.Refused(
            f"The progressive {asking.key} {'is closed' if state.end.closed else 'is closing'}: its levels go to"
            f" {state.end.transfer_to}. Open another by a new name."
        )
    if state.rules is not None:
        raise refusal.Refused(
            f"The progressive {asking.key} is open already, under {state.rules}. It opens once; use it as it is."
        )
    submission = asking.book.in_force(command.rules, asking.at_ms)
    if submission is None:
        raise refusal.Refused(
            f"No submission {command.rules} is in force today. Check the name and the date from which it is in force."
        )
    if submission.progressive is None:
        raise refusal.Refused(
            f"The submission {command.rules} offers no progressive wager, so it has no levels. Name one that does."
        )
    levels = tuple(
        LevelOpened(
            name=level.name,
            base_microcents=level.base_cents * MICROCENTS_PER_CENT,
            reset_microcents=level.reset_cents * MICROCENTS_PER_CENT,
            rate_ppm=level.rate_ppm,
            hidden_rate_ppm=level.hidden_rate_ppm,
            limit_microcents=level.limit_cents * MICROCENTS_PER_CENT,
            contribution_bound_microcents=(
                None if level.contribution_bound_cents is None else level.contribution_bound_cents * MICROCENTS_PER_CENT
            ),
        )
        for level in submission.progressive.levels
    )
    return (ProgressiveOpened(submission.id, submission.sha256, levels),)


def contribute(state: State, command: Contribute, asking: Asking) -> tuple[Event, ...]:
    """What the accepted progressive wagers of a round add to each level; refused where that is unreasonable."""
    last = state.contributions.get(command.table_id)
    if last is not None and last.round_id == command.round_id:
        return ()
    changed, state = parameters.after_idle(state, asking.at_ms)
    gains = [(level.name, level.gain(command.wager_cents)) for level in state.levels]
    for level, (name, gain) in zip(state.levels, gains, strict=True):
        bound = level.terms.contribution_bound
        if bound is not None and gain.total > bound:
            raise refusal.Refused(
                f"The wagers of {command.round_id}, {dollars(command.wager_cents)} together, would add"
                f" {dollars(whole_cents(gain.total))} to {name}, and no round adds more than"
                f" {dollars(whole_cents(bound))}. Nothing is added: look at the wagers of the round, and tell the office."
            )
        if level.meter.total + gain.total > METER_MICROCENTS_MAX:
            raise refusal.Refused(
                f"{name} would hold more than ten billion dollars. Nothing is added: tell the office."
            )
    parts = tuple(LevelContribution(name, gain.value, gain.hidden, gain.overflow) for name, gain in gains)
    accepted = ContributionAccepted(command.table_id, command.round_id, command.wager_cents, parts, asking.at_ms)
    return (*changed, accepted)


def reverse(state: State, command: ReverseContribution) -> tuple[Event, ...]:
    """The contribution of a void round, as it was recorded."""
    last = state.contributions.get(command.table_id)
    if last is None or last.round_id != command.round_id:
        return ()
    parts = []
    for level, part in zip(state.levels, last.levels, strict=True):
        back = level.take_back(meter_of(part))
        taken = back.taken
        parts.append(LevelReversal(level.name, taken.value, taken.hidden, taken.overflow, back.seeded))
    return (ContributionTakenBack(command.table_id, command.round_id, tuple(parts)),)
