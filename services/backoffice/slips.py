"""Slips: the documents of hand pays as the log has them, those that are void too."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from services.backoffice.reconstruction import Entry
from services.backoffice.sentences import SOURCES
from services.core import jackpots
from services.core.games import GAMES
from services.core.money import dollars, dollars_in_words
from services.core.names import On, words
from services.core.rounds.table import Round


class SlipState(StrEnum):
    """`taken_back`: the hand had been keyed wrongly, so the payout that the slip documents was not won."""

    GIVEN = "given"
    VOID = "void"
    TAKEN_BACK = "taken_back"


@dataclass(frozen=True, slots=True)
class Signature:
    """One person's part in a payout: what they did, who they are, when."""

    did: str
    who: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Slip:
    """One slip. `claimed_sequence` is that of the claim's record; `signatures` are all up to this document."""

    progressive_id: str
    number: int
    claimed: jackpots.PayoutClaimed
    claimed_sequence: int
    document: str
    signatures: tuple[Signature, ...]
    state: SlipState = SlipState.GIVEN
    reason: str | None = None
    ended: Signature | None = None
    """Who voided it, or keyed the hand anew, and when."""
    paid: Signature | None = None


@dataclass(frozen=True, slots=True)
class _Open:
    """A claim on its way, as one goes through the log."""

    entry: Entry
    signatures: tuple[Signature, ...]


def slips_of(entries: Iterable[Entry]) -> list[Slip]:
    """The slips in some progressives' records; those of a claim must all be there, each progressive's in order."""
    claims: dict[tuple[str, str], _Open] = {}
    slips: dict[tuple[str, int], Slip] = {}
    given: dict[tuple[str, str], int] = {}
    for entry in entries:
        claim_id = getattr(entry.event, "claim_id", None)
        if claim_id is None:
            continue
        name = entry.key, claim_id
        match entry.event:
            case jackpots.PayoutClaimed(entered_by=entered_by):
                # A hand that was keyed again may win by the same wager: then it begins anew.
                claims[name] = _Open(entry, (Signature("Keyed the hand", entered_by, entry.at_ms),))
                given.pop(name, None)
            case jackpots.PayoutValidated(validated_by=by):
                claims[name] = _signed(claims[name], "Validated", by, entry)
            case jackpots.PayoutSigned(signed_by=by):
                claims[name] = _signed(claims[name], "Signed", by, entry)
            case jackpots.PayoutDocumented(document=document, slip_number=number, documented_by=by):
                claims[name] = _signed(claims[name], f"Documented, slip {number}", by, entry)
                claim = claims[name]
                claimed, sequence = claim.entry.event, claim.entry.sequence
                slips[entry.key, number] = Slip(entry.key, number, claimed, sequence, document, claim.signatures)
                given[name] = number
            case jackpots.SlipVoided(slip_number=number, reason=reason):
                ended = Signature("Void", entry.actor, entry.at_ms)
                slips[entry.key, number] = replace(
                    slips[entry.key, number], state=SlipState.VOID, reason=reason, ended=ended
                )
                given.pop(name, None)
            case jackpots.PayoutPaid() if name in given:
                paid = Signature("Paid", entry.actor, entry.at_ms)
                slips[entry.key, given[name]] = replace(slips[entry.key, given[name]], paid=paid)
            case jackpots.PayoutTakenBack() if name in given:
                place = entry.key, given.pop(name)
                ended = Signature("Taken back", entry.actor, entry.at_ms)
                reason = "The hand had been keyed wrongly: this payout was not won."
                slips[place] = replace(slips[place], state=SlipState.TAKEN_BACK, reason=reason, ended=ended)
            case _:
                pass
    return list(slips.values())


def _signed(claim: _Open, did: str, by: str, entry: Entry) -> _Open:
    # The oldest records name nobody in the event.
    return replace(claim, signatures=(*claim.signatures, Signature(did, by or entry.actor, entry.at_ms)))


def listed(slips: Sequence[Slip]) -> list[dict[str, Any]]:
    """Slips for the desk's list, the newest of each progressive first."""
    return [
        {
            "progressive_id": slip.progressive_id,
            "slip_number": slip.number,
            "claim_id": slip.claimed.claim_id,
            "round_id": slip.claimed.round_id,
            "table_id": slip.claimed.table_id,
            "seat": slip.claimed.seat,
            "amount_cents": slip.claimed.amount_cents,
            "document": slip.document,
            "documented_by": slip.signatures[-1].who,
            "at_ms": slip.signatures[-1].at_ms,
            "state": slip.state.value,
            "reason": slip.reason,
            "paid_ms": None if slip.paid is None else slip.paid.at_ms,
        }
        for slip in sorted(slips, key=lambda slip: (slip.progressive_id, -slip.number))
    ]


def printed(slip: Slip, house: str, hand: Round | None) -> dict[str, Any]:
    """What stands on a slip. `hand` is the round as it stood when the hand was keyed, None where it is not known."""
    claimed = slip.claimed
    on = " on the dealer's hand" if claimed.on is On.DEALER else ""
    return {
        "house": house,
        "progressive_id": slip.progressive_id,
        "slip_number": slip.number,
        "state": slip.state.value,
        "reason": slip.reason,
        "claim_id": claimed.claim_id,
        "table_id": claimed.table_id,
        "round_id": claimed.round_id,
        "seat": claimed.seat,
        "player_id": claimed.player_id,
        "game": None if hand is None else GAMES[hand.game].title,
        "rules": None if hand is None else hand.rules,
        "wager": words(claimed.wager) + on,
        "hand": words(claimed.hand),
        "odds": claimed.odds,
        "level": None if claimed.level is None else words(claimed.level),
        "cards": [] if hand is None else shown_cards(hand, claimed),
        "amount_cents": claimed.amount_cents,
        "amount": dollars(claimed.amount_cents),
        "amount_in_words": dollars_in_words(claimed.amount_cents),
        "source": SOURCES[claimed.source],
        "document": slip.document,
        "signatures": [_line(signature) for signature in slip.signatures],
        "paid": None if slip.paid is None else _line(slip.paid),
        "ended": None if slip.ended is None else _line(slip.ended),
    }


def shown_cards(hand: Round, claimed: jackpots.PayoutClaimed) -> list[dict[str, Any]]:
    """The cards that were face up for a claim, by where they lie; `seen` where the wager looks at them."""
    kind = GAMES[hand.game].optional_wager(claimed.wager)
    seen = () if kind is None else kind.sees.get(claimed.on, ())
    faces = hand.faces(hand.seated(claimed.seat).cards)
    return [
        {"area": area.value, "cards": list(cards), "seen": area in seen}
        for area, cards in faces.by_area.items()
        if cards
    ]


def _line(signature: Signature) -> dict[str, Any]:
    return {"did": signature.did, "who": signature.who, "at_ms": signature.at_ms}
