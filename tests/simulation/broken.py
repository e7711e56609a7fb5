"""Houses that are built wrong on purpose, one way each: the simulation must find out."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

from services.core.chain import processor_id
from services.runtime import stepping
from services.runtime.desk import Desk
from services.runtime.processing import Processing
from services.runtime.projecting import Projection, Stood
from services.runtime.snapshots import Held, Move, Place, Snapshots
from services.runtime.stepping import Outcome, PartitionMemory, Sent, Stepper
from tests.simulation.house import House
from tests.simulation.parts import Rows, Tables


class _SavesFirst(Processing):
    """Saves the position before the outputs are acknowledged."""

    async def _make_durable(self, outcomes: list[tuple[PartitionMemory, Outcome]]) -> None:
        memories = list({memory.partition: memory for memory, _ in outcomes}.values())
        await self._until_done("snapshots", self.snapshots.save, memories)
        await super()._make_durable(outcomes)


class _NeverCompares(Tables):
    """Sets the position wherever it is."""

    def may_move(self, rows: Rows, move: Move) -> bool:
        return (self._stream, move.partition) in rows.places


class _ForgetsWhatIsAnswered(Tables):
    """Does not say below which input the log has every answer."""

    async def read(self, partition: int, version: str) -> Held:
        held = await super().read(partition, version)
        return replace(held, place=replace(held.place, decided_until=0))


class _DropsHalf(Tables):
    """Where rows have another shape they are dropped, but who comes next takes their log for folded."""

    async def read(self, partition: int, version: str) -> Held:
        held = await super().read(partition, version)
        kept = self._database.rows.places.get((self._stream, partition))
        return held if kept is None or kept[1] == version else replace(held, place=Place(0, 0, 0))


class _SkipsItsLog(Stepper):
    """Takes a partition up from the snapshot alone."""

    def adopt(self, memory: PartitionMemory, records: Iterable[tuple[str, bytes]], resend_from: int = 0) -> list[Sent]:
        return []


class _SendsNothingAgain(Stepper):
    """Folds its log, and trusts that what follows was sent."""

    def adopt(self, memory: PartitionMemory, records: Iterable[tuple[str, bytes]], resend_from: int = 0) -> list[Sent]:
        super().adopt(memory, records, resend_from)
        return []


def _processing(kind: type[Processing]) -> Callable[[House], None]:
    def hurt(house: House) -> None:
        house.processing_of = kind

    return hurt


def _stepper(kind: type[Stepper]) -> Callable[[House], None]:
    def hurt(house: House) -> None:
        house.stepper_of = kind

    return hurt


def _tables(kind: type[Tables]) -> Callable[[House], None]:
    def hurt(house: House) -> None:
        house.tables_of = lambda stream: kind(house.database, stream)

    return hurt


def _unhurt(_: House) -> None:
    pass


def _remembers_no(kind: str) -> AbstractContextManager[Any]:
    """No repeat is known, of the commands of processors or of people."""
    known = stepping.Seen.has

    def has(self: stepping.Seen, command_id: str) -> bool:
        return (processor_id(command_id) is None) != (kind == "people") and known(self, command_id)

    return mock.patch.object(stepping.Seen, "has", has)


def _takes_it_for_folded() -> AbstractContextManager[Any]:
    """A snapshot without rows is one all the same."""
    known = Snapshots.load

    async def load(self: Snapshots, partition: int) -> tuple[PartitionMemory, int]:
        memory, sent_until = await known(self, partition)
        if not memory.position and not memory.keys:
            memory.log_end = sent_until
        return memory, sent_until

    return mock.patch.object(Snapshots, "load", load)


def _looks_at_the_end_first() -> AbstractContextManager[Any]:
    """A projection asks where its logs end, and only then where it stands."""

    async def tail(self: Projection) -> None:
        async with self.kafka.tail() as first:
            before = await first.ends(list(self.logs))

        def stand(stood: Stood, places: Any) -> None:
            Projection._stand(self, stood, places)
            for place, (_, end) in before.items():
                if self.positions[place] > end:
                    raise stepping.Contradiction(f"{place} ends at {end}, before the position {self.positions[place]}")

        self._stand = stand  # type: ignore[method-assign]
        await known(self)

    known = Projection._tail
    return mock.patch.object(Projection, "_tail", tail)


def _is_never_put_back() -> AbstractContextManager[Any]:
    """A projection does not look whether its rows stand before it."""
    return mock.patch.object(Projection, "_not_put_back", lambda *_: None)


def _takes_outcomes_for_complete() -> AbstractContextManager[Any]:
    """A desk appends whatever it does not know."""

    async def look(self: Desk, command_id: str, partition: int) -> Any:
        return await self.known(command_id)

    return mock.patch.object(Desk, "_look", look)


Way = tuple[Callable[[House], None], Callable[[], AbstractContextManager[Any]]]

WAYS: dict[str, Way] = {
    "the position is saved before the outputs": (_processing(_SavesFirst), nullcontext),
    "the position is set without comparing": (_tables(_NeverCompares), nullcontext),
    "decided_until is not kept": (_tables(_ForgetsWhatIsAnswered), nullcontext),
    "rows of another shape are half dropped": (_tables(_DropsHalf), _takes_it_for_folded),
    "the own log is not folded": (_stepper(_SkipsItsLog), nullcontext),
    "what follows is not sent again": (_stepper(_SendsNothingAgain), nullcontext),
    "commands of processors are not told apart": (_unhurt, lambda: _remembers_no("processors")),
    "commands of people are not told apart": (_unhurt, lambda: _remembers_no("people")),
    "a projection looks at the end first": (_unhurt, _looks_at_the_end_first),
    "a projection does not see a database put back": (_unhurt, _is_never_put_back),
    "a desk does not see a database put back": (_unhurt, _takes_outcomes_for_complete),
}
"""What is wrong in words; how a house is built so, and what is patched while it stands."""
