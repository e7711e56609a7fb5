"""Whether the broker and the database answer, asked several times a second, so that callers need not wait to find out."""

import asyncio
import logging

import asyncpg

from services.runtime import database
from services.runtime.kafka import Kafka, ping
from services.runtime.security import OPEN, broker_turns_away, database_turns_away
from services.runtime.vital import start_vital, stop_vital

EVERY_SECONDS = 0.3
PATIENCE_SECONDS = 2.0

log = logging.getLogger(__name__)


class Watch:
    """Asks the broker and the database in turn; `away` names what does not answer."""

    def __init__(self, kafka: Kafka, pool: asyncpg.Pool, topic: str) -> None:
        self._kafka = kafka
        self._pool = pool
        self._topic = topic
        self.answers = {"kafka": True, "postgres": True}
        self.lost = asyncio.Event()
        self._said: dict[str, str | None] = {}
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def away(self) -> list[str]:
        """What does not answer, by name."""
        return [name for name, answers in self.answers.items() if not answers]

    def start(self) -> None:
        self._tasks = [
            start_vital(self._watch_kafka(), "watch-kafka"),
            start_vital(self._knock_at_kafka(), "knock-at-kafka"),
            start_vital(self._watch_postgres(), "watch-postgres"),
        ]

    async def stop(self) -> None:
        await stop_vital(*self._tasks)

    def note(self, name: str, answers: bool) -> None:
        """What somebody else found out on the way."""
        if self.answers[name] != answers:
            log.warning("%s %s", name, "answers again" if answers else "does not answer")
        self.answers[name] = answers
        if self.away:
            self.lost.set()
        else:
            self.lost.clear()

    def _say_why(self, name: str, why: str | None) -> None:
        """Says once why a part that answers will have none of us: a password was changed, a certificate ran out."""
        if why is not None and why != self._said.get(name):
            log.error("%s", why)
        self._said[name] = why

    async def _watch_kafka(self) -> None:
        while True:
            try:
                async with self._kafka.reader() as reader:
                    while True:
                        await ping(reader, self._topic, PATIENCE_SECONDS)
                        self.note("kafka", True)
                        await asyncio.sleep(EVERY_SECONDS)
            except Exception:  # whatever it is, the broker did not answer
                self.note("kafka", False)
                if self._kafka.security is not OPEN:
                    self._say_why("kafka", await broker_turns_away(self._kafka.servers, self._kafka.security))
                await asyncio.sleep(EVERY_SECONDS)

    async def _knock_at_kafka(self) -> None:
        """Closed ports say so at once; the client would try them again for seconds before it said so."""
        while True:
            for server in self._kafka.servers.split(","):
                host, _, port = server.strip().rpartition(":")
                try:
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        _, writer = await asyncio.open_connection(host, int(port))
                    writer.close()
                    break
                except (OSError, TimeoutError):
                    continue
            else:
                self.note("kafka", False)
            await asyncio.sleep(EVERY_SECONDS)

    async def _watch_postgres(self) -> None:
        while True:
            try:
                await database.ping(self._pool, PATIENCE_SECONDS)
                self.note("postgres", True)
            except Exception as error:  # whatever it is, the database did not answer
                self.note("postgres", False)
                self._say_why("postgres", database_turns_away(error))
            await asyncio.sleep(EVERY_SECONDS)
