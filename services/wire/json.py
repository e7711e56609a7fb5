"""Events as JSON, for answers, streams and pages: a field each, bytes as hex."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any


def plain(value: Any) -> Any:
    """A value of the core as plain JSON types."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    return value


def event_json(event: Any) -> dict[str, Any]:
    """An event as `{"event": its name, ...its fields}`."""
    return {"event": type(event).__name__, **plain(event)}
