"""Events as JSON, for answers, streams and pages: a field each, bytes as hex."""

from collections.abc import Set
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def plain(value: Any, unsaid: Set[str] = frozenset()) -> Any:
    """A value of the core as plain JSON types, without the fields of those names."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [plain(part, unsaid) for part in value]
    if is_dataclass(value):
        said = (field.name for field in fields(value) if field.name not in unsaid)
        return {name: plain(getattr(value, name), unsaid) for name in said}
    return value


def event_json(event: Any, unsaid: Set[str] = frozenset()) -> dict[str, Any]:
    """An event as `{"event": its name, ...its fields}`, without the fields of those names."""
    return {"event": type(event).__name__, **plain(event, unsaid)}
