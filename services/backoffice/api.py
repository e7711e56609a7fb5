"""The back office over HTTP: operations, the payout desk, a round as it was played, the archive, and the par sheets."""

import contextlib
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse

from services.backoffice import par
from services.backoffice.archive import read_records, read_round
from services.backoffice.best_play import BestPlays
from services.backoffice.desk import FORWARDED, PayoutDesk
from services.backoffice.forwarding import Forwarding, errand_of
from services.backoffice.operations import operations_of
from services.backoffice.reconstruction import RoundIncomplete
from services.core.rules import RuleBook
from services.flow import logs
from services.runtime.door import UNNAMED, is_json, token_of
from services.runtime.forms import BIGINT_MAX, KEY_PATTERN, Malformed
from services.runtime.http import checked_key, checked_round_id, read_body
from services.runtime.parts import Parts

FOLDER = Path(__file__).parent
RECORDS_MAX = 1_000
ROUND_PLACEHOLDER = "/*ROUND*/null"
SLIP_PLACEHOLDER = "/*SLIP*/null"
SEEN_WITHIN_SECONDS = 2.0
"""How long an answer at the desk waits until the desk's own reads have what it says."""


ERRAND = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "description": "The command as the progressive takes it, with the progressive's id.",
                    "properties": {
                        "progressive_id": {"type": "string", "pattern": KEY_PATTERN},
                        "command": {"type": "string", "enum": sorted(FORWARDED)},
                    },
                    "required": ["progressive_id", "command"],
                }
            }
        },
    }
}


def for_script(value: Any) -> str:
    """JSON that may stand inside a script element: nothing in it ends the element or a line of it."""
    text = orjson.dumps(value).decode()
    for raw in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(raw, f"\\u{ord(raw):04x}")
    return text


def routes(parts: Parts) -> APIRouter:
    """The reads of this service, and its pages."""
    router = APIRouter(tags=["reads"])
    router.include_router(_round_routes(parts))
    router.include_router(_desk_routes(parts))
    router.include_router(par_routes(parts.book, BestPlays(parts.settings.par_cache)))
    operations_page = (FOLDER / "operations.html").read_text()
    operations = operations_of(parts)

    @router.get("/", response_class=HTMLResponse)
    async def page() -> str:
        """The operations page."""
        return operations_page

    @router.get("/operations")
    async def state_of_operations(request: Request) -> dict[str, Any]:
        """What the operations page shows."""
        said = await operations.read()
        host = request.url.hostname or "127.0.0.1"
        shown = [{**each, "display_url": each["display_url"].format(host=host)} for each in said["progressives"]]
        return {**said, "progressives": shown}

    @router.get("/records/{stream}/{key}")
    async def records(
        stream: str,
        key: str,
        start: int = Query(1, alias="from", ge=1, le=BIGINT_MAX),
        limit: int = Query(100, ge=1, le=RECORDS_MAX),
    ) -> list[dict[str, Any]]:
        """The archived records of a key, from a sequence on."""
        if stream not in logs():
            raise HTTPException(404, f"There is no log {stream}. The logs are {', '.join(logs())}.")
        found = await read_records(parts.pool, stream, checked_key(key), start, limit)
        if not found and start == 1:
            raise HTTPException(404, f"The log {stream} has no records of {key}.")
        return found

    return router


def _round_routes(parts: Parts) -> APIRouter:
    router = APIRouter()
    round_page = (FOLDER / "reconstruction.html").read_text()
    assert ROUND_PLACEHOLDER in round_page, "the page has no place for the round"

    async def round_of(round_id: str) -> dict[str, Any]:
        try:
            found = await read_round(parts.pool, checked_round_id(round_id))
        except RoundIncomplete as error:
            raise HTTPException(404, str(error)) from None
        if found is None:
            raise HTTPException(404, f"There is no round {round_id} in the archive.")
        return found

    @router.get("/rounds/{round_id}/reconstruction", response_class=HTMLResponse)
    async def reconstruction(round_id: str) -> str:
        """The page of a round as it was played."""
        return round_page.replace(ROUND_PLACEHOLDER, for_script(await round_of(round_id)), 1)

    @router.get("/rounds/{round_id}/reconstruction.json")
    async def reconstruction_json(round_id: str) -> dict[str, Any]:
        """A round as it was played, as JSON."""
        return await round_of(round_id)

    return router


