"""How a processor joins its consumer group, on Faust: the only file that knows Faust.

Faust gives the consumer group, the rebalances and the fetching. What it would call the committed offset is where
`Processing` says that reading begins. Nothing is acknowledged to Faust.
"""

import asyncio
import contextlib
import logging
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import faust
from faust.tables import TableManager
from faust.transport.drivers import aiokafka as driver
from faust.types import TP
from yarl import URL

from services.flow import PARTITIONS
from services.runtime.kafka import Kafka
from services.runtime.processing import PENDING_MAX, STOP_SECONDS, Processing
from services.runtime.security import Security
from services.runtime.stepping import Input
from services.runtime.vital import start_vital, stop_vital

log = logging.getLogger(__name__)


class _Consumer(driver.Consumer):  # type: ignore[misc]
    """Faust's consumer, which takes its offsets from the processing instead of from the group."""

    async def seek_to_committed(self) -> Mapping[TP, int]:
        positions = await self.app.membership.assigned(self.assignment())
        await self.seek_wait(positions)
        return positions

    async def _drain_messages(self, fetcher: Any) -> None:
        """Hands records over as they were fetched, many at once.

        Faust's own way wakes two tasks for every record, which costs more than all that we do with it. And
        what came one by one was answered in small batches, each with its own commit of the database.
        """
        try:
            while not (self.should_stop or fetcher.should_stop):
                fetched, _ = await self._wait_next_records(timeout=1.0)
                await asyncio.sleep(0)  # nothing may have been waited for
                if not fetched or not self.flow_active:
                    # Partitions change hands: once they have, Faust seeks to where each is taken up, and these are read again.
                    continue
                room = self.app.membership.take(fetched)
                await self.wait_first(room.wait(), self.suspend_flow.wait())
        except (*self.consumer_stopped_errors, asyncio.CancelledError):
            if not self.app.should_stop:
                raise

    async def commit_positions(self, positions: Mapping[TP, int]) -> None:
        """Tells the group where we stand; for those who look at the group, nothing here depends on it."""
        held = self.assignment()
        mine = {place: position for place, position in positions.items() if place in held}
        if mine:
            await self._commit(mine)

    def leave_at_stop(self) -> None:
        """A member with a name of its own stops without a word, and its partitions wait for it as long as a session lasts.

        That serves who comes back at once after kill -9. Who stops in good order lets others have them at once: the client
        says that it leaves where it has no such name.
        """
        reading = self._thread._consumer
        if reading is not None:
            reading._coordinator._group_instance_id = None


class _NoTables(TableManager):  # type: ignore[misc]
    """Faust waits a second for tables before it takes up partitions. There are none."""

    async def on_start(self) -> None:
        await self._update_channels()
        await self.recovery.start()


class _Transport(driver.Transport):  # type: ignore[misc]
    Consumer = _Consumer


def _credentials(security: Security) -> Any:
    """The same security in Faust's words; None where there is none."""
    if security.mechanism is not None:
        return faust.SASLCredentials(
            username=security.user, password=security.password, ssl_context=security.tls, mechanism=security.mechanism
        )
    return None if security.tls is None else faust.SSLCredentials(security.tls)


class _App(faust.App):  # type: ignore[misc]
    membership: "Membership"


class Membership:
    """Gives a processor the partitions of its input that the group has for this instance, and what is fetched of them."""

    def __init__(self, processing: Processing, kafka: Kafka, instance: str) -> None:
        self._processing = processing
        self._input = processing.stream.input
        self._app = self._build(kafka, instance)
        self._watching: asyncio.Task[None] | None = None

    def _build(self, kafka: Kafka, instance: str) -> _App:
        brokers = [URL(f"kafka://{server.strip()}") for server in kafka.servers.split(",")]
        app = _App(
            f"roundlog-{self._processing.stream.service}",
            broker=brokers,
            autodiscover=False,
            origin="services.runtime",
            store="memory://",
            TableManager=_NoTables,
            web_enabled=False,
            # Faust makes a folder for its tables; there are none.
            datadir=str(Path(tempfile.gettempdir()) / "roundlog-faust"),
            topic_disable_leader=True,
            topic_allow_declare=False,
            consumer_auto_offset_reset="earliest",
            consumer_group_instance_id=instance,
            key_serializer="raw",
            value_serializer="raw",
            broker_session_timeout=6.0,
            broker_heartbeat_interval=1.0,
            broker_max_poll_interval=600.0,
            broker_commit_interval=3600.0,
            broker_request_timeout=60.0,
            broker_max_poll_records=PENDING_MAX // 2,
            stream_wait_empty=False,
            stream_recovery_delay=0.0,
            topic_partitions=PARTITIONS,
            broker_credentials=_credentials(kafka.security),
        )
        app.membership = self
        app.transport = _Transport(brokers, app)
        topic = app.topic(self._input, key_type=bytes, value_type=bytes, key_serializer="raw", value_serializer="raw")
        app.agent(topic, name=f"{self._processing.stream.name}-inputs")(self._subscribe)
        return app

    async def start(self) -> None:
        """Joins the group and begins to process."""
        self._processing.start(self)
        self._watching = start_vital(self._until_crashed(), f"{self._processing.stream.name}-joining")
        await self._app.start()

    async def stop(self) -> None:
        """Leaves off cleanly: the batch in hand is finished or was never begun."""
        await self._processing.stop()
        await stop_vital(self._watching)
        with contextlib.suppress(Exception):
            self._app.consumer.leave_at_stop()
            await asyncio.wait_for(self._app.stop(), STOP_SECONDS)

    async def _until_crashed(self) -> None:
        """Returns when a part of Faust has crashed: it would stay in the group, and read nothing more."""
        await self._app._crashed.wait()
        log.critical("%s: Faust crashed: %r", self._input, self._app.crash_reason)

    async def _subscribe(self, stream: Any) -> None:
        """Faust subscribes to what an agent reads. The records themselves come by `take`."""
        async for _ in stream.noack():
            log.error("%s: a record came by Faust's stream; it is taken from its consumer", self._input)

    # What Faust's consumer tells ------------------------------------------------------------------------

    async def assigned(self, places: set[TP]) -> dict[TP, int]:
        """The group gives these places; where to read them from."""
        mine = [place.partition for place in places if place.topic == self._input]
        positions = await self._processing.assigned(mine)
        return {self._place(partition): offset for partition, offset in positions.items()}

    def take(self, fetched: Mapping[TP, Sequence[Any]]) -> asyncio.Event:
        """Hands over what was fetched; the event says when more is welcome."""
        return self._processing.take(
            {
                place.partition: [
                    Input(item.offset, item.timestamp, (item.key or b"").decode(errors="replace"), item.value or b"")
                    for item in records
                ]
                for place, records in fetched.items()
            }
        )

    # What the processing asks ---------------------------------------------------------------------------

    def holds(self, partition: int) -> bool:
        return self._place(partition) in self._app.consumer.assignment()

    async def seek(self, partition: int, offset: int) -> None:
        await self._app.consumer.seek_wait({self._place(partition): offset})

    async def commit(self, positions: Mapping[int, int]) -> None:
        await self._app.consumer.commit_positions(
            {self._place(partition): offset for partition, offset in positions.items()}
        )

    def _place(self, partition: int) -> TP:
        return TP(self._input, partition)
