"""The house in memory: real processors, real bytes; only broker, database and HTTP are replaced."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from services.core import accounts, jackpots, rounds, sheets
from services.core.chain import processor_id
from services.core.rules import RuleBook
from services.flow import DEAD_LETTERS, PARTITIONS, stream_of
from services.runtime.kafka import partition_of
from services.runtime.stepping import Input, Outcome, PartitionMemory, Processor, Stepper
from services.wire.records import CONTRACTS, Asked, Record

Place = tuple[str, int]
"""A topic and its partition."""


class MemoryHouse:
    """Topics as lists, one memory for each partition of each processor, and a clock that is given.

    Nothing happens by itself: `ask` appends a command and lets all processors work until nothing moves.
    On `topics` that are there already the processors take up what their logs say, as at a start without snapshots.
    """

    def __init__(
        self,
        processors: Sequence[Processor],
        book: RuleBook,
        clock: Callable[[], int],
        topics: Mapping[Place, Sequence[Input]] | None = None,
    ) -> None:
        self.steppers = {processor.stream.name: Stepper(processor, book) for processor in processors}
        self.topics: dict[Place, list[Input]] = {place: list(held) for place, held in (topics or {}).items()}
        self.memories: dict[Place, PartitionMemory] = {}
        """By the stream and the partition."""
        self._clock = clock
        self._answers: dict[tuple[str, str], tuple[Record, ...]] = {}
        if topics is not None:
            for name in self.steppers:
                self._take_up(name)
            self.run()

    # What goes in ------------------------------------------------------------------------------------

    def ask(
        self, stream: str, key: str, command: Any, actor: str, command_id: str, request_hash: bytes = b""
    ) -> tuple[Record, ...]:
        """The records that answer a command, also one asked before; none where it changed nothing."""
        topic = stream_of(stream).commands
        assert topic is not None, f"{stream} takes no commands"
        asked = Asked(command_id, actor, request_hash, command)
        self.append(topic, key, CONTRACTS[stream].encode_command(asked))
        self.run()
        return self._answers.get((stream, command_id), ())

    def append(self, topic: str, key: str, value: bytes) -> None:
        """Stores one record as the broker would: behind the last of its key's partition, with the time of now."""
        held = self.topics.setdefault((topic, partition_of(key, PARTITIONS)), [])
        held.append(Input(len(held), self._clock(), key, value))

    def run(self) -> None:
        """Lets all processors work until nothing moves. Raises what would make a partition stand still."""
        places = [(name, partition) for name in self.steppers for partition in range(PARTITIONS)]
        moved = [True]
        while any(moved):
            # Everybody has a turn before anybody has another, as processes beside each other would.
            moved = [self._step(name, partition) for name, partition in places]

    def _step(self, name: str, partition: int) -> bool:
        """Gives a processor the inputs that it has not read yet; whether there were any."""
        stepper = self.steppers[name]
        memory = self._memory(name, partition)
        fresh = self.topics.get((stepper.stream.input, partition), [])[memory.position :]
        if fresh:
            self._write(name, stepper.step(memory, fresh))
        return bool(fresh)

    def _memory(self, name: str, partition: int) -> PartitionMemory:
        return self.memories.setdefault((name, partition), PartitionMemory(partition, 0, 0, 0))

    def _write(self, name: str, outcome: Outcome) -> None:
        """In the order of durability: the own log, the commands that follow from it, the dead letters."""
        for group in outcome.groups:
            for key, stored in group:
                self.append(name, key, stored)
            self._note_answer(name, group)
        for sent in outcome.sent:
            topic = stream_of(sent.stream).commands
            assert topic is not None, "a command goes to a stream that takes commands"
            self.append(topic, sent.key, sent.value)
        for key, letter in outcome.dead:
            held = self.topics.setdefault((DEAD_LETTERS, 0), [])
            held.append(Input(len(held), self._clock(), key, letter))
        if outcome.stopped is not None:
            raise outcome.stopped

    def _note_answer(self, name: str, group: list[tuple[str, bytes]]) -> None:
        records = tuple(CONTRACTS[name].decode_record(stored) for _, stored in group)
        if processor_id(records[0].command_id) is None:
            self._answers[name, records[0].command_id] = records

    def forget(self, name: str) -> None:
        """Takes a processor up anew as after the loss of its snapshots: from its log, commands sent again."""
        self._take_up(name)
        self.run()

    def _take_up(self, name: str) -> None:
        for partition in range(PARTITIONS):
            memory = self.memories[name, partition] = PartitionMemory(partition, 0, 0, 0)
            own = self.topics.get((name, partition), [])
            sent = self.steppers[name].adopt(memory, [(item.key, item.value) for item in own])
            memory.log_end = len(own)
            self._write(name, Outcome(sent=sent))

    # What comes out ----------------------------------------------------------------------------------

    def records(self, stream: str, key: str | None = None) -> Iterator[Record]:
        """The records of a log, those of a key where one is named; each key's in order."""
        places = range(PARTITIONS) if key is None else (partition_of(key, PARTITIONS),)
        for partition in places:
            for item in self.topics.get((stream, partition), ()):
                if key is None or item.key == key:
                    yield CONTRACTS[stream].decode_record(item.value)

    def keys(self, stream: str) -> list[str]:
        """The keys that a log has records of, in their order."""
        return sorted({item.key for (topic, _), held in self.topics.items() if topic == stream for item in held})

    def fold(self, stream: str, key: str) -> Any:
        """What the events of a key add up to, from the first; None where it has none."""
        processor = self.steppers[stream].processor
        assert processor.evolve is not None, f"{stream} is no fold of its own events"
        events = [record.event for record in self.records(stream, key)]
        return reduce(processor.evolve, events, processor.initial) if events else None

    def read(self, path: str) -> Any:
        """What GET answers at that path, as the services have it; None for what they have not."""
        path, _, query = path.partition("?")
        round_id = query.removeprefix("round_id=")
        match path.strip("/").split("/"):
            case ["tables", table_id]:
                table = self.fold("rounds", table_id)
                return None if table is None else rounds.view(table_id, table)
            case ["rounds", round_id]:
                return self._wagers(round_id)
            case ["progressives", progressive_id, *rest]:
                return self._progressive(progressive_id, rest, round_id)
            case ["accounts", account_id]:
                account = self.fold("accounts", account_id)
                opened = account is not None and account.player_id is not None
                return accounts.view(account_id, account) if opened else None
            case _:
                raise ValueError(f"nothing here answers {path}")

    def _wagers(self, round_id: str) -> Any:
        sheet = sheets.WagerSheet()
        for table_id in self.keys("wagers"):
            for record in self.records("wagers", table_id):
                if record.event.round_id == round_id:
                    sheet = sheets.with_wager(sheet, table_id, record.event)
        return sheets.wager_view(sheet) if sheet.round_id else None

    def _progressive(self, progressive_id: str, rest: list[str], round_id: str) -> Any:
        state = self.fold("jackpots", progressive_id)
        if state is None or not state.levels:
            return None
        shown = jackpots.view(progressive_id, state)
        if not rest or not round_id:
            return shown[rest[0]] if rest else shown
        sheet = sheets.JackpotSheet()
        for record in self.records("jackpots", progressive_id):
            if sheets.round_of(record.event) == round_id:
                sheet = sheets.with_jackpot(sheet, record.event)
        return sheets.claims_view(sheet) if rest == ["claims"] else sheets.envy_view(sheet)
