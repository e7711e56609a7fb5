"""What every service says over HTTP: health, commands and their answers, feeds, and each error as a sentence."""

import asyncio
import hashlib
import json
import logging
import re
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.requests import ClientDisconnect

from services.core.people import why_not
from services.runtime import journal
from services.runtime.connections import DRAINED_BYTES_MAX
from services.runtime.database import DATABASE_AWAY
from services.runtime.desk import Answer, Away, KeyReused
from services.runtime.forms import BODY_BYTES_MAX, COMMAND_ID_PATTERN, ID_PATTERN, KEY_PATTERN, Forms, Malformed
from services.runtime.parts import Parts
from services.runtime.tokens import Person
from services.wire.records import Asked

IDEMPOTENCY_KEY = re.compile(COMMAND_ID_PATTERN)
SEQUENCE = re.compile(r"[0-9]{1,18}")
SENTENCE_MAX = 600
BODY_SECONDS = 30.0

log = logging.getLogger(__name__)


class Exposition(Response):
    """Metrics as Prometheus reads them."""

    media_type = "text/plain; version=0.0.4"


class EventStream(StreamingResponse):
    """A feed of server-sent events."""

    media_type = "text/event-stream"


class Oversized(Malformed):
    """A body that is longer than any request's."""


class Late(Malformed):
    """A body that did not come in time."""


class Forbidden(Exception):
    """Somebody asks for what is not for their role; the sentence says for whom it is."""


class _CatchingUp(Exception):
    """A question to a service that does not know yet what its log says."""


async def knows(request: Request) -> None:
    """A service that has not read its log yet would say that what it does not know is not there, and stamp that into
    commands. A page is the same at any time. Raises _CatchingUp."""
    page = getattr(request.scope.get("route"), "response_class", None) is HTMLResponse
    if not page and not request.app.state.parts.projection.caught_up.is_set():
        raise _CatchingUp


async def proved(request: Request) -> None:
    """Nothing but health and documentation where the service is not made of what was expected. Raises HTTPException."""
    if wrong := request.app.state.parts.unproved():
        raise HTTPException(503, f"This service does not work: {'; '.join(wrong)}.")


def health_routes(app: FastAPI) -> None:
    """Whether it is alive, ready and at work, and its metrics."""

    @app.get("/healthz", tags=["health"])
    async def healthz() -> dict[str, bool]:
        """The process is alive."""
        return {"ok": True}

    @app.get("/readyz", tags=["health"], responses={503: {"description": "Something is missing; it is named"}})
    async def readyz() -> JSONResponse:
        """Whether the service can serve; where not, what is missing."""
        said = app.state.parts.readiness()
        return JSONResponse(said, 200 if said["ready"] else 503)

    @app.get("/heartbeat", tags=["health"], responses={503: {"description": "It does not work at this moment"}})
    async def heartbeat() -> JSONResponse:
        """Whether the service works at this moment: it is ready, and has heard of its log within the last second; and how
        long ago that was."""
        parts = app.state.parts
        beats = parts.readiness()["ready"] and parts.projection.fresh
        return JSONResponse({"beats": beats, "age_ms": parts.projection.age_ms}, 200 if beats else 503)

    @app.get("/metrics", tags=["health"], response_class=Exposition)
    async def metrics() -> Exposition:
        """Prometheus metrics."""
        return Exposition(await app.state.metrics.exposition())


