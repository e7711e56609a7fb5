"""Calls to the services: each command under its own Idempotency-Key, repeated until it is answered."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import httpx

from services.core.rounds.betting import SILENT
from services.floor.settings import Settings

READER = "floorperson"
"""Whose eyes the floor reads with."""
FIRST_WAIT_S, LONGEST_WAIT_S = 0.1, 2.0


class Refusal(Exception):
    """A command was refused: HTTP 409."""

    def __init__(self, command: str, where: str, reason: str, section: str | None) -> None:
        super().__init__(f"{where}: {command} was refused: {reason}" + (f" ({section})" if section else ""))
        self._reason = reason

    @property
    def fails_closed(self) -> bool:
        """Whether a progressive wager is not taken because the table does not hear of its progressive: play goes on
        without it."""
        return self._reason.startswith(SILENT)


class Failure(Exception):
    """A call that was not answered in time, or whose answer makes no sense."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command came to: the log's sequence after it, and its events."""

    sequence: int
    events: tuple[dict[str, Any], ...]

    def named(self, event: str) -> list[dict[str, Any]]:
        """The events of that name, in order."""
        return [each for each in self.events if each["event"] == event]


class Keys:
    """Idempotency-Keys: counted from one in every scope, and unlike those of any other run."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._counts: Counter[str] = Counter()

    def next(self, scope: str) -> str:
        self._counts[scope] += 1
        return f"floor.{self._run}.{scope}.{self._counts[scope]}"


class Badges:
    """What says who acts: a token out of the folder where each has one, or the bare name where tokens are off."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder) if folder else None
        self._tokens: dict[str, str] = {}

    def of(self, actor: str) -> dict[str, str]:
        """The header for a call. Raises Failure where somebody has no token."""
        if self._folder is None:
            return {"X-Actor": actor}
        if actor not in self._tokens:
            try:
                self._tokens[actor] = (self._folder / actor).read_text()
            except OSError as error:
                raise Failure(f"{actor} has no token in {self._folder}: {error.strerror}") from None
        return {"Authorization": f"Bearer {self._tokens[actor]}"}


class Backoff:
    """Waits between tries, each longer than the one before, until patience ends."""

    def __init__(self, patience_s: float, first_s: float = FIRST_WAIT_S) -> None:
        self._ends = time.monotonic() + patience_s
        self._wait_s = first_s

    async def wait(self) -> bool:
        """Waits for the next try; False once there is no time left for one."""
        left = self._ends - time.monotonic()
        if left <= 0:
            return False
        await asyncio.sleep(min(self._wait_s, left))
        self._wait_s = min(self._wait_s * 1.6, LONGEST_WAIT_S)
        return True


class Service:
    """One service's API. A command that is repeated is repeated under the same key, so it never counts twice."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        url: str,
        path: str,
        keys: Keys,
        badges: Badges,
        patience_s: float,
        tally: Counter[str],
    ) -> None:
        self._client, self._url, self._path = client, url.rstrip("/"), path
        self._keys, self._badges, self._patience_s, self._tally = keys, badges, patience_s, tally

    async def command(self, id: str, actor: str, command: str, **fields: Any) -> Answer:
        """Sends a command. Raises Refusal, or Failure where no answer comes in time."""
        return await self.send(id, actor, self._keys.next(id), command, **fields)

    def key(self, id: str) -> str:
        """A key for `send`, where a field of the command is to be as unique as its key."""
        return self._keys.next(id)

    async def send(self, id: str, actor: str, key: str, command: str, **fields: Any) -> Answer:
        """Sends a command under a key that `key` gave."""
        response = await self._answered(
            "POST",
            f"/{self._path}/{id}/commands",
            json={"command": command, **fields},
            headers={"Idempotency-Key": key, **self._badges.of(actor)},
        )
        self._tally["commands"] += 1
        if response.status_code == httpx.codes.OK:
            body = response.json()
            return Answer(body["sequence"], tuple(body["events"]))
        if response.status_code == httpx.codes.CONFLICT:
            body = response.json()
            raise Refusal(command, id, body["refused"], body.get("section"))
        raise Failure(f"{id}: {command} {fields}: HTTP {response.status_code} {response.text[:200]}")

    async def get(self, path: str, **query: str) -> Any:
        """What a read gives, or None where the id is not known."""
        response = await self._answered("GET", f"/{self._path}/{path}", params=query, headers=self._badges.of(READER))
        if response.status_code == httpx.codes.NOT_FOUND:
            return None
        if response.status_code != httpx.codes.OK:
            raise Failure(f"{path}: HTTP {response.status_code} {response.text[:200]}")
        return response.json()

    async def _answered(self, method: str, path: str, **request: Any) -> httpx.Response:
        backoff = Backoff(self._patience_s)
        while True:
            try:
                response = await self._client.request(method, self._url + path, **request)
                if not _ask_again(response.status_code):
                    return response
                trouble = f"HTTP {response.status_code}"
            except httpx.TransportError as error:
                trouble = type(error).__name__
            self._tally["calls repeated"] += 1
            if not await backoff.wait():
                raise Failure(f"{method} {path}: no answer in {self._patience_s:.0f} s, at last {trouble}")


def _ask_again(status: int) -> bool:
    """202: the log has not answered yet. 429 and 5xx: the service is busy, starting or being replaced."""
    return status in (httpx.codes.ACCEPTED, httpx.codes.TOO_MANY_REQUESTS) or status >= 500


class Services:
    """The four APIs that the floor calls."""

    def __init__(self, client: httpx.AsyncClient, settings: Settings, run: str) -> None:
        self.tally: Counter[str] = Counter()
        self._client = client
        keys, badges = Keys(run), Badges(settings.tokens)

        def service(url: str, path: str) -> Service:
            return Service(client, url, path, keys, badges, settings.patience_s, self.tally)

        self.tables = service(settings.tables_url, "tables")
        self.rounds = service(settings.wagers_url, "rounds")
        self.progressives = service(settings.progressive_url, "progressives")
        self.accounts = service(settings.accounts_url, "accounts")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    def unmeant(self, trouble: Exception) -> None:
        """Counts and prints a refusal or failure that the floor did not mean."""
        kind = "unmeant refusals" if isinstance(trouble, Refusal) else "failures"
        self.tally[kind] += 1
        print(f"floor: {kind[:-1]}: {trouble}", flush=True)
