"""What the bench works on: real rounds, played by the real processors in memory, and credits to game accounts."""

import itertools
import random
from collections.abc import Iterator
from functools import cache
from typing import Any

from services.accounts.processor import PROCESSOR as ACCOUNTS
from services.core import accounts, jackpots, rounds
from services.core.cards import DECK
from services.core.chain import ProcessorId
from services.core.refusal import Refused
from services.flow import PARTITIONS
from services.progressive.processor import PROCESSOR as JACKPOTS
from services.runtime.kafka import partition_of
from services.runtime.memory import MemoryHouse
from services.runtime.stepping import Processor
from services.tables.processor import PROCESSOR as ROUNDS
from services.wagers.processor import PROCESSOR as WAGERS
from services.wire.records import CONTRACTS, Asked
from tests.support.given import AT_MS, BOOK

RULES = "demo-mississippi-stud"
GAME = "mississippi_stud"
SEATS = range(1, 7)
PROCESSORS: dict[str, Processor] = {each.stream.name: each for each in (ROUNDS, WAGERS, JACKPOTS, ACCOUNTS)}
Entry = tuple[str, bytes]
"""A record as a topic takes it: key and bytes."""


class Play:
    """Tables that play whole rounds in a house in memory: six seats, a progressive, bonuses, an account."""

    def __init__(self, seed: int = 655) -> None:
        self.house = MemoryHouse(tuple(PROCESSORS.values()), BOOK, itertools.count(AT_MS).__next__)
        self._chance = random.Random(seed)
        self._numbers = itertools.count()
        self._ask("jackpots", "progressive-1", jackpots.OpenProgressive(RULES))

    def _ask(self, stream: str, key: str, command: Any, actor: str = "dealer") -> Any:
        """The last event of the answer; None where the log had nothing to say."""
        records = self.house.ask(stream, key, command, actor, f"person-{next(self._numbers)}", b"\1" * 32)
        return records[-1].event if records else None

    def table(self, number: int, count: int) -> None:
        """Plays so many rounds at a new table; fewer where a win waits for its floorperson."""
        table_id, account_id, player_id = f"table-{number}", f"account-{number}", f"player-{number}"
        self._ask("accounts", account_id, accounts.OpenAccount(player_id))
        self._ask("accounts", account_id, accounts.Deposit(1_000_000, f"cage-{number}"))
        opened = rounds.OpenTable(GAME, len(SEATS), RULES, "progressive-1", progressive_rules=RULES)
        self._ask("rounds", table_id, opened)
        for _ in range(count):
            cards = self._chance.sample(DECK, 15)
            for command in self._round(cards, player_id, account_id):
                if isinstance(self._ask("rounds", table_id, command), rounds.Refused):
                    return

    @staticmethod
    def _round(cards: list[str], player_id: str, account_id: str) -> Iterator[Any]:
        yield rounds.OpenRound()
        for seat in SEATS:
            yield rounds.PlaceWager(seat, "ante", 1_000, player_id if seat == 1 else None)
            yield rounds.PlaceWager(seat, "progressive", 100)
            yield rounds.PlaceWager(seat, "three_card_bonus", 500)
        yield rounds.PlaceWager(1, "five_card_hand_bonus", 100, player_id, account_id)
        yield rounds.CloseBetting()
        yield rounds.DealHands()
        yield rounds.CountStub(52 - 3 - 2 * len(SEATS))
        for card in cards[:3]:
            yield from (rounds.Bet(seat, 1) for seat in SEATS)
            yield rounds.RevealCommunityCard(card)
        yield rounds.DrawMagicCard("As")
        yield rounds.DrawLuckyPosition("3")
        for seat in reversed(SEATS):
            yield rounds.ShowHand(seat, tuple(cards[1 + 2 * seat : 3 + 2 * seat]))
        yield rounds.CloseRound()


@cache
def played(tables: int = 24, each: int = 12) -> dict[str, list[Entry]]:
    """The logs that some tables leave behind, each in the order in which it was written."""
    play = Play()
    for number in range(tables):
        play.table(number, each)
    return {
        name: [
            (item.key, item.value)
            for partition in range(PARTITIONS)
            for item in play.house.topics.get((name, partition), ())
        ]
        for name in PROCESSORS
    }


def round_log(records: int, prefix: str) -> list[Entry]:
    """At least so many records of round logs. A key is no part of a record's bytes, so tables may be copied."""
    once = played()["rounds"]
    copies = -(-records // len(once))
    return [(f"{prefix}-{copy}-{key}", value) for copy in range(copies) for key, value in once]


def credits(records: int, prefix: str, keys: int = 240) -> list[Entry]:
    """Accounts that are opened, and then winnings for them from the tables, as `wagers` sends them."""
    encode = CONTRACTS["accounts"].encode_command
    opened: list[Entry] = []
    for number in range(keys):
        asked = Asked(f"{prefix}-open-{number}", "cage", b"\1" * 32, accounts.OpenAccount(f"player-{number}"))
        opened.append((f"{prefix}-account-{number}", encode(asked)))
    won: list[Entry] = []
    for count in range(records):
        number, sequence = count % keys, count // keys + 1
        table = f"{prefix}-table-{number // len(SEATS)}"
        source = ProcessorId("wagers", table, sequence * 100 + number, 0)
        command = accounts.CreditWinnings(1_000, f"{table}-{sequence}", number % 6 + 1, "five_card_hand_bonus")
        won.append((f"{prefix}-account-{number}", encode(Asked(str(source), "wagers", b"", command))))
    return opened + won


def contributions(records: int, progressive_id: str, tables: int) -> list[Entry]:
    """A progressive that is opened, and then the rounds of all its tables in turn, six progressive wagers each."""
    encode = CONTRACTS["jackpots"].encode_command
    opened = Asked(f"{progressive_id}-open", "manager", b"\1" * 32, jackpots.OpenProgressive(RULES))
    entries = [(progressive_id, encode(opened))]
    for count in range(records):
        table, number = f"{progressive_id}-table-{count % tables}", count // tables + 1
        command = jackpots.Contribute(table, f"{table}-{number}", 100 * len(SEATS), len(SEATS))
        asked = Asked(str(ProcessorId("wagers", table, number, 0)), "wagers", b"", command)
        entries.append((progressive_id, encode(asked)))
    return entries


def by_partition(entries: list[Entry]) -> dict[int, list[Entry]]:
    """The same records by the partition of their keys."""
    places: dict[int, list[Entry]] = {}
    for entry in entries:
        places.setdefault(partition_of(entry[0], PARTITIONS), []).append(entry)
    return places


__all__ = [
    "BOOK",
    "GAME",
    "PROCESSORS",
    "RULES",
    "Entry",
    "Refused",
    "by_partition",
    "contributions",
    "credits",
    "played",
    "round_log",
]
