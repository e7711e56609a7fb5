"""Reads every topic of a house from its beginning and checks that nothing was lost and nothing was done twice."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from services.core import accounts, jackpots, rounds, wagers
from services.core.asking import Following
from services.core.chain import ProcessorId, processor_id
from services.flow import STREAMS, Stream
from services.runtime.kafka import Kafka, Stored
from services.runtime.stepping import Chain
from services.wire.records import CONTRACTS, Asked, Record


@dataclass
class Audit:
    """What the topics of a house hold: each log's records once and in order, and each command as often as it stands there."""

    records: dict[str, dict[str, list[Record]]] = field(default_factory=dict)
    commands: dict[str, list[tuple[str, Asked]]] = field(default_factory=dict)
    duplicates: int = 0

    def events(self, stream: str, key: str) -> list[Any]:
        return [record.event for record in self.records[stream].get(key, [])]


async def _read(kafka: Kafka, topic: str) -> list[Stored]:
    ends = await kafka.ends([topic])
    found = []
    for (name, partition), (first, end) in sorted(ends.items()):
        found += [item async for item in kafka.read(name, partition, first, end)]
    return found


def read_all(servers: str) -> Audit:
    """Reads every topic of a house. Every log is one chain; nothing else is judged yet."""
    return asyncio.run(_gather(servers))


async def _gather(servers: str) -> Audit:
    kafka, audit = Kafka(servers), Audit()
    try:
        for stream in STREAMS:
            contract = CONTRACTS[stream.name]
            chains: dict[str, Chain] = {}
            by_key: dict[str, list[Record]] = {}
            bytes_of: dict[tuple[str, int], bytes] = {}
            for item in await _read(kafka, stream.name):
                record = contract.decode_record(item.value)
                chain = chains.setdefault(item.key, Chain(f"{stream.name}/{item.key}"))
                if chain.fits(record, item.value):
                    chain.advance(item.value)
                    by_key.setdefault(item.key, []).append(record)
                    bytes_of[item.key, record.sequence] = item.value
                else:
                    # However old the duplicate is, its bytes must be those of the first.
                    assert bytes_of[item.key, record.sequence] == item.value, (
                        f"{stream.name}/{item.key} contradicts itself"
                    )
                    audit.duplicates += 1
            audit.records[stream.name] = by_key
            if stream.commands is not None:
                audit.commands[stream.name] = [
                    (item.key, contract.decode_command(item.value)) for item in await _read(kafka, stream.commands)
                ]
    finally:
        await kafka.close()
    return audit


def audited(servers: str) -> Audit:
    """Reads and checks everything."""
    audit = read_all(servers)
    check(audit)
    return audit


def check(audit: Audit) -> None:
    """What holds whatever was played."""
    for stream in STREAMS:
        _commands_are_whole(audit, stream)
    _every_command_answered_once(audit)
    _every_consequence_once(audit)
    for key in audit.records["jackpots"]:
        _levels_add_up(audit, key)
    for key in audit.records["accounts"]:
        _account_adds_up(audit, key)


def _commands_are_whole(audit: Audit, stream: Stream) -> None:
    for key, records in audit.records[stream.name].items():
        position = 0
        while position < len(records):
            group = records[position : position + records[position].count]
            assert [(r.index, r.command_id) for r in group] == [
                (number, records[position].command_id) for number in range(records[position].count)
            ], f"{stream.name}/{key}: the records of {records[position].command_id} are torn apart"
            position += len(group)


def _every_command_answered_once(audit: Audit) -> None:
    """A person's command has one outcome in the log, however often it stands in its topic."""
    for stream, commands in audit.commands.items():
        outcomes = Counter(
            (key, record.command_id)
            for key, records in audit.records[stream].items()
            for record in records
            if record.index == 0
        )
        assert all(count == 1 for count in outcomes.values()), f"{stream}: a command was carried out twice"
        for key, asked in commands:
            if processor_id(asked.command_id) is None:
                assert outcomes[key, asked.command_id] == 1, f"{stream}/{key}: {asked.command_id} was lost"


