"""The broker, the database and the consumer groups in memory, and the network to them, on which everything goes wrong."""

import asyncio
import contextlib
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from random import Random
from typing import Any, TypeVar

from services.flow import PARTITIONS
from services.runtime.desk import KNOWN
from services.runtime.kafka import BrokerAway, Stored
from services.runtime.processing import Processing
from services.runtime.projecting import HeadRow, Stood
from services.runtime.snapshots import Held, KeyRow, MarkRow, Move, Place
from services.runtime.stepping import Input
from tests.simulation.faults import Fate, Faults
from tests.simulation.loop import Loop, Process, current
from tests.support.given import AT_MS

Answer = TypeVar("Answer")
Records = Sequence[tuple[str, bytes]]
TopicPartition = tuple[str, int]


class Network:
    """Every call to a part goes through here, takes its time, and ends as the seed has it."""

    def __init__(self, loop: Loop, faults: Faults) -> None:
        self.loop, self.faults = loop, faults
        self.on_killed: Callable[[Process], None] = lambda process: None
        self.on_paused: Callable[[Process], None] = lambda process: None
        self.history: list[str] = []

    async def call(self, what: str, act: Callable[[bool], Answer], away: Callable[[str], Exception]) -> Answer:
        """Carries out `act` at the other side and gives its answer; `act(False)` may do a part of it."""
        process = current()
        assert process is not None, "only processes call"
        fate = self.faults.fate()
        if fate is not Fate.DONE:
            self.note(f"{process}: {what} {fate}")
        if fate is Fate.KILLED_BEFORE:
            self.on_killed(process)
        if fate is Fate.PAUSED_BEFORE:
            self.on_paused(process)
        answered: Any = self.loop.create_future()
        if fate in (Fate.KILLED_BEFORE, Fate.PAUSED_BEFORE):
            # What is paused sends nothing before it wakes up: the timer is its own, and a killed one has none.
            self.loop.call_later(0, answered.set_result, None)
            await answered
            answered = self.loop.create_future()

        def answer(result: Any, error: Exception | None) -> None:
            if answered.done():  # whoever asked has given up
                return
            if error is not None:
                answered.set_exception(error)
            else:
                answered.set_result(result)

        def arrive() -> None:
            result: Any = None
            error: Exception | None = None
            if fate is Fate.FAILED_BEFORE:
                error = away(f"{what} was not carried out")
            else:
                try:
                    result = act(fate not in (Fate.FAILED_AFTER, Fate.KILLED_AFTER))
                except Exception as raised:
                    error = raised
                if fate is Fate.FAILED_AFTER:
                    error = away(f"the answer to {what} was lost")
                if fate is Fate.KILLED_AFTER:
                    self.on_killed(process)
                if fate is Fate.PAUSED_AFTER:
                    self.on_paused(process)
            self.loop.call_later(self.faults.latency(), answer, result, error, context=self.loop.outside)

        self.loop.call_later(self.faults.latency(fate), arrive, context=self.loop.outside)
        return await answered  # type: ignore[no-any-return]

    def note(self, what: str) -> None:
        """Keeps what happened, with the time, for whoever reads a failing seed."""
        self.history.append(f"{self.loop.time():9.3f} {what}")


