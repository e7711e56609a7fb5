"""Which tests hold the product to which paragraphs: every test is collected, none is run, and its `law` marks are read."""

import contextlib
import io
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_DOES_NOT_HOLD = ("skip", "skipif", "xfail")


class NotCollected(Exception):
    """Tests could not be collected, so nobody knows what they hold."""


@dataclass(frozen=True, slots=True, order=True)
class Held:
    """A test, or a recorded round that tests play: where it is, below the project, and the paragraphs it is marked with."""

    place: str
    citations: tuple[str, ...]


class _Reading:
    """A plugin that keeps what the marks say."""

    def __init__(self) -> None:
        self.items: list[pytest.Item] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = list(session.items)


def held(paths: Iterable[str] = ("tests",), root: Path = ROOT) -> tuple[Held, ...]:
    """Every marked test below these paths, sorted. Takes some seconds; call it in a process of its own.

    Raises NotCollected.
    """
    reading, said = _Reading(), io.StringIO()
    arguments = ["--collect-only", "-qq", "-p", "no:cacheprovider", "--rootdir", str(root)]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main([*arguments, *(str(root / path) for path in paths)], plugins=[reading])
    if code != pytest.ExitCode.OK:
        raise NotCollected(said.getvalue())
    return marked(reading.items)


def marked(items: Iterable[pytest.Item]) -> tuple[Held, ...]:
    """What the marks of collected tests say; the cases of one test together, a recorded round by its own name.

    A test that is skipped or expected to fail holds nothing.
    """
    found: dict[str, dict[str, None]] = {}
    for item in items:
        if any(item.get_closest_marker(name) for name in _DOES_NOT_HOLD):
            continue
        for mark in item.iter_markers("law"):
            place = mark.kwargs.get("recorded") or item.nodeid.partition("[")[0]
            found.setdefault(place, {}).update(dict.fromkeys(mark.args))
    return tuple(sorted(Held(place, tuple(sorted(citations))) for place, citations in found.items()))
