"""What Prometheus reads of a service.

Counters and the histogram are what this instance did: over several instances take the sum. Gauges that are read off a
log or the database are the same in each instance: take the maximum.
"""

import contextlib
import resource
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from services.runtime.database import DATABASE_AWAY

if TYPE_CHECKING:
    from services.runtime.parts import Parts

Figures = Callable[[], Awaitable[Sequence[Metric]]]
"""What one service alone has to say, asked at each scrape. May raise one of DATABASE_AWAY: then it says nothing."""


def gauge(name: str, text: str, value: float | None = None) -> GaugeMetricFamily:
    """A gauge without labels."""
    return GaugeMetricFamily(name, text, value=value)


def gauges(
    name: str, text: str, labels: Sequence[str], values: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    """A gauge for each combination of labels."""
    family = GaugeMetricFamily(name, text, labels=labels)
    for said, value in values:
        family.add_metric(said, value)
    return family


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(name, text, value=value)


def command_seconds() -> Histogram:
    """How long commands of people take. `outcome`: done, refused, late (202) or away (503)."""
    seconds = Histogram(
        "roundlog_command_seconds",
        "Seconds from a person's command coming in over HTTP to its answer, by outcome.",
        ["outcome"],
        buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
        registry=None,
    )
    for outcome in ("done", "refused", "late", "away"):
        seconds.labels(outcome)  # from 0 on, so that the first of them is a growth too
    return seconds


class Metrics:
    """The metrics of one service."""

    def __init__(self, parts: "Parts", figures: Figures | None) -> None:
        self._parts = parts
        self._figures = figures
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        if parts.desk is not None:
            self._registry.register(parts.desk.seconds)

    async def exposition(self) -> bytes:
        """All of them, in the text format."""
        found: Sequence[Metric] = ()
        if self._figures is not None:
            # roundlog_part_away says it where the database is away.
            with contextlib.suppress(*DATABASE_AWAY):
                found = await self._figures()
        return generate_latest(self._registry) + generate_latest(_Found(found))

    def collect(self) -> Iterator[Metric]:
        """What every service has to say."""
        parts = self._parts
        yield gauge("roundlog_ready", "1 when the service can serve, as /readyz says.", int(parts.readiness()["ready"]))
        yield gauge(
            "roundlog_auth_required",
            "1 when whoever asks must show a token, 0 with AUTH=off.",
            int(parts.settings.jwks is not None),
        )
        away = {(name,): int(not answers) for name, answers in parts.watch.answers.items()}
        yield gauges("roundlog_part_away", "1 when the broker or the database does not answer.", ["part"], away.items())
        yield gauge(
            "roundlog_memory_peak_bytes",
            "Peak resident memory in bytes.",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
        yield _counter("roundlog_forbidden", "Commands that were not for the asker's role.", parts.forbidden_total)
        yield _counter("roundlog_malformed", "Requests that were not of the form asked for.", parts.malformed_total)
        yield from self._of_projection()
        if parts.desk is not None:
            yield _counter("roundlog_commands_appended", "Commands of people appended.", parts.desk.appended_total)
        if parts.feeds is not None:
            yield gauge(
                "roundlog_feeds_open",
                "Open event feeds: displays, and whoever else reads along.",
                parts.feeds.open_count,
            )
            yield _counter(
                "roundlog_feeds_dropped",
                "Readers of a feed that were sent away: too slow, or deltas were left out.",
                parts.feeds.dropped_total,
            )
        if parts.heartbeat is not None:
            yield gauge(
                "roundlog_progressive_heartbeat_age_seconds",
                "Seconds since the progressive controller was asked the question that it last answered.",
                parts.heartbeat.age_ms / 1000,
            )
        yield from self._of_processor()

    def _of_projection(self) -> Iterator[Metric]:
        projection = self._parts.projection
        yield gauge(
            "roundlog_projection_staleness_seconds",
            "Seconds since broker and database both answered the projection. Displays say STALE from 1 on.",
            projection.age_ms / 1000,
        )
        yield gauge(
            "roundlog_projection_stopped",
            "1 while the projection stands still before a contradiction in its log, or fails and begins again.",
            int(projection.alarm is not None),
        )
        behind = {(topic, str(partition)): records for (topic, partition), records in projection.behind().items()}
        yield gauges(
            "roundlog_projection_behind_records",
            "Records of a log that the projection of this instance has not read yet.",
            ["topic", "partition"],
            behind.items(),
        )

    def _of_processor(self) -> Iterator[Metric]:
        working = self._parts.processing
        if working is None:
            return
        yield _counter("roundlog_inputs", "Inputs that the processor took.", working.inputs_total)
        yield _counter("roundlog_records", "Records that the processor wrote.", working.records_total)
        refusals = CounterMetricFamily(
            "roundlog_refusals",
            "Commands that were refused. kind: rule, where a section of the rules of play is behind it, or procedure.",
            labels=["command", "kind"],
        )
        for (command, kind), count in sorted(working.refusals.items()):
            refusals.add_metric((command, kind), count)
        yield refusals
        yield _counter(
            "roundlog_dead_letters", "Inputs that no schema reads, or no form takes, put aside.", working.dead_total
        )
        yield _counter(
            "roundlog_overtaken", "Partitions given up because the position had moved.", working.overtaken_total
        )
        yield gauge("roundlog_partitions_assigned", "Partitions that this instance works on.", len(working.memories))
        yield gauge("roundlog_partitions_stopped", "Partitions that stand still.", len(working.stopped))
        yield gauge(
            "roundlog_last_step_age_seconds", "Seconds since the last batch.", time.monotonic() - working.last_step_at
        )


class _Found:
    """Metrics that are there already, in the place of a registry."""

    def __init__(self, found: Iterable[Metric]) -> None:
        self._found = found

    def collect(self) -> Iterable[Metric]:
        return self._found
