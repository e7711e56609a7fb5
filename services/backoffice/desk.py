"""The payout desk: what waits for a person at all progressives, and what whoever asks may do with it next.

Nothing is decided here. What may be done is found by asking `jackpots.decide` without carrying it out, so the sentence
that says why not is the one that the log would give.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.backoffice import slips
from services.backoffice.archive import (
    read_awards,
    read_hand_behind,
    read_jackpots,
    round_of_slip,
    rounds_of_slips,
)
from services.backoffice.reconstruction import Entry, RoundIncomplete
from services.core import jackpots
from services.core.asking import Asking
from services.core.games.game import PROGRESSIVE
from services.core.jackpots import ClaimState, SignerBand
from services.core.names import ClaimId, Source, round_of_claim
from services.core.people import COMMANDS, spoken, why_not
from services.core.refusal import Refused
from services.core.rounds.table import Round
from services.core.rules import RuleBook
from services.runtime.parts import Parts
from services.runtime.tokens import Person

LIST_MAX = jackpots.AWARDS_KEPT
"""How many awards and how many slips of each progressive are shown, the last ones."""

CLAIM_COMMANDS: Mapping[str, Callable[[ClaimId, tuple[SignerBand, ...]], jackpots.PeopleCommand]] = {
    "ValidatePayout": lambda claim_id, _: jackpots.ValidatePayout(claim_id),
    "SignPayout": lambda claim_id, _: jackpots.SignPayout(claim_id),
    "DocumentPayout": lambda claim_id, bands: jackpots.DocumentPayout(claim_id, "to be named", bands),
    "PayPayout": lambda claim_id, _: jackpots.PayPayout(claim_id),
    "VoidSlip": lambda claim_id, _: jackpots.VoidSlip(claim_id, "to be given"),
    "RejectPayout": lambda claim_id, _: jackpots.RejectPayout(claim_id, "to be given"),
}
"""What people may ask about a claim, in the order of its steps; texts stand for those that a person will write."""
FORWARDED = (*CLAIM_COMMANDS, "PayEnvy")
"""What the desk takes to the progressive service."""
NAMELESS = "Say first who you are: your name stands in the log beside what you do."


@dataclass(frozen=True, slots=True)
class Asker:
    """Who looks at the desk. `named` is False where nobody asks for tokens and no name was given."""

    person: Person
    named: bool
    at_ms: int
    book: RuleBook
    bands: tuple[SignerBand, ...]


@dataclass(frozen=True, slots=True)
class Behind:
    """What the archive has of a claim: since when it waits, and the round when its hand was keyed."""

    since_ms: int | None = None
    hand: Round | None = None


NOT_ARCHIVED = Behind()


# One claim ------------------------------------------------------------------------------------------------


def claim_row(key: str, state: jackpots.State, claim: jackpots.Claim, behind: Behind, asker: Asker) -> dict[str, Any]:
    """A claim that waits, as the desk shows it."""
    claimed, hand = claim.claimed, behind.hand
    wager = None if hand is None else hand.seated(claimed.seat).wager(claimed.wager, claimed.on)
    needed = jackpots.people_needed(asker.bands, claimed.amount_cents)
    offered = _offered(claim, needed)
    return {
        "progressive_id": key,
        "claim_id": claimed.claim_id,
        "table_id": claimed.table_id,
        "round_id": claimed.round_id,
        "seat": claimed.seat,
        "player_id": claimed.player_id,
        "game": None if hand is None else hand.game,
        "wager": claimed.wager,
        "on": claimed.on.value,
        "stake_cents": None if wager is None else wager.amount_cents,
        # Only progressive wagers have a light.
        "lit": None if hand is None or claimed.wager != PROGRESSIVE else claimed.seat in hand.lit,
        "cards": [] if hand is None else slips.shown_cards(hand, claimed),
        "hand": claimed.hand,
        "odds": claimed.odds,
        "amount_cents": claimed.amount_cents,
        "level": claimed.level,
        "source": claimed.source.value,
        "state": claim.step.value,
        "slip_number": claim.slip_number,
        "entered_by": claimed.entered_by,
        "people": list(claim.people),
        "people_needed": needed if claimed.source is Source.HAND_PAY else 1,
        "since_ms": behind.since_ms,
        "next": _next(claim, needed),
        "actions": [
            {
                "command": name,
                "offered": name in offered,
                **_may(key, state, make(claimed.claim_id, asker.bands), asker),
            }
            for name, make in CLAIM_COMMANDS.items()
        ],
    }


def _offered(claim: jackpots.Claim, needed: int) -> tuple[str, ...]:
    """What belongs to the step at which a claim stands, whoever may do it; the next step first."""
    if claim.step is ClaimState.HIT:
        return ("ValidatePayout", "RejectPayout")
    if claim.step is ClaimState.DOCUMENTED:
        return ("PayPayout", "VoidSlip")
    if claim.claimed.source is not Source.HAND_PAY:
        return ("PayPayout", "RejectPayout")
    if len(claim.people) < needed:
        return ("SignPayout", "DocumentPayout", "RejectPayout")
    return ("DocumentPayout", "RejectPayout")


def _next(claim: jackpots.Claim, needed: int) -> dict[str, Any]:
    """The next step, and who may take it: roles, and the people who may not although their role might."""
    besides: tuple[str, ...] = ()
    why = ""
    lacking = needed - len(claim.people)
    if claim.step is ClaimState.HIT:
        command, verb = "ValidatePayout", "Validate"
        besides, why = (claim.claimed.entered_by,), ", who keyed the hand"
    elif claim.step is ClaimState.DOCUMENTED or claim.claimed.source is not Source.HAND_PAY:
        command, verb = "PayPayout", "Pay"
    elif lacking > 1:
        command, verb = "SignPayout", "Sign"
        besides, why = claim.people, ", who signed already"
    else:
        command, verb = "DocumentPayout", "Document"
        besides, why = (claim.people, ", who signed already") if lacking == 1 else ((), "")
    roles = COMMANDS[command]
    text = f"{verb}: {spoken(roles)}"
    if besides:
        text += f", but not {' or '.join(besides)}{why}"
    return {"command": command, "roles": sorted(roles), "besides": list(besides), "text": f"{text}."}


def _may(key: str, state: jackpots.State, command: jackpots.PeopleCommand, asker: Asker) -> dict[str, Any]:
    """Whether whoever asks may do it now, and why not."""
    name, person = type(command).__name__, asker.person
    reason = why_not(person.name, person.roles, name) if asker.named else NAMELESS
    if reason is not None:
        return {"may": False, "why": reason, "section": None}
    try:
        jackpots.decide(state, command, Asking(key, person.name, asker.at_ms, asker.book))
    except Refused as refused:
        return {"may": False, "why": refused.reason, "section": refused.section}
    return {"may": True, "why": None, "section": None}


# Envy Bonuses ---------------------------------------------------------------------------------------------


def envy_rows(key: str, state: jackpots.State, since: Mapping[str, int], asker: Asker) -> list[dict[str, Any]]:
    """The Envy Bonuses that are due, by round and seat to be paid: one payment settles all of a seat. `since` has the
    rounds' times in milliseconds."""
    rows = []
    for round_id, due in state.envy.items():
        for seat in sorted({each.recipient_seat for each in due}):
            mine = [each for each in due if each.recipient_seat == seat]
            rows.append(
                {
                    "progressive_id": key,
                    "round_id": round_id,
                    "table_id": mine[0].table_id,
                    "recipient_seat": seat,
                    "amount_cents": sum(each.amount_cents for each in mine),
                    "for": [
                        {"holder_seat": each.holder_seat, "hand": each.hand, "amount_cents": each.amount_cents}
                        for each in mine
                    ],
                    "since_ms": since.get(round_id),
                    "action": {
                        "command": "PayEnvy",
                        "offered": True,
                        **_may(key, state, jackpots.PayEnvy(round_id, seat), asker),
                    },
                }
            )
    return rows


