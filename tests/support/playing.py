"""Plays a round that is written down as commands and answers, over HTTP."""

from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.house import House, until

WAITS_FOR_OTHERS = {"CloseBetting", "CloseRound", "ValidatePayout", "DocumentPayout", "PayPayout", "PayEnvy"}


def written(path: Path, unique: str) -> Any:
    """A written round with ids of its own, so that many can be played in one house."""
    text = path.read_text()
    for prefix in ("table-", "progressive-", "account-"):
        text = text.replace(prefix, f"{prefix}{unique}-")
    return yaml.safe_load(text)


def play(house: House, document: Any, unique: str) -> None:
    """Sends the commands in order and compares what the reads answer, as written."""
    for number, step in enumerate(document["commands"]):
        wanted = step.get("answers", 200)
        _settle_requests(house, step)
        answer = _ask(house, step, f"{unique}-{number}", wanted)
        assert answer.status_code == wanted, f"{step['body']}: {answer.status_code} {answer.text}"
    for read in document["then"]:
        until(f"{read['get']} answers as written", lambda read=read: same(read["answers"], house.get(read["get"])), 15)


def _settle_requests(house: House, step: Any) -> None:
    """A wager from a game account is not placed before the account holds the stake: wait for it before betting closes."""
    if step["body"]["command"] == "CloseBetting":
        path = step["post"].removesuffix("/commands")
        until("requested wagers are settled", lambda: "requested" not in str(house.get(path)))


def _ask(house: House, step: Any, key: str, wanted: int) -> httpx.Response:
    """Sends a command; where it waits for another service, again under a new key until that has come."""
    actor = step.get("actor", "dealer")
    answer = house.post(step["post"], step["body"], key, actor)
    if wanted != 200 or answer.status_code == 200 or step["body"]["command"] not in WAITS_FOR_OTHERS:
        return answer
    tries = iter(range(10_000))

    def asked() -> httpx.Response | None:
        again = house.post(step["post"], step["body"], f"{key}-{next(tries)}", actor)
        return again if again.status_code == 200 else None

    return until(f"{step['body']} is taken", asked, 15)  # type: ignore[no-any-return]


def same(wanted: Any, found: Any) -> bool:
    """Whether what was found has all that was wanted; more fields may be there, more rows may not."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            name in found and same(value, found[name]) for name, value in wanted.items()
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(wanted) == len(found)
            and all(same(one, other) for one, other in zip(wanted, found, strict=True))
        )
    return type(wanted) is type(found) and bool(wanted == found)
