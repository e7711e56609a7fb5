"""Connections of which no more is taken, and no longer waited for, than a request needs: the edge below HTTP.

The server itself waits for a request's head for ever, and takes one of any length. Here a head comes within seconds and
within so many bytes, and there are only so many connections. Where they are all taken, the one that has been silent for
longest makes room for a new one: who opens thousands and says nothing keeps nobody out.
"""

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10.0
"""How long the head of a request may take."""
HEAD_BYTES_MAX = 65_536
DRAINED_BYTES_MAX = 32_000_000
"""How much more is read, and thrown away, of who sends on after the answer: to be cut off would keep it from the answer."""
FILES_BESIDE = 100
"""Files and connections of a service that are none of its callers'."""


class Bounded(HttpToolsProtocol):
    """One connection. `most` is how many there may be in this process."""

    most = 4_000

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._silent: dict[Bounded, None] = self.server_state.__dict__.setdefault("silent", {})
        self._deadline: asyncio.TimerHandle | None = None
        self._taken = 0
        self._in_message = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            if not self._silent:
                return self._refuse(503, "All connections are taken. Try again in a moment.")
            oldest = next(iter(self._silent))
            del self._silent[oldest]
            oldest.transport.close()
        self._wait()
        return None

    def _wait(self) -> None:
        """For the head of a request."""
        self._silent[self] = None
        self._taken = 0
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self._too_late)

    def _wait_no_more(self) -> None:
        self._silent.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def data_received(self, data: bytes) -> None:
        if self in self._silent:
            self._taken += len(data)
            if self._deadline is None:
                self._deadline = self.loop.call_later(HEAD_SECONDS, self._too_late)
            if self._is_body_of_what_was_answered() and self._taken > DRAINED_BYTES_MAX:
                return self.transport.close()
        super().data_received(data)
        if self in self._silent and self._taken > HEAD_BYTES_MAX and not self._is_body_of_what_was_answered():
            self._refuse(431, f"The head of a request has at most {HEAD_BYTES_MAX} bytes.")
        return None

    def _is_body_of_what_was_answered(self) -> bool:
        return self._in_message and self.cycle is not None and self.cycle.response_complete

    def _too_late(self) -> None:
        self._deadline = None
        if self._taken and not self._is_body_of_what_was_answered():
            self._refuse(408, f"The head of a request comes within {HEAD_SECONDS:.0f} seconds.")
        else:
            self.transport.close()

    def _refuse(self, status: int, sentence: str) -> None:
        if not self.transport.is_closing():
            body = f'{{"detail":"{sentence}"}}'
            self.transport.write(
                f"HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
                f"connection: close\r\n\r\n{body}".encode()
            )
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._in_message = True
        self._wait_no_more()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_message = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self.transport.is_closing() and (self.cycle is None or self.cycle.response_complete):
            # Until the next request begins, the server's own clock for an open connection runs.
            self._silent[self] = None
            self._taken = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait_no_more()
        super().connection_lost(exc)


def bounded(most: int) -> type[Bounded]:
    """The protocol for a server with at most so many connections, or as many as the process may have files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < most + FILES_BESIDE and soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return type("Bounded", (Bounded,), {"most": max(1, min(most, soft - FILES_BESIDE))})
