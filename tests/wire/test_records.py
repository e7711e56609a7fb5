"""Records and commands: everything comes back as it went, and what cannot be read is said to be unreadable."""

import typing
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from services.core import jackpots, rounds
from services.core.names import On
from services.wire.records import CONTRACTS, Asked, Cause, Record, Unreadable, snake_case
from tests.wire.schema import PACKAGES
from tests.wire.values import values

EVENTS = [(name, kind) for name, contract in CONTRACTS.items() for kind in contract.event_types]
COMMANDS = [(name, kind) for name, contract in CONTRACTS.items() for kind in contract.command_types]
BOTH = [*EVENTS, *COMMANDS]
every_event = pytest.mark.parametrize(("stream", "kind"), EVENTS, ids=lambda value: getattr(value, "__name__", value))
every_command = pytest.mark.parametrize(
    ("stream", "kind"), COMMANDS, ids=lambda value: getattr(value, "__name__", value)
)
streams = pytest.mark.parametrize("stream", list(CONTRACTS))

CAUSE = Cause("round-commands", 3, 41)
SHOWN = Record(
    7, b"\1" * 32, 1_800_000_000_000, "key-7", "dealer", CAUSE, 0, 1, b"\2" * 32,
    rounds.HandShown("table-1-1", 3, ("Kh", "Ah")),
)  # fmt: skip
ASKED = Asked("key-7", "dealer", b"\2" * 32, rounds.PlaceWager(3, "ante", 500))


def message_of(stream: str, kind: type) -> type[Message]:
    return typing.cast(type[Message], getattr(PACKAGES[stream], kind.__name__))


def record_message(stream: str) -> Any:
    return getattr(PACKAGES[stream], f"{stream.capitalize()}Record")


@every_event
def test_every_event_comes_back(stream: str, kind: type) -> None:
    contract, envelope = CONTRACTS[stream], record_message(stream).DESCRIPTOR
    numbers = {name: st.integers(0, 2**32 - 1) for name in ("index", "count")}
    causes = values(Cause, envelope.fields_by_name["cause"].message_type)
    records = st.builds(
        Record, st.integers(0, 2**64 - 1), st.binary(max_size=32), st.integers(0, 2**63 - 1), st.text(), st.text(),
        causes, **numbers, request_hash=st.binary(max_size=32), event=values(kind, message_of(stream, kind).DESCRIPTOR),
    )  # fmt: skip

    @settings(max_examples=25, deadline=None)
    @given(records)
    def comes_back(record: Record) -> None:
        stored = contract.encode_record(record)
        assert contract.decode_record(stored) == record
        assert contract.encode_record(contract.decode_record(stored)) == stored

    comes_back()


@every_command
def test_every_command_comes_back(stream: str, kind: type) -> None:
    contract = CONTRACTS[stream]
    commands = values(kind, message_of(stream, kind).DESCRIPTOR)

    @settings(max_examples=25, deadline=None)
    @given(st.builds(Asked, st.text(min_size=1), st.text(), st.binary(max_size=32), commands))
    def comes_back(asked: Asked) -> None:
        sent = contract.encode_command(asked)
        assert contract.decode_command(sent) == asked
        assert contract.encode_command(contract.decode_command(sent)) == sent

    comes_back()


@pytest.mark.parametrize(("stream", "kind"), BOTH, ids=lambda value: getattr(value, "__name__", value))
def test_a_dataclass_and_its_message_have_the_same_fields(stream: str, kind: type) -> None:
    assert not _differences(kind, message_of(stream, kind).DESCRIPTOR)


def _differences(kind: type, message: Any) -> list[str]:
    """Where a dataclass and a message do not say the same, also inside their fields."""
    hints = typing.get_type_hints(kind)
    ours, theirs = [field.name for field in fields(kind)], [field.name for field in message.fields]
    if set(ours) != set(theirs):
        return [f"{kind.__name__}: {sorted({*ours} ^ {*theirs})} are on one side only"]
    found = []
    for name in ours:
        field, hint = message.fields_by_name[name], hints[name]
        arguments = typing.get_args(hint)
        if (type(None) in arguments) != (field.has_presence and field.containing_oneof is not None):
            found.append(f"{kind.__name__}.{name}: optional on one side only")
        if (typing.get_origin(hint) is tuple) != field.is_repeated:
            found.append(f"{kind.__name__}.{name}: repeated on one side only")
        inner = arguments[0] if arguments else hint
        if is_dataclass(inner):
            found += _differences(typing.cast(type, inner), field.message_type)
        elif isinstance(inner, type) and issubclass(inner, StrEnum):
            prefix = f"{snake_case(inner.__name__).upper()}_"
            names = {value.name.removeprefix(prefix) for value in field.enum_type.values if value.number}
            if names != set(inner.__members__):
                found.append(f"{inner.__name__}: {sorted(names ^ set(inner.__members__))} are on one side only")
    return found


