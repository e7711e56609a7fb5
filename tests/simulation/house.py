"""The house: every service with its instances as processes, which are killed, paused, woken, started again and replaced."""

import itertools
from collections.abc import Callable
from random import Random
from typing import Any
from unittest import mock

from services.flow import STREAMS
from services.runtime import vital
from services.runtime.processing import Processing
from services.runtime.snapshots import Snapshots
from services.runtime.stepping import Processor, Stepper
from tests.simulation.faults import CALM, Faults
from tests.simulation.invariants import Auditor
from tests.simulation.loop import Loop, Process
from tests.simulation.parts import Broker, Coordinator, Database, Member, Network, Tables
from tests.support.worlds import BOOK, PROCESSORS

SESSION_SECONDS = (0.05, 0.6)
"""After how long a silent member is out of its group."""
START_SECONDS = (0.5, 1.5)
"""How long a process takes to come back: longer than anything that was sent to a part is on its way."""
PAUSE_SECONDS = (0.01, 3.0)


class Instance:
    """One of the processes of a service, whichever runs at the moment."""

    def __init__(self, stream: str, number: int) -> None:
        self.stream, self.number = stream, number
        self.starts = itertools.count(1)
        self.process: Process | None = None
        self.processing: Processing | None = None


class House:
    """A whole house under one seed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.loop = Loop()
        self.faults = Faults(self.chance)
        self.network = Network(self.loop, self.faults)
        self.network.on_killed, self.network.on_paused = self.kill, self.pause
        self.broker = Broker(self.network, self.chance)
        self.database = Database(self.network)
        self.auditor = Auditor()
        self.broker.on_stored = self.auditor.stored
        self.processors: dict[str, Processor] = {each.stream.name: each for each in PROCESSORS}
        self.coordinators = {
            stream.name: Coordinator(lambda topic=stream.input: self.broker.wake(topic), self.chance)  # type: ignore[misc]
            for stream in STREAMS
        }
        self.instances = [
            Instance(stream.name, number) for stream in STREAMS for number in range(1, self.chance.randint(1, 3) + 1)
        ]
        self.tables: Callable[[str], Any] = lambda stream: Tables(self.database, stream)
        self.graves: list[Process] = []

    # Processes ------------------------------------------------------------------------------------------

    def start(self, instance: Instance) -> None:
        """A new process of it."""
        process = Process(f"{instance.stream}-{instance.number}.{next(instance.starts)}")
        instance.process = process
        self.network.note(f"{process} starts")
        self.loop.spawn(process, self._run(instance))

    async def _run(self, instance: Instance) -> None:
        stepper = Stepper(self.processors[instance.stream], BOOK)
        snapshots = Snapshots(self.tables(instance.stream), stepper)
        instance.processing = Processing(stepper, self.broker, snapshots)
        coordinator = self.coordinators[instance.stream]
        await Member(coordinator, self.broker, self.network, instance.processing, self.chance).run()

    def kill(self, process: Process) -> None:
        """As kill -9. Its keeper starts another; its group misses it after a while."""
        if process.dead:
            return
        self.network.note(f"{process} is killed")
        self.loop.kill(process)
        self.graves.append(process)
        instance = next(each for each in self.instances if each.process is process)
        self._later(SESSION_SECONDS, lambda: self.coordinators[instance.stream].leave(process))
        self._later(START_SECONDS, lambda: self.start(instance))

    def pause(self, process: Process) -> None:
        """As SIGSTOP, and SIGCONT after a while, perhaps long after its group missed it."""
        if process.dead or process.paused:
            return
        self.network.note(f"{process} is paused")
        self.loop.pause(process)
        instance = next(each for each in self.instances if each.process is process)

        def missed() -> None:
            if process.paused:
                self.coordinators[instance.stream].leave(process)

        self._later(SESSION_SECONDS, missed)
        self._later(PAUSE_SECONDS, lambda: self.wake(process))

    def wake(self, process: Process) -> None:
        """It goes on where it was."""
        if process.paused and not process.dead:
            self.network.note(f"{process} wakes up")
            self.loop.wake(process)

    def _later(self, within: tuple[float, float], act: Callable[[], None]) -> None:
        self.loop.call_later(self.chance.uniform(*within), act, context=self.loop.outside)

    # A run ----------------------------------------------------------------------------------------------

    def run(self, reached: Callable[[], bool], seconds: float) -> None:
        """Lets everything happen until something holds. Raises AssertionError for whatever must not be."""
        with mock.patch.object(vital.signal, "raise_signal", _ended):
            self.loop.run_until(lambda: bool(self.auditor.wrong or self.loop.broken) or reached(), seconds)
        if self.auditor.wrong:
            raise self.auditor.wrong
        assert not self.loop.broken, self.loop.broken
        for instance in self.instances:
            assert instance.processing is None or not instance.processing.stopped, (
                f"{instance.process} stands still: {instance.processing.stopped}"
            )

    def calm_down(self) -> None:
        """Nothing goes wrong any more; what is under way comes to its end."""
        self.faults.rates = CALM

    def quiet(self) -> bool:
        """Whether every process runs and every input is answered."""
        if any(each.process is None or each.process.dead or each.process.paused for each in self.instances):
            return False
        for stream in STREAMS:
            for (topic, partition), held in list(self.broker.topics.items()):
                if topic == stream.input and held:
                    place = self.database.rows.places.get((stream.name, partition))
                    if place is None or place[0].position != len(held):
                        return False
        return True


def _ended(_: int) -> None:
    raise AssertionError("a task that a service cannot live without ended by itself")
