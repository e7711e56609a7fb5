"""What the back office alone tells Prometheus: where all processors of the house stand, and what waits for a person.

It is read off the database and the broker, so it is told also of a service that is dead.
"""

from collections.abc import Sequence
from typing import Any

from prometheus_client.core import Metric

from services.backoffice.operations import operations_of
from services.core.payouts import ClaimState
from services.runtime.metrics import Figures, gauge, gauges
from services.runtime.parts import Parts

WAITING = (ClaimState.HIT, ClaimState.VALIDATED, ClaimState.DOCUMENTED)


def figures(parts: Parts) -> Figures:
    """Asks as the operations page does."""
    operations = operations_of(parts)

    async def ask() -> Sequence[Metric]:
        return told(await operations.read())

    return ask


def told(said: dict[str, Any]) -> list[Metric]:
    """The metrics of what the operations page is told."""
    behind = {
        (line["stream"], str(number)): records
        for line in said["processors"]
        for number, records in enumerate(line["partitions"])
    }
    last = {(line["stream"],): line["last_ms"] / 1000 for line in said["processors"] if line["last_ms"] is not None}
    since: dict[str, list[int]] = {state.value: [] for state in WAITING}
    for claim in said["claims"]:
        # The archive may not have the claim yet that the state has.
        since[claim["state"]].append(said["at_ms"] if claim["since_ms"] is None else claim["since_ms"])
    oldest = {(state,): (said["at_ms"] - min(times, default=said["at_ms"])) / 1000 for state, times in since.items()}
    return [
        gauges(
            "roundlog_input_behind_records",
            "Inputs that the processor of a stream has not answered yet, by what the database and the broker say.",
            ["stream", "partition"],
            behind.items(),
        ),
        gauges(
            "roundlog_log_last_record_timestamp_seconds",
            "When the last record of a log was written, in seconds of Unix time.",
            ["stream"],
            last.items(),
        ),
        gauge(
            "roundlog_dead_letters_open",
            "Commands that no schema reads, or no form takes, and of which nobody has decided yet.",
            said["dead_letters"],
        ),
        gauges(
            "roundlog_claims_waiting",
            "Claims that wait for a person, by how far they have come.",
            ["state"],
            [((state,), len(times)) for state, times in since.items()],
        ),
        gauges(
            "roundlog_claims_oldest_seconds",
            "Seconds since the hand of the longest waiting claim was shown, by how far the claim has come; 0 without one.",
            ["state"],
            oldest.items(),
        ),
        gauge("roundlog_envy_waiting", "Envy Bonuses that are due and not paid.", len(said["envy_due"])),
    ]
