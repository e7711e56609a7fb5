"""Letters as bytes: they come back, the bare bytes of the oldest are told from them, and what can be read of them is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from roundlog.letters.v1 import letters_pb2
from services.core import letters, rounds
from services.core.letters import Origin
from services.runtime.kafka import BATCH_BYTES_MAX
from services.wire.letters import VALUE_BYTES_KEPT, as_text, decode_letters, encode_letters, put_aside
from services.wire.records import CONTRACTS, Asked, Unreadable
from tests.wire.values import values

WHERE = Origin("round-commands", 3, 17)
EVENTS = letters.Event.__args__


@pytest.mark.parametrize("kind", EVENTS)
def test_every_record_comes_back(kind: type) -> None:
    @settings(max_examples=25, deadline=None)
    @given(values(kind, getattr(letters_pb2, kind.__name__).DESCRIPTOR))
    def comes_back(event: letters.Event) -> None:
        key, stored = encode_letters(WHERE, event)
        assert key == "round-commands-3-17" and decode_letters(key, stored) == (WHERE, event)

    comes_back()


@settings(max_examples=200, deadline=None)
@given(st.text(), st.binary(max_size=200))
def test_the_bare_bytes_of_the_oldest_letters_are_no_records(key: str, stored: bytes) -> None:
    assert decode_letters(key, stored) is None


def test_a_record_under_another_key_is_a_letter_of_its_own() -> None:
    _, stored = encode_letters(WHERE, letters.LetterDiscarded("nobody", "forged"))
    assert decode_letters("round-commands-3-18", stored) is None


def test_a_record_of_a_newer_version_is_unreadable() -> None:
    key, stored = encode_letters(WHERE, letters.LetterReplayBegun("manager"))
    newer = letters_pb2.LettersRecord.FromString(stored)
    newer.ClearField("letter_replay_begun")
    with pytest.raises(Unreadable, match="no event that this version knows"):
        decode_letters(key, newer.SerializeToString() + b"\xfa\x7c\x02\x08\x01")


def test_of_very_many_bytes_the_beginning_is_kept() -> None:
    value = bytes(range(256)) * 4_000
    known = decode_letters(*put_aside(WHERE, "table-1", value, 5, "too long"))
    assert known is not None and isinstance(known[1], letters.LetterPutAside)
    assert known[1].value == value[:VALUE_BYTES_KEPT] and known[1].value_bytes == 1_024_000


def test_what_can_be_read_of_bytes_is_said() -> None:
    sent = CONTRACTS["rounds"].encode_command(Asked("key-7", "dealer", b"", rounds.Fold(3)))
    assert as_text("rounds", sent) == 'command_id: "key-7" actor: "dealer" fold { seat: 3 }'
    assert as_text(None, sent) == '1: "key-7" 2: "dealer" 24 { 1: 3 }'
    assert as_text("rounds", b"\xff") is None


def test_a_letter_fits_in_one_batch_however_long_its_key_and_its_bytes() -> None:
    key, stored = put_aside(Origin("round-commands", 0, 1), "x" * 600_000, b"\0" * 400_000, 0, "no id")
    assert len(key) + len(stored) < BATCH_BYTES_MAX
