"""The JSON of the operations page: what stands where, how far everybody is behind, and what waits for a person."""

import asyncio
import functools
import time
from typing import Any

from services.backoffice.letters import OpenLetters
from services.core import jackpots, rounds
from services.flow import PORTS, STREAMS, logs
from services.runtime.kafka import BrokerAway
from services.runtime.parts import Parts
from services.wire.records import Unreadable

ROWS_SHOWN = 20
KEPT_SECONDS = 1.0
MINUTE_MS = 60_000

Ends = dict[tuple[str, int], tuple[int, int]]

# By the primary key of the archive, a key each: never a scan of it.
LAST_OF_TABLES = """
SELECT t.key, r.at_ms FROM unnest($1::text[]) AS t(key), LATERAL (
    SELECT at_ms FROM backoffice_records WHERE stream = 'rounds' AND key = t.key ORDER BY sequence DESC LIMIT 1) AS r
"""
CLAIMED = """
SELECT event ->> 'claim_id' AS claim_id, at_ms FROM backoffice_records
WHERE round_id = ANY($1::text[]) AND stream = 'jackpots' AND event_name = 'PayoutClaimed'
"""
REFUSALS = f"""
SELECT at_ms, stream, key, command, reason, section, actor FROM backoffice_refusals
ORDER BY at_ms DESC LIMIT {ROWS_SHOWN}
"""
ROUNDS = f"""
SELECT round_id, table_id, state, closed_ms, won_cents FROM backoffice_rounds WHERE opened_ms IS NOT NULL
ORDER BY opened_ms DESC NULLS LAST LIMIT {ROWS_SHOWN}
"""


