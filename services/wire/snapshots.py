"""States as bytes for the snapshots: one form only, so that equal states have equal bytes."""

import typing
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

from cattrs.preconf.orjson import make_converter

_CONVERTER = make_converter()
State = TypeVar("State")


def encode_state(state: Any) -> bytes:
    """The bytes of a state."""
    return _CONVERTER.dumps(state)


def decode_state(kind: type[State], stored: bytes) -> State:
    """The state of that kind from its bytes."""
    return _CONVERTER.loads(stored, kind)


@cache
def shape_of(*kinds: Any) -> str:
    """A short text that changes when the fields of these kinds of states, or of what they hold, change."""
    seen: dict[str, str] = {}
    for kind in kinds:
        _note_shape(kind, seen)
    return sha256(repr(sorted(seen.items())).encode()).hexdigest()[:16]


def _note_shape(kind: Any, seen: dict[str, str]) -> None:
    for part in typing.get_args(kind):
        _note_shape(part, seen)
    if not is_dataclass(kind) or repr(kind) in seen:
        return
    hints = typing.get_type_hints(kind)
    seen[repr(kind)] = repr([(field.name, str(hints[field.name])) for field in fields(kind)])
    for hint in hints.values():
        _note_shape(hint, seen)
