"""What makes one service different from another, and the parts of one at work."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from fastapi import APIRouter

from services.core.rules import RuleBook
from services.flow import Stream
from services.runtime.desk import Desk
from services.runtime.feeds import Extra, Feeds
from services.runtime.forms import Forms
from services.runtime.heartbeat import Heartbeat
from services.runtime.joining import Membership
from services.runtime.kafka import Kafka
from services.runtime.metrics import Figures
from services.runtime.processing import Processing
from services.runtime.projecting import Apply, Log, Projection
from services.runtime.self_check import unexpected
from services.runtime.settings import Settings
from services.runtime.stepping import Processor
from services.runtime.watching import Watch


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


@dataclass(slots=True, eq=False)
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
