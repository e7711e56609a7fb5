"""Progressives over HTTP: claims are validated, documented and paid; displays subscribe."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import HTMLResponse

from services.core import jackpots, sheets
from services.progressive.projection import state_at
from services.runtime.forms import BIGINT_MAX, Forms, moment_ms
from services.runtime.http import EventStream, checked_key, checked_round_id, event_stream, event_stream_of_all
from services.runtime.parts import Parts
from services.runtime.sheets import read_sheet

FORMS = Forms(
    jackpots.PeopleCommand,
    stamped={
        "DocumentPayout": frozenset({"bands"}),
        "ChangeParameters": frozenset({"idle_after_ms"}),
        "CloseProgressive": frozenset({"target_rules", "target_sha256"}),
    },
)
OPEN_READS = re.compile(r"/display(/[^/]+)?|/events|/progressives(/[^/]+)?(/events)?")
"""What displays show, and how they come by it."""
DISPLAY = Path(__file__).with_name("display.html")
MERGED = (jackpots.ContributionAccepted,)
"""What a delta may leave out where it has many: the levels behind it say what these came to. Nothing else."""
UNSAID = frozenset(
    {
        "player_id",
        "account_id",
        "entered_by",
        "validated_by",
        "signed_by",
        "skipped_by",
        "documented_by",
        "proposed_by",
        "approved_by",
        "document",
        "reason",
    }
)
"""What a delta does not tell, because anybody may read it: who won, who did it, and what people wrote."""


def feed(progressive_id: str, state: jackpots.State, events: Sequence[jackpots.Event]) -> dict[str, Any]:
    """A progressive's deltas carry what the screens show behind their events; the claims where they may have changed."""
    shown = jackpots.view(progressive_id, state)
    names = ["progressive_id", "state", "transfer_to", "levels"]
    if not all(isinstance(event, MERGED) for event in events):
        names.append("claims")
    return {name: shown[name] for name in names}


async def stamp(parts: Parts, _: str, command: Any) -> Any:
    """Puts into a command what the processor must not look up: the house's settings, and what another progressive is."""
    match command:
        case jackpots.DocumentPayout():
            return replace(command, bands=parts.settings.signers)
        case jackpots.ChangeParameters():
            return replace(command, idle_after_ms=parts.settings.parameters_idle_ms)
        case jackpots.CloseProgressive(transfer_to):
            target = parts.projection.state_of("jackpots", transfer_to)
            if target is None or target.rules is None or target.end is not None:
                return command
            return replace(command, target_rules=target.rules, target_sha256=target.rules_sha256)
        case _:
            return command


def routes(parts: Parts) -> APIRouter:
    """The reads of this service, and the page for the screen."""
    router = APIRouter(tags=["reads"])
    words = {"{{currency}}": parts.settings.currency, "{{locale}}": parts.settings.locale}
    page = reduce(lambda text, word: text.replace(word, words[word]), words, DISPLAY.read_text())

    def view(progressive_id: str) -> dict[str, Any] | None:
        state = parts.projection.state_of("jackpots", checked_key(progressive_id))
        return None if state is None or not state.levels else jackpots.view(progressive_id, state)

    def known(progressive_id: str) -> dict[str, Any]:
        shown = view(progressive_id)
        if shown is None:
            raise HTTPException(404, f"There is no progressive {progressive_id}.")
        return shown

    async def sheet(progressive_id: str, round_id: str) -> sheets.JackpotSheet:
        found = await read_sheet(
            parts.pool, "jackpots", progressive_id, checked_round_id(round_id), sheets.JackpotSheet
        )
        return sheets.JackpotSheet() if found is None else found

    async def all_of_them() -> dict[str, dict[str, Any]]:
        states = parts.projection.states_of("jackpots")
        return {name: jackpots.view(name, state) for name, state in states.items() if state.levels}

    @router.get("/progressives")
    async def progressives() -> list[dict[str, Any]]:
        """Every progressive, by id."""
        return list((await all_of_them()).values())

    @router.get("/events", response_class=EventStream)
    async def all_events(request: Request) -> EventStream:
        """The feed of all progressives: a snapshot as GET /progressives has it, then each one's numbered deltas."""
        return event_stream_of_all(parts, all_of_them, request)

    @router.get("/progressives/{progressive_id}")
    async def progressive(
        progressive_id: str,
        as_of: str | None = None,
        sequence: Annotated[int | None, Query(ge=1, le=BIGINT_MAX)] = None,
    ) -> dict[str, Any]:
        """One progressive: its levels and what waits; now, as of a past moment, or behind one of its records."""
        now = known(progressive_id)
        moment = moment_ms(as_of)
        if moment is None and sequence is None:
            return now
        then = await state_at(parts.projection, parts.pool, progressive_id, sequence, moment)
        if moment is None and sequence is not None and then.sequence < sequence:
            raise HTTPException(
                404, f"The progressive {progressive_id} has {then.sequence} records, and no {sequence}."
            )
        if not then.levels:
            raise HTTPException(404, f"The progressive {progressive_id} was not open yet.")
        return jackpots.view(progressive_id, then)

    @router.get("/progressives/{progressive_id}/claims")
    async def claims(progressive_id: str, round_id: str | None = None) -> list[dict[str, Any]]:
        """The claims of a round; without a round those that wait."""
        shown = known(progressive_id)
        if round_id is None:
            return list(shown["claims"])
        return sheets.claims_view(await sheet(progressive_id, round_id))

    @router.get("/progressives/{progressive_id}/envy")
    async def envy(progressive_id: str, round_id: str | None = None) -> list[dict[str, Any]]:
        """The Envy Bonuses of a round; without a round those that are due."""
        shown = known(progressive_id)
        if round_id is None:
            return list(shown["envy"])
        return sheets.envy_view(await sheet(progressive_id, round_id))

    @router.get("/progressives/{progressive_id}/events", response_class=EventStream)
    async def events(progressive_id: str, request: Request) -> EventStream:
        """The progressive's feed: a snapshot, then numbered deltas; what is merged in them says `merged`."""
        known(progressive_id)

        async def snapshot() -> dict[str, Any] | None:
            return view(progressive_id)

        return event_stream(parts, progressive_id, snapshot, request)

    @router.get("/display", response_class=HTMLResponse)
    async def overview() -> str:
        """The page for a screen that shows the levels of all progressives of the house."""
        return page

    @router.get("/display/{progressive_id}", response_class=HTMLResponse)
    async def display(progressive_id: str) -> str:
        """The page for the screen on the wall."""
        checked_key(progressive_id)
        return page

    return router
