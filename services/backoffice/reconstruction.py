"""A round as it was played, put together from the records of all logs that belong to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from services.backoffice.sentences import section, sentence
from services.core import rounds, sheets
from services.core.names import RoundId
from services.core.rounds.table import Round, Seated
from services.flow import logs


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a log as the archive holds it."""

    stream: str
    key: str
    sequence: int
    at_ms: int
    actor: str
    hash: bytes
    event: Any


class RoundIncomplete(Exception):
    """The records at hand do not tell the round from its beginning; the sentence says what is missing."""


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """Entries in the order in which they happened: by time, causes before what followed from them."""
    place = {name: number for number, name in enumerate(logs())}
    latest: dict[tuple[str, str], int] = {}
    timed = []
    for entry in sorted(entries, key=lambda each: (each.stream, each.key, each.sequence)):
        # A broker's clock may be put back; a log is never read backwards for it.
        at_ms = max(entry.at_ms, latest.get((entry.stream, entry.key), 0))
        latest[entry.stream, entry.key] = at_ms
        timed.append((at_ms, place[entry.stream], entry.key, entry.sequence, entry))
    return [entry for *_, entry in sorted(timed, key=lambda each: each[:4])]


def reconstruct(round_id: RoundId, entries: Iterable[Entry]) -> dict[str, Any]:
    """The JSON of the reconstruction. `entries` also has the table's opening. Raises RoundIncomplete, EventUnknown."""
    ordered = in_order(entries)
    steps = [entry for entry in ordered if not isinstance(entry.event, rounds.TableOpened)]
    round_, table_id = round_behind([entry for entry in ordered if entry.stream == "rounds"], round_id)
    claims = sheets.JackpotSheet()
    results = sheets.WagerSheet()
    for entry in steps:
        if entry.stream == "wagers":
            results = sheets.with_wager(results, table_id, entry.event)
        elif entry.stream == "jackpots":
            claims = sheets.with_jackpot(claims, entry.event)
    times = {type(entry.event): entry.at_ms for entry in steps if entry.stream == "rounds"}
    return {
        "round_id": round_id,
        "table_id": table_id,
        "game": round_.game,
        "rules": round_.rules,
        "rules_sha256": round_.rules_sha256.hex(),
        "state": round_.phase.value,
        "opened_ms": times[rounds.RoundOpened],
        "closed_ms": times.get(rounds.RoundClosed, times.get(rounds.RoundVoided)),
        "community": list(round_.community),
        "dealer": list(round_.dealer),
        "six_card_bonus": list(round_.six_card_bonus),
        "all_six_card": round_.all_six[0] if round_.all_six else None,
        "magic_card": round_.magic_card,
        "lucky_position": round_.lucky_position,
        "seats": _seats(round_, results, claims),
        "claims": sheets.claims_view(claims),
        "steps": [_step(entry, round_.game) for entry in steps],
    }


def round_behind(entries: Sequence[Entry], round_id: RoundId) -> tuple[Round, str]:
    """The round behind its own records, and the table that it was played at. `entries` are those of the round log, in
    order, the table's opening first. Raises RoundIncomplete."""
    table = rounds.INITIAL
    for entry in entries:
        if isinstance(entry.event, rounds.RoundOpened) and table.game is None:
            raise RoundIncomplete(f"The opening of {entry.key} is not among the records: its game is not known.")
        if table.round is None and not isinstance(entry.event, rounds.TableOpened | rounds.RoundOpened):
            break
        # Requests are named by the sequence of their record, so the fold must stand where the log stood.
        table = rounds.evolve(replace(table, sequence=entry.sequence - 1), entry.event)
    if table.round is None:
        raise RoundIncomplete(f"The opening of round {round_id} is not among the records.")
    return table.round, entries[0].key


def _seats(round_: Round, results: sheets.WagerSheet, claims: sheets.JackpotSheet) -> list[dict[str, Any]]:
    rows = sheets.wager_view(results)["wagers"]
    envy = sheets.envy_view(claims)
    return [_seat(seated, rows, envy) for seated in round_.seats]


def _seat(seated: Seated, rows: list[dict[str, Any]], envy: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "seat": seated.seat,
        "player_id": seated.player_id,
        "cards": list(seated.cards),
        "folded": seated.folded,
        "forfeited": seated.forfeited,
        "wagers": [_without(row, "seat") for row in rows if row["seat"] == seated.seat],
        "envy": [
            _without(line, "round_id", "recipient_seat") for line in envy if line["recipient_seat"] == seated.seat
        ],
    }


def _without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _step(entry: Entry, game: str) -> dict[str, Any]:
    name = type(entry.event).__name__
    return {
        "stream": entry.stream,
        "key": entry.key,
        "sequence": entry.sequence,
        "at_ms": entry.at_ms,
        "actor": entry.actor,
        "event": name,
        "text": sentence(entry.event),
        "section": section(entry.event, game),
        "refused": name in ("Refused", "Skipped"),
        "hash": entry.hash.hex(),
    }
