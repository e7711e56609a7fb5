"""Reads the fields of a document and gathers everything that is wrong with them, each with its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from services.core.names import quoted
from services.core.paytables import Odds

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a document: where (names of fields and places in lists, from its root) and why."""

    path: Path
    reason: str


class Fields:
    """One mapping of a document. What is wrong with a field goes to `problems`, and something harmless is read."""

    def __init__(self, document: Mapping[str, object], path: Path, problems: list[Problem]) -> None:
        self._document = document
        self._taken: set[str] = set()
        self.path = path
        self.problems = problems

    def wrong(self, reason: str, *path: str | int) -> None:
        """A sentence about these fields, or about what is at a path below them."""
        self.problems.append(Problem(self.path + path, reason))

    def sound(self, *names: str) -> bool:
        """Whether nothing was wrong with these fields so far, so that they can be held against each other."""
        here = len(self.path)
        return not any(
            problem.path[:here] == self.path and (problem.path[here:] or ("",))[0] in names for problem in self.problems
        )

    def leave(self, *names: str) -> None:
        """Fields of which enough was said: nothing more is."""
        self._taken.update(names)

    def names(self) -> Sequence[str]:
        """The names of the fields, as they are written."""
        return tuple(map(str, self._document))

    def has(self, name: str) -> bool:
        """Whether a field that may be left out is written."""
        return name in self._document

    def take(self, name: str) -> object:
        """What is written, or None where it is missing or empty, which is a problem."""
        self._taken.add(name)
        found = self._document.get(name)
        if found is None:
            self.wrong(f"'{name}' is {'empty' if name in self._document else 'missing'}.", name)
        return found

    def fields(self, name: str) -> "Fields":
        """The fields in a field; where there are none, empty ones whose own problems go nowhere."""
        found = self.take(name)
        return self._nested(found, name) if found is not None else Fields({}, (*self.path, name), [])

    def _nested(self, found: object, *path: str | int) -> "Fields":
        if isinstance(found, Mapping):
            return Fields(found, self.path + path, self.problems)
        self.wrong("Here must be fields with names.", *path)
        return Fields({}, self.path + path, [])

    def items(self, name: str) -> Sequence[object]:
        """A list with at least one entry."""
        found = self.take(name)
        if isinstance(found, list) and found:
            return found
        if found is not None:
            self.wrong(f"'{name}' must be a list with at least one entry.", name)
        return ()

    def mappings(self, name: str) -> Sequence["Fields"]:
        """A list of fields with names."""
        return tuple(self._nested(found, name, place) for place, found in enumerate(self.items(name)))

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number within bounds."""
        found = self.take(name)
        if isinstance(found, int) and not isinstance(found, bool) and least <= found <= most:
            return found
        if found is not None:
            self.wrong(f"'{name}' must be a whole number from {least} to {most}, not {quoted(found)}.", name)
        return least

    def wholes(self, name: str, least: int, most: int) -> Sequence[tuple[int, int]]:
        """The whole numbers within bounds of a list, each with its place in it."""
        read: list[tuple[int, int]] = []
        for place, found in enumerate(self.items(name)):
            if isinstance(found, int) and not isinstance(found, bool) and least <= found <= most:
                read.append((place, found))
            else:
                self.wrong(f"'{name}' are whole numbers from {least} to {most}, not {quoted(found)}.", name, place)
        return read

    def texts(self, name: str) -> Sequence[tuple[int, str]]:
        """The words of a list, each with its place in it."""
        read: list[tuple[int, str]] = []
        for place, found in enumerate(self.items(name)):
            if isinstance(found, str) and found.strip():
                read.append((place, found))
            else:
                self.wrong(f"'{name}' must be words, not {quoted(found)}.", name, place)
        return read

    def flag(self, name: str) -> bool:
        """True or false."""
        found = self.take(name)
        if found is not None and not isinstance(found, bool):
            self.wrong(f"'{name}' must be true or false, not {quoted(found)}.", name)
        return found is True

    def text(self, name: str) -> str:
        """Words, at least one."""
        found = self.take(name)
        if isinstance(found, str) and found.strip():
            return found
        if found is not None:
            self.wrong(f"'{name}' must be words, not {quoted(found)}.", name)
        return ""

    def word(self, name: str, words: Sequence[str]) -> str:
        """One of some words."""
        found = self.text(name)
        if found and found not in words:
            self.wrong(f"'{name}' must be one of {', '.join(words)}, not {quoted(found)}.", name)
        return found

    def form(self, name: str, form: re.Pattern[str], said: str) -> str:
        """A word of a form; `said` is the form in words."""
        found = self.text(name)
        if found and not form.fullmatch(found):
            self.wrong(f"'{name}' must be {said}, not {quoted(found)}.", name)
        return found

    def day(self, name: str) -> date:
        """A date without a time."""
        found = self.take(name)
        # The first of all days stands for none.
        if isinstance(found, date) and not isinstance(found, datetime) and found != date.min:
            return found
        if found is not None:
            self.wrong(
                f"'{name}' must be a date such as 2026-01-01, not {quoted(str(found) if isinstance(found, date) else found)}.",
                name,
            )
        return date.min

    def odds(self, name: str) -> Odds | None:
        """Odds, or None where they cannot be read."""
        if written := self.text(name):
            try:
                return Odds.parse(written)
            except ValueError as error:
                self.wrong(str(error), name)
        return None

    def end(self, source: bool = False) -> None:
        """All fields that belong are taken, the source of the figures last: the rest do not belong."""
        if source:
            self.text("source")
        for name in self._document:
            if name not in self._taken:
                self.wrong(f"{quoted(name)} does not belong here.", name)
