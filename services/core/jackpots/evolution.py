"""What each event makes of a progressive."""

from typing import TypeVar, assert_never

from services.core.changing import replace
from services.core.jackpots.events import (
    ClosingGivenUp,
    CommandForwarded,
    ContributionTakenBack,
    EnvyBonusDue,
    EnvyBonusPaid,
    EnvyBonusTakenBack,
    Event,
    LevelHit,
    LevelOpened,
    LevelRestored,
    LevelReversal,
    ParametersApproved,
    ParametersChanged,
    ParametersDropped,
    ParametersProposed,
    PayoutClaimed,
    PayoutDocumented,
    PayoutPaid,
    PayoutRejected,
    PayoutSigned,
    PayoutTakenBack,
    PayoutValidated,
    ProgressiveClosed,
    ProgressiveClosing,
    ProgressiveOpened,
    Refused,
    Skipped,
    SlipVoided,
    TransferAccepted,
    TransferDeclined,
)
from services.core.jackpots.levels import ContributionAccepted, LevelContribution, LevelTerms, meter_of
from services.core.jackpots.progressive import AWARDS_KEPT, Award, Change, Claim, End, Locked, State
from services.core.meters import Level, Meter, Restored, Share, TakenBack, Terms
from services.core.money import Cents
from services.core.names import ClaimId
from services.core.payouts import ClaimState


def evolve(state: State, event: Event) -> State:
    """The progressive after one more record, whichever it is: each counts one in `sequence`."""
    if isinstance(event, ContributionAccepted):
        return _contributed(state, event)
    after = replace(state, sequence=state.sequence + 1)
    if isinstance(event, ClaimEvent):
        return _claim_moved(after, event)
    match event:
        case ProgressiveOpened(rules, sha256, levels):
            return replace(after, rules=rules, rules_sha256=sha256, levels=tuple(map(_level_opened, levels)))
        case ContributionTakenBack(table_id=table_id, levels=reversals):
            wager_cents = state.contributions[table_id].wager_cents
            left = tuple(
                _level_reversed(level, wager_cents, part) for level, part in zip(state.levels, reversals, strict=True)
            )
            return replace(after, levels=left, contributions=_without(state.contributions, table_id))
        case LevelHit():
            return _hit(after, event)
        case LevelRestored():
            return _restored(after, event)
        case EnvyBonusDue(round_id=round_id):
            return replace(after, envy={**state.envy, round_id: (*state.envy.get(round_id, ()), event)})
        case EnvyBonusPaid() | EnvyBonusTakenBack():
            return _envy_ended(after, event)
        case ParametersProposed() | ParametersApproved() | ParametersDropped() | ParametersChanged():
            return _parameters_moved(after, event)
        case ProgressiveClosing(transfer_to, levels, _, due_at_ms):
            return replace(after, end=End(transfer_to, levels, due_at_ms, closed=False))
        case ProgressiveClosed(levels=moved):
            assert state.end is not None, "a progressive is closed that was not closing"
            emptied = tuple(level.moved_out(meter_of(part)) for level, part in zip(state.levels, moved, strict=True))
            return replace(after, levels=emptied, contributions={}, changes=(), end=replace(state.end, closed=True))
        case ClosingGivenUp():
            return replace(after, end=None)
        case TransferAccepted(levels=arrived, contributions=contributions):
            raised = tuple(level.moved_in(meter_of(part)) for level, part in zip(state.levels, arrived, strict=True))
            tables = {each.table_id: each for each in contributions}
            return replace(after, levels=raised, contributions={**tables, **state.contributions})
        case TransferDeclined() | CommandForwarded() | Refused() | Skipped():
            return after
        case _:
            assert_never(event)


# Levels ---------------------------------------------------------------------------------------------


def _level_opened(opened: LevelOpened) -> Level:
    base = opened.base_microcents
    terms = Terms(
        opened.name,
        base,
        opened.reset_microcents,
        opened.rate_ppm,
        opened.hidden_rate_ppm,
        opened.limit_microcents,
        opened.contribution_bound_microcents,
    )
    return Level(terms, Meter(base, 0, 0), contributed=0, seeded=base)


