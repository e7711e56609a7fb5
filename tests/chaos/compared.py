"""What clients were told, held against what the logs say."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from services.core.chain import processor_id
from services.wire.json import event_json
from services.wire.records import Record
from tests.chaos.witness import Told
from tests.support.audit import Audit

Place = tuple[str, str, str]
"""The stream, the key and the id of a command."""
Group = list[Record]
"""The records of one command, as they stand in the log one behind the other."""


def groups_of(audit: Audit) -> dict[Place, list[Group]]:
    """The records of every command; more than one group where it was carried out more than once."""
    found: dict[Place, list[Group]] = {}
    for stream, keys in audit.records.items():
        for key, records in keys.items():
            last: Place | None = None
            for record in records:
                place = stream, key, record.command_id
                if record.index == 0 or place != last:
                    found.setdefault(place, []).append([])
                found[place][-1].append(record)
                last = place
    return found


def differences(told: Iterable[Told], audit: Audit) -> Iterator[tuple[Told | None, str]]:
    """What contradicts what the clients were told, a sentence each, with the command where it is one that they sent.

    An answered command stands in the log once, at the sequence and with the outcome that were told. One without an answer
    stands there once and whole, or not at all. Nothing of a person stands there that nobody sent.
    """
    groups = groups_of(audit)
    sent = set()
    for command in told:
        place = command.stream, command.key, command.command_id
        sent.add(place)
        for words in (*_of_one(command, groups.get(place, [])), *command.strange):
            yield command, f"{command.stream}/{command.key}: {command.body['command']} {command.command_id} {words}"
    for place, found in groups.items():
        if place[0] != "wagers" and place not in sent and processor_id(place[2]) is None:
            stream, key, command_id = place
            yield None, f"{stream}/{key}: {command_id} stands at {found[0][0].sequence}, and nobody sent it"


def _of_one(command: Told, groups: list[Group]) -> Iterator[str]:
    if len(groups) > 1:
        yield f"was carried out {len(groups)} times, at {', '.join(str(group[0].sequence) for group in groups)}"
    for group in groups:
        count = group[0].count
        if [(record.index, record.count) for record in group] != [(number, count) for number in range(count)]:
            yield f"is torn: {[(record.index, record.count) for record in group]}"
    if command.answer is None:
        return
    if not groups:
        yield f"was answered {command.answer[0]} at {command.answer[1]['sequence']}, and is lost"
    elif (said := _answer(groups[0])) != command.answer:
        yield f"was answered {command.answer}, and the log says {said}"


def _answer(group: Group) -> tuple[int, Any]:
    """What the log says of a command, in the words of the API."""
    last = group[-1]
    if type(last.event).__name__ == "Refused":
        said = {"refused": last.event.reason, "section": last.event.section, "sequence": last.sequence}
        return 409, json.loads(orjson.dumps(said))
    events = [event_json(record.event) for record in group]
    return 200, json.loads(orjson.dumps({"sequence": last.sequence, "events": events}))
