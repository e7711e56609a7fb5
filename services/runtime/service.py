"""A service put together: settings, broker, database, processor, projection and HTTP, started and stopped in order."""

import asyncio
import contextlib
import gc
import hashlib
import json
import logging
import re
import signal
import socket
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import asyncpg
import uvicorn
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, StreamingResponse
from starlette.requests import ClientDisconnect

from services.core.people import why_not
from services.core.rules import RuleBook
from services.flow import Stream
from services.runtime import journal
from services.runtime.answers import described
from services.runtime.connections import DRAINED_BYTES_MAX, bounded
from services.runtime.database import DATABASE_AWAY, pool_of
from services.runtime.desk import Answer, Away, Desk, KeyReused
from services.runtime.door import Door
from services.runtime.feeds import Extra, Feeds
from services.runtime.forms import BODY_BYTES_MAX, COMMAND_ID_PATTERN, ID_PATTERN, KEY_PATTERN, Forms, Malformed
from services.runtime.heartbeat import Heartbeat
from services.runtime.joining import Membership
from services.runtime.kafka import Kafka
from services.runtime.metrics import Figures, Metrics
from services.runtime.par import warn_of_the_implausible
from services.runtime.processing import Processing
from services.runtime.projecting import Apply, Log, PostgresReaders, Projection
from services.runtime.provision import TopicWrong, provision_tables, provision_topics
from services.runtime.published import load_paytables
from services.runtime.security import SettingWrong, TurnedAway
from services.runtime.self_check import configuration_sha256, software_sha256, unexpected
from services.runtime.settings import Settings, environment, settings_from
from services.runtime.snapshots import PostgresTables, Snapshots
from services.runtime.stepping import Processor, Stepper
from services.runtime.submissions import load
from services.runtime.tokens import Person, Tokens
from services.runtime.vital import end_process, failures
from services.runtime.watching import Watch
from services.runtime.yaml_files import RulesUnreadable
from services.wire.records import Asked

IDEMPOTENCY_KEY = re.compile(COMMAND_ID_PATTERN)
SEQUENCE = re.compile(r"[0-9]{1,18}")
START_AGAIN_SECONDS = 1.0
SENTENCE_MAX = 600
BODY_SECONDS = 30.0
STUCK_MS = 10_000
"""How long a client may take nothing of what it is sent. Its connection is ended then: a feed would wait for ever."""

log = logging.getLogger(__name__)
Reading = TypeVar("Reading", bound=Projection)


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


@dataclass(frozen=True, slots=True)
class Definition:
    """What makes one service different from another.

    `logs` are what its projection reads, its own first; `path` is that of its commands; `routes` adds its
    reads; `feed` gives what each delta carries beside the events, `merged` are the kinds of events that its deltas may
    leave out, `unsaid` the fields of events that they do not tell; `stamp` fills in what only the API knows;
    `figures` are the metrics that it alone has; `shapes` are the kinds of rows that the projection folds beside the states
    of its logs; `linked` where it listens
    whether the progressive controller answers; `open_reads` are the paths that anybody may read without a token.
    """

    name: str
    port: int
    logs: tuple[Log, ...]
    apply: Apply
    routes: Callable[["Parts"], APIRouter]
    stream: Stream | None = None
    processor: Processor | None = None
    forms: Forms | None = None
    path: str = ""
    feed: Extra | None = None
    merged: tuple[type, ...] = ()
    unsaid: frozenset[str] = frozenset()
    stamp: Callable[["Parts", str, Any], Awaitable[Any]] | None = None
    figures: Callable[["Parts"], Figures] | None = None
    shapes: tuple[type, ...] = ()
    linked: bool = False
    open_reads: re.Pattern[str] | None = None


