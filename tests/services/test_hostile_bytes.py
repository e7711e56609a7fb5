"""Bytes that nobody of ours wrote, on every topic: commands are put aside with a reason and the partition goes on, a log
stops its reader. Nothing else comes of any bytes."""

import random
import typing
from dataclasses import is_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.core import accounts, jackpots, rounds
from services.core.letters import LetterPutAside
from services.flow import STREAMS, stream_of
from services.runtime.memory import MemoryHouse
from services.runtime.stepping import (
    COMMAND_BYTES_MAX,
    Contradiction,
    Input,
    KeyMemory,
    PartitionMemory,
    Stepper,
    read_command,
)
from services.wire.json import event_json
from services.wire.letters import decode_letters
from services.wire.records import CONTRACTS, Asked, Unreadable
from services.wire.snapshots import encode_state
from tests.support.given import AT_MS
from tests.support.playing import play, written
from tests.support.worlds import BOOK, PROCESSORS, ROOT, MemoryWorld
from tests.wire.schema import PACKAGES
from tests.wire.values import values

BY_STREAM = {processor.stream.name: processor for processor in PROCESSORS}
COMMANDED = [stream.name for stream in STREAMS if stream.commands is not None]
commanded = pytest.mark.parametrize("stream", COMMANDED)
LOGS = list(CONTRACTS)
INT64 = 2**63
"""What a bigint of PostgreSQL and an int64 of a record hold."""


@cache
def played() -> MemoryHouse:
    """A house in which rounds with much in them were played, the last of which is not over."""
    world = MemoryWorld()
    play(world, written(ROOT / "tests" / "rounds" / "ms-bonus-after-the-royal.yaml", "h"), "h")
    house = world.house
    for number, command in enumerate((rounds.OpenRound(), rounds.PlaceWager(1, "ante", 500))):
        house.ask("rounds", "table-h-1", command, "dealer", f"more-{number}")
    return house


@cache
def key_of(stream: str) -> str:
    """The key with the most records."""
    return max(played().keys(stream), key=lambda key: sum(1 for _ in played().records(stream, key)))


@cache
def adopted(stream: str) -> PartitionMemory:
    """What a processor knows of what was played."""
    memory = PartitionMemory(0, 0, 0, 0)
    own = [item for (topic, _), held in played().topics.items() if topic == stream for item in held]
    records = [(item.key, item.value) for item in own if item.key == key_of(stream)]
    Stepper(BY_STREAM[stream], BOOK).adopt(memory, records)
    return memory


def fed(stream: str, *sent: bytes) -> tuple[PartitionMemory, Any]:
    """A processor that knows what was played takes these bytes as its next inputs; its memory, and what came of it."""
    known = adopted(stream)
    memory = PartitionMemory(0, known.position, known.log_end, known.decided_until)
    for key, each in known.keys.items():
        copied = memory.keys[key] = KeyMemory(key, each.state, each.own.head, each.input.head, each.seen.persons)
        copied.seen.marks = dict(each.seen.marks)
    items = [Input(memory.position + number, AT_MS, key_of(stream), value) for number, value in enumerate(sent)]
    return memory, Stepper(BY_STREAM[stream], BOOK).step(memory, items)


def goes_on(stream: str, *sent: bytes) -> list[LetterPutAside]:
    """The partition went on, and what it wrote can be stored; gives the letters."""
    memory, outcome = fed(stream, *sent)
    assert outcome.stopped is None, outcome.stopped
    assert memory.position == adopted(stream).position + len(sent)
    for group in outcome.groups:
        for _, stored in group:
            record = CONTRACTS[stream].decode_record(stored)
            said = f"{event_json(record.event)} {record.command_id} {record.actor}"
            assert said.isprintable(), "PostgreSQL has no zero byte in a text, and no page shows what steers a terminal"
    for key, known in memory.keys.items():
        encode_state(known.state)
        for source, (sequence, number) in known.seen.marks.items():
            assert sequence < INT64 and number < 2**31 and "\0" not in source, key
    letters = []
    for stored in outcome.dead:
        found = decode_letters(*stored)
        assert found is not None and isinstance(found[1], LetterPutAside) and found[1].reason
        letters.append(found[1])
    return letters


def commands_of(stream: str) -> list[bytes]:
    """Commands as they were sent in the house that was played."""
    topic = stream_of(stream).commands
    return [item.value for (name, _), held in played().topics.items() if name == topic for item in held]