def error_routes(app: FastAPI) -> None:
    """What each kind of error is answered with: a status, and a sentence."""

    @app.exception_handler(Malformed)
    async def malformed(request: Request, error: Malformed) -> JSONResponse:
        request.app.state.parts.malformed_total += 1
        status = 413 if isinstance(error, Oversized) else 408 if isinstance(error, Late) else 422
        # Who still sends is told to leave off.
        return JSONResponse({"malformed": str(error)}, status, {} if status == 422 else {"Connection": "close"})

    @app.exception_handler(ClientDisconnect)
    async def left(_: Request, __: ClientDisconnect) -> Response:
        # Nobody is there to read it.
        return Response(status_code=400)

    @app.exception_handler(RequestValidationError)
    async def misfit(request: Request, error: RequestValidationError) -> JSONResponse:
        said = dict.fromkeys(
            f"{problem['loc'][-1]}: {problem['msg'].replace('Input should', 'it must')}." for problem in error.errors()
        )
        return await malformed(request, Malformed(" ".join(said)[:SENTENCE_MAX]))

    @app.exception_handler(Forbidden)
    async def forbidden(request: Request, error: Forbidden) -> JSONResponse:
        request.app.state.parts.forbidden_total += 1
        return JSONResponse({"forbidden": str(error)}, 403)

    @app.exception_handler(_CatchingUp)
    async def catching_up(request: Request, error: _CatchingUp) -> JSONResponse:
        said = f"{request.app.state.parts.settings.service} has not read its log to the end yet: ask again."
        return JSONResponse({"detail": said}, 503, {"Retry-After": "1"})

    @app.exception_handler(Away)
    async def away(_: Request, error: Away) -> JSONResponse:
        said = (
            f"{' and '.join(error.names)} cannot be reached. The command may or may not have been taken:"
            " send it again with the same Idempotency-Key."
        )
        return JSONResponse({"away": error.names, "detail": said}, 503, {"Retry-After": "1"})

    async def lost(request: Request, error: Exception) -> JSONResponse:
        log.warning("%s: %s", request.url.path, error)
        return JSONResponse({"away": ["postgres"], "detail": "postgres cannot be reached."}, 503, {"Retry-After": "1"})

    for kind in DATABASE_AWAY:
        app.add_exception_handler(kind, lost)