@streams
def test_the_oneof_names_what_the_core_names(stream: str) -> None:
    message = record_message(stream).DESCRIPTOR
    events = {snake_case(kind.__name__) for name, kind in EVENTS if name == stream}
    assert {field.name for field in message.oneofs_by_name["event"].fields} == events
    assert all(field.number >= 16 for field in message.oneofs_by_name["event"].fields), "1 to 15 are the envelope's"
    commands = {snake_case(kind.__name__) for name, kind in COMMANDS if name == stream}
    if commands:
        message = getattr(PACKAGES[stream], f"{stream.capitalize()}Command").DESCRIPTOR
        assert {field.name for field in message.oneofs_by_name["command"].fields} == commands


@streams
def test_zero_is_never_a_meaning(stream: str) -> None:
    for enum in PACKAGES[stream].DESCRIPTOR.enum_types_by_name.values():
        prefix = snake_case(enum.name).upper()
        assert enum.values_by_number[0].name == f"{prefix}_UNSPECIFIED"
        assert all(value.name.startswith(f"{prefix}_") for value in enum.values)


# What cannot be read ---------------------------------------------------------------------------------


def test_every_beginning_of_a_record_is_unreadable() -> None:
    contract = CONTRACTS["rounds"]
    stored = contract.encode_record(SHOWN)
    for end in range(len(stored)):
        with pytest.raises(Unreadable):
            contract.decode_record(stored[:end])


def test_every_beginning_of_a_command_is_unreadable() -> None:
    contract = CONTRACTS["rounds"]
    sent = contract.encode_command(ASKED)
    for end in range(len(sent)):
        with pytest.raises(Unreadable):
            contract.decode_command(sent[:end])


@streams
def test_what_is_no_protobuf_is_unreadable(stream: str) -> None:
    for stored in (b"", b"\xff", b"not a record at all", b"\x08"):
        with pytest.raises(Unreadable):
            CONTRACTS[stream].decode_record(stored)


def test_an_event_of_a_newer_version_is_unreadable() -> None:
    # A field that no schema here has, number 1999, in place of the event.
    newer = b"\xfa\x7c\x02\x08\x01"
    envelope = rounds_envelope().SerializeToString()
    with pytest.raises(Unreadable, match="no event that this version knows"):
        CONTRACTS["rounds"].decode_record(envelope + newer)


# A field of a length that no schema here has, number 1999, holding two bytes.
UNKNOWN = b"\xfa\x7c\x02\x08\x01"


def spoilt_parts() -> dict[str, Any]:
    """A record with a field more, by the message that has it. The contribution is the deepest that there is."""
    parts = {}
    for depth in ("record", "cause", "event", "part of the event"):
        message = record_message("jackpots").FromString(bytes.fromhex(HEX_JACKPOTS))
        event = message.contribution_accepted
        place = {"record": message, "cause": message.cause, "event": event, "part of the event": event.levels[0]}[depth]
        place.MergeFromString(UNKNOWN)
        parts[depth] = message.SerializeToString()
    return parts


@pytest.mark.parametrize("depth", ["record", "cause", "event", "part of the event"])
def test_a_field_of_a_newer_version_is_not_passed_over(depth: str) -> None:
    stored = spoilt_parts()[depth]
    assert len(stored) == len(bytes.fromhex(HEX_JACKPOTS)) + len(UNKNOWN)
    with pytest.raises(Unreadable, match="a field that this version does not know"):
        CONTRACTS["jackpots"].decode_record(stored)


def test_a_command_of_a_newer_version_is_not_taken_for_less_than_it_is() -> None:
    message = PACKAGES["rounds"].RoundsCommand.FromString(bytes.fromhex(HEX_COMMAND))
    message.place_wager.MergeFromString(UNKNOWN)
    with pytest.raises(Unreadable, match="a field that this version does not know"):
        CONTRACTS["rounds"].decode_command(message.SerializeToString())


