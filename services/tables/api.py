"""Tables over HTTP: what happens at a table goes in, what it looks like comes out."""

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, HTTPException, Request

from services.core import rounds
from services.core.games.game import PROGRESSIVE
from services.core.names import ProgressiveId
from services.flow import PARTITIONS
from services.runtime.desk import Away
from services.runtime.forms import Forms
from services.runtime.http import EventStream, checked_key, event_stream
from services.runtime.kafka import BrokerAway, partition_of
from services.runtime.parts import Parts
from services.tables.projection import OpenUnder

FORMS = Forms(
    rounds.PeopleCommand,
    stamped={
        "OpenTable": frozenset({"progressive_rules", "progressive_sha256"}),
        "PlaceWager": frozenset({"progressive_age_ms", "progressive_ends"}),
    },
)
REACH_SECONDS = 3.0


def feed(*_: Any) -> dict[str, Any]:
    """A table's deltas carry its events alone."""
    return {}


async def stamp(parts: Parts, table_id: str, command: Any) -> Any:
    """Puts into a command what the processor cannot know: it reads one log only. Raises Away.

    Into OpenTable, under which submission its progressive is open; into a progressive wager, how long the controller
    has been silent, and whether the progressive ends.
    """
    match command:
        case rounds.OpenTable(progressive_id=str(progressive_id)):
            found = await _open_under(parts, progressive_id)
            return replace(command, progressive_rules=found.rules, progressive_sha256=found.rules_sha256)
        case rounds.PlaceWager(wager=wager) if wager == PROGRESSIVE and parts.heartbeat is not None:
            table = parts.projection.state_of("rounds", table_id)
            linked = None if table is None else parts.projection.state_of("jackpots", table.progressive_id)
            ends = linked is not None and linked.ends
            return replace(command, progressive_age_ms=parts.heartbeat.age_ms, progressive_ends=ends)
        case _:
            return command


async def _open_under(parts: Parts, progressive_id: ProgressiveId) -> OpenUnder:
    """The projection is first brought to the log's end, so that a progressive just opened is seen."""
    try:
        ends = await parts.kafka.ends(["jackpots"])
        place = ("jackpots", partition_of(progressive_id, PARTITIONS))
        await parts.projection.reach({place: ends[place][1]}, REACH_SECONDS)
    except (BrokerAway, TimeoutError):
        raise Away(["kafka"]) from None
    found = parts.projection.state_of("jackpots", progressive_id)
    return OpenUnder() if found is None or found.ends else found


def routes(parts: Parts) -> APIRouter:
    """The reads of this service."""
    router = APIRouter(tags=["reads"])

    def view(table_id: str) -> dict[str, Any] | None:
        state = parts.projection.state_of("rounds", checked_key(table_id))
        return None if state is None else rounds.view(table_id, state)

    @router.get("/tables")
    async def tables() -> list[dict[str, Any]]:
        """Every table, by id."""
        states = parts.projection.states_of("rounds")
        return [rounds.view(table_id, state) for table_id, state in states.items()]

    @router.get("/tables/{table_id}")
    async def table(table_id: str) -> dict[str, Any]:
        """One table and its last round."""
        shown = view(table_id)
        if shown is None:
            raise HTTPException(404, f"There is no table {table_id}.")
        return shown

    @router.get("/tables/{table_id}/events", response_class=EventStream)
    async def events(table_id: str, request: Request) -> EventStream:
        """The table's feed: a snapshot, then numbered deltas."""

        async def snapshot() -> dict[str, Any] | None:
            return view(table_id)

        if view(table_id) is None:
            raise HTTPException(404, f"There is no table {table_id}.")
        return event_stream(parts, table_id, snapshot, request)

    return router