class Broker:
    """Topics as lists. Whoever watches is told of each record as it is stored."""

    def __init__(self, network: Network, chance: Random) -> None:
        self.topics: dict[TopicPartition, list[Stored]] = defaultdict(list)
        self.on_stored: Callable[[Stored], None] = lambda stored: None
        self._network, self._chance = network, chance
        self._waiting: dict[str, list[asyncio.Future[None]]] = defaultdict(list)

    def now_ms(self) -> int:
        """The broker's clock."""
        return AT_MS + int(self._network.loop.time() * 1000)

    def store(self, topic: str, partition: int, groups: Sequence[Records]) -> int:
        """Stores records at once; gives the offset behind them."""
        held = self.topics[topic, partition]
        for group in groups:
            for key, value in group:
                stored = Stored(topic, partition, len(held), self.now_ms(), key, value)
                held.append(stored)
                self.on_stored(stored)
        self.wake(topic)
        return len(held)

    def wake(self, topic: str) -> None:
        """Whoever waits at the topic looks again."""
        waiting, self._waiting[topic] = self._waiting[topic], []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def something_at(self, *topics: str) -> None:
        """Waits until there is reason to look again."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        for topic in topics:
            self._waiting[topic].append(future)
        await future

    async def append(self, topic: str, partition: int, groups: Sequence[Records]) -> int:
        def act(whole: bool) -> int:
            # A batch is taken whole or not at all; of several batches perhaps only the first.
            taken = groups if whole else groups[: self._chance.randint(0, len(groups))]
            return self.store(topic, partition, taken)

        return await self._network.call(f"append to {topic}-{partition}", act, BrokerAway)

    async def ends(self, topics: Sequence[str]) -> dict[TopicPartition, tuple[int, int]]:
        def act(_: bool) -> dict[TopicPartition, tuple[int, int]]:
            places = [(topic, partition) for topic in topics for partition in range(PARTITIONS)]
            return {place: (0, len(self.topics[place])) for place in places}

        return await self._network.call("ends", act, BrokerAway)

    async def read(self, topic: str, partition: int, start: int, end: int) -> AsyncIterator[Stored]:
        if start >= end:
            return
        held = self.topics[topic, partition]
        for stored in await self._network.call(f"read {topic}-{partition}", lambda _: held[start:end], BrokerAway):
            yield stored

    @asynccontextmanager
    async def tail(self) -> AsyncIterator["BrokerTail"]:
        yield BrokerTail(self, self._network, self._chance)


class BrokerTail:
    """Several logs, read on for ever."""

    FETCHED_MAX = 12

    def __init__(self, broker: Broker, network: Network, chance: Random) -> None:
        self._broker, self._network, self._chance = broker, network, chance
        self._offsets: dict[TopicPartition, int] = {}

    async def ends(self, topics: Sequence[str]) -> dict[TopicPartition, tuple[int, int]]:
        return await self._broker.ends(topics)

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._offsets = dict(offsets)

    async def fetch(self, timeout_ms: int) -> list[list[Stored]]:
        topics = self._broker.topics

        def came() -> list[TopicPartition]:
            return [place for place, offset in self._offsets.items() if offset < len(topics[place])]

        if not came():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_ms / 1000):
                    await self._broker.something_at(*{topic: None for topic, _ in self._offsets})
            if not came():
                return []

        def act(_: bool) -> list[list[Stored]]:
            found = []
            for place in came():
                start = self._offsets[place]
                found.append(topics[place][start : start + self._chance.randint(1, self.FETCHED_MAX)])
            return found

        found = await self._network.call("tail", act, BrokerAway)
        for batch in found:
            self._offsets[batch[0].topic, batch[0].partition] = batch[-1].offset + 1
        return found

    async def ping(self, topic: str, seconds: float) -> None:
        await self._network.call("ping the broker", lambda _: None, BrokerAway)


class Rows:
    """All that the database holds. A copy of it is a backup."""

    def __init__(self) -> None:
        self.places: dict[TopicPartition, tuple[Place, str]] = {}
        """By stream and partition, with the version of the shape."""
        self.keys: dict[TopicPartition, dict[str, KeyRow]] = {}
        self.marks: dict[TopicPartition, dict[tuple[str, str], MarkRow]] = {}
        self.alarms: dict[TopicPartition, str] = {}
        self.readers: dict[str, dict[TopicPartition, tuple[int, str]]] = {}
        """By the reader's name: where it stands in each place, with the version of the shape."""
        self.heads: dict[str, dict[tuple[str, str], HeadRow]] = {}
        self.tables: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {name: {} for name in KEYS}
        """What the services' projections write, by table and primary key."""

    def backup(self) -> "Rows":
        """As it is now. The rows themselves are never changed, so a copy of the tables is enough."""
        kept = Rows()
        for name, table in vars(self).items():
            setattr(kept, name, {key: copy(value) for key, value in table.items()})
        return kept


class Database:
    """Rows that can be put back. Each call is one transaction, carried out at one moment."""

    def __init__(self, network: Network) -> None:
        self.rows = Rows()
        self._network = network

    async def transaction(self, what: str, act: Callable[[Rows], Answer]) -> Answer:
        return await self._network.call(what, lambda _: act(self.rows), OSError)


