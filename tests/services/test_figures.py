"""What the services tell Prometheus of money and of people who wait, by hand."""

from dataclasses import replace
from typing import Any

import pytest
from prometheus_client.core import Metric

from services.accounts.projection import posted_cents
from services.backoffice.figures import told
from services.backoffice.operations import out_of_balance
from services.core import accounts, jackpots
from services.progressive.projection import imbalances
from tests.support.told import CENT, Told, claim

NOW_MS = 1_800_000_000_000


def values(metric: Metric) -> dict[tuple[str, ...], float]:
    return {tuple(sample.labels.values()): sample.value for sample in metric.samples}


def by_name(said: dict[str, Any]) -> dict[str, dict[tuple[str, ...], float]]:
    return {metric.name: values(metric) for metric in told(said)}


def waiting(state: str, since_ms: int | None) -> dict[str, Any]:
    return {"state": state, "since_ms": since_ms}


IDLE: dict[str, Any] = {"at_ms": NOW_MS, "processors": [], "claims": [], "envy_due": [], "dead_letters": 0}


def test_a_claim_waits_since_its_hand_was_shown_and_the_oldest_of_each_state_is_told() -> None:
    claims = [
        waiting("hit", NOW_MS - 5_000),
        waiting("hit", NOW_MS - 61_500),
        waiting("documented", NOW_MS - 1_000),
        waiting("documented", None),  # so new that the archive has not got it
    ]
    found = by_name(IDLE | {"claims": claims, "envy_due": [{}, {}], "dead_letters": 7})
    assert found["roundlog_claims_waiting"] == {("hit",): 2, ("validated",): 0, ("documented",): 2}
    assert found["roundlog_claims_oldest_seconds"] == {("hit",): 61.5, ("validated",): 0, ("documented",): 1}
    assert found["roundlog_envy_waiting"] == {(): 2}
    assert found["roundlog_dead_letters_open"] == {(): 7}


def test_how_far_behind_is_told_by_partition_and_the_last_record_in_seconds() -> None:
    lines = [
        {"stream": "rounds", "partitions": [0, 12], "last_ms": NOW_MS - 1_500},
        {"stream": "wagers", "partitions": [3, 0], "last_ms": None},
    ]
    found = by_name(IDLE | {"processors": lines})
    assert found["roundlog_input_behind_records"] == {
        ("rounds", "0"): 0, ("rounds", "1"): 12, ("wagers", "0"): 3, ("wagers", "1"): 0,
    }  # fmt: skip
    assert found["roundlog_log_last_record_timestamp_seconds"] == {("rounds",): 1_799_999_998.5}


def test_a_level_that_lost_a_microcent_is_out_of_balance_by_one() -> None:
    progressive = Told("tight")
    progressive.when(jackpots.Contribute("table-1", "table-1-1", 300, 3))
    progressive.when(claim("100% of meter"))
    state = progressive.state
    assert values(imbalances({"progressive-1": state})) == {("progressive-1", "meter"): 0}
    (level,) = state.levels
    lost = replace(level, meter=replace(level.meter, value=level.meter.value - 1))
    paid_twice = replace(level, won_cents=level.won_cents + 5)
    for wrong, by in ((lost, -1), (paid_twice, 5 * CENT)):
        spoilt = {"p": replace(state, levels=(wrong,))}
        assert values(imbalances(spoilt)) == {("p", "meter"): by}
        (sentence,) = out_of_balance(spoilt)
        assert sentence.startswith(f"the level meter of p does not account for {by:,} microcents")
    assert not out_of_balance({"p": state})


@pytest.mark.parametrize(
    ("event", "posted"),
    [
        (accounts.Deposited(500, "r"), 500),
        (accounts.Withdrawn(500, "r"), -500),
        (accounts.HoldPlaced("h", 500, "t", "t-1", 1), 0),
        (accounts.HoldReleased("h", 500), 0),
        (accounts.HoldPosted("h", 500), -500),
        (accounts.WinningsCredited(500, "t-1", 1, "w"), 500),
        (accounts.StakeReturned(500, "t-1", 1, "w"), 500),
        (accounts.WinningsTakenBack(300, 200, "t-1", 1, "w"), -300),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_posted_is_by_how_much_the_balance_moves(event: accounts.Event, posted: int) -> None:
    assert posted_cents(event) == posted
    holding = accounts.State(balance_cents=1_000, held_cents=500, holds={"h": 500})
    assert accounts.evolve(holding, event).balance_cents == 1_000 + posted
