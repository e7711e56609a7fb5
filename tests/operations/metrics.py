"""Which metrics an expression asks for, and which a service has."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.operations.runbook import DEPLOY, alerts

DASHBOARD = DEPLOY / "grafana" / "dashboards" / "roundlog.json"
PROMETHEUS_OWN = {"up", "ALERTS"}
_SUFFIXES = {"counter": ("",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}


def dashboard() -> dict[str, Any]:
    """The dashboard."""
    read: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return read


def expressions() -> Iterator[tuple[str, str]]:
    """Every expression of alerts and dashboard, each with where it stands; Grafana's variables filled in."""
    for alert in alerts():
        yield alert["alert"], alert["expr"]
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"].replace("$__rate_interval", "1m").replace("$stream", ".*")


def asked_for(expression: str) -> set[str]:
    """The metrics in an expression."""
    bare = re.sub(r'"[^"]*"', "", expression)
    return set(re.findall(r"\b(?:roundlog_\w+|process_\w+|ALERTS|up)\b", bare))


def exposed(exposition: str) -> set[str]:
    """The metrics that a service has, also those without a value yet."""
    found = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", exposition, re.MULTILINE):
        found |= {name + suffix for suffix in _SUFFIXES[kind]}
    return found
