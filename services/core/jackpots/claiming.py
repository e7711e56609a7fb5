"""Claims and Envy Bonuses: how they are made, validated, documented and paid, and how they are taken back."""

from dataclasses import replace

from services.core import payouts, refusal
from services.core.asking import Asking
from services.core.jackpots import parameters
from services.core.jackpots.commands import (
    AwardEnvy,
    ClaimPayout,
    DocumentPayout,
    SignerBand,
    TakeBackEnvy,
    TakeBackPayout,
)
from services.core.jackpots.events import (
    EnvyBonusDue,
    EnvyBonusPaid,
    EnvyBonusTakenBack,
    Event,
    LevelHit,
    LevelRestored,
    PayoutClaimed,
    PayoutDocumented,
    PayoutPaid,
    PayoutRejected,
    PayoutSigned,
    PayoutTakenBack,
    PayoutValidated,
    SlipVoided,
)
from services.core.jackpots.progressive import Claim, State
from services.core.money import Cents, dollars
from services.core.names import ClaimId, RoundId, Seat, Source, WagerName
from services.core.paytables import Odds


def claim(state: State, command: ClaimPayout, asking: Asking) -> tuple[Event, ...]:
    """A payout waits from here on; a share of a level is locked for it, and the level starts again at once."""
    if command.claim_id in state.claims:
        return ()
    if command.amount_cents is None:
        return _hit(state, command, asking)
    if command.source is Source.GAME_ACCOUNT and command.account_id is None:
        raise payouts.account_unnamed(command.claim_id, _sections(state, command.wager, asking))
    return (_claimed(command, command.amount_cents, None),)


