"""The floorperson: opens progressives and tables, validates, documents and pays what a dealer may not pay alone."""

from collections.abc import Collection
from typing import Any

from services.core.names import ClaimId, ProgressiveId, RoundId, RulesId, TableId
from services.floor.calls import Backoff, Failure, Refusal, Services
from services.floor.offers import SEATS, Offer, offer_of

FLOORPERSON, MANAGER = "floorperson", "manager"
OPENING_PATIENCE_S = 15.0


class Floorperson:
    """Comes when a dealer calls: 655a.11(i)(1)(iii)-(v) and (i)(3)(ii)-(iii), 639a.11(c)(5)(iii)-(v) and (c)(6)."""

    def __init__(self, services: Services, patience_s: float) -> None:
        self._services, self._patience_s = services, patience_s

    async def open_progressive(self, progressive_id: ProgressiveId, rules: RulesId) -> None:
        """Opens the progressive where it is not open yet."""
        there = await self._services.progressives.get(progressive_id)
        if there is not None and there.get("rules") is not None:
            return
        try:
            await self._services.progressives.command(progressive_id, MANAGER, "OpenProgressive", rules=rules)
        except Refusal:
            # Another floor was quicker; a table that then cannot be opened on it will say so.
            self._services.tally["meant refusals"] += 1

    async def open_table(self, table_id: TableId, offer: Offer) -> tuple[Offer, dict[str, Any] | None]:
        """What the table deals and its last round; opened as `offer` says where it is not open yet.

        Raises Refusal where it can not be opened, and Failure where it deals what the floor does not know.
        """
        backoff = Backoff(OPENING_PATIENCE_S)
        tables = self._services.tables
        while True:
            there = await tables.get(table_id)
            if there is not None and there.get("game") is not None:
                known = offer_of(there)
                if known is None:
                    raise Failure(
                        f"{table_id} deals {there['game']} under {there['rules']}, which the floor does not know"
                    )
                return known, there["round"]
            link = {} if offer.progressive_id is None else {"progressive_id": offer.progressive_id}
            opened = {"game": offer.game.name, "seats": SEATS, "rules": offer.rules, **link}
            try:
                await tables.command(table_id, FLOORPERSON, "OpenTable", **opened)
                return offer, None
            except Refusal:
                # A progressive that was just opened is not known to the tables at once.
                if not await backoff.wait():
                    raise
                self._services.tally["meant refusals"] += 1

    async def attend(
        self, progressive_id: ProgressiveId | None, round_id: RoundId, awaited: Collection[ClaimId], envy: int
    ) -> None:
        """Handles the claims of a round, at least the awaited ones, and pays its Envy Bonuses, `envy` at least.

        Without a progressive there are none of either.
        """
        if progressive_id is None:
            return
        for claim in await self._expected(progressive_id, "claims", round_id, awaited):
            await self._handle(progressive_id, claim)
        due = await self._envy(progressive_id, round_id, envy)
        recipients = {bonus["recipient_seat"] for bonus in due if bonus["state"] == "due"}
        for seat in sorted(recipients):
            await self._services.progressives.command(
                progressive_id, FLOORPERSON, "PayEnvy", round_id=round_id, recipient_seat=seat
            )
        for bonus in due:
            if bonus["state"] == "due":
                self._services.tally["envy bonuses"] += 1
                self._services.tally["envy_cents"] += bonus["amount_cents"]

    async def _expected(
        self, progressive_id: ProgressiveId, what: str, round_id: RoundId, awaited: Collection[ClaimId]
    ) -> list[dict[str, Any]]:
        """The claims of the round once all the awaited ones are there. Raises Failure where they do not come."""
        backoff = Backoff(self._patience_s)
        while True:
            claims = await self._read(progressive_id, what, round_id)
            missing = set(awaited) - {claim["claim_id"] for claim in claims}
            if not missing:
                return claims
            if not await backoff.wait():
                raise Failure(f"{progressive_id}: no claim {', '.join(sorted(missing))} in {self._patience_s:.0f} s")

    async def _envy(self, progressive_id: ProgressiveId, round_id: RoundId, count: int) -> list[dict[str, Any]]:
        backoff = Backoff(self._patience_s)
        while True:
            due = await self._read(progressive_id, "envy", round_id)
            if len(due) >= count:
                return due
            if not await backoff.wait():
                raise Failure(f"{round_id}: {len(due)} of {count} Envy Bonuses in {self._patience_s:.0f} s")

    async def _read(self, progressive_id: ProgressiveId, what: str, round_id: RoundId) -> list[dict[str, Any]]:
        return await self._services.progressives.get(f"{progressive_id}/{what}", round_id=round_id) or []

    async def _handle(self, progressive_id: ProgressiveId, claim: dict[str, Any]) -> None:
        """The steps that the claim still lacks, in the order of the regulation."""
        claim_id, state, source = claim["claim_id"], claim["state"], claim["source"]
        progressives = self._services.progressives
        if state in ("paid", "rejected"):
            return
        if state == "hit":
            await progressives.command(progressive_id, FLOORPERSON, "ValidatePayout", claim_id=claim_id)
            state = "validated"
        if state == "validated" and source == "hand_pay":
            await progressives.command(
                progressive_id,
                FLOORPERSON,
                "DocumentPayout",
                claim_id=claim_id,
                document=f"hand pay form for {claim_id}",
            )
        if source != "game_account":
            await progressives.command(progressive_id, FLOORPERSON, "PayPayout", claim_id=claim_id)
        self._count(claim)

    def _count(self, claim: dict[str, Any]) -> None:
        """Counts the claim under its level, or under `fixed odds` where it is no share of one."""
        _, share, level = claim["odds"].partition("% of ")
        name = level if share else "fixed odds"
        self._services.tally[f"claims {name}"] += 1
        self._services.tally[f"claims_cents {name}"] += claim["amount_cents"] or 0
