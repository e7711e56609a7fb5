"""Snapshots: states come back as they were, and another shape is told from this one."""

from dataclasses import dataclass, make_dataclass

from services.core import accounts, jackpots, rounds
from services.wire.snapshots import decode_state, encode_state, shape_of


@dataclass(frozen=True)
class Part:
    cents: int = 0


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] | None = None


def test_a_state_comes_back_as_it_was() -> None:
    whole = Whole((Part(1), Part(2)), {"a": Part(3)})
    assert decode_state(Whole, encode_state(whole)) == whole


def test_the_same_shape_has_the_same_version() -> None:
    assert shape_of(Whole) == shape_of(Whole)


def test_a_field_more_is_another_shape() -> None:
    first = make_dataclass("State", [("cents", int)])
    second = make_dataclass("State", [("cents", int), ("held", int)])
    second.__qualname__, second.__module__ = first.__qualname__, first.__module__
    assert shape_of(first) != shape_of(second)


def test_a_change_inside_a_part_is_another_shape() -> None:
    def whole(kind: type) -> type:
        part = make_dataclass("Part", [("cents", kind)])
        return make_dataclass("State", [("parts", tuple[part, ...])])  # type: ignore[valid-type]

    assert shape_of(whole(int)) != shape_of(whole(str))


def test_every_kind_of_state_has_a_shape_of_its_own() -> None:
    shapes = {shape_of(kind) for kind in (rounds.State, jackpots.State, accounts.State, Whole)}
    assert len(shapes) == 4
