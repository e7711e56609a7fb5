"""The topic `dead-letters`: read from its beginning, and what people decide of a letter written behind it."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from services.core import letters
from services.core.chain import again, processor_id
from services.core.letters import (
    REPLAY_MS,
    Letter,
    LetterDiscarded,
    LetterPutAside,
    LetterReplayBegun,
    LetterReplayed,
    Letters,
    LetterState,
    Origin,
    SkipOrdered,
)
from services.flow import DEAD_LETTERS, STREAMS, Stream
from services.runtime.forms import NAME_MAX, TEXT_MAX, is_printed
from services.runtime.kafka import Stored, Topics
from services.runtime.stepping import read_command
from services.wire.letters import decode_letters, encode_letters
from services.wire.records import CONTRACTS, Asked, Unreadable

UNSAID = "not known: it was put aside without a reason"


class NotDone(Exception):
    """Nothing was done with a letter or an input; the sentence says why, and what to do."""


class LettersLog:
    """All letters and orders of the topic, as far as it was read."""

    def __init__(self, kafka: Topics) -> None:
        self.letters = Letters()
        self._kafka = kafka
        self._reading = asyncio.Lock()
        self._position = 0

    async def read(self, most: int | None = None, keep_values: bool = True) -> Letters:
        """Reads on to the end, or `most` records. Raises BrokerAway, and Unreadable where a newer version wrote."""
        async with self._reading:
            first, end = (await self._kafka.ends([DEAD_LETTERS]))[DEAD_LETTERS, 0]
            self._position = max(self._position, first)
            stop = end if most is None else min(end, self._position + most)
            async for stored in self._kafka.read(DEAD_LETTERS, 0, self._position, stop):
                self._add(stored, keep_values)
                self._position = stored.offset + 1
        return self.letters

    def _add(self, stored: Stored, keep_values: bool) -> None:
        known = decode_letters(stored.key, stored.value)
        if known is None:
            value = stored.value
            bare = LetterPutAside(stored.key, value, stored.at_ms, UNSAID, len(value), sha256(value).digest())
            known = Origin(DEAD_LETTERS, 0, stored.offset), bare
        origin, event = known
        if isinstance(event, LetterPutAside) and not keep_values:
            event = LetterPutAside(event.key, b"", event.at_ms, event.reason, event.value_bytes, event.value_sha256)
        self.letters.add(stored.offset, stored.at_ms, origin, event)

    async def write(self, origin: Origin, event: letters.Event) -> int:
        """Appends a record, acknowledged; gives the offset at which it stands, where this client appends nothing else there
        meanwhile. Raises BrokerAway."""
        return await self._kafka.append(DEAD_LETTERS, 0, [[encode_letters(origin, event)]]) - 1


def stream_from(topic: str) -> Stream | None:
    """The stream whose processor reads commands from a topic, or None."""
    return next((stream for stream in STREAMS if stream.commands == topic), None)


def read_letter(letter: Letter) -> Asked:
    """The command in a letter, as this version reads it. Raises Unreadable: where it still cannot be read, too."""
    stream = stream_from(letter.origin.topic)
    if stream is None:
        raise Unreadable("where it came from is not known")
    if letter.put_aside.value_bytes > len(letter.put_aside.value):
        raise Unreadable(f"{letter.put_aside.value_bytes} bytes are no command, and not all of them are kept")
    return read_command(stream.name, letter.put_aside.key, letter.put_aside.value)


def checked_person(actor: str, reason: str | None = None) -> None:
    """Raises NotDone where a name or a reason is not one."""
    if len(actor) > NAME_MAX or not is_printed(actor):
        raise NotDone(f"A name is 1 to {NAME_MAX} printable characters.")
    if reason is not None and (len(reason) > TEXT_MAX or not is_printed(reason)):
        raise NotDone(f"A reason is 1 to {TEXT_MAX} printable characters, without a space at either end.")


def _open_letter(known: Letters, origin: Origin) -> Letter:
    letter = known.letters.get(origin)
    if letter is None:
        raise NotDone(f"There is no letter {origin}. `roundlog dead-letters` lists all.")
    if letter.state is LetterState.DISCARDED:
        raise NotDone(f"The letter {origin} was discarded by {letter.actor}: {letter.reason}")
    if letter.state is LetterState.REPLAYED:
        raise NotDone(f"The letter {origin} was replayed by {letter.actor} already: it stands at {letter.sent_to}.")
    return letter


async def discard(kafka: Topics, origin: Origin, actor: str, reason: str) -> None:
    """Notes that nothing is done with a letter; it stays in the log. Raises NotDone, BrokerAway, Unreadable."""
    checked_person(actor, reason)
    log = LettersLog(kafka)
    _open_letter(await log.read(keep_values=False), origin)
    at = await log.write(origin, LetterDiscarded(actor, reason))
    known = await log.read(keep_values=False)
    letter = known.letters[origin]
    if letter.state is LetterState.OPEN:
        raise NotDone(
            f"{known.replaying[origin].actor} replays the letter {origin} at this moment, so it is not discarded. See the"
            " letter anew."
        )
    if (letter.state, letter.actor, letter.reason) != (LetterState.DISCARDED, actor, reason):
        raise NotDone(
            f"Somebody else was faster, so the record {DEAD_LETTERS}-0-{at} says nothing. See the letter anew."
        )


async def replay(kafka: Topics, origin: Origin, actor: str) -> int:
    """Sends a letter back to where it came from, once; gives the offset at which it stands there now.

    Of two who do it at the same time one is refused. Who was interrupted half-way, and does it again, finds what was
    sent. Raises NotDone, BrokerAway, Unreadable.
    """
    checked_person(actor)
    log = LettersLog(kafka)
    known = await log.read()
    letter = _open_letter(known, origin)
    try:
        asked = read_letter(letter)
    except Unreadable as error:
        raise NotDone(
            f"This version cannot read the letter {origin} either: {error}. It would come back. Replay it when a version"
            " runs that reads it, or discard it."
        ) from None
    value = _bytes_to_send(letter, asked)
    # Before it is announced: who is told that there is nothing to send may discard the letter at once.
    if await _sent_before(kafka, letter, asked, value, known.letters) is None:
        await _refuse_what_the_log_has(kafka, letter, asked)
    begun = await log.write(origin, LetterReplayBegun(actor))
    known = await _still_ours(log, origin, begun)
    sent = await _sent_before(kafka, letter, asked, value, known.letters)
    if sent is None:
        # To read the topic may have taken longer than a replay may take.
        await _still_ours(log, origin, begun)
        sent = await kafka.append(origin.topic, origin.partition, [[(letter.put_aside.key, value)]]) - 1
    await log.write(origin, LetterReplayed(actor, sent))
    return sent


async def _still_ours(log: LettersLog, origin: Origin, begun: int) -> Letters:
    """All letters. Raises NotDone where the replay that was begun there is not the one under way."""
    known = await log.read()
    _open_letter(known, origin)
    if known.replaying[origin].at != begun:
        raise NotDone(
            f"{known.replaying[origin].actor} replays the letter {origin} at this moment. If that was interrupted, try"
            f" again after {REPLAY_MS // 1000} seconds."
        )
    return known


def _bytes_to_send(letter: Letter, asked: Asked) -> bytes:
    """Those of the letter; a processor's command gets an id of its own, for later ones of its source may have been taken,
    and it would count as seen."""
    sent = processor_id(asked.command_id)
    if sent is None:
        return letter.put_aside.value
    return CONTRACTS[_stream_of(letter).name].encode_command(replace(asked, command_id=again(sent)))


def _stream_of(letter: Letter) -> Stream:
    stream = stream_from(letter.origin.topic)
    assert stream is not None, "it was read as a command of that stream"
    return stream


async def _refuse_what_the_log_has(kafka: Topics, letter: Letter, asked: Asked) -> None:
    """Raises NotDone where the log has the command: its processor remembers some ids, not all."""
    name, key, sent = _stream_of(letter).name, letter.put_aside.key, processor_id(asked.command_id)
    ids = {asked.command_id} if sent is None else {asked.command_id, again(sent)}
    first, end = (await kafka.ends([name]))[name, letter.origin.partition]
    async for stored in kafka.read(name, letter.origin.partition, first, end):
        record = CONTRACTS[name].decode_record(stored.value) if stored.key == key else None
        if record is not None and record.command_id in ids:
            raise NotDone(
                f"{asked.command_id} was carried out already: it is record {record.sequence} of {key}. Discard the letter"
                f" {letter.origin}."
            )


async def _sent_before(
    kafka: Topics, letter: Letter, asked: Asked, value: bytes, others: Iterable[Origin]
) -> int | None:
    """Where the same bytes stand that an interrupted replay had sent; bytes that were put aside there are not those.

    Raises NotDone where the command itself has come again behind the letter: it is taken, or will be.
    """
    topic, partition = letter.origin.topic, letter.origin.partition
    first, end = (await kafka.ends([topic]))[topic, partition]
    put_aside = set(others)
    async for stored in kafka.read(topic, partition, max(first, letter.origin.offset + 1), end):
        if stored.key != letter.put_aside.key or Origin(topic, partition, stored.offset) in put_aside:
            continue
        if stored.value == value:
            return stored.offset
        if _id_of(_stream_of(letter), stored) == asked.command_id:
            raise NotDone(
                f"{asked.command_id} has come again, as {topic}-{partition}-{stored.offset}: it is taken from there. Discard the"
                f" letter {letter.origin}."
            )
    return None


def _id_of(stream: Stream, stored: Stored) -> str | None:
    try:
        return read_command(stream.name, stored.key, stored.value).command_id
    except Unreadable:
        return None


async def order_skip(kafka: Topics, origin: Origin, actor: str, reason: str) -> None:
    """Orders the processor that stands still at an input to pass over it. Raises NotDone, BrokerAway, Unreadable."""
    checked_person(actor, reason)
    stored = await input_at(kafka, origin)
    log = LettersLog(kafka)
    value_sha256 = sha256(stored.value).digest()
    if (origin, value_sha256) not in (await log.read(keep_values=False)).skips:
        await log.write(origin, SkipOrdered(actor, reason, value_sha256))


async def input_at(kafka: Topics, origin: Origin) -> Stored:
    """The record of a topic that stands there. Raises NotDone where none does, BrokerAway."""
    ends = await kafka.ends([origin.topic]) if origin.topic in {stream.input for stream in STREAMS} else {}
    first, end = ends.get((origin.topic, origin.partition), (0, 0))
    if not first <= origin.offset < end:
        raise NotDone(f"No processor reads an input {origin}.")
    async for stored in kafka.read(origin.topic, origin.partition, origin.offset, origin.offset + 1):
        return stored
    raise NotDone(f"The broker does not give the input {origin}.")
