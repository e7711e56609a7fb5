"""Other parameters for a level: proposed, approved by a second person, in force at their moment.

The moment is the next win of the whole level; where the house's settings say so, also the first contribution after
the link was idle for long enough. No parameter changes while the level is being played for.
"""

from services.core import refusal
from services.core.asking import Asking
from services.core.jackpots.commands import ChangeParameters
from services.core.jackpots.events import (
    Event,
    ParametersApproved,
    ParametersChanged,
    ParametersDropped,
    ParametersProposed,
)
from services.core.jackpots.evolution import evolve
from services.core.jackpots.levels import LevelTerms
from services.core.jackpots.progressive import Change, State
from services.core.meters import Level
from services.core.money import MICROCENTS_PER_CENT, dollars, whole_cents

PPM = 1_000_000


def propose(state: State, command: ChangeParameters, asking: Asking) -> tuple[Event, ...]:
    """The proposal, with what is in force now beside what is proposed."""
    _goes_on(state)
    level = state.level(command.level)
    if level is None:
        names = ", ".join(level.name for level in state.levels)
        raise refusal.Refused(f"There is no level '{command.level}' here: the levels are {names}.")
    waiting = next((change for change in state.changes if change.name == level.name), None)
    if waiting is not None:
        raise refusal.Refused(
            f"Change {waiting.number} waits for {level.name} already. Approve it, or drop it before proposing another."
        )
    before = _terms_of(level)
    after = LevelTerms(
        before.reset_microcents if command.reset_cents is None else command.reset_cents * MICROCENTS_PER_CENT,
        before.limit_microcents if command.limit_cents is None else command.limit_cents * MICROCENTS_PER_CENT,
        before.rate_ppm if command.rate_ppm is None else command.rate_ppm,
        before.hidden_rate_ppm if command.hidden_rate_ppm is None else command.hidden_rate_ppm,
    )
    if after == before:
        raise refusal.Refused(f"This is what {level.name} goes by already: name at least one other parameter.")
    misfit = _misfit(state, level, after)
    if misfit is not None:
        raise refusal.Refused(misfit)
    change = state.proposals + 1
    return (ParametersProposed(change, level.name, before, after, command.reason, asking.actor, command.idle_after_ms),)


def approve(state: State, number: int, asking: Asking) -> tuple[Event, ...]:
    """The second person's yes. Where the link is idle, the change is in force at once."""
    _goes_on(state)
    change = _waiting(state, number)
    if change.approved_by is not None:
        raise refusal.Refused(f"Change {number} is approved already, by {change.approved_by}. It waits for its moment.")
    if change.proposed_by == asking.actor:
        raise refusal.Refused(
            f"Change {number} was proposed by {asking.actor}: another person approves it. Ask a second person."
        )
    approved = ParametersApproved(number, change.name, asking.actor)
    changed, _ = after_idle(evolve(state, approved), asking.at_ms)
    return (approved, *changed)


def drop(state: State, number: int, reason: str) -> tuple[Event, ...]:
    """The proposal is withdrawn before it is in force."""
    return (ParametersDropped(number, _waiting(state, number).name, reason),)


def after_idle(state: State, at_ms: int) -> tuple[tuple[Event, ...], State]:
    """The approved changes whose link was idle for long enough, and the progressive behind them."""
    events: list[Event] = []
    for change in state.changes:
        if change.approved_by is None or change.idle_after_ms is None:
            continue
        if at_ms - state.last_contribution_at_ms < change.idle_after_ms:
            continue
        event = _in_force(state, change)
        events.append(event)
        state = evolve(state, event)
    return tuple(events), state


def at_win(state: State, name: str) -> tuple[tuple[Event, ...], State]:
    """The approved change of a level that is won whole: it starts again by the new parameters."""
    change = next((each for each in state.changes if each.name == name and each.approved_by is not None), None)
    level = state.level(name)
    if change is None or level is None:
        return (), state
    # The level falls to its new reset by the win that follows: the house puts in nothing before it, and the limit is
    # above what it starts from.
    impossible = _impossible(state, level, change.after)
    event: Event = (
        ParametersChanged(change.number, name, _terms_of(level), change.after, 0)
        if impossible is None
        else ParametersDropped(change.number, name, impossible)
    )
    return (event,), evolve(state, event)


def _goes_on(state: State) -> None:
    if state.end is not None:
        raise refusal.Refused(
            f"This progressive ends, and its levels go to {state.end.transfer_to}: no parameter of it changes any more."
            f" Change those of {state.end.transfer_to}."
        )


def _in_force(state: State, change: Change) -> Event:
    level = state.level(change.name)
    assert level is not None, "a change waits for a level that the progressive does not have"
    misfit = _misfit(state, level, change.after)
    if misfit is not None:
        return ParametersDropped(change.number, change.name, misfit)
    lacking = max(0, change.after.reset_microcents - level.meter.value)
    return ParametersChanged(change.number, change.name, _terms_of(level), change.after, lacking)


def _waiting(state: State, number: int) -> Change:
    change = next((change for change in state.changes if change.number == number), None)
    if change is None:
        raise refusal.Refused(
            f"No change {number} waits here: it is in force, was dropped, or was never proposed. Look at the"
            " progressive's changes."
        )
    return change


def _terms_of(level: Level) -> LevelTerms:
    terms = level.terms
    return LevelTerms(terms.reset, terms.limit, terms.rate, terms.hidden_rate)


def _misfit(state: State, level: Level, after: LevelTerms) -> str | None:
    """Why parameters cannot be those of a level now; None where they can."""
    shown = dollars(whole_cents(level.meter.value))
    if after.limit_microcents != level.terms.limit and after.limit_microcents <= level.meter.value:
        return (
            f"{level.name} shows {shown}: a limit may only be set above the present amount, not at"
            f" {dollars(whole_cents(after.limit_microcents))}."
        )
    return _impossible(state, level, after)


def _impossible(state: State, level: Level, after: LevelTerms) -> str | None:
    """Why parameters cannot be those of a level whatever it shows; None where they can."""
    if after.reset_microcents > after.limit_microcents:
        return (
            f"The reset {dollars(whole_cents(after.reset_microcents))} is above the limit"
            f" {dollars(whole_cents(after.limit_microcents))}: a level starts below its limit."
        )
    others = [_terms_of(each) for each in state.levels if each.name != level.name]
    taken = sum(each.rate_ppm + each.hidden_rate_ppm for each in (*others, after))
    if taken > PPM:
        return f"All levels together would take {taken} parts per million of the wager, which is more than all of it."
    return None
