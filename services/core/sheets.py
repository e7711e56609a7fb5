"""Sheets: what the reads show of one round, folded from the wagers and jackpots that belong to it."""

from dataclasses import dataclass, replace
from typing import Any

from services.core import jackpots, wagers
from services.core.games import GAMES
from services.core.jackpots import ClaimState
from services.core.names import On, round_of_claim

# A round's wagers ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WagerSheet:
    """The results of one round's wagers, in the order in which they were settled."""

    table_id: str = ""
    round_id: str = ""
    game: str = ""
    rules: str = ""
    state: str = "open"
    results: tuple[wagers.WagerSettled, ...] = ()


def with_wager(sheet: WagerSheet, table_id: str, event: wagers.Event) -> WagerSheet:
    """The sheet behind one more event of its round."""
    match event:
        case wagers.RoundStarted(round_id, game, rules):
            return WagerSheet(table_id, round_id, game, rules)
        case wagers.WagerSettled():
            # A later result of the same wager (a void) takes the place of the earlier one.
            same = (event.seat, event.wager, event.on)
            if any((row.seat, row.wager, row.on) == same for row in sheet.results):
                rows = tuple(event if (row.seat, row.wager, row.on) == same else row for row in sheet.results)
            else:
                rows = (*sheet.results, event)
            return replace(sheet, results=rows)
        case wagers.WagerReversed():
            wrong = (event.seat, event.wager, event.on)
            return replace(sheet, results=tuple(row for row in sheet.results if (row.seat, row.wager, row.on) != wrong))
        case wagers.RoundFinished():
            return replace(sheet, state="closed")
        case wagers.Skipped(command="RoundOpened", round_id=str(round_id)):
            return WagerSheet(table_id, round_id)
        case _:
            return sheet


def wager_view(sheet: WagerSheet) -> dict[str, Any]:
    """The JSON of GET /rounds/{round_id} of the wagers service: settlement's order, counterclockwise."""
    # The beginning of a round may have been passed over: then its game is not known here, and its rows stand as they came.
    order = GAMES[sheet.game].settlement_order if sheet.game else tuple(row.wager for row in sheet.results)
    rows = sorted(sheet.results, key=lambda row: (-row.seat, order.index(row.wager), row.on is On.DEALER))
    return {
        "round_id": sheet.round_id,
        "table_id": sheet.table_id,
        "game": sheet.game,
        "rules": sheet.rules,
        "state": sheet.state,
        "wagers": [
            {
                "seat": row.seat,
                "wager": row.wager,
                "on": row.on.value,
                "hand": row.hand,
                "stake_cents": row.stake_cents,
                "result": row.result.value,
                "odds": row.odds,
                "won_cents": row.won_cents,
                "returned_cents": row.returned_cents,
                "source": None if row.source is None else row.source.value,
                "claim_id": row.claim_id,
                "section": row.section,
            }
            for row in rows
        ],
    }


# A round's claims and Envy Bonuses --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One claim and how far it has come."""

    claim: jackpots.PayoutClaimed
    state: ClaimState = ClaimState.HIT
    slip_number: int | None = None


@dataclass(frozen=True, slots=True)
class EnvyLine:
    """One Envy Bonus, due or paid."""

    envy: jackpots.EnvyBonusDue
    paid: bool = False


@dataclass(frozen=True, slots=True)
class JackpotSheet:
    """What one round asked of a progressive, in the order of the log."""

    claims: tuple[ClaimLine, ...] = ()
    envy: tuple[EnvyLine, ...] = ()


def round_of(event: jackpots.Event) -> str | None:
    """The round that an event of `jackpots` belongs to, or None."""
    match event:
        case (
            jackpots.PayoutClaimed()
            | jackpots.EnvyBonusDue()
            | jackpots.EnvyBonusPaid()
            | jackpots.EnvyBonusTakenBack()
        ):
            return event.round_id
        case (
            jackpots.PayoutValidated()
            | jackpots.PayoutSigned()
            | jackpots.PayoutDocumented()
            | jackpots.SlipVoided()
            | jackpots.PayoutRejected()
            | jackpots.PayoutPaid()
            | jackpots.PayoutTakenBack()
        ):
            return round_of_claim(event.claim_id)
        case _:
            return None