class Tables:
    """The snapshots of one stream, as PostgreSQL keeps them for `Snapshots`."""

    def __init__(self, database: Database, stream: str) -> None:
        self._database, self._stream = database, stream

    async def read(self, partition: int, version: str) -> Held:
        at = (self._stream, partition)

        def act(rows: Rows) -> Held:
            place, kept_version = rows.places.setdefault(at, (Place(0, 0, 0), version))
            rows.alarms.pop(at, None)
            if kept_version != version:
                rows.keys.pop(at, None)
                rows.marks.pop(at, None)
                place = Place(0, place.log_end, 0)
                rows.places[at] = (place, kept_version)
            return Held(place, list(rows.keys.get(at, {}).values()), list(rows.marks.get(at, {}).values()))

        return await self._database.transaction(f"load {self._stream}-{partition}", act)

    async def move(self, moves: Sequence[Move], version: str) -> set[int]:
        def act(rows: Rows) -> set[int]:
            overtaken = {move.partition for move in moves if not self.may_move(rows, move)}
            for move in moves:
                if move.partition not in overtaken:
                    self._write(rows, move, version)
            return overtaken

        partitions = ",".join(str(move.partition) for move in moves)
        return await self._database.transaction(f"save {self._stream}-{partitions}", act)

    def may_move(self, rows: Rows, move: Move) -> bool:
        """Compared and set."""
        held = rows.places.get((self._stream, move.partition))
        return held is not None and held[0].position == move.expected

    def _write(self, rows: Rows, move: Move, version: str) -> None:
        at = (self._stream, move.partition)
        before, place = rows.places[at][0], move.place
        log_end = max(before.log_end, place.log_end)
        rows.places[at] = (Place(place.position, log_end, place.decided_until), version)
        rows.alarms.pop(at, None)
        rows.keys.setdefault(at, {}).update({row.key: row for row in move.keys})
        rows.marks.setdefault(at, {}).update({(row.key, row.source): row for row in move.marks})

    async def alarm(self, partition: int, version: str, text: str) -> None:
        def act(rows: Rows) -> None:
            rows.places.setdefault((self._stream, partition), (Place(0, 0, 0), version))
            rows.alarms[self._stream, partition] = text

        await self._database.transaction(f"alarm {self._stream}-{partition}", act)


KEYS = {
    "outcomes": ("stream", "command_id"),
    "sheets": ("stream", "key", "sheet"),
    "accounts_entries": ("account_id", "sequence"),
    "accounts_ledger": ("account_id",),
    "progressive_moments": ("progressive_id", "sequence"),
}
"""The primary keys of the tables that the services' projections write."""
INSERT = re.compile(
    r"INSERT INTO (\w+)\s+\(([\w, ]+)\)\s+VALUES \([$\d, ]+\)\s+ON CONFLICT (?:\([\w, ]+\) )?DO (NOTHING|UPDATE)"
)


