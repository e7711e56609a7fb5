"""`dataclasses.replace` for states, which are replaced at every event, at a small part of its price."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Type checkers know the fields of the dataclass by this one.
    from dataclasses import replace
else:

    def replace(state, /, **changes):
        """A copy of a dataclass without slots or `__post_init__`, with other values in the fields named."""
        # Copying the dictionary costs the same whatever the number of fields; `dataclasses.replace` sets each anew.
        copy = object.__new__(type(state))
        copy.__dict__.update(state.__dict__, **changes)
        return copy


__all__ = ["replace"]
