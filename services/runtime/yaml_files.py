"""YAML files as plain values, and the line of each, so that what is wrong with one is found by a person."""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from services.core.fields import Problem


class RulesUnreadable(Exception):
    """Some files are not what they should be. `problems` are all of all files, a line each: `file:line: reason`."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A file that is fields with names. `repeated` are the fields written twice, a line each."""

    path: Path
    content: bytes
    document: Mapping[str, object]
    repeated: tuple[str, ...]
    root: yaml.Node | None

    @classmethod
    def read(cls, path: Path, what: str) -> "YamlFile":
        """The file, `what` being what it should be. Raises RulesUnreadable."""
        try:
            with path.open("rb") as file:
                content = file.read(_BYTES_MAX + 1)
        except OSError as error:
            raise RulesUnreadable((f"{path}:1: The file cannot be read: {error.strerror}.",)) from error
        if len(content) > _BYTES_MAX:
            raise RulesUnreadable(
                (f"{path}:1: The file has more than {_BYTES_MAX} bytes: it is not what it should be.",)
            )
        root, document = _parse(path, content)
        if not isinstance(document, dict):
            raise RulesUnreadable((f"{path}:1: {what} is fields with names.",))
        repeated = tuple(f"{path}:{line}: {reason}" for line, reason in _repeated_keys(root))
        return cls(path, content, document, repeated, root)

    def line(self, *path: str | int) -> int:
        """The line of what is at a path, from 1; where nothing is, that of the deepest part that is there."""
        return _line(self.root, path)

    def told(self, problem: Problem) -> str:
        """A problem with its file and line."""
        return f"{self.path}:{self.line(*problem.path)}: {problem.reason}"

    def told_in_order(self, problems: Iterable[Problem]) -> tuple[str, ...]:
        """Problems with their file and line, from the first line to the last."""
        return tuple(map(self.told, sorted(problems, key=lambda problem: self.line(*problem.path))))


_BYTES_MAX = 1_000_000
"""A hundred times the longest file that is shipped. What is much longer would be read for minutes."""


class _Loader(yaml.SafeLoader):
    """YAML without its surprises: `on` is a word, `0500` and `1:30` are no numbers, nothing is written elsewhere or
    forced to be what it does not look like, and the name of a field is the word that is written."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - the library's own attribute

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _marked("An alias is not read here", event)
        if event.tag is not None:
            raise _marked("A tag is not read here", event)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise _marked("The name of a field is a word", name)
        return {_printable(name): self.construct_object(value, deep=deep) for name, value in node.value}


def _marked(problem: str, where: yaml.Node | yaml.Event) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=where.start_mark)  # type: ignore[arg-type]


def _printable(node: yaml.Node) -> str:
    """The words as they are written. An escape may write what no file may hold and no terminal should be sent."""
    text: str = node.value
    if _UNPRINTABLE.search(text):
        raise _marked("A control character or half of a pair is not read here", node)
    return text


_DIGITS_MAX = 18
"""A slip of the pen is longer, and Python itself reads no number without end."""
_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")


# What is no number or no day after all stays a word, and is told with all else that is wrong.


def _number(text: str) -> int | str:
    return int(text) if len(text) <= _DIGITS_MAX else text


def _day(text: str) -> date | str:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return text


_Loader.add_constructor("tag:yaml.org,2002:str", lambda _, node: _printable(node))
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: _number(node.value))
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: _day(node.value))
for _tag, _form, _first in (
    ("bool", r"true|false", "tf"),
    ("int", r"0|-?[1-9][0-9]*", "-0123456789"),
    ("float", r"-?[0-9]+\.[0-9]+", "-0123456789"),
    ("null", r"null|~|", ("n", "~", "")),
    ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_form})$"), list(_first))


def _parse(path: Path, content: bytes) -> tuple[yaml.Node | None, object]:
    line = 1
    try:
        loader = _Loader(content.decode("utf-8"))
        try:
            root = loader.get_single_node()
        finally:
            line = loader.line + 1
        return root, None if root is None else loader.construct_document(root)
    except UnicodeDecodeError as error:
        raise _unreadable(path, content, error.start, "The file is not UTF-8.") from error
    except yaml.reader.ReaderError as error:
        position = len(content.decode("utf-8")[: error.position].encode())
        raise _unreadable(path, content, position, "A character is not allowed in YAML.") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(part for part in (error.context, error.problem) if part)
        raise RulesUnreadable((f"{path}:{mark.line + 1 if mark else 1}: {reason}.",)) from error
    except RecursionError as error:
        raise RulesUnreadable((f"{path}:{line}: Fields and lists are in one another too deep.",)) from error
    except (ValueError, OverflowError) as error:
        raise RulesUnreadable((f"{path}:{line}: An escape names no character.",)) from error


def _unreadable(path: Path, content: bytes, position: int, reason: str) -> RulesUnreadable:
    line = content.count(b"\n", 0, position) + 1
    return RulesUnreadable((f"{path}:{line}: {reason}",))


def _repeated_keys(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    if isinstance(node, yaml.MappingNode):
        seen: set[Hashable] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, f"'{key.value}' is written twice."
            seen.add(key.value)
            yield from _repeated_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated_keys(item)


def _line(node: yaml.Node | None, path: tuple[str | int, ...]) -> int:
    """The line of what is at a path, from 1; where nothing is, that of the deepest part that is there."""
    line = node.start_mark.line + 1 if node is not None else 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            found = (node.value[step], node.value[step])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line
