"""YAML files as plain values, and the line of each, so that what is wrong with one is found by a person."""

import re
from collections.abc import Hashable, Iterator, Mapping
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
            content = path.read_bytes()
        except OSError as error:
            raise RulesUnreadable((f"{path}:1: The file cannot be read: {error.strerror}.",)) from error
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


class _Loader(yaml.SafeLoader):
    """YAML without its surprises: `on` is a word, `0500` and `1:30` are no numbers, nothing is written elsewhere."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - the library's own attribute

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem="An alias is not read here", problem_mark=mark)
        return super().compose_node(parent, index)

    def construct_yaml_timestamp(self, node: yaml.ScalarNode) -> date:
        try:
            return date.fromisoformat(node.value)
        except ValueError as error:
            raise yaml.MarkedYAMLError(
                problem=f"There is no day '{node.value}'", problem_mark=node.start_mark
            ) from error


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_yaml_timestamp)

for _tag, _form, _first in (
    ("bool", r"true|false", "tf"),
    ("int", r"0|-?[1-9][0-9]*", "-0123456789"),
    ("float", r"-?[0-9]+\.[0-9]+", "-0123456789"),
    ("null", r"null|~|", ("n", "~", "")),
    ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "0123456789"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_form})$"), list(_first))


def _parse(path: Path, content: bytes) -> tuple[yaml.Node | None, object]:
    try:
        loader = _Loader(content.decode("utf-8"))
        root = loader.get_single_node()
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
    except (ValueError, RecursionError) as error:
        # A value forced by a tag to be what it is not, or nesting without end.
        raise RulesUnreadable((f"{path}:1: A value cannot be read: {error}.",)) from error


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
