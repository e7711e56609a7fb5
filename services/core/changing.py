"""`dataclasses.replace` for states, which are replaced at every event, at a small part of its price."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Type checkers know the fields of the dataclass by this one.
    from dataclasses import replace
else:
    _new, _set = object.__new__, object.__setattr__

    def replace(state, /, **changes):
        """A copy of a dataclass without slots or `__post_init__`, with other values in the fields named."""
        # Copying the dictionary costs the same whatever the number of fields; `dataclasses.replace` sets each anew.
        copy = _new(type(state))
        _set(copy, "__dict__", state.__dict__ | changes)
        return copy


__all__ = ["replace"]
