"""Tasks that a service cannot live without: when one ends by itself the process ends, and its keeper starts it again."""

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)

_cancelled: set[asyncio.Task[Any]] = set()

failures: list[str] = []
"""Why this process ends without having been told to; its exit code says so too."""


def end_process(why: str) -> None:
    """Ends the process in good order, as if it had been told to."""
    log.critical("%s", why)
    failures.append(why)
    signal.raise_signal(signal.SIGTERM)


def start_vital(work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Starts a task that may end only through `stop_vital`."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_ended)
    return task


async def stop_vital(*tasks: asyncio.Task[Any] | None) -> None:
    """Ends tasks and waits until they have ended."""
    running = [task for task in tasks if task is not None]
    for task in running:
        _cancelled.add(task)
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    _cancelled.difference_update(running)


def _ended(task: asyncio.Task[Any]) -> None:
    if task in _cancelled:
        return
    why = "it was cancelled by nobody" if task.cancelled() else (task.exception() or "it returned")
    end_process(f"{task.get_name()} ended by itself: {why}; the process ends")
