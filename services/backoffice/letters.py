"""Letters and inputs that stop a processor, for a terminal and for the operations page: what waits, and what was decided."""

from collections.abc import Iterable
from typing import Any

from services.backoffice.printing import at, table
from services.core.letters import Letter, Letters, LetterState, Origin
from services.flow import STREAMS
from services.runtime.kafka import Kafka
from services.runtime.letters import LettersLog, NotDone, read_letter, stream_from
from services.wire.letters import as_text
from services.wire.records import Unreadable

READ_MAX = 20_000
SHOWN_MAX = 20
HEX_COLUMNS = 32

STANDING = """
SELECT stream, partition, position, alarm FROM positions WHERE alarm IS NOT NULL ORDER BY stream, partition
"""


def parsed(text: str) -> Origin:
    """The id of a letter or an input as a person wrote it. Raises NotDone."""
    origin = Origin.parse(text)
    if origin is None:
        raise NotDone("It is named by its topic, partition and offset, such as round-commands-3-17.")
    return origin


def listing(letters: Iterable[Letter]) -> list[str]:
    """A line for each letter."""
    rows = [("letter", "put aside", "bytes", "key", "state", "why")]
    rows += [
        (str(letter.origin), at(letter.put_aside_ms), f"{letter.put_aside.value_bytes:,}", letter.put_aside.key,
         letter.state.value, closed(letter) or letter.put_aside.reason)
        for letter in letters
    ]  # fmt: skip
    return table(rows, frozenset({2})) if len(rows) > 1 else []


def closed(letter: Letter) -> str:
    """Who closed a letter, when, and how; nothing of an open one."""
    match letter.state:
        case LetterState.OPEN:
            return ""
        case LetterState.REPLAYED:
            return f"by {letter.actor}, {at(letter.closed_ms)}, as {letter.sent_to}"
        case LetterState.DISCARDED:
            return f"by {letter.actor}, {at(letter.closed_ms)}: {letter.reason}"


def shown(known: Letters, origin: Origin) -> list[str]:
    """All about one letter. Raises NotDone where there is none."""
    letter = known.letters.get(origin)
    if letter is None:
        raise NotDone(f"There is no letter {origin}. `roundlog dead-letters` lists all.")
    put_aside = letter.put_aside
    stream = stream_from(origin.topic)
    lines = [
        f"Letter {origin}",
        f"  came        {at(put_aside.at_ms)}, put aside {at(letter.put_aside_ms)}",
        f"  key         {put_aside.key}",
        f"  why         {put_aside.reason}",
        f"  bytes       {put_aside.value_bytes:,}, SHA-256 {put_aside.value_sha256.hex()}",
        f"  state       {letter.state.value} {closed(letter)}".rstrip(),
    ]
    if origin in known.replaying:
        lines.append(f"  replay      begun by {known.replaying[origin].actor}, {at(known.replaying[origin].at_ms)}")
    text = as_text(None if stream is None else stream.name, put_aside.value)
    lines.append(f"  as far as   {text}" if text else "  as far as   not a protobuf message")
    try:
        asked = read_letter(letter)
        lines.append(f"  now         this version reads it: {asked.command}, asked by {asked.actor}")
    except Unreadable as error:
        lines.append(f"  now         this version does not read it: {error}")
    value = put_aside.value
    lines += [
        f"  {start:08x}  {value[start : start + HEX_COLUMNS].hex(' ', -4)}"
        for start in range(0, len(value), HEX_COLUMNS)
    ]
    if len(value) < put_aside.value_bytes:
        lines.append(
            f"  and {put_aside.value_bytes - len(value):,} bytes more, at {origin} as long as the broker keeps them"
        )
    return lines


# What stops a processor ---------------------------------------------------------------------------------


async def standing(pool: Any) -> dict[Origin, str]:
    """The inputs at which processors stand still, each with why, as the database has it."""
    topics = {stream.name: stream.input for stream in STREAMS}
    rows = await pool.fetch(STANDING)
    return {Origin(topics[row["stream"]], row["partition"], row["position"]): row["alarm"] for row in rows}


# The operations page ------------------------------------------------------------------------------------


class OpenLetters:
    """The letters that wait for a person, read on with each look; of a great many some at a time."""

    def __init__(self, kafka: Kafka) -> None:
        self._log = LettersLog(kafka)

    async def read(self) -> tuple[int, list[dict[str, Any]]]:
        """How many are open, and the first of them. Raises BrokerAway, Unreadable."""
        known = await self._log.read(READ_MAX, keep_values=False)
        waiting = list(known.open())
        return len(waiting), [_row(letter) for letter in waiting[:SHOWN_MAX]]


def _row(letter: Letter) -> dict[str, Any]:
    return {
        "letter": str(letter.origin),
        "key": letter.put_aside.key,
        "at_ms": letter.put_aside_ms,
        "reason": letter.put_aside.reason,
        "command": f"roundlog dead-letters show {letter.origin}",
    }