def mutated(stored: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, left out, put in or doubled."""
    made = bytearray(stored)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(made) + 1)
        match chance.randrange(5):
            case 0:
                made[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del made[at : at + chance.randint(1, 8)]
            case 2:
                made[at:at] = chance.randbytes(chance.randint(1, 8))
            case 3:
                made = made[:at] if at else made
            case _:
                made[at:at] = made[max(0, at - 8) : at]
    return bytes(made)


# Command topics ---------------------------------------------------------------------------------------


@commanded
def test_any_bytes_on_a_command_topic_are_put_aside_or_answered(stream: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.binary(max_size=200), min_size=1, max_size=4))
    def held(sent: list[bytes]) -> None:
        goes_on(stream, *sent)

    held()


@commanded
def test_mutated_commands_are_put_aside_or_answered(stream: str) -> None:
    chance = random.Random(f"mutated {stream}")
    sent = [mutated(chance.choice(commands_of(stream)), chance) for _ in range(1500)]
    letters = goes_on(stream, *sent)
    assert len(sent) / 4 < len(letters) < len(sent), "some are unreadable, and some are still commands"


@pytest.mark.parametrize(
    ("stream", "kind"),
    [(stream, kind) for stream in COMMANDED for kind in CONTRACTS[stream].command_types],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_every_command_with_any_values_is_put_aside_or_answered(stream: str, kind: type) -> None:
    """Whatever the schema can carry, also where no form of ours would take it."""
    contract = CONTRACTS[stream]
    drawn = values(kind, getattr(PACKAGES[stream], kind.__name__).DESCRIPTOR)

    @settings(max_examples=40, deadline=None)
    @given(st.text(min_size=1, max_size=40), st.text(max_size=40), st.sampled_from([b"", b"\1" * 32, b"\2"]), drawn)
    def held(command_id: str, actor: str, request_hash: bytes, command: Any) -> None:
        goes_on(stream, contract.encode_command(Asked(command_id, actor, request_hash, command)))
        goes_on(stream, contract.encode_command(Asked("key-x", "dealer", b"", command)))

    held()


IDS = ["table-h-1", "progressive-h-2", "account-h-1", "player-1", "table-h-1-1", "table-h-1-2", "nobody",
       "table-h-1-1.3.progressive", "table-h-1-2.1.progressive", "demo-mississippi-stud", "demo-caribbean-stud"]  # fmt: skip
WORDS = ["ante", "progressive", "five_card_hand_bonus", "street_3", "three_card_bonus", "lo_ball", "mississippi_stud",
         "caribbean_stud", "royal_flush", "flush", "meter", "x"]  # fmt: skip
HELD = [submission.sha256 for submission in BOOK.submissions]
"""A processor that does not hold the submission that is meant stops: that is so by design."""
CARDS = [f"{rank}{suit}" for rank in "23456789TJQKA" for suit in "cdhs"]
AMOUNTS = [0, 1, 99, 100, 500, 10**6, 10**12, 10**16]
BY_TAG: dict[str, st.SearchStrategy[Any]] = {
    "key": st.sampled_from(IDS[:3]), "id": st.sampled_from(IDS), "text": st.sampled_from(["chips", "x" * 200]),
    "card": st.sampled_from(CARDS), "cents": st.sampled_from(AMOUNTS), "ppm": st.sampled_from([0, 1, 10**6]),
    "position": st.sampled_from(["1", "dealer", "99"]), "seat": st.integers(1, 99), "multiple": st.integers(1, 99),
    "count": st.integers(0, 999), "number": st.sampled_from([1, 2, 10**9]),
    "odds": st.sampled_from(["50 for 1", "3 to 1", "100% of meter", "10% of nothing", "push", "no odds"]),
    **dict.fromkeys(("game", "wager", "hand", "level"), st.sampled_from(WORDS)),
}  # fmt: skip


def of_form(hint: Any) -> st.SearchStrategy[Any]:
    """Values that a form takes, or nearly: of what is plain, also what makes no sense."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return BY_TAG.get(hint.__metadata__[0], st.sampled_from([-(2**62), -1, 0, 1, 2**62]))
    if type(None) in arguments:
        return st.none() | of_form(arguments[0])
    if typing.get_origin(hint) is tuple:
        return st.lists(of_form(arguments[0]), max_size=5).map(tuple)
    if is_dataclass(hint):
        return commands(typing.cast(type, hint))
    if issubclass(hint, StrEnum):
        return st.sampled_from(hint)
    plain = {str: st.sampled_from([*IDS, *WORDS, "9 for 1", ""]), bool: st.booleans(), bytes: st.sampled_from(HELD)}
    return plain.get(hint, st.sampled_from([-(2**62), -1, 0, 1, 2, 7, 2**31, 2**62]))


def commands(kind: type) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    return st.builds(kind, **{name: of_form(hint) for name, hint in hints.items()})


@commanded
def test_sequences_of_commands_that_forms_take_are_answered(stream: str) -> None:
    """In any order, from anybody, by a forged processor too: none of them stops the partition."""
    contract = CONTRACTS[stream]
    ids = st.sampled_from(["key-1", "key-2", "key-3", "wagers/table-h-1/7/0", "accounts/account-h-1/9/1", "rounds/x/1/1",
                           f"wagers/x/{'9' * 18}/{'9' * 9}", f"wagers/x/{'9' * 19}/0"])  # fmt: skip
    kinds = st.one_of(*(commands(kind) for kind in contract.command_types))
    asked = st.builds(Asked, ids, st.sampled_from(["dealer", "floorperson"]), st.just(b""), kinds)

    @settings(max_examples=200, deadline=None)
    @given(st.lists(asked, min_size=1, max_size=12))
    def held(sent: list[Asked]) -> None:
        numbered = [replace(each, command_id=f"{each.command_id}-{number}" if "/" not in each.command_id else each.command_id)
                    for number, each in enumerate(sent)]  # fmt: skip
        goes_on(stream, *(_carried(contract, each) for each in numbered))

    held()


def _carried(contract: Any, asked: Asked) -> bytes:
    try:
        return bytes(contract.encode_command(asked))
    except ValueError:  # more than the schema's numbers hold
        return b""


@commanded
def test_what_is_too_long_is_put_aside(stream: str) -> None:
    sent = commands_of(stream)[0]
    # An unknown field, number 1999, of so many bytes.
    for size in (COMMAND_BYTES_MAX, 1_000_000):
        huge = sent + b"\xfa\x7c" + _varint(size) + b"x" * size
        assert [letter.reason for letter in goes_on(stream, huge, sent)] == [
            f"{len(huge)} bytes are no command: one has at most {COMMAND_BYTES_MAX}"
        ]


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*made, number])


