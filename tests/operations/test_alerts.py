"""Alerts, runbook and dashboard: well-formed, of one mind, and each alert fires when it should and not before."""

import itertools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.flow import PORTS
from tests.operations.metrics import PROMETHEUS_OWN, asked_for, dashboard, expressions
from tests.operations.runbook import ALERTS, RUNBOOK, alerts, page

HERE = Path(__file__).parent
FETCHED = HERE.parents[1] / ".local" / "prometheus" / "usr" / "bin"


def promtool(*words: str) -> str:
    tool = shutil.which("promtool", path=FETCHED) or shutil.which("promtool")
    assert tool is not None, "there is no promtool here: `make prometheus` gets it"
    done = subprocess.run([tool, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["prometheus.yml", "local.yml"])
def test_prometheus_takes_its_configuration(name: str) -> None:
    assert f"{len(alerts())} rules found" in promtool("check", "config", str(ALERTS.with_name(name)))


def test_every_service_is_scraped_at_its_port() -> None:
    text = ALERTS.with_name("prometheus.yml").read_text()
    found = re.findall(r"job_name: (\w+)\n    dns_sd_configs: \[\{names: \[(\w+)\], type: A, port: (\d+)", text)
    assert {(job, name, int(port)) for job, name, port in found} == {(name, name, port) for name, port in PORTS.items()}
    text = ALERTS.with_name("local.yml").read_text()
    found = re.findall(r'job_name: (\w+)\n    static_configs: \[\{targets: \["127.0.0.1:(\d+)"\]\}\]', text)
    assert {(job, int(port)) for job, port in found} == set(PORTS.items())


ALL_UP = {f'up{{job="{name}", instance="1"}}': "1x80" for name in PORTS}
FIRES: dict[str, tuple[dict[str, str], str, str]] = {
    "RoundlogLevelImbalance": (
        {'roundlog_level_imbalance_microcents{progressive="a", level="meter"}': "0x7 -1x20"}, "1m45s", "2m"),
    "RoundlogAccountImbalance": ({"roundlog_account_imbalance_cents": "0x7 3x20"}, "1m45s", "2m"),
    "RoundlogPartitionStopped": ({'roundlog_partitions_stopped{job="tables"}': "0x7 1x20"}, "1m45s", "2m"),
    "RoundlogProjectionStopped": ({'roundlog_projection_stopped{job="tables"}': "0x7 1x20"}, "2m", "2m15s"),
    "RoundlogDown": ({**ALL_UP, 'up{job="wagers", instance="1"}': "1x7 0x20"}, "2m", "2m30s"),
    "RoundlogNotReady": (
        {'roundlog_ready{job="tables", instance="1"}': "0x80", 'roundlog_ready{job="tables", instance="2"}': "1x7 0x20"},
        "2m45s", "3m"),
    "RoundlogPartAway": ({'roundlog_part_away{part="kafka", job="tables"}': "0x7 1x20"}, "2m", "2m15s"),
    "RoundlogProgressiveUnheard": (
        {'roundlog_progressive_heartbeat_age_seconds{job="tables"}': "0.2x7 20 35 50x20"}, "2m", "2m15s"),
    "RoundlogDisplaysStale": (
        {'roundlog_projection_staleness_seconds{job="progressive"}': "0.3x7 6x20",
         'roundlog_projection_staleness_seconds{job="tables"}': "90x80"}, "2m", "2m15s"),
    "RoundlogInputsStuck": (
        {'roundlog_input_behind_records{stream="wagers", partition="3"}': "5x10 0 5x80"}, "7m30s", "8m"),
    "RoundlogInputsBehind": (
        # Two instances say the same: it is the same record.
        {'roundlog_input_behind_records{stream="wagers", partition="3", instance="1"}': "900x8 0 600x80",
         'roundlog_input_behind_records{stream="wagers", partition="3", instance="2"}': "900x8 0 600x80",
         'roundlog_input_behind_records{stream="wagers", partition="4"}': "0x8 0 600x80"}, "4m", "4m45s"),
    "RoundlogProjectionBehind": (
        {'roundlog_projection_behind_records{job="tables", topic="rounds", partition="1"}': "0x8 2000x80"}, "4m", "4m15s"),
    "RoundlogCommandsSlow": (
        {'roundlog_command_seconds_bucket{job="tables", le="1.0"}': "0+10x20 200+0x80",
         'roundlog_command_seconds_bucket{job="tables", le="2.5"}': "0+10x20 200+10x80",
         'roundlog_command_seconds_bucket{job="tables", le="+Inf"}': "0+10x20 200+10x80"}, "5m", "12m"),
    "RoundlogCommandsUnanswered": (
        {'roundlog_command_seconds_count{job="tables", outcome="late"}': "0x20 1+1x40",
         'roundlog_command_seconds_count{job="tables", outcome="refused"}': "0+5x80"}, "5m", "8m"),
    "RoundlogOvertaken": ({'roundlog_overtaken_total{job="tables"}': "0x8 1x40"}, "2m", "3m"),
    "RoundlogDeadLetters": ({"roundlog_dead_letters_open": "0x60 1x40"}, "15m", "15m30s"),
    "RoundlogRefusals": (
        {'roundlog_refusals_total{job="tables", command="Bet", kind="rule"}': "0x40 15+15x80"}, "17m", "18m15s"),
    "RoundlogMalformed": (
        {'roundlog_malformed_total{job="tables"}': "0x40 15+15x80", 'roundlog_forbidden_total{job="tables"}': "0x120"},
        "17m", "18m15s"),
    "RoundlogClaimsWait": ({'roundlog_claims_oldest_seconds{state="hit"}': "1800x7 1801x20"}, "1m45s", "2m"),
    "RoundlogDisplaysDropped": ({'roundlog_feeds_dropped_total{job="progressive"}': "0x8 5x4 20x20"}, "3m", "4m"),
    "RoundlogAuthOff": ({'roundlog_auth_required{job="tables", instance="1"}': "1x7 0x20"}, "1m45s", "2m"),
    "RoundlogUnwatched": (
        {'roundlog_input_behind_records{stream="wagers", partition="3"}': "0x20 stale"}, "5m15s", "6m30s"),
    "RoundlogSilent": (
        {'roundlog_log_last_record_timestamp_seconds{stream="rounds"}': "0x400",
         'roundlog_log_last_record_timestamp_seconds{stream="wagers"}': "0+15x400"}, "60m", "60m15s"),
}  # fmt: skip
"""Of each alert a series a quarter of a minute, a moment at which it is quiet, and one at which it fires."""


def test_every_alert_fires_when_it_should_and_not_before(tmp_path: Path) -> None:
    def firing(name: str, at: str, count: int) -> dict[str, Any]:
        samples = [{"labels": "{}", "value": count}] if count else []
        return {
            "expr": f'count(ALERTS{{alertname="{name}", alertstate="firing"}})', "eval_time": at, "exp_samples": samples,
        }  # fmt: skip

    tests = [
        {
            "name": name,
            "interval": "15s",
            "input_series": [{"series": one, "values": values} for one, values in series.items()],
            "promql_expr_test": [firing(name, quiet_at, 0), firing(name, fires_at, 1)],
        }
        for name, (series, quiet_at, fires_at) in FIRES.items()
    ]
    document = {"rule_files": [str(ALERTS)], "evaluation_interval": "15s", "tests": tests}
    (tmp_path / "tests.yml").write_text(yaml.safe_dump(document))
    promtool("test", "rules", str(tmp_path / "tests.yml"))
    assert FIRES.keys() == {alert["alert"] for alert in alerts()}


def test_every_alert_says_how_urgent_it_is_and_what_to_do() -> None:
    for alert in alerts():
        assert alert["labels"]["severity"] in {"page", "warn", "note"}, alert["alert"]
        for part in ("summary", "means", "look", "do"):
            assert alert["annotations"][part].endswith("."), (alert["alert"], part)


def test_the_runbook_says_what_the_alerts_say() -> None:
    assert RUNBOOK.read_text() == page(), "write it anew with `.venv/bin/python -m tests.operations.runbook`"


def test_no_alert_asks_for_what_is_not_ours() -> None:
    for place, expression in expressions():
        names = asked_for(expression)
        assert names, f"{place}: {expression} asks for nothing"
        assert all(name.startswith(("roundlog_", "process_")) or name in PROMETHEUS_OWN for name in names), place


# The dashboard -----------------------------------------------------------------------------------------


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    board = dashboard()
    assert (board["uid"], board["schemaVersion"]) == ("roundlog", 39)
    numbers = [panel["id"] for panel in board["panels"]]
    assert len(numbers) == len(set(numbers))
    for panel in board["panels"]:
        assert panel["title"] and {"h", "w", "x", "y"} == panel["gridPos"].keys()
        if panel["type"] == "row":
            continue
        assert panel["type"] in {"stat", "timeseries"} and panel["description"].endswith(".")
        assert panel["datasource"] == {"type": "prometheus", "uid": "roundlog-prometheus"}
        assert [target["refId"] for target in panel["targets"]] == list("AB"[: len(panel["targets"])])
        assert all(target["expr"] and target["datasource"] == panel["datasource"] for target in panel["targets"])


def test_no_panel_lies_over_another() -> None:
    places = [panel["gridPos"] for panel in dashboard()["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)
    for one, other in itertools.combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"], (one, other)


def test_the_dashboard_is_read_from_the_top() -> None:
    rows = [panel["title"] for panel in dashboard()["panels"] if panel["type"] == "row"]
    assert rows == [
        "Is it right?", "Is it flowing?", "Who waits?", "What is turned away?", "Each stream, each service",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["datasources/prometheus.yml", "dashboards/roundlog.yml"])
def test_grafana_finds_what_it_is_told_of(name: str) -> None:
    text = (ALERTS.parents[1] / "grafana" / "provisioning" / name).read_text()
    assert "uid: roundlog-prometheus" in text or "path: /etc/grafana/dashboards" in text