def command_routes(parts: Parts, forms: Forms) -> APIRouter:
    """Commands to the keys of a service, and what became of one."""
    router = APIRouter()
    desk, path = parts.desk, parts.definition.path
    assert desk is not None
    schema = {"requestBody": {"required": True, "content": {"application/json": {"schema": _inlined(forms.schema())}}}}

    @router.post(f"/{path}/{{key}}/commands", tags=["commands"], openapi_extra=schema)
    async def ask(key: str, request: Request) -> Response:
        """Asks for one thing; answers once the log holds the outcome."""
        came_at = time.monotonic()
        body = await read_body(request)
        command = forms.read(body)
        checked_key(key)
        person: Person = request.state.person
        told = request.headers.getlist("idempotency-key")
        if len(told) > 1:
            raise Malformed(f"There are {len(told)} Idempotency-Keys. A command has one.")
        command_id = _checked_command_id(told[0] if told else str(uuid.uuid4()))
        actor = person.name
        _may_ask(person, command)
        asked = Asked(command_id, actor, _request_hash(key, actor, body), command)
        tells = journal.commands.isEnabledFor(logging.INFO)
        about: dict[str, Any] = {
            "command_id": command_id,
            "command": type(command).__name__,
            "key": key,
            "actor": actor,
        }
        if tells:
            journal.commands.info("asked", extra=about)
        try:
            if parts.definition.stamp is not None and await desk.known(command_id) is None:
                asked = replace(asked, command=await parts.definition.stamp(parts, key, command))
            answer = await desk.ask(key, asked)
        except KeyReused:
            raise Malformed(
                f"The Idempotency-Key {command_id} was used for another request. Use a new key for each command."
            ) from None
        except Away:
            desk.took("away", came_at)
            raise
        desk.took("late" if answer is None else "done" if answer.status == 200 else "refused", came_at)
        if tells:
            ended = {
                "status": 202 if answer is None else answer.status,
                "seconds": round(time.monotonic() - came_at, 4),
            }
            journal.commands.info("answered", extra=about | ended)
        return _response(command_id, answer)

    @router.get("/commands/{command_id}", tags=["commands"])
    async def outcome(command_id: str) -> Response:
        """The outcome of a command by its Idempotency-Key, for seven days."""
        known = await desk.known(_checked_command_id(command_id))
        if known is None:
            return JSONResponse({"unknown": "The log has not answered a command with that Idempotency-Key."}, 404)
        return _response(command_id, known[1])

    return router


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A JSON schema with its definitions put where they are referred to, as OpenAPI wants it in one place."""
    definitions = schema.pop("$defs", {})
    return {"oneOf": [definitions[part["$ref"].rsplit("/", 1)[-1]] for part in schema.get("oneOf", [])]}


def _response(command_id: str, answer: Answer | None) -> Response:
    headers = {"Idempotency-Key": command_id}
    if answer is None:
        look = f"/commands/{command_id}"
        said = {"look": look, "detail": "The log has not answered yet. Look there, or send the same command again."}
        return JSONResponse(said, 202, headers | {"Location": look})
    if answer.hit:
        headers["Idempotency-Hit"] = "true"
    return Response(answer.body, answer.status, headers, media_type="application/json")


def _may_ask(person: Person, command: Any) -> None:
    """Raises Forbidden where the command is not for somebody of these roles."""
    reason = why_not(person.name, person.roles, type(command).__name__)
    if reason is not None:
        raise Forbidden(reason)


def _checked_command_id(command_id: str) -> str:
    if not IDEMPOTENCY_KEY.fullmatch(command_id):
        raise Malformed("An Idempotency-Key is 1 to 128 letters, digits or any of . _ : = + - and nothing else.")
    return command_id


async def read_body(request: Request) -> bytes:
    """The body. Raises Oversized, Late, ClientDisconnect."""
    body, length = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                # Read on for a while: a caller who is cut off while it sends would not see the answer.
                length += len(part)
                body += part[: max(0, BODY_BYTES_MAX - len(body))]
                if length > DRAINED_BYTES_MAX:
                    break
    except TimeoutError:
        raise Late(f"The body did not come within {BODY_SECONDS:.0f} seconds.") from None
    if length > BODY_BYTES_MAX:
        raise Oversized(f"The body is too long: at most {BODY_BYTES_MAX} bytes are read.")
    return bytes(body)


def _request_hash(key: str, actor: str, body: bytes) -> bytes:
    """Of what was asked, not of how this version understands it: a repeat after an update is still the same."""
    document = json.dumps([key, actor, json.loads(body)], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).digest()


def checked_key(key: str) -> str:
    """An id from a path. Raises Malformed."""
    if not re.fullmatch(KEY_PATTERN, key):
        raise Malformed("An id in the path is letters, digits, dashes and underscores, at most 64.")
    return key


def checked_round_id(round_id: str) -> str:
    """A round's id, from a path or a query: longer than the table's. Raises Malformed."""
    if not re.fullmatch(ID_PATTERN, round_id):
        raise Malformed("A round's id is letters, digits, dots, dashes and underscores, at most 128.")
    return round_id


def event_stream(
    parts: Parts, key: str, snapshot: Callable[[], Awaitable[dict[str, Any] | None]], request: Request
) -> EventStream:
    """The feed of a key as an HTTP response; resumes behind the Last-Event-ID."""
    assert parts.feeds is not None
    said = request.headers.get("last-event-id", "")
    return _streamed(parts.feeds.read(key, snapshot, int(said) if SEQUENCE.fullmatch(said) else None))


def event_stream_of_all(
    parts: Parts, snapshot: Callable[[], Awaitable[dict[str, dict[str, Any]]]], request: Request
) -> EventStream:
    """The feed of all keys; its ids are `KEY:SEQUENCE` of each key, with commas between, and it resumes behind them."""
    assert parts.feeds is not None
    said = [part.rpartition(":") for part in request.headers.get("last-event-id", "").split(",")]
    known = all(SEQUENCE.fullmatch(sequence) for _, _, sequence in said)
    return _streamed(parts.feeds.read_all(snapshot, {key: int(sequence) for key, _, sequence in said} if known else {}))


def _streamed(frames: AsyncIterator[bytes]) -> EventStream:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return EventStream(frames, headers=headers)