def test_a_field_that_says_its_default_is_no_unknown_one() -> None:
    # Other writers of protobuf may write out a zero that ours leaves out; here it is the index.
    stored = bytes.fromhex(HEX_ROUNDS) + b"\x38\x00"
    assert CONTRACTS["rounds"].decode_record(stored) == SHOWN


def rounds_envelope() -> Any:
    return record_message("rounds")(sequence=1, command_id="key-1")


@pytest.mark.parametrize("number", [0, 99])
def test_an_enum_value_that_is_not_known_is_unreadable(number: int) -> None:
    package = PACKAGES["rounds"]
    message = rounds_envelope()
    message.wager_placed.CopyFrom(package.WagerPlaced(round_id="table-1-1", seat=1, wager="ante", amount_cents=500))
    message.wager_placed.hand = number
    with pytest.raises(Unreadable, match=f"unknown value {number}"):
        CONTRACTS["rounds"].decode_record(message.SerializeToString())


def test_a_command_without_an_id_is_unreadable() -> None:
    sent = CONTRACTS["rounds"].encode_command(Asked("", "dealer", b"", ASKED.command))
    with pytest.raises(Unreadable, match="without an id"):
        CONTRACTS["rounds"].decode_command(sent)


def test_wagers_take_no_commands() -> None:
    with pytest.raises(TypeError):
        CONTRACTS["wagers"].decode_command(b"")


# Bytes of the past -----------------------------------------------------------------------------------

HEX_ROUNDS = (
    "0807122001010101010101010101010101010101010101010101010101010101010101011880a0f1c2b13422056b6579"
    "2d372a066465616c657232140a0e726f756e642d636f6d6d616e64731003182940014a20020202020202020202020202"
    "02020202020202020202020202020202020202029a02150a097461626c652d312d3110031a024b681a024168"
)
HEX_PLACED = (
    "08081220030303030303030303030303030303030303030303030303030303030303030318fba0f1c2b13422056b6579"
    "2d382a066465616c657232140a0e726f756e642d636f6d6d616e64731003182938014002a201270a097461626c652d31"
    "2d3110031a14666976655f636172645f68616e645f626f6e757320022864"
)
HEX_JACKPOTS = (
    "08021220040404040404040404040404040404040404040404040404040404040404040418c8a3f1c2b1342212776167"
    "6572732f7461626c652d312f392f302a0677616765727332120a106a61636b706f742d636f6d6d616e647340018a012a"
    "0a077461626c652d3112097461626c652d312d3118ac0222110a056d6574657210c080971b18c08db701"
)
HEX_COMMAND = (
    "0a056b65792d3712066465616c65721a2002020202020202020202020202020202020202020202020202020202020202"
    "0292010d08031204616e746518f4033001"
)

PAST = [
    ("rounds", HEX_ROUNDS, SHOWN),
    (
        "rounds",
        HEX_PLACED,
        Record(
            8, b"\3" * 32, 1_800_000_000_123, "key-8", "dealer", CAUSE, 1, 2, b"",
            rounds.WagerPlaced("table-1-1", 3, "five_card_hand_bonus", On.DEALER, 100, None),
        ),
    ),
    (
        "jackpots",
        HEX_JACKPOTS,
        Record(
            2, b"\4" * 32, 1_800_000_000_456, "wagers/table-1/9/0", "wagers", Cause("jackpot-commands", 0, 0), 0, 1,
            b"",
            jackpots.ContributionAccepted(
                "table-1", "table-1-1", 300, (jackpots.LevelContribution("meter", 57_000_000, 3_000_000, 0),)
            ),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "stored", "record"), PAST)
def test_bytes_of_the_past_mean_what_they_meant(stream: str, stored: str, record: Record) -> None:
    assert CONTRACTS[stream].decode_record(bytes.fromhex(stored)) == record


def test_a_command_of_the_past_means_what_it_meant() -> None:
    assert CONTRACTS["rounds"].decode_command(bytes.fromhex(HEX_COMMAND)) == ASKED


def test_a_record_is_written_as_it_always_was() -> None:
    # Two processes of different age must write the same bytes, or a duplicate would be a contradiction.
    for stream, stored, record in PAST:
        assert CONTRACTS[stream].encode_record(record).hex() == stored