def _desk_routes(parts: Parts) -> APIRouter:
    router = APIRouter()
    desk_page = (FOLDER / "desk.html").read_text()
    slip_page = (FOLDER / "slip.html").read_text()
    assert SLIP_PLACEHOLDER in slip_page, "the page has no place for the slip"
    desk = PayoutDesk(parts)
    forwarding = Forwarding(parts.settings.progressive_url, parts.settings.answer_seconds)
    asks_for_tokens = parts.settings.jwks is not None

    def is_named(request: Request) -> bool:
        return asks_for_tokens or request.state.person.name != UNNAMED

    async def slip_of(progressive_id: str, number: int) -> dict[str, Any]:
        found = await desk.slip(checked_key(progressive_id), number)
        if found is None:
            raise HTTPException(404, f"The progressive {progressive_id} has given no slip {number}.")
        return found

    @router.get("/desk", response_class=HTMLResponse)
    async def page() -> str:
        """The payout desk's page."""
        return desk_page

    @router.get("/desk/claims")
    async def claims(request: Request, response: Response) -> dict[str, Any]:
        """What waits for a person at all progressives, what whoever asks may do with it, the last awards and slips."""
        response.headers["Cache-Control"] = "no-store"
        return await desk.read(desk.asker(request.state.person, is_named(request)))

    @router.post("/desk/commands", tags=["commands"], openapi_extra=ERRAND)
    async def ask(request: Request) -> Response:
        """Takes a command about a claim or an Envy Bonus, with its `progressive_id`, to the progressive service in the
        name of whoever asks, and gives its answer as it is."""
        if not is_json(request.headers):
            raise Malformed("Send the command as JSON, with Content-Type: application/json.")
        key = request.headers.get("idempotency-key")
        if key is None:
            raise Malformed("Send an Idempotency-Key: a command at the desk must not be carried out twice.")
        if not is_named(request):
            raise Malformed("Say who you are: send your name as X-Actor.")
        errand = errand_of(await read_body(request))
        checked_key(errand.progressive_id)
        token = token_of(request.headers)
        said_by = {"Authorization": f"Bearer {token}"} if asks_for_tokens else {"X-Actor": request.state.person.name}
        said = await forwarding.ask(errand, {"Idempotency-Key": key, **said_by})
        if said.sequence is not None:
            with contextlib.suppress(TimeoutError):
                await parts.projection.reach_record(
                    "jackpots", errand.progressive_id, said.sequence, SEEN_WITHIN_SECONDS
                )
        return Response(said.body, said.status, said.headers)

    @router.get("/desk/slips/{progressive_id}/{slip_number}.json")
    async def slip_json(
        progressive_id: str, slip_number: Annotated[int, InPath(ge=1, le=BIGINT_MAX)]
    ) -> dict[str, Any]:
        """A slip, as JSON."""
        return await slip_of(progressive_id, slip_number)

    @router.get("/desk/slips/{progressive_id}/{slip_number}", response_class=HTMLResponse)
    async def slip(progressive_id: str, slip_number: Annotated[int, InPath(ge=1, le=BIGINT_MAX)]) -> str:
        """A slip to be printed, on one page."""
        return slip_page.replace(SLIP_PLACEHOLDER, for_script(await slip_of(progressive_id, slip_number)), 1)

    return router


def par_routes(book: RuleBook, best_plays: BestPlays) -> APIRouter:
    """The par sheets of the submissions held, and their page."""
    router = APIRouter()
    par_page = (FOLDER / "par.html").read_text()

    @router.get("/par", response_class=HTMLResponse)
    async def list_page() -> str:
        """The page of all submissions held."""
        return par_page

    @router.get("/par.json")
    async def list_json() -> list[dict[str, Any]]:
        """Every submission held, with what is implausible about it."""
        return par.listed(book, best_plays)

    @router.get("/par/{rules}.json")
    async def sheet_json(rules: str, in_force_from: date | None = None) -> dict[str, Any]:
        """A par sheet, every figure as an exact fraction and as a decimal. `best_play` says how far the main game is."""
        try:
            return par.shown(par.chosen(book, rules, in_force_from), best_plays)
        except par.NotHeld as error:
            raise HTTPException(404, str(error)) from None

    @router.get("/par/{rules}", response_class=HTMLResponse)
    async def sheet_page(rules: str, in_force_from: date | None = None) -> str:
        """The page of a par sheet."""
        try:
            par.chosen(book, rules, in_force_from)
        except par.NotHeld as error:
            raise HTTPException(404, str(error)) from None
        return par_page

    return router
