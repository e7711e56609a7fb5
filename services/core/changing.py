"""States are made and replaced at every event: the same as `dataclasses` do, at a small part of the price."""

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

_new, _set = object.__new__, object.__setattr__
T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(cls: type[T]) -> type[T]:
    """A frozen dataclass whose fields are set all at once. It has no slots and no `__post_init__`.

    A frozen `__init__` of `dataclasses` sets each field by a call of its own, which is most of what an event costs.
    """
    made = dataclass(frozen=True)(cls)
    names: dict[str, Any] = {"_set": _set, "MISSING": MISSING}
    parameters, entries = [], []
    for field in fields(made):  # type: ignore[arg-type]
        name, entry = field.name, field.name
        if field.default is not MISSING:
            names[f"default_{name}"] = field.default
            parameters.append(f"{name}=default_{name}")
        elif field.default_factory is not MISSING:
            names[f"make_{name}"] = field.default_factory
            parameters.append(f"{name}=MISSING")
            entry = f"make_{name}() if {name} is MISSING else {name}"
        else:
            parameters.append(name)
        entries.append(f"{name!r}: {entry}")
    # Written out and compiled, as `dataclasses` does it.
    exec(
        f"def __init__(self, {', '.join(parameters)}):\n    _set(self, '__dict__', {{{', '.join(entries)}}})",
        names,
    )
    made.__init__ = names["__init__"]  # type: ignore[method-assign]
    return made


if TYPE_CHECKING:
    # Type checkers know the fields by this one.
    from dataclasses import replace
else:

    def replace(state, /, **changes):
        """A copy of a `frozen` dataclass, with other values in the fields named."""
        # Copying the dictionary costs the same whatever the number of fields; `dataclasses.replace` sets each anew.
        copy = _new(type(state))
        _set(copy, "__dict__", state.__dict__ | changes)
        return copy


__all__ = ["frozen", "replace"]