@dataclass(slots=True)
class Parts:
    """The parts of a running service."""

    definition: Definition
    settings: Settings
    book: RuleBook
    kafka: Kafka
    pool: asyncpg.Pool
    watch: Watch
    projection: Projection
    processing: Processing | None
    membership: Membership | None
    desk: Desk | None
    feeds: Feeds | None
    heartbeat: Heartbeat | None
    made_of: dict[str, str]
    """The hashes of the software and of the configuration."""
    provisioned: asyncio.Event = field(default_factory=asyncio.Event)
    malformed_total: int = 0
    forbidden_total: int = 0

    def readiness(self) -> dict[str, Any]:
        """What /readyz says: ready, and what is missing where not."""
        missing = self.unproved() or self._missing()
        said = {"ready": not missing, "service": self.settings.service, "missing": missing, "made_of": self.made_of}
        return said if self.heartbeat is None else {**said, "progressive_age_ms": self.heartbeat.age_ms}

    def unproved(self) -> list[str]:
        """In what the service differs from what it was told to expect of itself, a sentence each."""
        return unexpected(self.made_of, self.settings)

    def _missing(self) -> list[str]:
        missing = list(self.watch.away)
        if not self.provisioned.is_set():
            missing.append("topics and tables")
        elif not self.projection.caught_up.is_set():
            missing.append("the projection is catching up with the log")
        if self.projection.alarm is not None:
            missing.append(f"projection: {self.projection.alarm}")
        if self.projection.waits is not None and not self.watch.away:
            # Both answer, and yet nothing can be written: a disk is full, say.
            missing.append(f"the projection waits: {self.projection.waits}")
        if self.processing is not None:
            if self.provisioned.is_set() and not self.processing.ready:
                missing.append("the processor waits for its partitions")
            if self.processing.failing is not None:
                missing.append(f"the processor fails: {self.processing.failing}")
            if self.processing.waits is not None and not self.watch.away:
                missing.append(f"the processor waits: {self.processing.waits}")
            missing += [f"partition {number}: {why}" for number, why in sorted(self.processing.stopped.items())]
        return missing


def projection_of(
    definition: Definition, desk: Desk | None, kafka: Kafka, pool: asyncpg.Pool, kind: type[Reading]
) -> Reading:
    """A service's projection: the outcomes of its desk and its own rows, in one transaction."""

    async def apply(connection: Any, facts: Any) -> None:
        if desk is not None:
            await desk.project(connection, facts)
        await definition.apply(connection, facts)

    tables = PostgresReaders(pool, definition.name)
    return kind(definition.name, definition.logs, apply, kafka, tables, definition.shapes)


def _parts(definition: Definition, settings: Settings, book: RuleBook, pool: asyncpg.Pool) -> Parts:
    kafka = Kafka(settings.kafka, settings.kafka_security)
    watch = Watch(kafka, pool, definition.logs[0].topic)
    desk = None
    if definition.forms is not None and definition.stream is not None:
        desk = Desk(definition.stream, kafka, pool, watch, settings.answer_seconds)
    projection = projection_of(definition, desk, kafka, pool, Projection)
    feeds = None
    if definition.feed is not None:
        topic, queue_max = definition.logs[0].topic, settings.feed_queue_max
        feeds = Feeds(topic, lambda: projection.fresh, queue_max, definition.feed, definition.merged, definition.unsaid)
        projection.listeners.append(feeds.tell)
        projection.on_missed.append(feeds.begin_again)
    if desk is not None:
        desk.follow(projection)
    processing = membership = None
    if definition.processor is not None:
        stepper = Stepper(definition.processor, book, settings.journal_commands)
        processing = Processing(stepper, kafka, Snapshots(PostgresTables(pool, stepper.stream.name), stepper))
        membership = Membership(processing, kafka, settings.instance)
    heartbeat = Heartbeat(settings.progressive_url) if definition.linked else None
    made_of = {"software": software_sha256(), "configuration": configuration_sha256(book, settings)}
    log.info("made of software %s, configuration %s", made_of["software"], made_of["configuration"])
    return Parts(
        definition, settings, book, kafka, pool, watch, projection, processing, membership, desk, feeds, heartbeat,
        made_of,
    )  # fmt: skip


async def _until_there(name: str, parts: Parts, act: Callable[[], Awaitable[Any]]) -> None:
    """Tries again until the broker or the database is there; whoever asks /readyz sees which is not."""
    while True:
        try:
            await act()
        except (TopicWrong, TurnedAway):
            raise
        except Exception as error:
            parts.watch.note(name, False)
            log.warning("waits for %s: %s", name, error)
            await asyncio.sleep(START_AGAIN_SECONDS)
        else:
            parts.watch.note(name, True)
            return