FOLLOWING = {"wagers": wagers.following, "jackpots": jackpots.following}
# What a receiver may answer with nothing: it finds the matter settled already.
MAY_BE_SILENT = (
    rounds.ConfirmWager,
    rounds.DeclineWager,
    rounds.ReleasePayout,
    accounts.ReleaseHold,
    accounts.PostHold,
)


def _every_consequence_once(audit: Audit) -> None:
    """What follows from the records of wagers and jackpots was carried out, once."""
    carried_out = Counter(
        (stream, key, record.command_id)
        for stream, keys in audit.records.items()
        for key, records in keys.items()
        for record in records
        if record.index == 0
    )
    for stream, following in FOLLOWING.items():
        for key, records in audit.records[stream].items():
            for record in records:
                for number, follows in enumerate(following(key, record.event)):
                    command_id = str(ProcessorId(stream, key, record.sequence, number))
                    _carried_out(carried_out[follows.stream, follows.key, command_id], command_id, follows)


def _carried_out(found: int, command_id: str, follows: Following) -> None:
    most = f"{command_id} to {follows.stream}/{follows.key}: {follows.command}"
    assert found <= 1, f"carried out {found} times: {most}"
    assert found == 1 or isinstance(follows.command, MAY_BE_SILENT), f"never carried out: {most}"


def _levels_add_up(audit: Audit, key: str) -> None:
    """Q1: what the house put in and what wagers brought is what the levels hold and what was won, to the microcent."""
    put_in: Counter[str] = Counter()
    won: Counter[str] = Counter()
    for event in audit.events("jackpots", key):
        if isinstance(event, jackpots.ProgressiveOpened):
            put_in.update({level.name: level.base_microcents for level in event.levels})
        elif isinstance(event, jackpots.ContributionAccepted):
            for part in event.levels:
                put_in[part.name] += part.shown_microcents + part.hidden_microcents + part.overflow_microcents
        elif isinstance(event, jackpots.ContributionTakenBack):
            for back in event.levels:
                put_in[back.name] += back.seeded_microcents
                put_in[back.name] -= back.shown_microcents + back.hidden_microcents + back.overflow_microcents
        elif isinstance(event, jackpots.LevelHit):
            put_in[event.name] += event.seeded_microcents
            won[event.name] += event.amount_cents * 1_000_000
    state = jackpots.INITIAL
    for event in audit.events("jackpots", key):
        state = jackpots.evolve(state, event)
    for level in jackpots.view(key, state)["levels"]:
        held = level["value_microcents"] + level["hidden_microcents"] + level["overflow_microcents"]
        assert held + won[level["name"]] == put_in[level["name"]], f"{key}/{level['name']} does not add up"


def _account_adds_up(audit: Audit, key: str) -> None:
    balance, held = 0, {}
    for event in audit.events("accounts", key):
        match event:
            case accounts.Deposited(cents, _):
                balance += cents
            case accounts.WinningsCredited(amount_cents=cents) | accounts.StakeReturned(amount_cents=cents):
                balance += cents
            case accounts.Withdrawn(cents, _):
                balance -= cents
            case accounts.HoldPlaced(hold_id=hold_id, amount_cents=cents):
                assert hold_id not in held, f"{key}: {hold_id} was placed twice"
                held[hold_id] = cents
            case accounts.HoldPosted(hold_id, cents):
                assert held.pop(hold_id) == cents
                balance -= cents
            case accounts.HoldReleased(hold_id, cents):
                assert held.pop(hold_id) == cents
        assert balance >= sum(held.values()), f"{key} is below zero"
    state = accounts.INITIAL
    for event in audit.events("accounts", key):
        state = accounts.evolve(state, event)
    assert (state.balance_cents, state.held_cents) == (balance, sum(held.values()))