def with_jackpot(sheet: JackpotSheet, event: jackpots.Event) -> JackpotSheet:
    """The sheet behind one more event of its round."""
    match event:
        case jackpots.PayoutClaimed():
            # A hand that was keyed again may win by the same wager: its claim takes the place of the one taken back.
            others = tuple(line for line in sheet.claims if line.claim.claim_id != event.claim_id)
            return replace(sheet, claims=(*others, ClaimLine(event)))
        case jackpots.PayoutValidated(claim_id):
            return _moved(sheet, claim_id, state=ClaimState.VALIDATED)
        case jackpots.PayoutDocumented(claim_id=claim_id, slip_number=slip_number):
            return _moved(sheet, claim_id, state=ClaimState.DOCUMENTED, slip_number=slip_number)
        case jackpots.SlipVoided(claim_id=claim_id):
            return _moved(sheet, claim_id, state=ClaimState.VALIDATED, slip_number=None)
        case jackpots.PayoutPaid(claim_id=claim_id):
            return _moved(sheet, claim_id, state=ClaimState.PAID)
        case jackpots.PayoutRejected(claim_id=claim_id) | jackpots.PayoutTakenBack(claim_id=claim_id):
            return _moved(sheet, claim_id, state=ClaimState.REJECTED)
        case jackpots.EnvyBonusDue():
            return replace(sheet, envy=(*sheet.envy, EnvyLine(event)))
        case jackpots.EnvyBonusPaid(holder_seat=holder, recipient_seat=recipient):
            envy = tuple(
                replace(line, paid=True)
                if (line.envy.holder_seat, line.envy.recipient_seat) == (holder, recipient)
                else line
                for line in sheet.envy
            )
            return replace(sheet, envy=envy)
        case jackpots.EnvyBonusTakenBack(holder_seat=holder, recipient_seat=recipient):
            seats = (holder, recipient)
            left = tuple(line for line in sheet.envy if (line.envy.holder_seat, line.envy.recipient_seat) != seats)
            return replace(sheet, envy=left)
        case _:
            return sheet


def _moved(sheet: JackpotSheet, claim_id: str, **changes: Any) -> JackpotSheet:
    lines = (replace(line, **changes) if line.claim.claim_id == claim_id else line for line in sheet.claims)
    return replace(sheet, claims=tuple(lines))


def claims_view(sheet: JackpotSheet) -> list[dict[str, Any]]:
    """The JSON of GET /progressives/{id}/claims?round_id=, in the order in which they were made."""
    return [
        {
            "claim_id": line.claim.claim_id,
            "round_id": line.claim.round_id,
            "table_id": line.claim.table_id,
            "seat": line.claim.seat,
            "wager": line.claim.wager,
            "on": line.claim.on.value,
            "hand": line.claim.hand,
            "odds": line.claim.odds,
            "amount_cents": line.claim.amount_cents,
            "source": line.claim.source.value,
            "state": line.state.value,
            "slip_number": line.slip_number,
            "level": line.claim.level,
            "level_value_microcents": line.claim.level_value_microcents,
            "hit_sequence": line.claim.hit_sequence,
        }
        for line in sheet.claims
    ]


def envy_view(sheet: JackpotSheet) -> list[dict[str, Any]]:
    """The JSON of GET /progressives/{id}/envy?round_id=: by holder in settlement's order, then by recipient."""
    return [
        {
            "round_id": line.envy.round_id,
            "holder_seat": line.envy.holder_seat,
            "recipient_seat": line.envy.recipient_seat,
            "hand": line.envy.hand,
            "amount_cents": line.envy.amount_cents,
            "state": "paid" if line.paid else "due",
        }
        for line in sheet.envy
    ]
