"""A client that remembers what it was told: the way of every request to the services, and a note of every command."""

import asyncio
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Any

import httpx

from tests.support.house import House

STREAMS = {"tables": "rounds", "progressives": "jackpots", "accounts": "accounts"}
"""Which log answers a command, by the first word of its path."""
ANSWERS = (httpx.codes.OK, httpx.codes.CONFLICT)
NOBODY_ASKS_AGAIN = 499
"""What a caller is told who walks away from a command of which it does not know what became."""
POOLS = 64
"""Of connections."""
LEFT_OUT_S = 10.0
"""How long an instance that did not answer is left out, where there is another. A balancer looks for itself, and sooner."""
SENT_TWICE = 0.02
"""The share of commands that are sent twice at once, and of those that are sent once more after their answer."""


@dataclass(slots=True)
class Told:
    """A command, and what its sender was told of it. Times are of the monotonic clock."""

    stream: str
    key: str
    command_id: str
    body: Any
    during: str
    """The fault under which it was sent first."""
    sent_at: float
    answered_at: float | None = None
    answer: tuple[int, Any] | None = None
    """The status, 200 or 409, and the body; None where the log's answer never came."""
    strange: list[str] = field(default_factory=list)
    """Answers that no caller may get: a status that says neither yes, no nor perhaps, or a second answer unlike the first."""


class Notes:
    """Everything that the clients of a house were told."""

    def __init__(self) -> None:
        self.commands: dict[tuple[str, str, str], Told] = {}
        """By stream, key and Idempotency-Key."""
        self.during = "before the faults"
        self.answered = 0

    def sent(self, request: httpx.Request) -> Told:
        """The note of a command, a new one where it was not sent before."""
        _, kind, key, _ = request.url.path.split("/")
        place = STREAMS[kind], key, request.headers["Idempotency-Key"]
        if place not in self.commands:
            self.commands[place] = Told(*place, json.loads(request.content), self.during, monotonic())
        return self.commands[place]

    def heard(self, told: Told, response: httpx.Response) -> None:
        """Notes an answer. 202 and 5xx leave open what became of the command."""
        if response.status_code in ANSWERS:
            answer = (response.status_code, response.json())
            if told.answer is None:
                told.answer, told.answered_at = answer, monotonic()
                self.answered += 1
            elif answer != told.answer:
                told.strange.append(f"was answered {told.answer}, and then {answer}")
        elif response.status_code != httpx.codes.ACCEPTED and response.status_code < 500:
            told.strange.append(f"was answered {response.status_code} {response.text[:200]}")


class Witness(httpx.AsyncBaseTransport):
    """Takes requests to `http://SERVICE/...` to the instances of that service by lot, and notes what comes of commands.

    `leaving` is the share of commands whose sender walks away once it has no answer. The others are for the caller to
    repeat, under the same Idempotency-Key.
    """

    def __init__(self, house: House, notes: Notes, seed: int = 0, leaving: float = 0.0, twice: float = 0.0) -> None:
        self.leaving = leaving
        self._house, self._notes, self._seed, self._twice = house, notes, seed, twice
        # At every request httpx looks at every connection of a pool: with one pool, 200 tables would wait for that alone.
        self._pools = [httpx.AsyncHTTPTransport(verify=False) for _ in range(POOLS)]
        # In turn, callers that repeat at the same pace would meet the same instance each time.
        self._lot = Random(seed)
        self._left_out: dict[str, float] = {}
        """Instances, and until when."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        if request.method != "POST":
            return await self._carried(request)
        told = self._notes.sent(request)
        chance = Random(f"{self._seed} {told.command_id}")
        leaves, at_once, once_more = (chance.random() < share for share in (self.leaving, self._twice, self._twice))
        again = [self._tried(request, told)] if at_once else []
        response, *_ = await asyncio.gather(self._tried(request, told), *again)
        if isinstance(response, httpx.Response) and response.status_code in ANSWERS:
            if once_more:
                await self._tried(request, told)
            return response
        if leaves and told.answer is None:
            return httpx.Response(NOBODY_ASKS_AGAIN, text="nobody asks again")
        if isinstance(response, httpx.Response):
            return response
        raise response

    async def _tried(self, request: httpx.Request, told: Told) -> httpx.Response | httpx.TransportError:
        try:
            response = await self._carried(request)
        except httpx.TransportError as error:
            return error
        self._notes.heard(told, response)
        return response

    async def _carried(self, request: httpx.Request) -> httpx.Response:
        instance = self._one_of(request.url.host)
        there = httpx.Request(
            request.method,
            request.url.copy_with(host="127.0.0.1", port=self._house.ports[instance]),
            headers={name: value for name, value in request.headers.items() if name.lower() != "host"},
            content=request.content,
            extensions=request.extensions,
        )
        try:
            response = await self._pool_for(request).handle_async_request(there)
            try:
                content = await response.aread()
            finally:
                await response.aclose()
        except httpx.TransportError:
            self._left_out[instance] = monotonic() + LEFT_OUT_S
            raise
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    def _pool_for(self, request: httpx.Request) -> httpx.AsyncHTTPTransport:
        return self._pools[zlib.crc32(request.url.path.encode()) % POOLS]

    def _one_of(self, service: str) -> str:
        """An instance of it."""
        running = instances(self._house, service)
        if not running:
            raise httpx.ConnectError(f"no instance of {service} runs")
        answering = [name for name in running if self._left_out.get(name, 0.0) < monotonic()]
        return self._lot.choice(answering or running)

    async def aclose(self) -> None:
        for pool in self._pools:
            await pool.aclose()


def instances(house: House, service: str) -> list[str]:
    """The running instances of a service: `tables`, `tables-2`, ..."""
    return [
        name
        for name, process in list(house.processes.items())
        if name.partition("-")[0] == service and process.poll() is None
    ]


def longest_wait(commands: Iterable[Told]) -> float:
    """How long a caller waited at most for the answer to a command, in seconds."""
    return max((told.answered_at - told.sent_at for told in commands if told.answered_at is not None), default=0.0)
