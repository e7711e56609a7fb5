"""What each command leads to at a progressive."""

from typing import assert_never

from services.core import payouts, refusal
from services.core.asking import Asking
from services.core.jackpots.commands import (
    AwardEnvy,
    ClaimPayout,
    Command,
    Contribute,
    DocumentPayout,
    OpenProgressive,
    PayEnvy,
    PayPayout,
    ReverseContribution,
    ValidatePayout,
)
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
)
from services.core.jackpots.progressive import State
from services.core.meters import Meter
from services.core.money import MICROCENTS_PER_CENT, Cents
from services.core.names import ClaimId, RoundId, Seat, Source, WagerName
from services.core.paytables import Odds


def decide(state: State, command: Command, asking: Asking) -> tuple[Event, ...]:
    """What the command leads to; nothing where it was carried out before. Raises refusal.Refused."""
    if isinstance(command, OpenProgressive):
        return _open(state, command, asking)
    if isinstance(command, ReverseContribution):
        return _reverse(state, command)
    if state.rules is None:
        raise refusal.Refused(f"The progressive {asking.key} is not open. Open it under a submission first.")
    match command:
        case Contribute():
            return _contribute(state, command)
        case ClaimPayout():
            return _claim(state, command, asking)
        case ValidatePayout(claim_id):
            return _validate(*_steps(state, claim_id, asking))
        case DocumentPayout(claim_id, document):
            claimed, steps = _steps(state, claim_id, asking)
            steps.require_document()
            return (PayoutDocumented(claim_id, claimed.table_id, document, state.slips + 1),)
        case PayPayout(claim_id):
            claimed, steps = _steps(state, claim_id, asking)
            steps.require_payment()
            return (_paid(claimed),)
        case AwardEnvy():
            return _award_envy(state, command)
        case PayEnvy(round_id, recipient_seat):
            return _pay_envy(state, round_id, recipient_seat, asking)
        case _:
            assert_never(command)


def _open(state: State, command: OpenProgressive, asking: Asking) -> tuple[Event, ...]:
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
        )
        for level in submission.progressive.levels
    )
    return (ProgressiveOpened(submission.id, submission.sha256, levels),)


def _contribute(state: State, command: Contribute) -> tuple[Event, ...]:
    last = state.contributions.get(command.table_id)
    if last is not None and last.round_id == command.round_id:
        return ()
    gains = [(level.name, level.gain(command.wager_cents)) for level in state.levels]
    parts = tuple(LevelContribution(name, gain.value, gain.hidden, gain.overflow) for name, gain in gains)
    return (ContributionAccepted(command.table_id, command.round_id, command.wager_cents, parts),)


def _reverse(state: State, command: ReverseContribution) -> tuple[Event, ...]:
    last = state.contributions.get(command.table_id)
    if last is None or last.round_id != command.round_id:
        return ()
    parts = []
    for level, part in zip(state.levels, last.levels, strict=True):
        back = level.take_back(Meter(part.shown_microcents, part.hidden_microcents, part.overflow_microcents))
        taken = back.taken
        parts.append(LevelReversal(level.name, taken.value, taken.hidden, taken.overflow, back.seeded))
    return (ContributionTakenBack(command.table_id, command.round_id, tuple(parts)),)


def _claim(state: State, command: ClaimPayout, asking: Asking) -> tuple[Event, ...]:
    if command.claim_id in state.claims:
        return ()
    if command.amount_cents is None:
        hit = _hit(state, command, asking)
        return hit, _claimed(command, hit.amount_cents, hit.name)
    if command.source is Source.GAME_ACCOUNT and command.account_id is None:
        raise payouts.account_unnamed(command.claim_id, _sections(state, command.wager, asking))
    return (_claimed(command, command.amount_cents, None),)


def _hit(state: State, command: ClaimPayout, asking: Asking) -> LevelHit:
    odds = Odds.parse(command.odds)
    level = next((level for level in state.levels if level.name == odds.level), None)
    if level is None:
        raise payouts.level_unknown(command.claim_id, command.odds)
    if command.source is not Source.HAND_PAY:
        raise payouts.share_not_by_hand(command.claim_id, _sections(state, command.wager, asking))
    share = level.share(odds.percent)
    return LevelHit(
        claim_id=command.claim_id,
        table_id=command.table_id,
        seat=command.seat,
        name=level.name,
        percent=odds.percent,
        amount_cents=share.amount_cents,
        value_microcents=share.after.value,
        hidden_microcents=share.after.hidden,
        overflow_microcents=share.after.overflow,
        seeded_microcents=share.seeded,
    )


def _claimed(command: ClaimPayout, amount_cents: Cents, level: str | None) -> PayoutClaimed:
    return PayoutClaimed(
        command.claim_id,
        command.table_id,
        command.round_id,
        command.seat,
        command.wager,
        command.on,
        command.hand,
        command.odds,
        amount_cents,
        command.source,
        command.player_id,
        command.account_id,
        command.entered_by,
        level,
    )


def _validate(claimed: PayoutClaimed, steps: payouts.Steps) -> tuple[Event, ...]:
    steps.require_validation()
    validated = PayoutValidated(claimed.claim_id, claimed.table_id)
    return (validated, _paid(claimed)) if claimed.source is Source.GAME_ACCOUNT else (validated,)


def _paid(claimed: PayoutClaimed) -> PayoutPaid:
    return PayoutPaid(
        claimed.claim_id,
        claimed.table_id,
        claimed.round_id,
        claimed.seat,
        claimed.wager,
        claimed.amount_cents,
        claimed.source,
        claimed.account_id,
        claimed.level,
    )


def _award_envy(state: State, command: AwardEnvy) -> tuple[Event, ...]:
    if any(due.holder_seat == command.holder_seat for due in state.envy.get(command.round_id, ())):
        return ()
    return tuple(
        EnvyBonusDue(command.table_id, command.round_id, command.holder_seat, seat, command.hand, command.amount_cents)
        for seat in sorted(command.recipient_seats)
    )


def _pay_envy(state: State, round_id: RoundId, recipient_seat: Seat, asking: Asking) -> tuple[Event, ...]:
    bonuses = [due for due in state.envy.get(round_id, ()) if due.recipient_seat == recipient_seat]
    if not bonuses:
        raise payouts.no_envy_due(round_id, recipient_seat, _sections(state, "progressive", asking))
    return tuple(EnvyBonusPaid(round_id, due.holder_seat, recipient_seat, due.amount_cents) for due in bonuses)


def _steps(state: State, claim_id: ClaimId, asking: Asking) -> tuple[PayoutClaimed, payouts.Steps]:
    claim = state.claims.get(claim_id)
    if claim is None:
        raise payouts.not_waiting(claim_id)
    claimed = claim.claimed
    by = _sections(state, claimed.wager, asking)
    return claimed, payouts.Steps(claim_id, claimed.source, claim.step, claim.slip_number, by)


def _sections(state: State, wager: WagerName, asking: Asking) -> payouts.Sections:
    return payouts.sections(asking.book.by_sha256(state.rules_sha256).game, wager)
