"""A service put together: settings, broker, database, processor, projection and HTTP, started and stopped in order."""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import asyncpg
import uvicorn
from fastapi import Depends, FastAPI

from services.core.rules import RuleBook
from services.runtime import journal
from services.runtime.answers import described
from services.runtime.connections import bounded
from services.runtime.database import DATABASE_AWAY, pool_of, reason_of
from services.runtime.desk import Desk
from services.runtime.door import Door
from services.runtime.feeds import Feeds
from services.runtime.heartbeat import Heartbeat
from services.runtime.http import command_routes, error_routes, health_routes, knows, proved
from services.runtime.joining import Membership
from services.runtime.kafka import Kafka
from services.runtime.metrics import Metrics
from services.runtime.par import warn_of_the_implausible
from services.runtime.parts import Definition, Parts
from services.runtime.processing import Processing
from services.runtime.projecting import PostgresReaders, Projection
from services.runtime.provision import TopicWrong, provision_tables, provision_topics
from services.runtime.published import load_paytables
from services.runtime.security import SettingWrong, TurnedAway
from services.runtime.self_check import configuration_sha256, software_sha256
from services.runtime.settings import Settings, environment, settings_from
from services.runtime.snapshots import PostgresTables, Snapshots
from services.runtime.stepping import Stepper
from services.runtime.submissions import load
from services.runtime.tokens import Tokens
from services.runtime.vital import end_process, failures
from services.runtime.watching import Watch
from services.runtime.yaml_files import RulesUnreadable

START_AGAIN_SECONDS = 1.0
STUCK_MS = 10_000
"""How long a client may take nothing of what it is sent. Its connection is ended then: a feed would wait for ever."""

log = logging.getLogger(__name__)
Reading = TypeVar("Reading", bound=Projection)


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
            log.warning("waits for %s: %s", name, reason_of(error))
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
            try:
                await parts.desk.forget_old(time.time_ns() // 1_000_000)
            except DATABASE_AWAY as error:
                log.warning("old outcomes are dropped in an hour: %s", reason_of(error))
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
        asked = [Depends(proved), *([Depends(knows)] if definition.stream is not None else [])]
        app.include_router(definition.routes(parts), dependencies=asked)
        if definition.forms is not None:
            app.include_router(command_routes(parts, definition.forms), dependencies=asked)
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
    health_routes(app)
    error_routes(app)
    return app


def _end_on_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        end_process(f"cannot start: {task.exception()}")


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
