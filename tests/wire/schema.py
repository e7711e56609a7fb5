"""The schema as lines, so that a change can be read: `python -m tests.wire.schema` adds to schema.txt what is new.

A line is `message field number type`, or `enum value number`. Lines are only ever added.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from roundlog.accounts.v1 import accounts_pb2
from roundlog.jackpots.v1 import jackpots_pb2
from roundlog.letters.v1 import letters_pb2
from roundlog.rounds.v1 import rounds_pb2
from roundlog.wagers.v1 import wagers_pb2

PACKAGES = {
    "rounds": rounds_pb2, "wagers": wagers_pb2, "jackpots": jackpots_pb2, "accounts": accounts_pb2, "letters": letters_pb2,
}  # fmt: skip
COMMITTED = Path(__file__).with_name("schema.txt")
_KINDS = {
    value: name.removeprefix("TYPE_").lower() for name, value in vars(FieldDescriptor).items() if name[:5] == "TYPE_"
}


def present() -> list[str]:
    """Every line of the schema as it is now, sorted."""
    return sorted(line for package in PACKAGES.values() for line in _lines(package.DESCRIPTOR))


def committed() -> list[str]:
    """Every line that was promised."""
    return COMMITTED.read_text().splitlines()


def _lines(file: Any) -> Iterator[str]:
    for message in file.message_types_by_name.values():
        assert not message.nested_types, (
            f"{message.full_name}: messages stand side by side here, and maps are not allowed"
        )
        for field in message.fields:
            yield f"{message.full_name} {field.name} {field.number} {_kind(field)}"
    for enum in file.enum_types_by_name.values():
        for value in enum.values:
            yield f"{enum.full_name} {value.name} {value.number}"


def _kind(field: Any) -> str:
    """The type as a proto file writes it."""
    kind = _KINDS[field.type]
    if field.message_type is not None:
        kind = field.message_type.full_name
    if field.enum_type is not None:
        kind = field.enum_type.full_name
    oneof = field.containing_oneof
    if field.is_repeated:
        return f"repeated {kind}"
    if oneof is None:
        return kind
    return f"optional {kind}" if oneof.name == f"_{field.name}" else f"oneof {oneof.name} {kind}"


def main() -> None:
    """Adds what is new; takes nothing away."""
    known = committed() if COMMITTED.exists() else []
    COMMITTED.write_text("\n".join(sorted({*known, *present()})) + "\n")


if __name__ == "__main__":
    main()
