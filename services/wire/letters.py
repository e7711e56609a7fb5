"""The records of `dead-letters` as bytes. Their key is the origin of the letter, so that one is known by it."""

from hashlib import sha256
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.text_format import MessageToString

from roundlog.letters.v1 import letters_pb2
from services.core import letters
from services.core.letters import LetterPutAside, Origin
from services.wire.records import CONTRACTS, OneOf

VALUE_BYTES_KEPT, KEY_KEPT = 400_000, 1_000
"""Of a letter no more bytes are kept, and of its key no more characters: it must fit in one batch, and no command is that
long."""

_EVENTS = OneOf(letters.Event, letters_pb2)
_RECORD: Any = letters_pb2.LettersRecord


def encode_letters(origin: Origin, event: letters.Event) -> tuple[str, bytes]:
    """The key and the bytes of a record as the topic stores them."""
    name, message = _EVENTS.encode(event)
    place = letters_pb2.Origin(topic=origin.topic, partition=origin.partition, offset=origin.offset)
    return str(origin), _RECORD(origin=place, **{name: message}).SerializeToString(deterministic=True)


def put_aside(origin: Origin, key: str, value: bytes, at_ms: int, reason: str) -> tuple[str, bytes]:
    """The record of a letter: an input whose bytes no schema reads, and why."""
    kept = value[:VALUE_BYTES_KEPT]
    return encode_letters(
        origin, LetterPutAside(key[:KEY_KEPT], kept, at_ms, reason, len(value), sha256(value).digest())
    )


def decode_letters(key: str, stored: bytes) -> tuple[Origin, letters.Event] | None:
    """A record from its key and its stored bytes; None for the oldest letters, which are the bare bytes of what was put
    aside. Raises Unreadable where the record is of a newer version."""
    try:
        record = _RECORD.FromString(stored)
    except DecodeError:
        return None
    origin = Origin(record.origin.topic, record.origin.partition, record.origin.offset)
    return (origin, _EVENTS.decode(record, "event")) if key == str(origin) else None


def as_text(stream: str | None, value: bytes) -> str | None:
    """As much of some bytes as can be read, as protobuf's own text: a command of the stream with its fields' names, any
    message with their numbers; None where it is no message at all."""
    kinds = [] if stream is None else [CONTRACTS[stream].command_message]
    for kind in (*kinds, Empty):
        try:
            text = MessageToString(kind.FromString(value), as_one_line=True, print_unknown_fields=True)
        except DecodeError:
            continue
        return str(text) or None
    return None
