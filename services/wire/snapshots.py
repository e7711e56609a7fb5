"""States as bytes for the snapshots: one form only, so that equal states have equal bytes."""

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