def _hit(state: State, command: ClaimPayout, asking: Asking) -> tuple[Event, ...]:
    odds = Odds.parse(command.odds)
    if odds.level is None or (level := state.level(odds.level)) is None:
        raise payouts.level_unknown(command.claim_id, command.odds)
    if command.source is not Source.HAND_PAY:
        raise payouts.share_not_by_hand(command.claim_id, _sections(state, command.wager, asking))
    changed: tuple[Event, ...] = ()
    if odds.percent == 100:
        changed, state = parameters.at_win(state, level.name)
        level = state.level(level.name) or level
    share = level.share(odds.percent)
    hit = LevelHit(
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
    # The hit is the record behind those so far.
    claimed = replace(
        _claimed(command, hit.amount_cents, hit.name),
        level_value_microcents=level.meter.value,
        hit_sequence=state.sequence + 1,
    )
    return (*changed, hit, claimed)


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


def validate(state: State, claim_id: ClaimId, asking: Asking) -> tuple[Event, ...]:
    """A floorperson who did not key the hand. A payout to a game account is thereby paid."""
    waiting, steps = _steps(state, claim_id, asking)
    steps.require_validation()
    if waiting.claimed.entered_by == asking.actor:
        raise payouts.validated_by_who_keyed(claim_id, asking.actor, steps.sections)
    validated = PayoutValidated(claim_id, waiting.claimed.table_id, asking.actor, waiting.claimed.entered_by)
    return (validated, _paid(waiting)) if waiting.claimed.source is Source.GAME_ACCOUNT else (validated,)


def sign(state: State, claim_id: ClaimId, asking: Asking) -> tuple[Event, ...]:
    """One more person signs."""
    waiting, steps = _steps(state, claim_id, asking)
    steps.require_signature()
    if asking.actor in waiting.people:
        raise refusal.Refused(f"{asking.actor} signed for the payout {claim_id} already. Ask somebody else to sign.")
    return (PayoutSigned(claim_id, asking.actor),)


def document(state: State, command: DocumentPayout, asking: Asking) -> tuple[Event, ...]:
    """The slip, with the next number; enough people have signed for the amount."""
    waiting, steps = _steps(state, command.claim_id, asking)
    steps.require_document()
    amount_cents = waiting.claimed.amount_cents
    needed = people_needed(command.bands, amount_cents)
    signed = {*waiting.people, asking.actor}
    if len(signed) < needed:
        raise refusal.Refused(
            f"A payout of {dollars(amount_cents)} needs the names of {needed} different people and has"
            f" {len(signed)}: {', '.join(sorted(signed))}. Let another sign it first (SignPayout).",
            steps.sections.pay,
        )
    return (
        PayoutDocumented(
            command.claim_id,
            waiting.claimed.table_id,
            command.document,
            state.slips + 1,
            asking.actor,
            waiting.claimed.entered_by,
        ),
    )


def people_needed(bands: tuple[SignerBand, ...], amount_cents: Cents) -> int:
    """How many different people sign for a payout of that amount before it is documented."""
    return max((band.people for band in bands if amount_cents >= band.from_cents), default=1)


def void_slip(state: State, claim_id: ClaimId, reason: str, asking: Asking) -> tuple[Event, ...]:
    """The slip is spoilt: its number stays used, and the payout needs a new document."""
    waiting, _ = _steps(state, claim_id, asking)
    if waiting.slip_number is None:
        raise refusal.Refused(f"The payout {claim_id} has no slip that could be void. Complete its document first.")
    claimed = waiting.claimed
    return (SlipVoided(claim_id, waiting.slip_number, reason, claimed.table_id, claimed.entered_by),)


def pay(state: State, claim_id: ClaimId, asking: Asking) -> tuple[Event, ...]:
    """The player has the money."""
    waiting, steps = _steps(state, claim_id, asking)
    steps.require_payment()
    return (_paid(waiting),)


def _paid(waiting: Claim) -> PayoutPaid:
    claimed = waiting.claimed
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


# What went wrong is put right, and never hidden -----------------------------------------------------


def reject(state: State, claim_id: ClaimId, reason: str, asking: Asking) -> tuple[Event, ...]:
    """The payout is not made: the level regains the amount, and the house what it had put in."""
    waiting, steps = _steps(state, claim_id, asking)
    steps.require_undocumented()
    claimed = waiting.claimed
    rejected = PayoutRejected(claim_id, claimed.table_id, claimed.amount_cents, reason, claimed.entered_by)
    return (*_restored(state, waiting), rejected)


def take_back(state: State, command: TakeBackPayout) -> tuple[Event, ...]:
    """The hand was keyed wrongly. What was paid in the meantime is said, for people to get it back."""
    wrong = state.claims.get(command.claim_id) or next(iter(paid(state, command)), None)
    if wrong is None:
        return ()
    claimed = wrong.claimed
    taken_back = PayoutTakenBack(
        claimed.claim_id,
        claimed.table_id,
        claimed.round_id,
        claimed.seat,
        claimed.wager,
        wrong.step,
        claimed.amount_cents,
        claimed.source,
        claimed.account_id,
        claimed.level,
        wrong.slip_number,
    )
    return (*_restored(state, wrong), taken_back)


def paid(state: State, command: TakeBackPayout) -> tuple[Claim, ...]:
    """The claim to be taken back, where it was paid already; none where it was not."""
    return tuple(each for each in state.paid.get(command.table_id, ()) if each.claimed.claim_id == command.claim_id)


def _restored(state: State, wrong: Claim) -> tuple[Event, ...]:
    claimed = wrong.claimed
    if wrong.locked is None or claimed.level is None or (level := state.level(claimed.level)) is None:
        return ()
    back = level.give_back(wrong.locked.fell, wrong.locked.seeded)
    return (
        LevelRestored(
            claim_id=claimed.claim_id,
            table_id=claimed.table_id,
            name=level.name,
            amount_cents=claimed.amount_cents,
            value_microcents=back.after.value,
            hidden_microcents=back.after.hidden,
            overflow_microcents=back.after.overflow,
            newly_above_microcents=back.newly_above,
            seeded_microcents=back.seeded,
        ),
    )


# Envy Bonuses ---------------------------------------------------------------------------------------


def award_envy(state: State, command: AwardEnvy) -> tuple[Event, ...]:
    """One Envy Bonus for each other progressive player at the holder's table."""
    if any(due.holder_seat == command.holder_seat for due in state.envy.get(command.round_id, ())):
        return ()
    return tuple(
        EnvyBonusDue(command.table_id, command.round_id, command.holder_seat, seat, command.hand, command.amount_cents)
        for seat in sorted(command.recipient_seats)
    )


def pay_envy(state: State, round_id: RoundId, recipient_seat: Seat, asking: Asking) -> tuple[Event, ...]:
    """All Envy Bonuses of the round that are due to the seat."""
    bonuses = [due for due in state.envy.get(round_id, ()) if due.recipient_seat == recipient_seat]
    if not bonuses:
        raise payouts.no_envy_due(round_id, recipient_seat, _sections(state, "progressive", asking))
    return tuple(EnvyBonusPaid(round_id, due.holder_seat, recipient_seat, due.amount_cents) for due in bonuses)


def take_back_envy(state: State, command: TakeBackEnvy) -> tuple[Event, ...]:
    """The holder's hand was keyed wrongly: nobody earned an Envy Bonus by it, paid or not."""
    return tuple(
        EnvyBonusTakenBack(each.round_id, each.holder_seat, each.recipient_seat, each.amount_cents, was_paid)
        for each, was_paid in envy_of(state, command)
    )


def envy_of(state: State, command: TakeBackEnvy) -> tuple[tuple[EnvyBonusDue, bool], ...]:
    """The Envy Bonuses to be taken back, each with whether it was paid already."""
    due = [(each, False) for each in state.envy.get(command.round_id, ())]
    paid = [(each, True) for each in state.envy_paid.get(command.table_id, ()) if each.round_id == command.round_id]
    return tuple(each for each in (*due, *paid) if each[0].holder_seat == command.holder_seat)


def _steps(state: State, claim_id: ClaimId, asking: Asking) -> tuple[Claim, payouts.Steps]:
    waiting = state.claims.get(claim_id)
    if waiting is None:
        raise payouts.not_waiting(claim_id)
    claimed = waiting.claimed
    by = _sections(state, claimed.wager, asking)
    return waiting, payouts.Steps(claim_id, claimed.source, waiting.step, waiting.slip_number, by)


def _sections(state: State, wager: WagerName, asking: Asking) -> payouts.Sections:
    return payouts.sections(asking.book.by_sha256(state.rules_sha256).game, wager)
