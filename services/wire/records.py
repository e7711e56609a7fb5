"""Records and commands as bytes: the only room that knows protobuf.

An event and its message have one name and the same fields, so one codec serves all of them; nothing is
mapped by hand. Bytes are written in one form only, so the same record always has the same bytes.
"""

import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any

from google.protobuf.message import DecodeError, Message

from roundlog.accounts.v1 import accounts_pb2
from roundlog.jackpots.v1 import jackpots_pb2
from roundlog.rounds.v1 import rounds_pb2
from roundlog.wagers.v1 import wagers_pb2
from services.core import accounts, jackpots, rounds, wagers


class Unreadable(Exception):
    """Bytes that no schema of ours reads: not protobuf, or without a known event or command, or a field out of range."""


# Not frozen, as everything else is: each reader makes one for each record, and freezing would double the price.
@dataclass(slots=True, unsafe_hash=True)
class Cause:
    """The input record behind a record."""

    topic: str
    partition: int
    offset: int


@dataclass(slots=True, unsafe_hash=True)
class Record:
    """One record of a log: the envelope and the event. `index` and `count` are those within its command."""

    sequence: int
    previous_hash: bytes
    recorded_at_ms: int
    command_id: str
    actor: str
    cause: Cause
    index: int
    count: int
    request_hash: bytes
    event: Any

    @property
    def last(self) -> bool:
        """Whether the command has no further record."""
        return self.index == self.count - 1


@dataclass(frozen=True, slots=True)
class Asked:
    """One command as it travels: its id, who asks, and for a person's the hash of the request."""

    command_id: str
    actor: str
    request_hash: bytes
    command: Any


