"""What must hold: after every record that is stored, and once everything has come through."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from services.core import accounts
from services.flow import BY_NAME
from services.runtime.kafka import Stored, partition_of
from services.runtime.stepping import Chain, Processor
from services.wire.records import CONTRACTS, Record
from tests.support.told import balanced
from tests.support.worlds import PROCESSORS

PROCESSOR_OF: dict[str, Processor] = {each.stream.name: each for each in PROCESSORS}


@dataclass
class Key:
    """One key of one log as its records leave it."""

    state: Any
    chain: Chain
    stored: list[bytes] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    commands: set[str] = field(default_factory=set)


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

    def _read(self, stored: Stored) -> None:
        stream = stored.topic
        record = CONTRACTS[stream].decode_record(stored.value)
        name = f"{stream}/{stored.key} {record.sequence}"
        key = self.keys.get((stream, stored.key))
        if key is None:
            key = self.keys[stream, stored.key] = Key(PROCESSOR_OF[stream].initial, Chain(name))
        if record.sequence <= len(key.stored):
            assert key.stored[record.sequence - 1] == stored.value, f"{name}: two different records have this sequence"
            self.duplicates += 1
            return
        assert key.chain.fits(record, stored.value), name
        self._every_effect_once(stored, record, key, name)
        key.chain.advance(stored.value)
        key.stored.append(stored.value)
        key.records.append(record)
        evolve = PROCESSOR_OF[stream].evolve
        if evolve is not None:
            key.state = evolve(key.state, record.event)
        if stream == "jackpots":
            balanced(key.state)
        elif stream == "accounts":
            _never_below_zero(key.state)

    def _every_effect_once(self, stored: Stored, record: Record, key: Key, name: str) -> None:
        """The records of a partition follow its inputs, in their order; each input and each command has one outcome."""
        at = (stored.topic, stored.partition)
        cause = (record.cause.offset, record.index)
        before = self._causes[at]
        assert record.cause.partition == stored.partition == partition_of(stored.key, 6), name
        follows = cause == (before[0], before[1] + 1) if record.index else cause[0] > before[0]
        assert follows, f"{name}: behind the record of input {before} comes one of input {cause}"
        self._causes[at] = cause
        if record.index == 0:
            assert record.command_id not in key.commands, f"{name}: {record.command_id} has a second outcome"
            key.commands.add(record.command_id)


def _never_below_zero(state: accounts.State) -> None:
    assert 0 <= state.held_cents == sum(state.holds.values())
    assert state.available_cents >= 0 and state.owed_cents >= 0