async def _start(parts: Parts) -> None:
    """Topics and tables, then projection and processor; tries again until the broker and the database are there.

    A service that is not made of what was expected reads nothing, decides nothing and writes nothing.
    """
    if wrong := parts.unproved():
        log.critical("does not begin to work: %s", "; ".join(wrong))
        return
    told = parts.settings
    await _until_there("kafka", parts, lambda: provision_topics(told.kafka, told.kafka_security, told.copies))
    await _until_there("postgres", parts, lambda: provision_tables(told.postgres))
    parts.provisioned.set()
    parts.watch.start()
    parts.projection.start()
    if parts.heartbeat is not None:
        parts.heartbeat.start()
    if parts.membership is not None:
        await parts.membership.start()
    # What is here now stays. To look through it again and again would hold up everything for a tenth of a second.
    gc.collect()
    gc.freeze()
    while True:
        if parts.desk is not None:
            with contextlib.suppress(*DATABASE_AWAY):
                await parts.desk.forget_old(time.time_ns() // 1_000_000)
        await asyncio.sleep(3600)


async def _stop(parts: Parts, starting: asyncio.Task[None]) -> None:
    starting.cancel()
    await asyncio.gather(starting, return_exceptions=True)
    if parts.membership is not None:
        await parts.membership.stop()
    await parts.projection.stop()
    if parts.heartbeat is not None:
        await parts.heartbeat.stop()
    await parts.watch.stop()
    await parts.kafka.close()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(parts.pool.close(), 3)


def app_of(definition: Definition, settings: Settings, book: RuleBook) -> FastAPI:
    """The HTTP application of a service; its lifespan starts and stops the rest."""

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        pool = await pool_of(settings.postgres)
        parts = _parts(definition, settings, book, pool)
        app.state.parts = parts
        app.state.metrics = Metrics(parts, None if definition.figures is None else definition.figures(parts))
        # The back office shows how far it is itself.
        asked = [Depends(_proved), *([Depends(_knows)] if definition.stream is not None else [])]
        app.include_router(definition.routes(parts), dependencies=asked)
        if definition.forms is not None:
            app.include_router(_command_routes(parts, definition.forms), dependencies=asked)
        starting = asyncio.create_task(_start(parts), name="start")
        starting.add_done_callback(_end_on_failure)
        try:
            yield
        finally:
            await _stop(parts, starting)

    app = FastAPI(title=f"Roundlog {definition.name}", version="1", lifespan=lifespan)
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = described(plain(), definition.open_reads)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    tokens = None if settings.jwks is None else Tokens(settings.jwks, settings.issuer, settings.audience)
    app.add_middleware(Door, service=definition.name, tokens=tokens, open_reads=definition.open_reads)
    _health_routes(app)
    _error_routes(app)
    return app


class _CatchingUp(Exception):
    """A question to a service that does not know yet what its log says."""


async def _knows(request: Request) -> None:
    """A service that has not read its log yet would say that what it does not know is not there, and stamp that into
    commands. A page is the same at any time. Raises _CatchingUp."""
    page = getattr(request.scope.get("route"), "response_class", None) is HTMLResponse
    if not page and not request.app.state.parts.projection.caught_up.is_set():
        raise _CatchingUp


async def _proved(request: Request) -> None:
    """Nothing but health and documentation where the service is not made of what was expected. Raises HTTPException."""
    if wrong := request.app.state.parts.unproved():
        raise HTTPException(503, f"This service does not work: {'; '.join(wrong)}.")


def _end_on_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        end_process(f"cannot start: {task.exception()}")


def _health_routes(app: FastAPI) -> None:
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


def _error_routes(app: FastAPI) -> None:
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


def _command_routes(parts: Parts, forms: Forms) -> APIRouter:
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
        command_id = _checked_command_id(request.headers.get("idempotency-key", str(uuid.uuid4())))
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


class _Server(uvicorn.Server):
    """Ends the open feeds first: they would keep the server from stopping."""

    async def shutdown(self, sockets: Any = None) -> None:
        parts = getattr(self.config.app.state, "parts", None)  # type: ignore[union-attr]
        if parts is not None and parts.feeds is not None:
            parts.feeds.close()
        await super().shutdown(sockets)


def run(definition: Definition) -> None:
    """Runs a service until it is told to stop."""
    try:
        settings = settings_from(environment(), definition.name, definition.port)
        journal.begin(settings.journal, settings.service, settings.instance, settings.journal_commands)
        book = load(settings.rules, load_paytables(settings.paytables))
    except (SettingWrong, RulesUnreadable) as error:
        sys.exit(str(error))
    log.info("%s", settings.shown())
    warn_of_the_implausible(book, settings.par_cache)
    app = app_of(definition, settings, book)
    config = uvicorn.Config(
        app, host=settings.host, port=settings.port, log_config=None, access_log=False, timeout_graceful_shutdown=3,
        backlog=4096, loop="uvloop", http=bounded(settings.connections_max), ws="none",
    )  # fmt: skip
    listening = config.bind_socket()
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Each connection inherits it.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STUCK_MS)
    for number in (signal.SIGTERM, signal.SIGINT):
        # The server passes on what it was stopped by, once all is closed.
        signal.signal(number, lambda *_: sys.exit(1 if failures else 0))
    try:
        _Server(config).run(sockets=[listening])
    finally:
        log.info("stopped")