@pytest.mark.parametrize("key", ["", "a.b", "a b", "-a", "a\n", "a\0", "\ufffd", "x" * 65])
def test_a_key_that_is_no_id_is_put_aside(key: str) -> None:
    sent = commands_of("accounts")[0]
    with pytest.raises(Unreadable, match="the key is no id"):
        read_command("accounts", key, sent)


FORMS = {
    "a zero byte": rounds.VoidRound("a\0b"),
    "text without an end": rounds.VoidRound("x" * 100_000),
    "a seat that no table has": rounds.Fold(2**31),
    "a wager that takes": rounds.PlaceWager(1, "ante", -500),
    "an account that is no key": rounds.PlaceWager(1, "five_card_hand_bonus", 500, "player-1", "a.b"),
    "a card of no deck": rounds.RevealCommunityCard("Zz"),
    "a steering sign": accounts.Deposit(500, "a\x1b[2J"),
    "a deposit that takes": accounts.Deposit(-1, "chips"),
    "a hold that gives": accounts.PlaceHold("h", -1, "player-1", "table-1", "table-1-1", 1),
    "more than all the money": jackpots.Contribute("table-1", "table-1-1", 2**62, 1),
    "a level of no name": jackpots.ChangeParameters("../x", "why"),
}


@pytest.mark.parametrize("command", FORMS.values(), ids=FORMS.keys())
def test_what_no_form_takes_is_put_aside_with_its_field(command: Any) -> None:
    stream = next(name for name, contract in CONTRACTS.items() if type(command) in contract.command_types)
    sent = CONTRACTS[stream].encode_command(Asked("key-x", "dealer", b"", command))
    reasons = [letter.reason for letter in goes_on(stream, sent)]
    assert len(reasons) == 1 and reasons[0].endswith(f" of {type(command).__name__} is not of its form"), reasons


# Logs -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", LOGS)
def test_a_record_that_was_changed_anywhere_is_never_taken_for_the_one_that_was_written(stream: str) -> None:
    """Whoever reads a log finds out by the next record of its key at the latest: it carries the hash of this one."""
    held = [item for (topic, _), held in played().topics.items() if topic == stream for item in held]
    own = [item for item in held if item.key == key_of(stream)]
    chance = random.Random(f"log {stream}")
    found = 0
    for _ in range(300):
        at = chance.randrange(len(own) - 1)
        changed = mutated(own[at].value, chance)
        if changed == own[at].value:
            continue
        records = [(item.key, changed if number == at else item.value) for number, item in enumerate(own)]
        with pytest.raises(Contradiction):
            Stepper(BY_STREAM[stream], BOOK).adopt(PartitionMemory(0, 0, 0, 0), records)
        found += 1
    assert found > 250


def test_the_reader_of_another_log_stops_before_bytes_that_are_not_its_own() -> None:
    inputs = [item for (topic, _), held in played().topics.items() if topic == "rounds" for item in held]
    own = [item for item in inputs if item.key == "table-h-1"]
    chance = random.Random("wagers")
    for _ in range(200):
        at = chance.randrange(len(own) - 1)
        changed = mutated(own[at].value, chance)
        if changed == own[at].value:
            continue
        items = [Input(number, item.at_ms, item.key, changed if number == at else item.value)
                 for number, item in enumerate(own)]  # fmt: skip
        memory = PartitionMemory(0, 0, 0, 0)
        outcome = Stepper(BY_STREAM["wagers"], BOOK).step(memory, items)
        assert outcome.stopped is not None and at <= memory.position <= at + 1, "nothing is skipped"


@pytest.mark.parametrize("stream", LOGS)
def test_any_bytes_are_a_record_or_unreadable(stream: str) -> None:
    contract = CONTRACTS[stream]

    @settings(max_examples=300, deadline=None)
    @given(st.binary(max_size=300))
    def held(stored: bytes) -> None:
        try:
            record = contract.decode_record(stored)
        except Unreadable:
            return
        assert type(record.event) in contract.event_types

    held()
