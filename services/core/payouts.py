"""The order in which a payout is made, and the words with which a step out of order is refused.

Hit, validated, documented where it is a hand pay, paid. 655a.11(i)(1), (i)(3); 639a.11(c)(5), (c)(6)
"""

from dataclasses import dataclass
from enum import StrEnum

from services.core.games import GAMES
from services.core.names import ClaimId, GameName, RoundId, Seat, Source, WagerName
from services.core.refusal import Refused


class ClaimState(StrEnum):
    """The steps of a claim, in this order; `documented` only for a hand pay. `rejected` ends it too: it was not made, or
    taken back."""

    HIT = "hit"
    VALIDATED = "validated"
    DOCUMENTED = "documented"
    PAID = "paid"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Sections:
    """Where the Code says who validates a payout, how it is paid, and who gets Envy Bonuses."""

    validate: str | None = None
    pay: str | None = None
    envy: str | None = None


def sections(game: GameName, wager: WagerName) -> Sections:
    """The sections behind a payout on that wager, as the game has them; none where the game has no such wager."""
    known = GAMES.get(game)
    kind = known.optional_wager(wager) if known is not None else None
    if known is None or kind is None:
        return Sections()
    return Sections(kind.validate_section, kind.document_section, known.sections.envy)


@dataclass(frozen=True, slots=True)
class Steps:
    """Where one claim stands. Each `require_` raises Refused where that step is not the next."""

    claim_id: ClaimId
    source: Source
    step: ClaimState
    slip_number: int | None
    sections: Sections

    def require_validation(self) -> None:
        if self.step is not ClaimState.HIT:
            step = "document it" if self._awaits_document else "pay it"
            raise Refused(
                f"The payout {self.claim_id} is validated already. It is validated once; the next step is to {step}."
            )

    def require_document(self) -> None:
        if self.source is not Source.HAND_PAY:
            where = "the table inventory" if self.source is Source.TABLE_INVENTORY else "the game account"
            raise Refused(
                f"The payout {self.claim_id} comes from {where} and needs no document. Only a hand pay has one."
                " Validate the payout, then pay it.",
                self.sections.pay,
            )
        self._require_validated()
        if self.step is ClaimState.DOCUMENTED:
            raise Refused(
                f"The payout {self.claim_id} has its document, slip {self.slip_number}. One payout has one slip;"
                " the next step is to pay it."
            )

    def require_payment(self) -> None:
        self._require_validated()
        if self._awaits_document:
            raise Refused(
                f"The payout {self.claim_id} has no document yet. A hand pay is paid when its documentation is"
                " complete, and the cards stay on the table until then. Complete the document first.",
                self.sections.pay,
            )

    def require_signature(self) -> None:
        self.require_document()

    def require_undocumented(self) -> None:
        if self.step is ClaimState.DOCUMENTED:
            raise Refused(
                f"The payout {self.claim_id} is documented, by slip {self.slip_number}: it is not rejected any more."
                " Void the slip first where the payout is wrong."
            )

    def _require_validated(self) -> None:
        if self.step is ClaimState.HIT:
            raise Refused(
                f"The payout {self.claim_id} is not validated. A floorperson or above validates it before"
                " anything else. Call a floorperson.",
                self.sections.validate,
            )

    @property
    def _awaits_document(self) -> bool:
        return self.source is Source.HAND_PAY and self.step is ClaimState.VALIDATED


def not_waiting(claim_id: ClaimId) -> Refused:
    """No such claim is open: whether it was paid or never made is in the list of claims."""
    return Refused(
        f"No payout {claim_id} is waiting here: it was rejected or paid already, or never made."
        " Look for it among the claims of its round."
    )


def validated_by_who_keyed(claim_id: ClaimId, actor: str, by: Sections) -> Refused:
    """The person who keyed the hand is not the one who says that it is right."""
    return Refused(
        f"{actor} keyed the hand of the payout {claim_id}: another person validates it. Call a floorperson.",
        by.validate,
    )


def share_not_by_hand(claim_id: ClaimId, by: Sections) -> Refused:
    """A share of a meter from the table inventory or to an account, which the Code forbids."""
    return Refused(
        f"The payout {claim_id} is a share of a meter: it is never paid from the table inventory nor to a game"
        " account. Pay it by hand.",
        by.pay,
    )


def account_unnamed(claim_id: ClaimId, by: Sections) -> Refused:
    """A payout to a game account that is not named."""
    return Refused(
        f"The payout {claim_id} is for a game account, but names none. Do not pay it, and tell the office.", by.pay
    )


def level_unknown(claim_id: ClaimId, odds: str) -> Refused:
    """A share of a level that the progressive does not have."""
    return Refused(
        f"The payout {claim_id} is to be {odds}, but the progressive has no such level: table and progressive go by"
        " different submissions. Do not pay it, and tell the office."
    )


def no_envy_due(round_id: RoundId, recipient_seat: Seat, by: Sections) -> Refused:
    """No Envy Bonus waits for that seat."""
    return Refused(
        f"No Envy Bonus of round {round_id} is due to seat {recipient_seat}: it was paid already, or no other"
        " player's hand earned one. Look at the Envy Bonuses of the round before paying.",
        by.envy,
    )