def _contributed(state: State, event: ContributionAccepted) -> State:
    wager_cents = event.wager_cents
    levels = tuple(_level_gained(*each, wager_cents) for each in zip(state.levels, event.levels, strict=True))
    return replace(
        state,
        sequence=state.sequence + 1,
        levels=levels,
        contributions={**state.contributions, event.table_id: event},
        last_contribution_at_ms=event.at_ms,
    )


def _level_gained(level: Level, part: LevelContribution, wager_cents: Cents) -> Level:
    return level.gained(wager_cents, part.shown_microcents, part.hidden_microcents, part.overflow_microcents)


def _level_reversed(level: Level, wager_cents: Cents, part: LevelReversal) -> Level:
    return level.reversed(wager_cents, TakenBack(meter_of(part), part.seeded_microcents))


def _hit(state: State, hit: LevelHit) -> State:
    before = state.level(hit.name)
    assert before is not None, "a level was hit that the progressive does not have"
    after = Meter(hit.value_microcents, hit.hidden_microcents, hit.overflow_microcents)
    won = before.won(Share(hit.amount_cents, after, hit.seeded_microcents))
    locked = Locked(before.meter.less(after), hit.seeded_microcents)
    return replace(_with_level(state, won), locked={**state.locked, hit.claim_id: locked})


def _restored(state: State, event: LevelRestored) -> State:
    before = state.level(event.name)
    assert before is not None, "a level was restored that the progressive does not have"
    after = Meter(event.value_microcents, event.hidden_microcents, event.overflow_microcents)
    back = Restored(after, event.newly_above_microcents, event.seeded_microcents)
    return _with_level(state, before.restored(event.amount_cents, back))


def _with_level(state: State, changed: Level) -> State:
    return replace(state, levels=tuple(changed if level.name == changed.name else level for level in state.levels))


# Claims and Envy Bonuses ----------------------------------------------------------------------------

ClaimEvent = (
    PayoutClaimed
    | PayoutValidated
    | PayoutSigned
    | PayoutDocumented
    | SlipVoided
    | PayoutRejected
    | PayoutPaid
    | PayoutTakenBack
)


def _claim_moved(state: State, event: ClaimEvent) -> State:
    match event:
        case PayoutClaimed(claim_id):
            claim = Claim(event, ClaimState.HIT, None, state.locked.get(claim_id), sequence=state.sequence)
            return replace(_with_claim(state, claim), locked=_without(state.locked, claim_id))
        case PayoutValidated(claim_id, _, validated_by):
            return _with_claim(state, _signed(_step(state, claim_id, ClaimState.VALIDATED), validated_by))
        case PayoutSigned(claim_id, signed_by):
            return _with_claim(state, _signed(state.claims[claim_id], signed_by))
        case PayoutDocumented(claim_id, slip_number=slip, documented_by=documented_by):
            claim = replace(_step(state, claim_id, ClaimState.DOCUMENTED), slip_number=slip)
            return replace(_with_claim(state, _signed(claim, documented_by)), slips=slip)
        case SlipVoided(claim_id):
            return _with_claim(state, replace(_step(state, claim_id, ClaimState.VALIDATED), slip_number=None))
        case PayoutRejected(claim_id):
            return replace(state, claims=_without(state.claims, claim_id))
        case PayoutPaid():
            return _claim_paid(state, event)
        case PayoutTakenBack():
            return _claim_taken_back(state, event)
        case _:
            assert_never(event)


def _step(state: State, claim_id: ClaimId, step: ClaimState) -> Claim:
    return replace(state.claims[claim_id], step=step)


def _signed(claim: Claim, person: str) -> Claim:
    return claim if person in claim.people else replace(claim, people=(*claim.people, person))


def _with_claim(state: State, claim: Claim) -> State:
    return replace(state, claims={**state.claims, claim.claimed.claim_id: claim})


