"""The house: every service with its instances as processes, which are killed, paused, woken, started again and replaced."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest import mock

from services.core.jackpots import SignerBand
from services.core.rules import RuleBook
from services.flow import PARTITIONS, STREAMS, Stream
from services.runtime import vital
from services.runtime.desk import Answer, Desk
from services.runtime.kafka import partition_of
from services.runtime.parts import Definition
from services.runtime.processing import Processing
from services.runtime.projecting import Projection
from services.runtime.snapshots import Snapshots
from services.runtime.stepping import Processor, Stepper
from services.wire.records import Asked
from tests.simulation import versions
from tests.simulation.faults import CALM, Faults, Rates, rates
from tests.simulation.invariants import Auditor
from tests.simulation.loop import Loop, Process
from tests.simulation.parts import Broker, Coordinator, Database, Member, Network, Outcomes, Readers, Rows, Tables
from tests.support.worlds import BOOK

DEFINITIONS: dict[str, Definition] = {
    stream.name: import_module(f"services.{stream.service}.__main__").DEFINITION for stream in STREAMS
}
SESSION_SECONDS = (0.05, 0.6)
"""After how long a silent member is out of its group."""
START_SECONDS = (0.5, 1.5)
"""How long a process takes to come back: longer than anything that was sent to a part is on its way."""
PAUSE_SECONDS = (0.01, 3.0)
YOUNG_SECONDS = 0.2
ANSWER_SECONDS = 1.0
SETTINGS = SimpleNamespace(signers=(SignerBand(1_000_000, 2),), parameters_idle_ms=400)


class Instance:
    """One of the processes of a service, whichever runs at the moment."""

    def __init__(self, stream: Stream, number: int) -> None:
        self.stream, self.number = stream, number
        self.definition = DEFINITIONS[stream.name]
        self.starts = itertools.count(1)
        self.process: Process | None = None
        self.processing: Processing | None = None
        self.projection: Projection | None = None
        self.desk: Desk | None = None

    @property
    def runs(self) -> bool:
        """Whether there is a process, and it does not stand."""
        return self.process is not None and not self.process.dead and not self.process.paused


class House:
    """A whole house under one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = Random(seed)
        self.loop = Loop()
        self.faults = Faults(self.chance)
        self.network = Network(self.loop, self.faults)
        self.network.on_killed, self.network.on_paused = self.kill, self.pause
        self.broker = Broker(self.network, self.chance)
        self.database = Database(self.network)
        self.auditor = Auditor()
        self.broker.on_stored = self.auditor.stored
        self.book: RuleBook = BOOK
        self.version = {stream.name: 0 for stream in STREAMS}
        self.coordinators = {
            stream.name: Coordinator(lambda topic=stream.input: self.broker.wake(topic), self.chance)  # type: ignore[misc]
            for stream in STREAMS
        }
        self.instances = [
            Instance(stream, number) for stream in STREAMS for number in range(1, self.chance.randint(1, 3) + 1)
        ]
        self.backup: Rows | None = None
        self.tables_of: Callable[[str], Any] = lambda stream: Tables(self.database, stream)
        self.processing_of: type[Processing] = Processing
        self.stepper_of: type[Stepper] = Stepper

    # Processes ------------------------------------------------------------------------------------------

    def open(self, hurt: Rates | None = None) -> None:
        """Starts every instance; from then on things go wrong."""
        for instance in self.instances:
            self.start(instance)
        self.faults.rates = hurt or rates(self.chance)
        self._later((0.05, 0.3), self._something_happens)

    def start(self, instance: Instance) -> None:
        """A new process of it."""
        process = Process(f"{instance.stream.service}-{instance.number}.{next(instance.starts)}", self.loop.time())
        instance.process, instance.processing, instance.projection, instance.desk = process, None, None, None
        self.network.note(f"{process} starts")
        self.loop.spawn(process, self._run(instance))

    async def _run(self, instance: Instance) -> None:
        """What `runtime/service.py` puts together, without HTTP."""
        stream, definition = instance.stream, instance.definition
        processor, shape = self.processor(stream.name)
        stepper = self.stepper_of(processor, self.book)
        snapshots = Snapshots(self.tables_of(stream.name), stepper, shape)
        instance.processing = self.processing_of(stepper, self.broker, snapshots)
        if definition.forms is not None:
            watch: Any = SimpleNamespace(away=[], lost=asyncio.Event(), note=lambda name, answers: None)
            instance.desk = Desk(stream, self.broker, Outcomes(self.database), watch, ANSWER_SECONDS)  # type: ignore[arg-type]
        desk = instance.desk

        async def apply(connection: Any, facts: Any) -> None:
            if desk is not None:
                await desk.project(connection, facts)
            await definition.apply(connection, facts)

        readers = Readers(self.database, definition.name)
        projection = Projection(definition.name, definition.logs, apply, self.broker, readers, definition.shapes)
        if desk is not None:
            desk.follow(projection)
        instance.projection = projection
        projection.start()
        coordinator = self.coordinators[stream.name]
        await Member(coordinator, self.broker, self.network, instance.processing, self.chance).run()

    def processor(self, stream: str) -> tuple[Processor, str | None]:
        """The processor of the version that runs, and the shape of its states where it is another."""
        processor = DEFINITIONS[stream].processor
        assert processor is not None
        return versions.of(processor, self.version[stream])

    def kill(self, process: Process) -> None:
        """As kill -9. Its keeper starts another; its group misses it after a while."""
        if process.dead:
            return
        self.network.note(f"{process} is killed")
        self.loop.kill(process)
        instance = self._instance_of(process)
        # A version that falls while it takes over is taken back, more often than not.
        young = self.loop.time() - process.began_at < YOUNG_SECONDS
        if self.chance.random() < (0.5 if young else 0.1):
            self._replace(instance.stream.name)
            return
        self._later(SESSION_SECONDS, lambda: self.coordinators[instance.stream.name].leave(process))
        self._later(START_SECONDS, lambda: self._start_if_gone(instance, process))

    def _start_if_gone(self, instance: Instance, process: Process) -> None:
        if instance.process is process:
            self.start(instance)

    def _instance_of(self, process: Process) -> Instance:
        return next(each for each in self.instances if each.process is process)

    def pause(self, process: Process) -> None:
        """As SIGSTOP, and SIGCONT after a while, perhaps long after its group missed it."""
        if process.dead or process.paused:
            return
        self.network.note(f"{process} is paused")
        self.loop.pause(process)
        coordinator = self.coordinators[self._instance_of(process).stream.name]
        self._later(SESSION_SECONDS, lambda: coordinator.leave(process) if process.paused else None)
        self._later(PAUSE_SECONDS, lambda: self.wake(process))

    def wake(self, process: Process) -> None:
        """It goes on where it was."""
        if process.paused and not process.dead:
            self.network.note(f"{process} wakes up")
            self.loop.wake(process)

    def _later(self, within: tuple[float, float], act: Callable[[], Any]) -> None:
        self.loop.call_later(self.chance.uniform(*within), act, context=self.loop.outside)

    # What happens to the house --------------------------------------------------------------------------

    def _something_happens(self) -> None:
        if self.faults.rates is CALM:
            return
        happens = self.chance.choices(
            [self._rebalance, self._replace, self.back_up, self.put_back, self._fall, self._stall],
            [4, 2, 2, 1, 2, 2],
        )[0]
        happens()
        self._later((0.3, 3.0), self._something_happens)

    def _rebalance(self) -> None:
        name = self.chance.choice(list(self.coordinators))
        self.network.note(f"{name}: the partitions are dealt anew")
        self.coordinators[name].rebalance()

    def _replace(self, name: str = "") -> None:
        """A service is stopped, all of its instances, and started again as another version."""
        name = name or self.chance.choice(list(self.version))
        others = [number for number in range(versions.COUNT) if number != self.version[name]]
        self.version[name] = self.chance.choice(others)
        self.network.note(f"{name}: version {self.version[name]} takes over")
        for instance in self.instances:
            process = instance.process
            if instance.stream.name == name and process is not None:
                if not process.dead:
                    self.loop.kill(process)
                self.coordinators[name].leave(process)
                self._later(
                    START_SECONDS, lambda instance=instance, process=process: self._start_if_gone(instance, process)
                )  # type: ignore[misc]

    def back_up(self) -> None:
        """As a dump of the database, at one moment."""
        self.network.note("the database is backed up")
        self.backup = self.database.rows.backup()

    def put_back(self) -> None:
        """The last backup takes the place of what the database holds, under whatever runs."""
        if self.backup is not None:
            self.network.note("the database is put back")
            self.database.rows = self.backup.backup()

    def _fall(self) -> None:
        running = [each.process for each in self.instances if each.runs and each.process is not None]
        if running:
            self.kill(self.chance.choice(running))

    def _stall(self) -> None:
        running = [each.process for each in self.instances if each.runs and each.process is not None]
        if running:
            self.pause(self.chance.choice(running))

    # Asking ---------------------------------------------------------------------------------------------

    def ask(self, stream: str, key: str, asked: Asked, answered: "Callable[[Answer | None], None]") -> bool:
        """Hands a command to an instance, as a load balancer would; False where none runs. The answer may never come."""
        running = [each for each in self.instances if each.stream.name == stream and each.runs and each.desk]
        if not running:
            return False
        instance = self.chance.choice(running)
        assert instance.process is not None
        self.loop.spawn(instance.process, self._serve(instance, key, asked, answered))
        return True

    async def _serve(
        self, instance: Instance, key: str, asked: Asked, answered: "Callable[[Answer | None], None]"
    ) -> None:
        """What the command routes of `runtime/http.py` do."""
        desk, stamp = instance.desk, instance.definition.stamp
        assert desk is not None
        heartbeat = SimpleNamespace(age_ms=self.chance.choice((0, 0, 0, 0, 2_000)))
        parts: Any = SimpleNamespace(
            projection=instance.projection, kafka=self.broker, heartbeat=heartbeat, settings=SETTINGS
        )
        try:
            if stamp is not None and await desk.known(asked.command_id) is None:
                asked = replace(asked, command=await stamp(parts, key, asked.command))
            answer = await desk.ask(key, asked)
        except Exception as error:
            self.network.note(f"{instance.process}: {asked.command_id} is not answered: {error!r}")
            answer = None
        self.loop.call_later(self.faults.latency(), answered, answer, context=self.loop.outside)

    # A run ----------------------------------------------------------------------------------------------

    def run(self, reached: Callable[[], bool], seconds: float) -> None:
        """Lets everything happen until something holds. Raises AssertionError for whatever must not be."""
        looks = itertools.count()

        def done() -> bool:
            if self.auditor.wrong or self.loop.broken:
                return True
            # To look at everything each time that a clock ticks would take longer than all that happens.
            return next(looks) % 25 == 0 and (bool(self._gone_wrong()) or reached())

        with mock.patch.object(vital.signal, "raise_signal", _ended):
            self.loop.run_until(done, seconds)
        if self.auditor.wrong:
            raise self.auditor.wrong
        wrong = self._gone_wrong()
        assert not wrong, wrong

    def _gone_wrong(self) -> str:
        if self.auditor.wrong or self.loop.broken:
            return f"{self.auditor.wrong or self.loop.broken[0]}"
        for each in self.instances:
            if each.runs and each.processing is not None and each.processing.stopped:
                return f"{each.process}: a partition stands still: {each.processing.stopped}"
            if each.runs and each.processing is not None and each.processing.failing:
                return f"{each.process} fails: {each.processing.failing}"
            if each.runs and each.projection is not None and each.projection.alarm:
                return f"{each.process}: {each.projection.alarm}"
        return ""

    def calm_down(self) -> None:
        """Nothing goes wrong any more; what is under way comes to its end."""
        self.network.note("nothing goes wrong any more")
        self.faults.rates = CALM

    def restart(self) -> None:
        """Every process is killed and started again at once."""
        self.network.note("everything is started again")
        for instance in self.instances:
            process = instance.process
            assert process is not None
            self.loop.kill(process)
            self.coordinators[instance.stream.name].leave(process)
            self.start(instance)

    def quiet(self) -> bool:
        """Whether every process runs, every input is answered, and every projection has read all of its logs."""
        if not all(each.runs for each in self.instances):
            return False
        answered = {
            (each.stream.name, partition): memory.position
            for each in self.instances if each.processing is not None
            for partition, memory in each.processing.memories.items()
        }  # fmt: skip
        for stream in STREAMS:
            stands = self.database.rows.readers.get(stream.service, {})
            for partition in range(PARTITIONS):
                if answered.get((stream.name, partition)) != len(self.broker.topics[stream.input, partition]):
                    return False
                for log in DEFINITIONS[stream.name].logs:
                    read = stands.get((log.topic, partition), (0, ""))[0]
                    if read != len(self.broker.topics[log.topic, partition]):
                        return False
        return True

    def saved(self) -> bool:
        """Whether it is quiet and the snapshots have all of it."""
        places = self.database.rows.places
        return self.quiet() and all(
            (stream.name, partition) in places
            and places[stream.name, partition][0].position == len(self.broker.topics[stream.input, partition])
            for stream in STREAMS
            for partition in range(PARTITIONS)
        )


def _ended(_: int) -> None:
    raise AssertionError("a task that a service cannot live without ended by itself")


def place_of(stream: str, key: str) -> tuple[str, int]:
    """Where the records of a key stand."""
    return stream, partition_of(key, PARTITIONS)
