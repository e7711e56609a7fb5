"""The path as data: every stream, who writes it, what its processor reads and which commands follow from it."""

from dataclasses import dataclass

PARTITIONS = 6
"""Fixed for the life of a house: a key's partition must never change. Equal for a log and its commands."""

DEAD_LETTERS = "dead-letters"
"""Command bytes that no schema reads."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One log, its only writer, and what that writer reads and sends.

    `input` is the topic that the processor reads; `commands` the topic that people and processors write
    to, None where the processor reads another stream's log; `sends` the streams it sends commands to.
    """

    name: str
    service: str
    input: str
    commands: str | None
    key: str
    sends: tuple[str, ...]


STREAMS = (
    Stream("rounds", "tables", "round-commands", "round-commands", "table_id", ()),
    Stream("wagers", "wagers", "rounds", None, "table_id", ("jackpots", "accounts")),
    Stream(
        "jackpots",
        "progressive",
        "jackpot-commands",
        "jackpot-commands",
        "progressive_id",
        ("rounds", "jackpots", "accounts"),
    ),
    Stream("accounts", "accounts", "account-commands", "account-commands", "account_id", ("rounds",)),
)

BY_NAME = {stream.name: stream for stream in STREAMS}

PORTS = {"backoffice": 8000, "tables": 8001, "wagers": 8002, "progressive": 8003, "accounts": 8004}


def stream_of(name: str) -> Stream:
    """The stream of that name. Raises KeyError."""
    return BY_NAME[name]


def logs() -> tuple[str, ...]:
    """The topics that are kept for ever."""
    return tuple(stream.name for stream in STREAMS)


def command_topics() -> tuple[str, ...]:
    """The topics that carry requests."""
    return tuple(stream.commands for stream in STREAMS if stream.commands is not None)