class Operations:
    """Answers /operations, at most once a second anew."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._letters = OpenLetters(parts.kafka)
        self._letters_alarm: str | None = None
        self._answer: dict[str, Any] = {}
        self._made_at = float("-inf")
        self._making = asyncio.Lock()

    async def read(self) -> dict[str, Any]:
        """What the page wants, and what Prometheus is told."""
        async with self._making:
            if time.monotonic() - self._made_at > KEPT_SECONDS:
                self._answer = await self._make()
                self._made_at = time.monotonic()
            return self._answer

    async def _make(self) -> dict[str, Any]:
        now = time.time_ns() // 1_000_000
        pool = self._parts.pool
        ends = await self._ends()
        positions = await pool.fetch(
            "SELECT stream, partition, position, alarm FROM positions ORDER BY stream, partition"
        )
        readers = await pool.fetch("SELECT * FROM readers ORDER BY reader, topic, partition")
        last = _last_times(readers)
        states = self._parts.projection.states_of("jackpots")
        progressives = {name: jackpots.view(name, state) for name, state in states.items() if state.levels}
        minute = now - MINUTE_MS
        open_letters, letters = await self._open_letters()
        return {
            "at_ms": now,
            "alarms": [*self._alarms(positions, readers, ends), *out_of_balance(states)],
            "processors": _processors(positions, ends, last),
            "projections": _projections(readers, ends),
            "claims": await self._claims(progressives),
            "envy_due": [_envy(due) for shown in progressives.values() for due in shown["envy"]],
            "tables": await self._tables(),
            "progressives": [_progressive(shown) for shown in progressives.values()],
            "refusals": [dict(row) for row in await pool.fetch(REFUSALS)],
            "rounds": [dict(row) for row in await pool.fetch(ROUNDS)],
            "dead_letters": open_letters,
            "letters": letters,
            "rounds_a_minute": await pool.fetchval(
                "SELECT count(*) FROM backoffice_rounds WHERE closed_ms > $1", minute
            ),
            "refusals_a_minute": await pool.fetchval(
                "SELECT count(*) FROM backoffice_refusals WHERE at_ms > $1", minute
            ),
        }

    async def _ends(self) -> Ends:
        """Where the topics end; empty while the broker is away, which is an alarm of its own."""
        topics = {*logs(), *(stream.input for stream in STREAMS)}
        try:
            return await self._parts.kafka.ends(sorted(topics))
        except BrokerAway:
            return {}

    async def _open_letters(self) -> tuple[int | None, list[dict[str, Any]]]:
        """How many letters wait, and the first of them; not known while the broker is away."""
        try:
            self._letters_alarm = None
            return await self._letters.read()
        except BrokerAway:
            return None, []
        except Unreadable as error:
            self._letters_alarm = f"the dead letters cannot be read: {error}; a newer writer is at work"
            return None, []

    def _alarms(self, positions: list[Any], readers: list[Any], ends: Ends) -> list[str]:
        said = [f"{name} does not answer" for name in self._parts.watch.away]
        if not ends and "kafka" not in self._parts.watch.away:
            said.append("kafka does not answer")
        said += [
            f"{row['stream']}-{row['partition']} stands still: {row['alarm']}" for row in positions if row["alarm"]
        ]
        if self._letters_alarm is not None:
            said.append(self._letters_alarm)
        noted = {row["reader"]: row["alarm"] for row in readers if row["alarm"]}
        if self._parts.projection.alarm is not None:
            noted["backoffice"] = self._parts.projection.alarm
        said += [f"the projection of {reader} stands still: {alarm}" for reader, alarm in sorted(noted.items())]
        return said

    async def _claims(self, progressives: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
        waiting = [(name, claim) for name, shown in progressives.items() for claim in shown["claims"]]
        rows = await self._parts.pool.fetch(CLAIMED, sorted({claim["round_id"] for _, claim in waiting}))
        since = {row["claim_id"]: row["at_ms"] for row in rows}
        names = ("claim_id", "round_id", "table_id", "seat", "wager", "hand", "amount_cents", "source", "state")
        return [
            {
                "progressive_id": progressive_id,
                **{name: claim[name] for name in names},
                "since_ms": since.get(claim["claim_id"]),
            }
            for progressive_id, claim in waiting
        ]

    async def _tables(self) -> list[dict[str, Any]]:
        states = {
            table_id: state
            for table_id, state in self._parts.projection.states_of("rounds").items()
            if state.game is not None
        }
        rows = await self._parts.pool.fetch(LAST_OF_TABLES, list(states))
        last = {row["key"]: row["at_ms"] for row in rows}
        return [_table(table_id, state, last.get(table_id)) for table_id, state in states.items()]


@functools.cache
def operations_of(parts: Parts) -> Operations:
    """The one of a service: whoever asks, it is asked for at most once a second."""
    return Operations(parts)


def out_of_balance(states: dict[str, jackpots.State]) -> list[str]:
    """A sentence for each level that does not account for every microcent."""
    return [
        f"the level {level.name} of {progressive_id} does not account for {level.imbalance:,} microcents: take no"
        " progressive wagers on it, and see the runbook"
        for progressive_id, state in states.items()
        for level in state.levels
        if level.imbalance
    ]


def _table(table_id: str, state: rounds.State, last_ms: int | None) -> dict[str, Any]:
    round_ = state.round
    return {
        "table_id": table_id,
        "game": state.game,
        "rules": state.rules,
        "progressive_id": state.progressive_id,
        "round_id": None if round_ is None else round_.round_id,
        "state": None if round_ is None else round_.phase.value,
        "seats_playing": 0 if round_ is None else sum(seated.ante is not None for seated in round_.seats),
        "rounds": state.rounds_opened,
        "last_ms": last_ms,
    }


def _progressive(shown: dict[str, Any]) -> dict[str, Any]:
    name = shown["progressive_id"]
    return {
        "progressive_id": name,
        "rules": shown["rules"],
        "levels": [{"name": level["name"], "value_cents": level["value_cents"]} for level in shown["levels"]],
        "display_url": f"http://{{host}}:{PORTS['progressive']}/display/{name}",
    }


def _envy(due: dict[str, Any]) -> dict[str, Any]:
    return {name: due[name] for name in ("round_id", "recipient_seat", "holder_seat", "amount_cents")}


def _last_times(readers: list[Any]) -> dict[str, int]:
    """When the last record of each log was written, as the back office has read it."""
    last: dict[str, int] = {}
    for row in readers:
        if row["reader"] == "backoffice":
            last[row["topic"]] = max(last.get(row["topic"], 0), row["last_ms"])
    return last


def _behind(end: int, position: int) -> int:
    return max(0, end - position)


def _processors(positions: list[Any], ends: Ends, last: dict[str, int]) -> list[dict[str, Any]]:
    said = []
    for stream in STREAMS:
        rows = {row["partition"]: row for row in positions if row["stream"] == stream.name}
        stood = {partition: row["position"] for partition, row in rows.items()}
        places = [(partition, *span) for (topic, partition), span in ends.items() if topic == stream.input]
        alarms = [f"partition {partition}: {row['alarm']}" for partition, row in sorted(rows.items()) if row["alarm"]]
        # A command topic may have been cut at its beginning; what is gone is not waited for.
        behind = {partition: _behind(end, max(first, stood.get(partition, 0))) for partition, first, end in places}
        said.append({
            "stream": stream.name,
            "service": stream.service,
            "behind": sum(behind.values()),
            "partitions": [behind[partition] for partition in sorted(behind)],
            "last_ms": last.get(stream.name) or None,
            "alarm": "; ".join(alarms) or None,
        })  # fmt: skip
    return said


def _projections(readers: list[Any], ends: Ends) -> list[dict[str, Any]]:
    said: dict[str, dict[str, Any]] = {}
    for row in readers:
        line = said.setdefault(row["reader"], {"reader": row["reader"], "behind": 0, "last_ms": None, "alarm": None})
        _, end = ends.get((row["topic"], row["partition"]), (0, 0))
        line["behind"] += _behind(end, row["position"])
        line["last_ms"] = max(line["last_ms"] or 0, row["last_ms"]) or None
        line["alarm"] = line["alarm"] or row["alarm"]
    return list(said.values())
