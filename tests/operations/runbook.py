"""The alerts as a table for people: `python -m tests.operations.runbook` writes deploy/RUNBOOK.md."""

from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
RUNBOOK = DEPLOY / "RUNBOOK.md"
HEAD = """\
# Runbook

What each alert of [prometheus/alerts.yml](prometheus/alerts.yml) means, what to look at, and what to do. `page` wakes
somebody, `warn` can wait for the morning, `note` is for the record. The dashboard
[grafana/dashboards/roundlog.json](grafana/dashboards/roundlog.json) is read from the top: is it right, is it flowing, who
waits, what is turned away, and then each stream.

One command is followed by its id: with `ROUNDLOG_LOG_COMMANDS=on`, `grep` the Idempotency-Key in the logs of all services.
A line with `sent` names the ids of the commands that followed from it, to be looked for next.

| alert | severity | it means | look at | do |
| --- | --- | --- | --- | --- |
"""


def alerts() -> list[dict[str, Any]]:
    """The alerts, in their order."""
    return [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]


def page() -> str:
    """The whole page."""
    rows = []
    for alert in alerts():
        said = alert["annotations"]
        cells = (alert["alert"], alert["labels"]["severity"], said["means"], said["look"], said["do"])
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    RUNBOOK.write_text(page())
