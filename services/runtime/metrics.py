"""What Prometheus reads of a service."""

import resource
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from services.runtime.service import Parts


class _Collector:
    def __init__(self, parts: "Parts") -> None:
        self._parts = parts

    def collect(self) -> Iterator[Any]:
        parts = self._parts
        yield _gauge("roundlog_ready", "1 when the service can serve.", int(parts.readiness()["ready"]))
        yield _gauge(
            "roundlog_projection_fresh",
            "1 when broker and database answered within a second.",
            int(parts.projection.fresh),
        )
        yield _gauge(
            "roundlog_memory_peak_bytes",
            "Peak resident memory.",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        )
        yield _counter("roundlog_forbidden", "Commands that were not for the asker's role.", parts.forbidden_total)
        yield _counter("roundlog_malformed", "Requests that were not of the form asked for.", parts.malformed_total)
        if parts.desk is not None:
            yield _counter("roundlog_commands_appended", "Commands of people appended.", parts.desk.appended_total)
        if parts.feeds is not None:
            yield _gauge("roundlog_feeds_open", "Open event feeds.", parts.feeds.open_count)
            yield _counter(
                "roundlog_feeds_dropped",
                "Readers of a feed that were sent away: too slow, or deltas were left out.",
                parts.feeds.dropped_total,
            )
        if parts.processing is not None:
            working = parts.processing
            yield _counter("roundlog_inputs", "Inputs that the processor took.", working.inputs_total)
            yield _counter("roundlog_records", "Records that the processor wrote.", working.records_total)
            yield _counter("roundlog_refusals", "Commands that were refused.", working.refusals_total)
            yield _counter("roundlog_dead_letters", "Inputs that no schema reads.", working.dead_total)
            yield _counter(
                "roundlog_overtaken", "Partitions given up because the position had moved.", working.overtaken_total
            )
            yield _gauge("roundlog_partitions_stopped", "Partitions that stand still.", len(working.stopped))
            yield _gauge(
                "roundlog_last_step_age_seconds", "Since the last batch.", time.monotonic() - working.last_step_at
            )


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(name, text, value=value)


def exposition(parts: "Parts") -> bytes:
    """The metrics of a service as Prometheus reads them."""
    registry = CollectorRegistry()
    registry.register(_Collector(parts))
    return generate_latest(registry)
