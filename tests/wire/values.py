"""Any value of a dataclass of the core, made from its type hints and from the ranges of its message's fields."""

import typing
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from hypothesis import strategies as st

_RANGES = {
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
}


@cache
def values(kind: type, message: Any) -> st.SearchStrategy[Any]:
    """Values of a dataclass that its message can carry. `message` is the message's descriptor."""
    hints = typing.get_type_hints(kind)
    known = message.fields_by_name
    return st.builds(kind, **{field.name: _of(hints[field.name], known[field.name]) for field in fields(kind)})


def _of(hint: Any, field: Any) -> st.SearchStrategy[Any]:
    arguments = typing.get_args(hint)
    if type(None) in arguments:
        return st.none() | _of(arguments[0], field)
    if typing.get_origin(hint) is tuple:
        return st.lists(_of(arguments[0], field), max_size=4).map(tuple)
    if is_dataclass(hint):
        return values(typing.cast(type, hint), field.message_type)
    if issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    if hint is bool:
        return st.booleans()
    if hint is int:
        return st.integers(*_RANGES[field.type])
    return {str: st.text(max_size=40), bytes: st.binary(max_size=40)}[hint]
