"""What the back office shows: an archive of every record of all logs, the refusals, and a row for each round."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import orjson

from services.core import jackpots, rounds, wagers
from services.core.names import round_of_claim
from services.core.refusal import passed_over
from services.flow import logs
from services.runtime.projecting import Fact, Log
from services.wire.json import event_json

# Tables and progressives are shown as they stand, so their folds are kept; of the other logs the chain alone.
FOLDED = {
    "rounds": Log("rounds", rounds.INITIAL, rounds.State, rounds.evolve),
    "jackpots": Log("jackpots", jackpots.INITIAL, jackpots.State, jackpots.evolve),
}
LOGS = tuple(FOLDED.get(topic, Log(topic)) for topic in logs())

RECORD_COLUMNS = (
    "stream", "key", "sequence", "partition", "offset", "at_ms", "command_id", "actor", "event_name", "round_id",
    "previous_hash", "hash", "event",
)  # fmt: skip
REFUSAL_COLUMNS = ("stream", "key", "sequence", "at_ms", "command", "reason", "section", "actor")
SAVE_ROUNDS = """
INSERT INTO backoffice_rounds AS r (round_id, table_id, state, opened_ms, closed_ms, won_cents)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
ON CONFLICT (round_id) DO UPDATE SET state = coalesce(excluded.state, r.state),
    opened_ms = coalesce(excluded.opened_ms, r.opened_ms), closed_ms = coalesce(excluded.closed_ms, r.closed_ms),
    won_cents = r.won_cents + excluded.won_cents
"""


class RoundRow:
    """What a batch says of one round; None where it says nothing."""

    __slots__ = ("closed_ms", "opened_ms", "state", "table_id", "won_cents")

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.state: str | None = None
        self.opened_ms: int | None = None
        self.closed_ms: int | None = None
        self.won_cents = 0


def round_of(fact: Fact) -> str | None:
    """The round that a record belongs to, or None.

    A refusal at a table, or what was passed over there, belongs to the round that was open. A hold's end names no round: see the schema.
    """
    event = fact.record.event
    if fact.topic == "rounds" and isinstance(event, rounds.Refused | rounds.Skipped):
        now = fact.state.round
        return None if now is None or now.over else now.round_id
    if isinstance(event, jackpots.CommandForwarded):
        return event.command.round_id
    claim_id = getattr(event, "claim_id", None)
    if fact.topic == "jackpots" and claim_id is not None:
        return round_of_claim(claim_id)
    return getattr(event, "round_id", None)


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Writes a row for each record and each refusal, and brings the rounds' rows up to date."""
    records = [_record_row(fact) for fact in facts]
    await connection.copy_records_to_table("backoffice_records", records=records, columns=RECORD_COLUMNS)
    refusals = [_refusal_row(fact) for fact in facts if type(fact.record.event).__name__ in ("Refused", "Skipped")]
    if refusals:
        await connection.copy_records_to_table("backoffice_refusals", records=refusals, columns=REFUSAL_COLUMNS)
    rows = round_rows(facts)
    if rows:
        columns = zip(
            *((name, r.table_id, r.state, r.opened_ms, r.closed_ms, r.won_cents) for name, r in sorted(rows.items())),
            strict=True,
        )
        await connection.execute(SAVE_ROUNDS, *(list(column) for column in columns))


def _record_row(fact: Fact) -> tuple[Any, ...]:
    record, stored = fact.record, fact.stored
    return (
        fact.topic, fact.key, record.sequence, stored.partition, stored.offset, record.recorded_at_ms,
        record.command_id, record.actor, type(record.event).__name__, round_of(fact), record.previous_hash,
        sha256(stored.value).digest(), orjson.dumps(event_json(record.event)).decode(),
    )  # fmt: skip


def _refusal_row(fact: Fact) -> tuple[Any, ...]:
    record, event = fact.record, fact.record.event
    skipped = type(event).__name__ == "Skipped"
    reason = passed_over(event.reason, event.skipped_by) if skipped else event.reason
    section = None if skipped else event.section
    return fact.topic, fact.key, record.sequence, record.recorded_at_ms, event.command, reason, section, record.actor


def round_rows(facts: Sequence[Fact]) -> dict[str, RoundRow]:
    """What some records say of their rounds. Winnings are added up, so that the logs may come in any order."""
    rows: dict[str, RoundRow] = {}

    def row(round_id: str, table_id: str) -> RoundRow:
        return rows.setdefault(round_id, RoundRow(table_id))

    for fact in facts:
        event, at_ms = fact.record.event, fact.record.recorded_at_ms
        match event:
            case wagers.WagerSettled() if event.claim_id is None:
                if event.won_cents:
                    row(event.round_id, fact.key).won_cents += event.won_cents
            case wagers.WagerReversed() if event.claim_id is None:
                if event.won_cents:
                    row(event.round_id, fact.key).won_cents -= event.won_cents
            # What has a claim counts as the progressive says, who alone knows whether it was taken back or rejected.
            case jackpots.PayoutClaimed():
                row(event.round_id, event.table_id).won_cents += event.amount_cents
            case jackpots.PayoutRejected() | jackpots.PayoutTakenBack():
                row(round_of_claim(event.claim_id), event.table_id).won_cents -= event.amount_cents
            case _ if fact.topic == "rounds" and getattr(event, "round_id", None) is not None:
                known = row(event.round_id, fact.key)
                known.state = fact.state.round.phase.value
                if isinstance(event, rounds.RoundOpened):
                    known.opened_ms = at_ms
                elif isinstance(event, rounds.RoundClosed | rounds.RoundVoided):
                    known.closed_ms = at_ms
    return rows
