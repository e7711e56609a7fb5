"""One event loop for a whole house: a clock that jumps, and processes that stop, are paused and wake up where they were.

Everything that runs belongs to a process by its context. A killed process is never resumed, as after kill -9: no handler
and no `finally` of it runs. A paused one keeps what would wake it until it may go on, as after SIGSTOP.
"""

import asyncio
import contextlib
import contextvars
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any


class Process:
    """What is killed and paused as a whole."""

    def __init__(self, name: str, began_at: float = 0.0) -> None:
        self.name = name
        self.began_at = began_at
        self.dead = False
        self.paused = False
        self.held: list[asyncio.Handle] = []

    def __repr__(self) -> str:
        return self.name


_PROCESS: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


def current() -> Process | None:
    """The process whose code runs."""
    return _PROCESS.get()


class Stuck(Exception):
    """Nothing is left that could happen, and what was waited for has not."""


class Loop(asyncio.AbstractEventLoop):
    """As much of an event loop as coroutines need that do no IO of their own. Time passes when nobody has anything to do."""

    def __init__(self) -> None:
        self._now = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._number = itertools.count()
        # asyncio itself holds tasks weakly; and what is collected as garbage would run its `finally` blocks.
        self._tasks: list[asyncio.Task[Any]] = []
        self.broken: list[dict[str, Any]] = []
        """What was reported to the loop: an exception that nobody took."""
        self.outside = contextvars.Context()
        """The context of what belongs to no process: the network, the broker, the database."""

    # What asyncio asks of a loop ------------------------------------------------------------------------

    def time(self) -> float:
        return self._now

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False

    def call_soon(
        self, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(
        self, when: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, (when, next(self._number), handle))
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., Any], *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """It is passed over when its time has come."""

    def create_future(self) -> "asyncio.Future[Any]":
        return asyncio.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: str | None = None, context: contextvars.Context | None = None
    ) -> "asyncio.Task[Any]":
        task = asyncio.Task(coro, loop=self, name=name, context=context)
        # Of a process that is killed the tasks stay pending for ever, and that is meant.
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._tasks.append(task)
        return task

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.broken.append(context)

    # Processes ------------------------------------------------------------------------------------------

    def spawn(self, process: Process, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Begins a task of a process."""
        context = self.outside.copy()
        context.run(_PROCESS.set, process)
        return self.create_task(work, context=context)

    def kill(self, process: Process) -> None:
        """Nothing of it runs any more."""
        process.dead = True
        process.held.clear()

    def pause(self, process: Process) -> None:
        """Nothing of it runs until it is woken."""
        process.paused = True

    def wake(self, process: Process) -> None:
        """It goes on where it was, with all that has come meanwhile."""
        process.paused = False
        self._ready.extend(process.held)
        process.held.clear()

    # Running --------------------------------------------------------------------------------------------

    def run_until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Lets everything happen until something holds, which is looked at whenever time passes.

        Raises Stuck where it does not hold within so much of the loop's time.
        """
        deadline = self._now + seconds
        asyncio._set_running_loop(self)
        try:
            while True:
                while self._ready:
                    self._run_one(self._ready.popleft())
                if reached():
                    return
                if not self._timers or self._timers[0][0] > deadline:
                    raise Stuck(f"nothing more happens within {seconds:g} s")
                self._now, _, handle = heapq.heappop(self._timers)
                self._run_one(handle)
        finally:
            asyncio._set_running_loop(None)

    def close(self) -> None:
        """The world is over: nothing runs any more, and what stands in the middle of something is let go of."""
        self._ready.clear()
        self._timers.clear()
        for task in self._tasks:
            if not task.done():
                with contextlib.suppress(BaseException):
                    task.get_coro().close()  # type: ignore[union-attr]
        self._tasks.clear()

    def _run_one(self, handle: asyncio.Handle) -> None:
        if handle.cancelled():
            return
        process = handle._context.get(_PROCESS)  # type: ignore[attr-defined]
        if process is not None:
            if process.dead:
                return
            if process.paused:
                process.held.append(handle)
                return
        handle._run()
