"""What each event makes of a progressive."""

from dataclasses import replace
from typing import TypeVar, assert_never

from services.core.jackpots.events import (
    ContributionAccepted,
    ContributionTakenBack,
    EnvyBonusDue,
    EnvyBonusPaid,
    Event,
    LevelContribution,
    LevelHit,
    LevelOpened,
    LevelReversal,
    PayoutClaimed,
    PayoutDocumented,
    PayoutPaid,
    PayoutValidated,
    ProgressiveOpened,
    Refused,
)
from services.core.jackpots.progressive import AWARDS_KEPT, Award, Claim, State
from services.core.meters import Level, Meter, Share, TakenBack, Terms
from services.core.payouts import ClaimState


def evolve(state: State, event: Event) -> State:
    """The progressive after one more record, whichever it is: each counts one in `sequence`."""
    if isinstance(event, ContributionAccepted):
        return _contributed(state, event)
    after = replace(state, sequence=state.sequence + 1)
    match event:
        case ProgressiveOpened(rules, sha256, levels):
            return replace(after, rules=rules, rules_sha256=sha256, levels=tuple(map(_level_opened, levels)))
        case ContributionTakenBack(levels=reversals):
            left = tuple(map(_level_reversed, state.levels, reversals))
            return replace(after, levels=left, contributions=_without(state.contributions, event.table_id))
        case LevelHit():
            return replace(after, levels=tuple(_level_hit(level, event) for level in state.levels))
        case PayoutClaimed():
            return _with_claim(after, Claim(event, ClaimState.HIT, None))
        case PayoutValidated(claim_id):
            return _with_claim(after, replace(state.claims[claim_id], step=ClaimState.VALIDATED))
        case PayoutDocumented(claim_id, slip_number=slip):
            claim = replace(state.claims[claim_id], step=ClaimState.DOCUMENTED, slip_number=slip)
            return replace(_with_claim(after, claim), slips=slip)
        case PayoutPaid():
            return _claim_paid(after, event)
        case EnvyBonusDue(round_id=round_id):
            return replace(after, envy={**state.envy, round_id: (*state.envy.get(round_id, ()), event)})
        case EnvyBonusPaid():
            return _envy_paid(after, event)
        case Refused():
            return after
        case _:
            assert_never(event)


def _level_opened(opened: LevelOpened) -> Level:
    base = opened.base_microcents
    terms = Terms(
        opened.name, base, opened.reset_microcents, opened.rate_ppm, opened.hidden_rate_ppm, opened.limit_microcents
    )
    return Level(terms, Meter(base, 0, 0), contributed=0, seeded=base)


def _contributed(state: State, event: ContributionAccepted) -> State:
    # Made in one piece: most records of a log are contributions, and a replay goes through all of them.
    return State(
        state.sequence + 1,
        state.rules,
        state.rules_sha256,
        tuple(map(_level_gained, state.levels, event.levels)),
        {**state.contributions, event.table_id: event},
        state.claims,
        state.envy,
        state.slips,
        state.awards,
    )


def _level_gained(level: Level, part: LevelContribution) -> Level:
    return level.gained(part.shown_microcents, part.hidden_microcents, part.overflow_microcents)


def _level_reversed(level: Level, part: LevelReversal) -> Level:
    taken = Meter(part.shown_microcents, part.hidden_microcents, part.overflow_microcents)
    return level.reversed(TakenBack(taken, part.seeded_microcents))


def _level_hit(level: Level, hit: LevelHit) -> Level:
    if level.name != hit.name:
        return level
    after = Meter(hit.value_microcents, hit.hidden_microcents, hit.overflow_microcents)
    return level.won(Share(hit.amount_cents, after, hit.seeded_microcents))


def _with_claim(state: State, claim: Claim) -> State:
    return replace(state, claims={**state.claims, claim.claimed.claim_id: claim})


def _claim_paid(state: State, paid: PayoutPaid) -> State:
    after = replace(state, claims=_without(state.claims, paid.claim_id))
    if paid.level is None:
        return after
    levels = tuple(level.paid(paid.amount_cents) if level.name == paid.level else level for level in state.levels)
    award = Award(state.sequence, paid.claim_id, paid.level, paid.amount_cents)
    return replace(after, levels=levels, awards=(*state.awards, award)[-AWARDS_KEPT:])


def _envy_paid(state: State, paid: EnvyBonusPaid) -> State:
    seats = (paid.holder_seat, paid.recipient_seat)
    left = tuple(due for due in state.envy[paid.round_id] if (due.holder_seat, due.recipient_seat) != seats)
    others = _without(state.envy, paid.round_id)
    return replace(state, envy={**others, paid.round_id: left} if left else others)


Entry = TypeVar("Entry")


def _without(entries: dict[str, Entry], key: str) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if name != key}