def snake_case(name: str) -> str:
    """`WagerPlaced` as `wager_placed`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _optional(hint: Any) -> tuple[bool, Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(hint) if part is not type(None)]
        if len(inner) < len(typing.get_args(hint)):
            return True, inner[0]
    return False, hint


Convert = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


class _EnumCodec:
    """A StrEnum of the core and the proto enum of the same name; zero is never a meaning."""

    def __init__(self, core: type[StrEnum], pb2: Any) -> None:
        wrapper = getattr(pb2, core.__name__)
        prefix = snake_case(core.__name__).upper() + "_"
        self.number: dict[StrEnum, int] = {member: wrapper.Value(prefix + member.name) for member in core}
        self.member = {number: member for member, number in self.number.items()}

    def encode(self, member: Any) -> int:
        return self.number[member]

    def decode(self, number: int) -> StrEnum:
        if number not in self.member:
            raise Unreadable(f"an enum holds the unknown value {number}")
        return self.member[number]


class _MessageCodec:
    """A frozen dataclass and the message of the same name and fields."""

    def __init__(self, core: type, pb2: Any) -> None:
        self.core = core
        self.message: type[Message] = getattr(pb2, core.__name__)
        self.plain: list[tuple[str, Convert]] = []
        self.optional: list[tuple[str, Convert]] = []
        self.repeated: list[tuple[str, Convert]] = []
        hints = typing.get_type_hints(core)
        decoders: dict[str, Convert] = {}
        parts: list[str] = []
        for field in fields(core):
            name = field.name
            is_optional, hint = _optional(hints[name])
            is_repeated = typing.get_origin(hint) is tuple
            encode, decode = _converters(typing.get_args(hint)[0] if is_repeated else hint, pb2)
            (self.repeated if is_repeated else self.optional if is_optional else self.plain).append((name, encode))
            decoders[f"decode_{name}"] = decode
            parts.append(f"    made.{name} = {_decoding(name, is_optional, is_repeated, decode is _same)}\n")
        self.decode = _written(core, parts, decoders)

    def encode(self, value: Any) -> Message:
        named = {name: encode(getattr(value, name)) for name, encode in self.plain}
        for name, encode in self.optional:
            part = getattr(value, name)
            if part is not None:
                named[name] = encode(part)
        for name, encode in self.repeated:
            named[name] = [encode(part) for part in getattr(value, name)]
        return self.message(**named)


def _decoding(name: str, is_optional: bool, is_repeated: bool, is_plain: bool) -> str:
    """The expression for one field of `message`."""
    if is_repeated:
        return f"tuple(message.{name})" if is_plain else f"tuple(map(decode_{name}, message.{name}))"
    value = f"message.{name}" if is_plain else f"decode_{name}(message.{name})"
    return f'{value} if message.HasField("{name}") else None' if is_optional else value


def _written(core: type, parts: list[str], decoders: dict[str, Convert]) -> Convert:
    """The function that makes the dataclass of a message. As `dataclasses` does for `__init__`, it is written out and
    compiled: a loop over the fields would cost every reader of a log three times as much.

    The fields are set while it is of a class with the same slots that is not frozen: a frozen `__init__` sets each by a
    call of its own, which would be half of what a record costs.
    """
    assert not hasattr(core, "__post_init__"), f"{core.__name__} would not be checked when it is read"
    open_ = type(core.__name__, (), {"__slots__": core.__slots__})  # type: ignore[attr-defined]
    names: dict[str, Any] = {"core": core, "open_": open_, "new": object.__new__, **decoders}
    exec(
        f"def decode(message):\n    made = new(open_)\n{''.join(parts)}    made.__class__ = core\n    return made",
        names,
    )
    return typing.cast(Convert, names["decode"])


def _converters(hint: Any, pb2: Any) -> tuple[Convert, Convert]:
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        enum = _EnumCodec(hint, pb2)
        return enum.encode, enum.decode
    if is_dataclass(hint):
        message = _MessageCodec(typing.cast(type, hint), pb2)
        return message.encode, message.decode
    return _same, _same


class OneOf:
    """The closed set of events, or commands, of a stream: the oneof is the only discriminator."""

    def __init__(self, union: Any, pb2: Any) -> None:
        members = typing.get_args(union)
        self.by_type = {member: (snake_case(member.__name__), _MessageCodec(member, pb2)) for member in members}
        self._decode = {name: codec.decode for name, codec in self.by_type.values()}

    def encode(self, value: Any) -> tuple[str, Message]:
        name, codec = self.by_type[type(value)]
        return name, codec.encode(value)

    def decode(self, message: Any, oneof: str) -> Any:
        name = message.WhichOneof(oneof)
        decode = self._decode.get(name)
        if decode is None:
            raise Unreadable(f"no {oneof} that this version knows")
        return decode(getattr(message, name))


class Contract:
    """What one stream's bytes mean: its records, and its commands where it takes any."""

    def __init__(self, module: Any, pb2: Any) -> None:
        name = module.__name__.rsplit(".", 1)[-1].capitalize()
        self._pb2 = pb2
        self._record: Any = getattr(pb2, f"{name}Record")
        self._events = OneOf(module.Event, pb2)
        self.event_types: tuple[type, ...] = tuple(self._events.by_type)
        self._command: Any = getattr(pb2, f"{name}Command", None)
        self._commands = OneOf(module.Command, pb2) if self._command is not None else None
        self.command_types: tuple[type, ...] = tuple(self._commands.by_type) if self._commands is not None else ()

    def encode_record(self, record: Record) -> bytes:
        """The bytes of a record as the log stores them."""
        name, event = self._events.encode(record.event)
        cause = record.cause
        message = self._record(
            sequence=record.sequence,
            previous_hash=record.previous_hash,
            recorded_at_ms=record.recorded_at_ms,
            command_id=record.command_id,
            actor=record.actor,
            cause=self._pb2.Cause(topic=cause.topic, partition=cause.partition, offset=cause.offset),
            index=record.index,
            count=record.count,
            request_hash=record.request_hash,
            **{name: event},
        )
        return typing.cast(bytes, message.SerializeToString(deterministic=True))

    def decode_record(self, stored: bytes) -> Record:
        """A record from its stored bytes. Raises Unreadable."""
        message = self._parse(self._record, stored)
        event = self._events.decode(message, "event")
        _require_known(message, stored)
        cause = message.cause
        return Record(
            message.sequence,
            message.previous_hash,
            message.recorded_at_ms,
            message.command_id,
            message.actor,
            Cause(cause.topic, cause.partition, cause.offset),
            message.index,
            message.count,
            message.request_hash,
            event,
        )

    @property
    def command_message(self) -> Any:
        """The message of a command; None where the stream takes none."""
        return self._command

    def encode_command(self, asked: Asked) -> bytes:
        """The bytes of a command as its topic carries them."""
        if self._commands is None:
            raise TypeError("this stream takes no commands")
        name, command = self._commands.encode(asked.command)
        message = self._command(
            command_id=asked.command_id, actor=asked.actor, request_hash=asked.request_hash, **{name: command}
        )
        return typing.cast(bytes, message.SerializeToString(deterministic=True))

    def decode_command(self, sent: bytes) -> Asked:
        """A command from the bytes of its topic. Raises Unreadable."""
        if self._commands is None:
            raise TypeError("this stream takes no commands")
        message = self._parse(self._command, sent)
        if not message.command_id:
            raise Unreadable("a command without an id")
        command = self._commands.decode(message, "command")
        _require_known(message, sent)
        return Asked(message.command_id, message.actor, message.request_hash, command)

    def _parse(self, kind: Any, stored: bytes) -> Any:
        try:
            return kind.FromString(stored)
        except DecodeError as error:
            raise Unreadable(f"not a {kind.DESCRIPTOR.full_name}: {error}") from None


def _require_known(message: Any, stored: bytes) -> None:
    """A field that is passed over in silence could be money. Without its unknown fields a message would be shorter."""
    message.DiscardUnknownFields()
    size = message.ByteSize()
    if size != len(stored) and size != type(message).FromString(stored).ByteSize():
        raise Unreadable(f"a {message.DESCRIPTOR.full_name} with a field that this version does not know")


CONTRACTS: dict[str, Contract] = {
    "rounds": Contract(rounds, rounds_pb2),
    "wagers": Contract(wagers, wagers_pb2),
    "jackpots": Contract(jackpots, jackpots_pb2),
    "accounts": Contract(accounts, accounts_pb2),
}
"""By the name of the stream."""