# The desk -------------------------------------------------------------------------------------------------


class PayoutDesk:
    """Answers /desk/claims and the slips."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._hands: dict[tuple[str, int], Round] = {}
        """By the progressive and the sequence of the claim's record: what was keyed then stays what it was."""

    def asker(self, person: Person, named: bool) -> Asker:
        """Whoever asks, now."""
        now_ms = time.time_ns() // 1_000_000
        return Asker(person, named, now_ms, self._parts.book, self._parts.settings.signers)

    async def read(self, asker: Asker) -> dict[str, Any]:
        """What the page wants."""
        parts = self._parts
        states = {name: it for name, it in parts.projection.states_of("jackpots").items() if it.levels}
        waiting = {claim.claimed.round_id for state in states.values() for claim in state.claims.values()}
        rounds_shown = waiting.union(*(state.envy for state in states.values()))
        entries = await read_jackpots(parts.pool, rounds_shown) if rounds_shown else []
        behind = await self._behind(states, entries)
        since = {e.event.round_id: e.at_ms for e in entries if isinstance(e.event, jackpots.EnvyBonusDue)}
        claims = [
            claim_row(key, state, claim, behind.get((key, claim_id), NOT_ARCHIVED), asker)
            for key, state in states.items()
            for claim_id, claim in state.claims.items()
        ]
        envy = [row for key, state in states.items() for row in envy_rows(key, state, since, asker)]
        return {
            "at_ms": asker.at_ms,
            "fresh": parts.projection.fresh,
            "alarm": parts.projection.alarm,
            "tokens": parts.settings.jwks is not None,
            "person": {"name": asker.person.name if asker.named else None, "roles": sorted(asker.person.roles)},
            "waiting": waiting_figures(claims, envy),
            "claims": sorted(claims, key=_oldest_first),
            "envy": sorted(envy, key=_oldest_first),
            "awards": await self._awards(states),
            "slips": slips.listed(await self._slips(states)),
        }

    async def slip(self, progressive_id: str, number: int) -> dict[str, Any] | None:
        """What stands on a slip, None where there is none of that number."""
        round_id = await round_of_slip(self._parts.pool, progressive_id, number)
        if round_id is None:
            return None
        entries = [each for each in await read_jackpots(self._parts.pool, [round_id]) if each.key == progressive_id]
        found = next(slip for slip in slips.slips_of(entries) if slip.number == number)
        hand = await self._hand(progressive_id, found.claimed_sequence)
        return slips.printed(found, self._parts.settings.house, hand)

    async def _behind(
        self, states: Mapping[str, jackpots.State], entries: list[Entry]
    ) -> dict[tuple[str, ClaimId], Behind]:
        """By progressive and claim. What the archive does not have yet is there at the next reading."""
        made = {
            (entry.key, entry.event.claim_id): entry
            for entry in entries
            if isinstance(entry.event, jackpots.PayoutClaimed)
        }
        waiting = {
            (key, claim_id): entry
            for (key, claim_id), entry in made.items()
            if key in states and claim_id in states[key].claims
        }
        hands = {}
        for entry in waiting.values():
            place = entry.key, entry.sequence
            hand = self._hands.get(place) or await self._hand(*place)
            if hand is not None:
                hands[place] = hand
        self._hands = hands
        return {place: Behind(entry.at_ms, hands.get((entry.key, entry.sequence))) for place, entry in waiting.items()}

    async def _hand(self, progressive_id: str, sequence: int) -> Round | None:
        try:
            return await read_hand_behind(self._parts.pool, progressive_id, sequence)
        except RoundIncomplete:
            return None

    async def _awards(self, states: Mapping[str, jackpots.State]) -> list[dict[str, Any]]:
        awards = [(key, award) for key, state in states.items() for award in state.awards]
        paid = await read_awards(self._parts.pool, [(key, award.sequence) for key, award in awards]) if awards else []
        by_place = {(entry.key, entry.sequence): entry for entry in paid}
        rows = [_award_row(key, award, by_place.get((key, award.sequence))) for key, award in awards]
        return sorted(rows, key=lambda row: -(row["at_ms"] or 0))[:LIST_MAX]

    async def _slips(self, states: Mapping[str, jackpots.State]) -> list[slips.Slip]:
        first = [(key, max(1, state.slips - LIST_MAX + 1)) for key, state in states.items() if state.slips]
        round_ids = await rounds_of_slips(self._parts.pool, first) if first else []
        wanted = dict(first)
        found = slips.slips_of(await read_jackpots(self._parts.pool, round_ids)) if round_ids else []
        return [slip for slip in found if slip.number >= wanted.get(slip.progressive_id, slip.number + 1)]


def _award_row(key: str, award: jackpots.Award, paid: Entry | None) -> dict[str, Any]:
    return {
        "progressive_id": key,
        "claim_id": award.claim_id,
        "level": award.level,
        "amount_cents": award.amount_cents,
        "round_id": round_of_claim(award.claim_id),
        "table_id": None if paid is None else paid.event.table_id,
        "seat": None if paid is None else paid.event.seat,
        "at_ms": None if paid is None else paid.at_ms,
        "paid_by": None if paid is None else paid.actor,
    }


def waiting_figures(claims: list[dict[str, Any]], envy: list[dict[str, Any]]) -> dict[str, Any]:
    """How many claims and Envy Bonuses wait, since when the oldest claim does, and the highest amount of one."""
    since = [row["since_ms"] for row in claims if row["since_ms"] is not None]
    return {
        "claims": len(claims),
        "envy": len(envy),
        "oldest_ms": min(since, default=None),
        "highest_cents": max((row["amount_cents"] for row in claims), default=None),
    }


def _oldest_first(row: dict[str, Any]) -> tuple[bool, int]:
    return row["since_ms"] is None, row["since_ms"] or 0
