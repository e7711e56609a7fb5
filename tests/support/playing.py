"""Plays a round that is written down as commands and answers, in whichever world.

A step is a `post` with its `body`, answered 200 unless `answers` gives another status (then `refused` has words
of the reason, and `section` the section); `events` are what happened. Or it is a `get` with what it `answers` at
that moment. `then` are the reads once everything has come through.
"""

from pathlib import Path
from typing import Any

import yaml

from tests.support.house import until
from tests.support.worlds import World

WAITS_FOR_OTHERS = {"CloseBetting", "CloseRound", "ValidatePayout", "DocumentPayout", "PayPayout", "PayEnvy"}


def written(path: Path, unique: str) -> Any:
    """A written round with ids of its own, so that many can be played in one house."""
    text = path.read_text()
    for prefix in ("table-", "progressive-", "account-"):
        text = text.replace(prefix, f"{prefix}{unique}-")
    return yaml.safe_load(text)


def play(world: World, document: Any, unique: str) -> None:
    """Sends the commands in order and compares what the reads answer, as written."""
    for number, step in enumerate(document["commands"]):
        if "get" in step:
            _read(world, step)
            continue
        wanted = step.get("answers", 200)
        _settle_requests(world, step)
        status, answer = _ask(world, step, f"{unique}-{number}", wanted)
        assert status == wanted, f"{step['body']}: {status} {answer}"
        assert step.get("refused", "") in answer.get("refused", ""), f"{step['body']}: {answer}"
        missing = differences(step["events"], answer["events"]) if "events" in step else []
        assert not missing, f"{step['body']}: {missing}"
        if "section" in step:
            assert answer["section"] == step["section"], f"{step['body']}: {answer}"
    for read in document["then"]:
        _read(world, read)


def _read(world: World, step: Any) -> None:
    found: list[Any] = []

    def as_written() -> bool:
        found[:] = [world.get(step["get"])]
        return same(step["answers"], found[0])

    try:
        until(f"{step['get']} answers as written", as_written, world.patience_seconds)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{chr(10).join(differences(step['answers'], found[0]))}") from None


def _settle_requests(world: World, step: Any) -> None:
    """A wager from a game account is placed once the account holds the stake: wait for that before betting closes."""
    if step["body"]["command"] == "CloseBetting":
        path = step["post"].removesuffix("/commands")
        until("requested wagers are settled", lambda: "requested" not in str(world.get(path)), world.patience_seconds)


def _ask(world: World, step: Any, key: str, wanted: int) -> tuple[int, Any]:
    """Sends a command; where it waits for another service, again under a new key until that has come."""
    actor = step.get("actor", "dealer")
    status, answer = world.post(step["post"], step["body"], key, actor)
    waits = step["body"]["command"] in WAITS_FOR_OTHERS and world.patience_seconds
    if wanted != 200 or status == 200 or not waits:
        return status, answer
    tries = iter(range(10_000))

    def asked() -> tuple[int, Any] | None:
        again = world.post(step["post"], step["body"], f"{key}-{next(tries)}", actor)
        return again if again[0] == 200 else None

    return until(f"{step['body']} is taken", asked, world.patience_seconds)  # type: ignore[no-any-return]


def same(wanted: Any, found: Any) -> bool:
    """Whether what was found has all that was wanted; more fields may be there, more rows may not."""
    return not differences(wanted, found)


def differences(wanted: Any, found: Any, place: str = "") -> list[str]:
    """A line for each thing that was wanted and not found, and for rows that are too many or too few."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [
            line
            for name, value in wanted.items()
            for line in differences(value, found.get(name, "nothing"), f"{place}/{name}")
        ]
    if isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            return [f"{place}: {len(wanted)} rows are written and {len(found)} are there: {found}"]
        pairs = enumerate(zip(wanted, found, strict=True))
        return [line for number, pair in pairs for line in differences(*pair, f"{place}/{number}")]
    if type(wanted) is type(found) and wanted == found:
        return []
    return [f"{place}: {wanted!r} is written and {found!r} is there"]
