"""How a progressive ends: what it holds, less its resets, goes to a similar one, and what comes later follows."""

from collections.abc import Sequence
from typing import Any

from services.core import refusal
from services.core.asking import Asking
from services.core.jackpots import claiming
from services.core.jackpots.commands import (
    AcceptTransfer,
    AwardEnvy,
    ClaimPayout,
    CloseProgressive,
    CompleteClosing,
    Contribute,
    ReverseContribution,
    TakeBackEnvy,
    TakeBackPayout,
)
from services.core.jackpots.events import (
    ClosingGivenUp,
    CommandForwarded,
    Event,
    ProgressiveClosed,
    ProgressiveClosing,
    TransferAccepted,
    TransferDeclined,
)
from services.core.jackpots.levels import LevelContribution, LevelMoved, Parts, meter_of
from services.core.jackpots.progressive import End, State
from services.core.meters import Meter
from services.core.money import METER_MICROCENTS_MAX
from services.core.paytables import Kind
from services.core.rules import Submission

TRANSFER_MS = 30 * 24 * 3600 * 1000
"""A jackpot that is taken away is with a similar one within 30 days: Iowa 491-11.12(4). Pennsylvania's own conditions
(44 Pa.B. 599) were not found."""


def close(state: State, command: CloseProgressive, asking: Asking) -> tuple[Event, ...]:
    """What the levels hold is offered to the other progressive."""
    if state.end is not None:
        done = "is closed" if state.end.closed else "is closing"
        raise refusal.Refused(f"The progressive {asking.key} {done} already: its levels go to {state.end.transfer_to}.")
    if command.transfer_to == asking.key:
        raise refusal.Refused("A progressive cannot take over its own levels: name another one.")
    if command.target_rules is None or command.target_sha256 is None:
        raise refusal.Refused(
            f"The progressive {command.transfer_to} is not open: open it first, or name another to take the levels over."
        )
    if state.claims or state.envy:
        waiting = [*state.claims, *(f"the Envy Bonuses of {round_id}" for round_id in state.envy)]
        raise refusal.Refused(
            f"{', '.join(waiting)} must be paid or rejected first: a progressive ends when nothing of it is owed."
        )
    own, other = (asking.book.by_sha256(sha256) for sha256 in (state.rules_sha256, command.target_sha256))
    if other.progressive is None or _similar(own) != _similar(other):
        raise refusal.Refused(
            f"{command.transfer_to} runs under {command.target_rules}, which is not similar: the same game, with the"
            " same hands for the same shares of the same levels. Name one that is."
        )
    moved = tuple(_moved(level.name, level.leaving()) for level in state.levels)
    tables = tuple(state.contributions.values())
    return (ProgressiveClosing(command.transfer_to, moved, tables, asking.at_ms + TRANSFER_MS),)


def accept(state: State, command: AcceptTransfer) -> tuple[Event, ...]:
    """What another progressive offered, or the reason why it is not taken."""
    reason = None
    names = [level.name for level in state.levels]
    offered: list[Sequence[LevelMoved | LevelContribution]] = [command.levels]
    offered += [each.levels for each in command.contributions]
    if state.end is not None:
        reason = f"This progressive ends too: its levels go to {state.end.transfer_to}."
    elif any([part.name for part in parts] != names for parts in offered):
        reason = "The levels are not the same."
    elif not all(_counts(part) for parts in offered for part in parts):
        reason = "A level holds from nothing to ten billion dollars: what is offered is not of that."
    if reason is not None:
        return (TransferDeclined(command.transfer_from, reason),)
    arrived = tuple(
        _moved(level.name, level.arriving(meter_of(part)))
        for level, part in zip(state.levels, command.levels, strict=True)
    )
    return (TransferAccepted(command.transfer_from, arrived, command.contributions),)


def _counts(parts: Parts) -> bool:
    held = parts.shown_microcents, parts.hidden_microcents, parts.overflow_microcents
    return all(part >= 0 for part in held) and sum(held) <= METER_MICROCENTS_MAX


def complete(state: State, command: CompleteClosing) -> tuple[Event, ...]:
    """The other progressive has it all, or this one goes on."""
    if state.end is None or state.end.closed or state.end.transfer_to != command.transfer_to:
        return ()
    if command.declined is not None:
        return (ClosingGivenUp(command.transfer_to, command.declined),)
    return (ProgressiveClosed(command.transfer_to, state.end.levels),)


def forwarded(state: State, end: End, command: Any) -> CommandForwarded | None:
    """What a processor asks of a progressive that ends is asked of the other one; None for what stays here."""
    to = end.transfer_to
    match command:
        case TakeBackPayout() if known := claiming.paid(state, command):
            if known[0].claimed.level is None:
                return None
            raise refusal.Refused(
                f"The payout {command.claim_id} was paid here and was not won, and the level that it came from goes to"
                f" {to}. Get the money back, and tell the office: nothing puts it into a level by itself."
            )
        case TakeBackEnvy() if claiming.envy_of(state, command):
            return None
        case Contribute():
            return CommandForwarded(to, contribute=command)
        case ReverseContribution():
            return CommandForwarded(to, reverse=command)
        case ClaimPayout():
            return CommandForwarded(to, claim=command)
        case TakeBackPayout():
            return CommandForwarded(to, take_back=command)
        case AwardEnvy():
            return CommandForwarded(to, envy=command)
        case TakeBackEnvy():
            return CommandForwarded(to, take_back_envy=command)
        case _:
            return None


def _moved(name: str, meter: Meter) -> LevelMoved:
    return LevelMoved(name, meter.value, meter.hidden, meter.overflow)


def _similar(rules: Submission) -> tuple[Any, ...]:
    """What two jackpots have in common that may be one: the game, and which hands win which shares of which levels."""
    assert rules.progressive is not None, "a progressive is open under a submission that offers none"
    shares = tuple(
        (line.hand, line.odds.text) for line in rules.progressive.table.lines if line.odds.kind is Kind.SHARE
    )
    return (rules.game, rules.levels, shares)
