"""Whether another service answers, and how old its feed is: asked again and again over HTTP, and never written into a
log."""

import asyncio
import logging
import time

import httpx

from services.core.rounds.betting import PROGRESSIVE_AGE_MAX_MS
from services.runtime.vital import start_vital, stop_vital

# A line for each question, five times a second, is no help to anybody.
logging.getLogger("httpx").setLevel(logging.WARNING)

EVERY_SECONDS = 0.2
PATIENCE_SECONDS = 0.5


class Heartbeat:
    """Listens to one service."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/heartbeat"
        # Nothing was heard yet, so nothing is believed.
        self._heard_at = time.monotonic() - (PROGRESSIVE_AGE_MAX_MS + 1) / 1000
        self._task: asyncio.Task[None] | None = None

    @property
    def age_ms(self) -> int:
        """How old its feed may be: how long ago the question was asked that it answered last, and how old its feed was then.
        At first, as old as is refused."""
        return round((time.monotonic() - self._heard_at) * 1000)

    def start(self) -> None:
        """Begins to ask."""
        self._task = start_vital(self._run(), f"heartbeat of {self._url}")

    async def stop(self) -> None:
        """Asks no more."""
        await stop_vital(self._task)

    async def _run(self) -> None:
        async with httpx.AsyncClient(timeout=PATIENCE_SECONDS) as client:
            while True:
                asked_at = time.monotonic()
                try:
                    answer = await client.get(self._url)
                    if answer.status_code == 200:
                        self._heard_at = asked_at - answer.json()["age_ms"] / 1000
                except (httpx.HTTPError, ValueError, KeyError, TypeError):
                    pass  # silence is what is measured, and an answer that says nothing is silence
                await asyncio.sleep(max(0.0, asked_at + EVERY_SECONDS - time.monotonic()))