class Connection:
    """What the services' own statements need of a connection: rows that are inserted, and sheets that are read."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.written: list[tuple[str, bool, dict[str, Any]]] = []
        self._posted: list[tuple[str, int, int]] = []

    async def executemany(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        found = INSERT.match(statement)
        assert found is not None, f"the database in memory does not know {statement}"
        table, columns, conflict = found.groups()
        names = columns.split(", ")
        self.written += [(table, conflict == "UPDATE", dict(zip(names, row, strict=True))) for row in rows]

    async def execute(
        self, statement: str, accounts: Sequence[str], posted: Sequence[int], balances: Sequence[int]
    ) -> None:
        assert "INTO accounts_ledger" in statement, f"the database in memory does not know {statement}"
        self._posted += zip(accounts, posted, balances, strict=True)

    async def fetch(self, statement: str, stream: str, keys: Sequence[str], sheets: Sequence[str]) -> list[Any]:
        assert "FROM sheets" in statement, f"the database in memory does not know {statement}"

        def act(rows: Rows) -> list[Any]:
            held = rows.tables["sheets"]
            asked = zip(keys, sheets, strict=True)
            return [held[stream, *one] for one in asked if (stream, *one) in held]

        return await self._database.transaction("read sheets", act)

    def carry_out(self, rows: Rows) -> None:
        """At the end of the transaction."""
        for table, replaces, row in self.written:
            key = tuple(row[name] for name in KEYS[table])
            if replaces or key not in rows.tables[table]:
                rows.tables[table][key] = row
        ledger = rows.tables["accounts_ledger"]
        for account, cents, balance in self._posted:
            before = ledger.get((account,), {"posted_cents": 0})["posted_cents"]
            ledger[account,] = {"account_id": account, "posted_cents": before + cents, "balance_cents": balance}
        self.written.clear()
        self._posted.clear()


class Readers:
    """Where one projection stands, as PostgreSQL keeps it for `Projection`."""

    def __init__(self, database: Database, reader: str) -> None:
        self._database, self._reader = database, reader

    async def load(self) -> Stood:
        def act(rows: Rows) -> Stood:
            stands = rows.readers.get(self._reader, {})
            versions = frozenset(version for _, version in stands.values())
            heads = list(rows.heads.get(self._reader, {}).values())
            return Stood({place: position for place, (position, _) in stands.items()}, versions, heads)

        return await self._database.transaction(f"load {self._reader}", act)

    @asynccontextmanager
    async def writing(self, version: str) -> AsyncIterator["ReaderWriting"]:
        writing = ReaderWriting(self._database, self._reader, version)
        yield writing
        await self._database.transaction(f"commit {self._reader}", writing.commit)

    async def alarm(self, text: str) -> None:
        """Whoever stands still is found by `House.run`."""

    async def positions(self, seconds: float) -> Mapping[TopicPartition, int]:
        def act(rows: Rows) -> dict[TopicPartition, int]:
            return {place: position for place, (position, _) in rows.readers.get(self._reader, {}).items()}

        return await self._database.transaction(f"look where {self._reader} stands", act)


class ReaderWriting:
    """One transaction. Instead of waiting for another's lock it fails at its end where another was quicker."""

    def __init__(self, database: Database, reader: str, version: str) -> None:
        self.connection = Connection(database)
        self._database, self._reader, self._version = database, reader, version
        self._stood: dict[TopicPartition, int] = {}
        self._moved: Mapping[TopicPartition, int] = {}
        self._heads: Sequence[HeadRow] = ()

    async def stand(self, places: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        asked = list(places)

        def act(rows: Rows) -> dict[TopicPartition, int]:
            stands = rows.readers.get(self._reader, {})
            return {place: stands.get(place, (0, ""))[0] for place in asked}

        self._stood = await self._database.transaction(f"stand {self._reader}", act)
        return dict(self._stood)

    async def advance(
        self, moved: Mapping[TopicPartition, int], last_ms: Mapping[TopicPartition, int], heads: Sequence[HeadRow]
    ) -> None:
        self._moved, self._heads = moved, heads

    def commit(self, rows: Rows) -> None:
        """All of it at one moment, or nothing."""
        stands = rows.readers.setdefault(self._reader, {})
        if any(stands.get(place, (0, ""))[0] != position for place, position in self._stood.items()):
            raise OSError(f"{self._reader}: another transaction has the rows")
        self.connection.carry_out(rows)
        stands.update({place: (end, self._version) for place, end in self._moved.items()})
        rows.heads.setdefault(self._reader, {}).update({(row.topic, row.key): row for row in self._heads})


class Outcomes:
    """What a desk asks of its pool: the outcome of a command."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fetchrow(self, statement: str, stream: str, command_id: str, reader: str, partition: int) -> Any:
        assert statement is KNOWN, f"the database in memory does not know {statement}"

        def act(rows: Rows) -> dict[str, Any]:
            position, _ = rows.readers.get(reader, {}).get((stream, partition), (0, ""))
            row = rows.tables["outcomes"].get((stream, command_id), {"request_hash": None})
            return {**row, "position": position}

        return await self._database.transaction("look for an outcome", act)


class Coordinator:
    """The consumer group of one processor: who is in it, and who has which partition."""

    def __init__(self, wake: Callable[[], None], chance: Random) -> None:
        self.generation = 0
        self.members: list[Member] = []
        self._shares: dict[Member, frozenset[int]] = {}
        self._wake, self._chance = wake, chance

    def join(self, member: "Member") -> None:
        """It takes part from now on."""
        self.members.append(member)
        self.rebalance()

    def leave(self, process: Process) -> None:
        """Nothing has been heard of it for too long."""
        left = [member for member in self.members if member.process is not process]
        if len(left) < len(self.members):
            self.members = left
            self.rebalance()

    def rebalance(self) -> None:
        """Deals the partitions anew; the members hear of it one by one."""
        self.generation += 1
        partitions = list(range(PARTITIONS))
        self._chance.shuffle(partitions)
        count = len(self.members)
        self._shares = {
            member: frozenset(partitions[number::count]) for number, member in enumerate(self.members) if count
        }
        self._wake()

    def share(self, member: "Member") -> frozenset[int] | None:
        """The partitions of a member; None where it is not taken for one any more."""
        return self._shares.get(member)


class Member:
    """One process in its group: hears of rebalances late, fetches, and hands over what it fetched."""

    FETCHED_MAX = 8

    def __init__(
        self, coordinator: Coordinator, broker: Broker, network: Network, processing: Processing, chance: Random
    ) -> None:
        process = current()
        assert process is not None
        self.process = process
        self._coordinator, self._broker, self._network = coordinator, broker, network
        self._processing, self._chance = processing, chance
        self._input = processing.stream.input
        self._generation = 0
        self._offsets: dict[int, int] = {}

    async def run(self) -> None:
        """Takes part until the process ends."""
        self._processing.start(self)
        self._coordinator.join(self)
        while True:
            told = self._generation != self._coordinator.generation
            if told and self._chance.random() < 0.7:
                await self._rejoin()
            elif told or self._something_came():
                fetched = await self._fetch()
                if fetched:
                    await self._processing.take(fetched).wait()
            else:
                await self._broker.something_at(self._input)

    def _something_came(self) -> bool:
        return any(offset < len(self._broker.topics[self._input, at]) for at, offset in self._offsets.items())

    async def _rejoin(self) -> None:
        share = self._coordinator.share(self)
        if share is None:
            self._coordinator.join(self)
            return
        self._generation = self._coordinator.generation
        self._offsets = dict.fromkeys(share, 0)
        self._offsets = await self._processing.assigned(share)

    async def _fetch(self) -> dict[int, list[Input]]:
        """What has come for some of the partitions, from where each is read."""
        offsets = dict(self._offsets)

        def act(_: bool) -> dict[int, list[Input]]:
            found = {}
            for partition, offset in offsets.items():
                if self._chance.random() < 0.15:
                    continue  # it comes with the next
                most = offset + self._chance.randint(1, self.FETCHED_MAX)
                held = self._broker.topics[self._input, partition][offset:most]
                if held:
                    found[partition] = [Input(each.offset, each.at_ms, each.key, each.value) for each in held]
            return found

        try:
            found = await self._network.call(f"fetch {self._input}", act, OSError)
        except OSError:
            return {}
        # What was asked for before somebody sought is thrown away, as the client does.
        found = {at: items for at, items in found.items() if self._offsets.get(at) == offsets[at]}
        for partition, items in found.items():
            self._offsets[partition] = items[-1].offset + 1
            if self._network.faults.strays():
                # The engine delivers some of it again, or loses some on the way.
                self._network.note(f"{self.process}: {self._input}-{partition} strays at {items[-1].offset + 1}")
                # Of what is lost something behind comes, or nobody could know.
                last = len(self._broker.topics[self._input, partition]) - 1
                self._offsets[partition] = max(0, min(self._offsets[partition] + self._chance.randint(-6, 3), last))
        return found

    # What the processing asks ---------------------------------------------------------------------------

    def holds(self, partition: int) -> bool:
        return partition in self._offsets

    async def seek(self, partition: int, offset: int) -> None:
        self._offsets[partition] = offset
        self._broker.wake(self._input)

    async def commit(self, positions: Mapping[int, int]) -> None:
        """Nothing depends on it."""
