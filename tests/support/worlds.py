"""Two houses behind one small face: the one in memory, and the one on a real Kafka and PostgreSQL over HTTP."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from services.accounts.api import FORMS as ACCOUNT_FORMS
from services.accounts.processor import PROCESSOR as ACCOUNTS
from services.core import jackpots, rounds
from services.core.rules import RuleBook
from services.progressive.api import FORMS as JACKPOT_FORMS
from services.progressive.processor import PROCESSOR as JACKPOTS
from services.runtime.desk import answer_to
from services.runtime.forms import Malformed
from services.runtime.memory import MemoryHouse, Place
from services.runtime.projecting import Fact
from services.runtime.stepping import Input
from services.runtime.submissions import load
from services.tables.api import FORMS as ROUND_FORMS
from services.tables.processor import PROCESSOR as ROUNDS
from services.wagers.processor import PROCESSOR as WAGERS
from tests.support.given import AT_MS
from tests.support.house import House

ROOT = Path(__file__).parents[2]
RULES = (ROOT / "deploy" / "rules", ROOT / "tests" / "rounds" / "rules")
"""The submissions of the demonstration house, and those that only recorded rounds need."""
BOOK = RuleBook(tuple(read for folder in RULES for read in load(folder).submissions))
PROCESSORS = (ROUNDS, WAGERS, JACKPOTS, ACCOUNTS)
_TAKES = {
    "tables": ("rounds", ROUND_FORMS),
    "progressives": ("jackpots", JACKPOT_FORMS),
    "accounts": ("accounts", ACCOUNT_FORMS),
}


def ticking(start_ms: int = AT_MS) -> Iterator[int]:
    """A clock that shows one millisecond more each time that it is looked at."""
    return itertools.count(start_ms)


class World(Protocol):
    """What a client sees of a house. `patience_seconds`: how long what comes from another service may take."""

    patience_seconds: float

    def post(self, path: str, body: Any, key: str, actor: str = "dealer") -> tuple[int, Any]:
        """The status and the JSON of the answer to a command."""

    def get(self, path: str) -> Any:
        """The JSON of the answer, None where there is nothing at that path."""


class MemoryWorld:
    """The house in memory, asked with the same forms as over HTTP."""

    patience_seconds = 0.0

    def __init__(
        self,
        book: RuleBook = BOOK,
        clock: Callable[[], int] | None = None,
        topics: Mapping[Place, Sequence[Input]] | None = None,
    ) -> None:
        self.house = MemoryHouse(PROCESSORS, book, clock or ticking().__next__, topics)
        self._asked: dict[str, bytes] = {}

    def post(self, path: str, body: Any, key: str, actor: str = "dealer") -> tuple[int, Any]:
        _, kind, target, _ = path.split("/")
        stream, forms = _TAKES[kind]
        try:
            command = forms.read(body if isinstance(body, bytes) else json.dumps(body).encode())
        except Malformed as malformed:
            return 422, {"malformed": str(malformed)}
        request_hash = sha256(repr((target, actor, command)).encode()).digest()
        if self._asked.setdefault(key, request_hash) != request_hash:
            return 422, {"malformed": f"The Idempotency-Key {key} was used for another request."}
        command = self._stamped(command)
        records = self.house.ask(stream, target, command, actor, key, request_hash)
        if not records:
            return 202, None
        answer = answer_to([Fact(stream, target, record, None, None) for record in records])  # type: ignore[arg-type]
        return answer.status, json.loads(answer.body)

    def _stamped(self, command: Any) -> Any:
        """As the APIs stamp it from the log of the progressives."""
        if isinstance(command, rounds.OpenTable) and command.progressive_id is not None:
            found = self.house.fold("jackpots", command.progressive_id)
            if found is not None and (found.end is None or not found.end.closed):
                return replace(command, progressive_rules=found.rules, progressive_sha256=found.rules_sha256)
        if isinstance(command, jackpots.CloseProgressive):
            found = self.house.fold("jackpots", command.transfer_to)
            if found is not None and found.end is None:
                return replace(command, target_rules=found.rules, target_sha256=found.rules_sha256)
        return command

    def get(self, path: str) -> Any:
        return self.house.read(path)


class HouseWorld:
    """Services as processes, over HTTP."""

    patience_seconds = 15.0

    def __init__(self, house: House) -> None:
        self.house = house

    def post(self, path: str, body: Any, key: str, actor: str = "dealer") -> tuple[int, Any]:
        if isinstance(body, bytes):
            headers = {"Idempotency-Key": key, "X-Actor": actor}
            answer = self.house.client.post(self.house.at(path), content=body, headers=headers)
        else:
            answer = self.house.post(path, body, key, actor)
        return answer.status_code, answer.json()

    def get(self, path: str) -> Any:
        return self.house.get(path)
