"""Commands that the desk takes to the progressive service, in the name of whoever asks."""

import json
import ssl
from dataclasses import dataclass
from typing import Any

import httpx

from services.backoffice.desk import FORWARDED
from services.runtime.desk import Away
from services.runtime.forms import Malformed, read_document

PATIENCE_SECONDS = 5.0
"""How much longer than that service waits for its log."""
PASSED_ON = ("Content-Type", "Idempotency-Key", "Idempotency-Hit", "Retry-After")


@dataclass(frozen=True, slots=True)
class Errand:
    """One command, and the progressive that it is for."""

    progressive_id: str
    command: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """What the progressive service answered. `sequence` is that of the record that answers, where there is one."""

    status: int
    body: bytes
    headers: dict[str, str]
    sequence: int | None


def errand_of(body: bytes) -> Errand:
    """What a request's body asks for. What the fields must be, the progressive service says. Raises Malformed."""
    document = read_document(body, '{"progressive_id": "...", "command": "PayPayout"}')
    progressive_id = document.pop("progressive_id", None)
    if not isinstance(progressive_id, str):
        raise Malformed("The body has no progressive_id: the progressive that the claim or the Envy Bonus is of.")
    if document.get("command") not in FORWARDED:
        raise Malformed(f"The desk takes on {', '.join(FORWARDED)}, and nothing else.")
    return Errand(progressive_id, document)


class Forwarding:
    """The way to the progressive service. `seconds`: how long that service waits for its log."""

    def __init__(self, url: str, seconds: float) -> None:
        self._url = url.rstrip("/")
        self._timeout = seconds + PATIENCE_SECONDS
        self._verify = ssl.create_default_context()

    async def ask(self, errand: Errand, headers: dict[str, str]) -> Said:
        """The answer, whatever it is. `headers` say who asks, and by which Idempotency-Key. Raises Away."""
        # A header is bytes, and a name beyond ASCII is UTF-8.
        sent = [
            (name.encode(), value.encode()) for name, value in {**headers, "Content-Type": "application/json"}.items()
        ]
        # As it came, also what is no number or half a letter: what is wrong with it, the progressive service says.
        content = json.dumps(errand.command).encode()
        url = f"{self._url}/progressives/{errand.progressive_id}/commands"
        try:
            async with httpx.AsyncClient(timeout=self._timeout, verify=self._verify) as client:
                answer = await client.post(url, content=content, headers=sent)
        except httpx.HTTPError:
            raise Away(["the progressive service"]) from None
        passed = {name: answer.headers[name] for name in PASSED_ON if name in answer.headers}
        sequence = _sequence(answer) if answer.status_code in (200, 409) else None
        return Said(answer.status_code, answer.content, passed, sequence)


def _sequence(answer: httpx.Response) -> int | None:
    try:
        sequence = answer.json()["sequence"]
    except (ValueError, KeyError, TypeError):
        return None
    return sequence if isinstance(sequence, int) else None
