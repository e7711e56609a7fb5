"""What must hold after every record that is stored."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from services.core import accounts, jackpots
from services.flow import BY_NAME, PARTITIONS
from services.runtime.kafka import Stored, partition_of
from services.runtime.stepping import Chain, Processor
from services.wire.records import CONTRACTS, Record
from tests.support.told import CENT, balanced
from tests.support.worlds import PROCESSORS

PROCESSOR_OF: dict[str, Processor] = {each.stream.name: each for each in PROCESSORS}


@dataclass
class Pot:
    """One level by its events alone, in microcents: what was put in, what was won, what went to another level."""

    put_in: int = 0
    won: int = 0
    gone: int = 0

    @property
    def held(self) -> int:
        return self.put_in - self.won - self.gone


@dataclass
class Key:
    """One key of one log as its records leave it. `postings` are the sums of an account's book."""

    state: Any
    chain: Chain
    stored: list[Stored] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    commands: set[str] = field(default_factory=set)
    postings: Counter[str] = field(default_factory=Counter)
    pots: dict[str, Pot] = field(default_factory=lambda: defaultdict(Pot))


class Auditor:
    """Reads each record at the moment in which it is stored."""

    def __init__(self) -> None:
        self.keys: dict[tuple[str, str], Key] = {}
        self.duplicates = 0
        self.wrong: Exception | None = None
        self._causes: dict[tuple[str, int], tuple[int, int]] = defaultdict(lambda: (-1, 0))

    def stored(self, stored: Stored) -> None:
        """Notes what is wrong with a record, the first time that something is."""
        if stored.topic in BY_NAME and self.wrong is None:
            try:
                self._read(stored)
            except Exception as error:
                self.wrong = error

    def records(self, stream: str) -> dict[str, list[Record]]:
        """By key, all records of a log, each once."""
        return {key: known.records for (name, key), known in self.keys.items() if name == stream}

    def _read(self, stored: Stored) -> None:
        stream = stored.topic
        record = CONTRACTS[stream].decode_record(stored.value)
        name = f"{stream}/{stored.key} {record.sequence}"
        key = self.keys.get((stream, stored.key))
        if key is None:
            key = self.keys[stream, stored.key] = Key(PROCESSOR_OF[stream].initial, Chain(name))
        if record.sequence <= len(key.stored):
            first = key.stored[record.sequence - 1].value
            assert first == stored.value, f"{name}: two different records have this sequence"
            self.duplicates += 1
            return
        assert key.chain.fits(record, stored.value), name
        self._every_effect_once(stored, record, key, name)
        key.chain.advance(stored.value)
        key.stored.append(stored)
        key.records.append(record)
        evolve = PROCESSOR_OF[stream].evolve
        if evolve is not None:
            key.state = evolve(key.state, record.event)
        if stream == "jackpots":
            _level_by_level(key, record.event, name)
        elif stream == "accounts":
            _posted(key, record.event, name)

    def _every_effect_once(self, stored: Stored, record: Record, key: Key, name: str) -> None:
        """The records of a partition follow its inputs, in their order; each input and each command has one outcome."""
        at = (stored.topic, stored.partition)
        cause = (record.cause.offset, record.index)
        before = self._causes[at]
        assert record.cause.partition == stored.partition == partition_of(stored.key, PARTITIONS), name
        follows = cause == (before[0], before[1] + 1) if record.index else cause[0] > before[0]
        assert follows, f"{name}: behind the record of input {before} comes one of input {cause}"
        self._causes[at] = cause
        if record.index == 0:
            assert record.command_id not in key.commands, f"{name}: {record.command_id} has a second outcome"
            key.commands.add(record.command_id)


# Levels ---------------------------------------------------------------------------------------------------


def _total(parts: Any) -> int:
    return int(parts.shown_microcents + parts.hidden_microcents + parts.overflow_microcents)


def _level_by_level(key: Key, event: Any, name: str) -> None:
    """Seed, contributions and what came from another level are what is there, what was won, and what went to another."""
    state: jackpots.State = key.state
    balanced(state)
    pots = key.pots
    match event:
        case jackpots.ProgressiveOpened(levels=opened):
            for level in opened:
                pots[level.name].put_in += level.base_microcents
        case jackpots.ContributionAccepted(levels=parts) | jackpots.TransferAccepted(levels=parts):
            for part in parts:
                pots[part.name].put_in += _total(part)
        case jackpots.ContributionTakenBack(levels=reversals):
            for back in reversals:
                pots[back.name].put_in += back.seeded_microcents - _total(back)
        case jackpots.LevelHit():
            pots[event.name].put_in += event.seeded_microcents
            pots[event.name].won += event.amount_cents * CENT
        case jackpots.LevelRestored():
            pots[event.name].put_in += event.seeded_microcents
            pots[event.name].won -= event.amount_cents * CENT
        case jackpots.ParametersChanged():
            pots[event.name].put_in += event.seeded_microcents
        case jackpots.ProgressiveClosed(levels=moved):
            for part in moved:
                pot = pots[part.name]
                pot.gone += _total(part)
                held = state.level(part.name)
                assert held is not None and pot.held == held.terms.reset, f"{name}: more than the reset goes back"
                pot.put_in -= pot.held
    for level in state.levels:
        assert level.meter.total == pots[level.name].held, f"{name}: level {level.name} does not add up"


# Accounts -------------------------------------------------------------------------------------------------

AVAILABLE, HELD, CAGE, HOUSE = "available", "held", "cage", "house"


def _posted(key: Key, event: Any, name: str) -> None:
    """Every movement has two sides, which sum to zero; the account is what was posted, and never below zero."""
    move = partial(_move, key.postings)
    match event:
        case accounts.Deposited(cents):
            move(CAGE, AVAILABLE, cents)
        case accounts.Withdrawn(cents):
            move(AVAILABLE, CAGE, cents)
        case accounts.HoldPlaced(amount_cents=cents):
            move(AVAILABLE, HELD, cents)
        case accounts.HoldReleased(amount_cents=cents):
            move(HELD, AVAILABLE, cents)
        case accounts.HoldPosted(amount_cents=cents):
            move(HELD, HOUSE, cents)
        case accounts.WinningsCredited(amount_cents=cents) | accounts.StakeReturned(amount_cents=cents):
            move(HOUSE, AVAILABLE, cents)
        case accounts.WinningsTakenBack(amount_cents=cents):
            move(AVAILABLE, HOUSE, cents)
    state: accounts.State = key.state
    assert sum(key.postings.values()) == 0, f"{name}: the postings do not sum to zero"
    assert key.postings[AVAILABLE] == state.available_cents >= 0, f"{name}: {state}"
    assert key.postings[HELD] == state.held_cents == sum(state.holds.values()) >= 0, f"{name}: {state}"


def _move(postings: Counter[str], source: str, target: str, cents: int) -> None:
    postings[source] -= cents
    postings[target] += cents