def _claim_paid(state: State, paid: PayoutPaid) -> State:
    claim = _step(state, paid.claim_id, ClaimState.PAID)
    known = state.paid.get(paid.table_id, ())
    # A payout of an earlier round may be made after one of the last, which alone is still open to a better look.
    if not any(each.claimed.round_id != paid.round_id and each.sequence > claim.sequence for each in known):
        known = (*(each for each in known if each.claimed.round_id == paid.round_id), claim)
    after = replace(state, claims=_without(state.claims, paid.claim_id), paid={**state.paid, paid.table_id: known})
    level = None if paid.level is None else state.level(paid.level)
    if level is None:
        return after
    award = Award(state.sequence, paid.claim_id, level.name, paid.amount_cents)
    return replace(_with_level(after, level.paid(paid.amount_cents)), awards=(*state.awards, award)[-AWARDS_KEPT:])


def _claim_taken_back(state: State, event: PayoutTakenBack) -> State:
    paid = tuple(each for each in state.paid.get(event.table_id, ()) if each.claimed.claim_id != event.claim_id)
    after = replace(state, claims=_without(state.claims, event.claim_id), paid={**state.paid, event.table_id: paid})
    level = None if event.level is None else state.level(event.level)
    if level is None or event.state is not ClaimState.PAID:
        return after
    awards = tuple(award for award in state.awards if award.claim_id != event.claim_id)
    return replace(_with_level(after, level.paid(-event.amount_cents)), awards=awards)


def _envy_ended(state: State, event: EnvyBonusPaid | EnvyBonusTakenBack) -> State:
    def same(due: EnvyBonusDue) -> bool:
        seats = (due.holder_seat, due.recipient_seat)
        return due.round_id == event.round_id and seats == (event.holder_seat, event.recipient_seat)

    due = state.envy.get(event.round_id, ())
    left = tuple(each for each in due if not same(each))
    others = _without(state.envy, event.round_id)
    after = replace(state, envy={**others, event.round_id: left} if left else others)
    if isinstance(event, EnvyBonusTakenBack):
        kept = {table: tuple(each for each in paid if not same(each)) for table, paid in state.envy_paid.items()}
        return replace(after, envy_paid=kept)
    paid = next(each for each in due if same(each))
    last = state.contributions.get(paid.table_id)
    if last is not None and last.round_id != paid.round_id:
        # The table has gone on: the round is over, and no hand of it is keyed again.
        return after
    of_round = tuple(each for each in state.envy_paid.get(paid.table_id, ()) if each.round_id == paid.round_id)
    return replace(after, envy_paid={**state.envy_paid, paid.table_id: (*of_round, paid)})


# Parameters -----------------------------------------------------------------------------------------


def _parameters_moved(
    state: State, event: ParametersProposed | ParametersApproved | ParametersDropped | ParametersChanged
) -> State:
    match event:
        case ParametersProposed(change, name, _, terms, reason, proposed_by, idle_after_ms):
            proposed = Change(change, name, terms, reason, proposed_by, None, idle_after_ms)
            return replace(state, proposals=change, changes=(*state.changes, proposed))
        case ParametersApproved(change, _, approved_by):
            return replace(
                state,
                changes=tuple(
                    replace(each, approved_by=approved_by) if each.number == change else each for each in state.changes
                ),
            )
        case ParametersDropped(change):
            return replace(state, changes=tuple(each for each in state.changes if each.number != change))
        case ParametersChanged(change, name, _, terms, seeded_microcents):
            level = state.level(name)
            assert level is not None, "parameters were changed of a level that the progressive does not have"
            left = tuple(each for each in state.changes if each.number != change)
            return replace(_with_level(state, level.under(_terms(level, terms), seeded_microcents)), changes=left)
        case _:
            assert_never(event)


def _terms(level: Level, changed: LevelTerms) -> Terms:
    return Terms(
        level.name,
        level.terms.base,
        changed.reset_microcents,
        changed.rate_ppm,
        changed.hidden_rate_ppm,
        changed.limit_microcents,
        level.terms.contribution_bound,
    )


Entry = TypeVar("Entry")


def _without(entries: dict[str, Entry], key: str) -> dict[str, Entry]:
    return {name: entry for name, entry in entries.items() if name != key}
