"""What must hold once everything has come through: nothing was lost, nothing came twice, and all of it can be made again."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from services.core import accounts, jackpots, rounds, wagers
from services.core.chain import ProcessorId, processor_id
from services.core.games.game import ANTE
from services.core.names import Card, On, Result
from services.flow import PARTITIONS, STREAMS
from services.runtime.desk import Answer, Desk, answer_to
from services.runtime.projecting import Fact
from services.runtime.stepping import PartitionMemory, Stepper
from services.wire.records import CONTRACTS, Record
from services.wire.snapshots import encode_state
from tests.simulation.house import DEFINITIONS, House
from tests.simulation.parts import Connection, Database, Rows
from tests.support import audit

MAY_BE_SILENT = (
    *audit.MAY_BE_SILENT,
    jackpots.ReverseContribution,
    jackpots.TakeBackPayout,
    jackpots.TakeBackEnvy,
)
"""What a receiver may answer with nothing: it finds the matter settled already."""


def reckon(house: House, told: Mapping[str, Answer]) -> None:
    """Raises AssertionError for what does not hold."""
    _what_was_told_is_in_the_log(house, told)
    _every_command_once(house)
    _every_consequence_once(house)
    _voided_rounds_net_to_nothing(house)
    _what_went_came(house)
    _envy_is_exact(house)
    _snapshots_are_folds(house)
    _rows_are_folds(house)


# Commands -------------------------------------------------------------------------------------------------


def _outcomes(house: House, stream: str) -> dict[tuple[str, str], list[Record]]:
    """By key and command, the records that answer it."""
    found: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for key, records in house.auditor.records(stream).items():
        for record in records:
            found[key, record.command_id].append(record)
    return found


def _commands(house: House, stream: Any) -> list[tuple[str, Any]]:
    return [
        (each.key, CONTRACTS[stream.name].decode_command(each.value))
        for partition in range(PARTITIONS)
        for each in house.broker.topics[stream.commands, partition]
    ]


def _what_was_told_is_in_the_log(house: House, told: Mapping[str, Answer]) -> None:
    by_id = {
        command_id: records
        for stream in STREAMS
        if stream.commands is not None
        for (_, command_id), records in _outcomes(house, stream.name).items()
    }
    for command_id, answer in told.items():
        assert command_id in by_id, f"{command_id} was answered and is not in the log"
        logged = answer_to([Fact("", "", record, None, None) for record in by_id[command_id]])  # type: ignore[arg-type]
        assert (answer.status, answer.body) == (logged.status, logged.body), f"{command_id} was answered {answer}"


def _every_command_once(house: House) -> None:
    for stream in STREAMS:
        if stream.commands is None:
            continue
        outcomes = _outcomes(house, stream.name)
        for (key, command_id), records in outcomes.items():
            assert len(records) == records[0].count, f"{stream.name}/{key}: {command_id} has {len(records)} records"
        for key, asked in _commands(house, stream):
            if processor_id(asked.command_id) is None:
                assert (key, asked.command_id) in outcomes, f"{stream.name}/{key}: {asked.command_id} was lost"


def _every_consequence_once(house: House) -> None:
    """What follows from each record was asked, and carried out where it must be; nothing else was asked by a processor."""
    asked: dict[str, set[tuple[str, str, bytes]]] = defaultdict(set)
    outcomes = {}
    for stream in STREAMS:
        if stream.commands is not None:
            outcomes[stream.name] = _outcomes(house, stream.name)
            for key, each in _commands(house, stream):
                if processor_id(each.command_id) is not None:
                    asked[each.command_id].add((stream.name, key, repr(each.command).encode()))
    for stream in STREAMS:
        processor = DEFINITIONS[stream.name].processor
        assert processor is not None
        for key, records in house.auditor.records(stream.name).items():
            for record in records:
                for number, follows in enumerate(processor.following(key, record.event)):
                    command_id = str(ProcessorId(stream.name, key, record.sequence, number))
                    wanted = {(follows.stream, follows.key, repr(follows.command).encode())}
                    assert asked.pop(command_id, None) == wanted, f"{command_id} was not asked, or otherwise: {follows}"
                    if not isinstance(follows.command, MAY_BE_SILENT):
                        done = outcomes[follows.stream].get((follows.key, command_id))
                        assert done, f"{command_id} was not carried out: {follows}"
    assert not asked, f"asked, and following from no record: {asked}"


# Money ----------------------------------------------------------------------------------------------------


def _voided_rounds_net_to_nothing(house: House) -> None:
    """Every stake goes back, every contribution leaves again, every account is as it was."""
    accepted, taken_back = _contributions(house)
    moved = _account_movements(house)
    for records in house.auditor.records("rounds").values():
        for record in records:
            if not isinstance(record.event, rounds.RoundVoided):
                continue
            round_id = record.event.round_id
            assert accepted[round_id] == taken_back[round_id], f"{round_id} is void: {accepted[round_id]}"
            assert moved[round_id] == 0, f"{round_id} is void, and an account has {moved[round_id]} cents of it"
            last = {
                (each.event.seat, each.event.wager, each.event.on): each.event
                for each in house.auditor.records("wagers")[round_id.rpartition("-")[0]]
                if isinstance(each.event, wagers.WagerSettled) and each.event.round_id == round_id
            }
            for row in last.values():
                back = (row.result, row.won_cents, row.returned_cents)
                assert back == (Result.RETURNED, 0, row.stake_cents), f"{round_id} is void: {row}"


def _contributions(house: House) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """By round and level, in microcents: what was accepted, and what was taken back."""
    accepted: dict[str, Counter[str]] = defaultdict(Counter)
    taken_back: dict[str, Counter[str]] = defaultdict(Counter)
    for records in house.auditor.records("jackpots").values():
        for record in records:
            event = record.event
            if isinstance(event, jackpots.ContributionAccepted | jackpots.ContributionTakenBack):
                sums = accepted if isinstance(event, jackpots.ContributionAccepted) else taken_back
                for part in event.levels:
                    total = part.shown_microcents + part.hidden_microcents + part.overflow_microcents
                    sums[event.round_id][part.name] += total
    return accepted, taken_back


def _account_movements(house: House) -> Counter[str]:
    """By round, the cents that all accounts together gained by it, held ones included."""
    moved: Counter[str] = Counter()
    holds: dict[str, str] = {}
    for records in house.auditor.records("accounts").values():
        for record in records:
            match record.event:
                case accounts.HoldPlaced(hold_id, cents, _, round_id):
                    holds[hold_id] = round_id
                    moved[round_id] -= cents
                case accounts.HoldReleased(hold_id, cents):
                    moved[holds[hold_id]] += cents
                case accounts.WinningsCredited(cents, round_id) | accounts.StakeReturned(cents, round_id):
                    moved[round_id] += cents
                case accounts.WinningsTakenBack(cents, _, round_id):
                    moved[round_id] -= cents
    return moved


def _what_went_came(house: House) -> None:
    """What a progressive that ended gave is what the other took, once."""
    gone: Counter[Any] = Counter()
    came: Counter[Any] = Counter()
    for key, records in house.auditor.records("jackpots").items():
        for record in records:
            if isinstance(record.event, jackpots.ProgressiveClosed):
                gone[key, record.event.transfer_to, _totals(record.event.levels)] += 1
            elif isinstance(record.event, jackpots.TransferAccepted):
                came[record.event.transfer_from, key, _totals(record.event.levels)] += 1
    assert gone == came, f"{gone} went and {came} came"


def _totals(levels: Sequence[jackpots.LevelMoved]) -> tuple[int, ...]:
    # What is above the limit of the other is overflow there.
    return tuple(each.shown_microcents + each.hidden_microcents + each.overflow_microcents for each in levels)


# Envy Bonuses: a slow obvious model -----------------------------------------------------------------------

ORDER = "23456789TJQKA"


def _hand(cards: Sequence[Card]) -> str | None:
    """A royal flush, another straight flush, or neither, of five cards."""
    ranks = sorted(ORDER.index(card[0]) for card in cards)
    if len(cards) != 5 or len({card[1] for card in cards}) != 1:
        return None
    if ranks == [8, 9, 10, 11, 12]:
        return "royal_flush"
    return "straight_flush" if ranks in ([*range(ranks[0], ranks[0] + 5)], [0, 1, 2, 3, 12]) else None


class _EnvyRound:
    """One round as people at the table see it."""

    def __init__(self, rules_sha256: bytes) -> None:
        self.rules_sha256 = rules_sha256
        self.wagers: dict[int, list[tuple[str, On, str | None]]] = defaultdict(list)
        self.lit: tuple[int, ...] = ()
        self.folded: set[int] = set()
        self.forfeited: set[int] = set()
        self.community: list[Card] = []
        self.hands: dict[int, tuple[Card, ...]] = {}

    def player(self, seat: int) -> str | None:
        return next((player for _, _, player in self.wagers[seat] if player is not None), None)

    def see(self, event: Any) -> None:
        match event:
            case rounds.WagerPlaced() | rounds.WagerRequested():
                self.wagers[event.seat].append((event.wager, event.hand, event.player_id))
            case rounds.WagerWithdrawn() | rounds.WagerDeclined():
                gone = (event.wager, event.hand)
                left = [each for each in self.wagers[event.seat] if each[:2] != gone and event.wager != ANTE]
                self.wagers[event.seat] = left
            case rounds.BettingClosed(_, lit):
                self.lit = lit
            case rounds.HandFolded(_, seat):
                self.folded.add(seat)
            case rounds.WagersForfeited(_, seat):
                self.forfeited.add(seat)
            case rounds.CommunityCardRevealed(_, card):
                self.community.append(card)
            case rounds.HandShown(_, seat, cards) | rounds.HandReplaced(_, seat, cards):
                self.hands[seat] = cards

    def bonuses(self, house: House) -> set[tuple[int, int, int]]:
        """Holder, recipient and cents of each that is earned."""
        progressive = house.book.by_sha256(self.rules_sha256).progressive
        if progressive is None or progressive.envy is None:
            return set()
        amounts = dict(progressive.envy.amounts_cents)
        earned = set()
        for holder, own in self.hands.items():
            hand = _hand((*own, *self.community))
            if hand not in amounts or (holder in self.folded and not progressive.envy.folded_hand_qualifies):
                continue
            for seat in self.lit:
                same = self.player(holder) is not None and self.player(seat) == self.player(holder)
                if seat != holder and seat not in self.forfeited and not same:
                    earned.add((holder, seat, amounts[hand]))
        return earned


def _envy_is_exact(house: House) -> None:
    wanted: Counter[Any] = Counter()
    for records in house.auditor.records("rounds").values():
        round_: _EnvyRound | None = None
        progressive: str | None = None
        for event in (record.event for record in records):
            if isinstance(event, rounds.TableOpened):
                progressive = event.progressive_id
            elif isinstance(event, rounds.RoundOpened):
                round_ = _EnvyRound(event.rules_sha256)
                name, linked = event.round_id, progressive
                seen = round_
                _last(wanted, name, set())
            elif round_ is not None:
                round_.see(event)
                if linked is not None:
                    _last(wanted, name, seen.bonuses(house))
    due: Counter[Any] = Counter()
    for records in house.auditor.records("jackpots").values():
        for event in (record.event for record in records):
            if isinstance(event, jackpots.EnvyBonusDue | jackpots.EnvyBonusTakenBack):
                sign = 1 if isinstance(event, jackpots.EnvyBonusDue) else -1
                due[event.round_id, event.holder_seat, event.recipient_seat, event.amount_cents] += sign
    assert +due == wanted and not -due, f"Envy Bonuses: {due} where {wanted} are earned"


def _last(wanted: Counter[Any], round_id: str, earned: set[tuple[int, int, int]]) -> None:
    for known in [each for each in wanted if each[0] == round_id]:
        del wanted[known]
    wanted.update((round_id, *each) for each in earned)


# What the database holds, made again ------------------------------------------------------------------------


def _snapshots_are_folds(house: House) -> None:
    """The rows of the snapshots are those of a worker that remembers nothing and reads its log from the beginning."""
    for stream in STREAMS:
        processor, _ = house.processor(stream.name)
        stepper = Stepper(processor, house.book)
        for partition in range(PARTITIONS):
            memory = PartitionMemory(partition, 0, 0, 0)
            held = house.broker.topics[stream.name, partition]
            stepper.adopt(memory, [(each.key, each.value) for each in held])
            rows = house.database.rows.keys.get((stream.name, partition), {})
            marks = house.database.rows.marks.get((stream.name, partition), {})
            inputs = house.auditor.records(stream.input) if processor.observe is not None else {}
            for key, records in inputs.items():
                if rows.get(key) is not None:
                    known = stepper.key_memory(memory, key)
                    for record in records:
                        known.state = processor.observe(known.state, record.event)  # type: ignore[misc]
            assert {*memory.keys} <= {*rows}, f"{stream.name}-{partition} has no snapshot of {memory.keys}"
            for key, row in rows.items():
                known = stepper.key_memory(memory, key)
                name = f"{stream.name}/{key}"
                assert row.state == encode_state(known.state), f"{name}: the snapshot is not what its log adds up to"
                assert (row.sequence, row.hash) == (known.own.head.sequence, known.own.head.hash), name
                assert row.persons == known.seen.persons, f"{name}: other commands of people are remembered"
                of_key = {source: (mark.sequence, mark.number) for (at, source), mark in marks.items() if at == key}
                assert of_key == known.seen.marks, f"{name}: other commands of processors are remembered"


class _AtOnce(Connection):
    """A connection whose rows are there at once."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(Database(None))  # type: ignore[arg-type]
        self._rows = rows

    async def executemany(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        await super().executemany(statement, rows)
        self.carry_out(self._rows)

    async def execute(
        self, statement: str, accounts: Sequence[str], posted: Sequence[int], balances: Sequence[int]
    ) -> None:
        await super().execute(statement, accounts, posted, balances)
        self.carry_out(self._rows)

    async def fetch(self, statement: str, stream: str, keys: Sequence[str], sheets: Sequence[str]) -> list[Any]:
        asked = zip(keys, sheets, strict=True)
        held = self._rows.tables["sheets"]
        return [held[stream, *one] for one in asked if (stream, *one) in held]


def _rows_are_folds(house: House) -> None:
    """The rows of the projections are those that the same projections make of the logs, read once and in order."""
    made, heads = Rows(), house.database.rows.heads
    connection = _AtOnce(made)
    for stream in STREAMS:
        definition = DEFINITIONS[stream.name]
        for log in definition.logs:
            facts = []
            for (topic, key), known in house.auditor.keys.items():
                if topic != log.topic:
                    continue
                state = log.initial
                for record, stored in zip(known.records, known.stored, strict=True):
                    state = state if log.evolve is None else log.evolve(state, record.event)
                    facts.append(Fact(topic, key, record, stored, state))
                row = heads[definition.name][topic, key]
                assert (row.sequence, row.hash) == (known.chain.head.sequence, known.chain.head.hash), key
                assert row.state == (b"" if log.evolve is None else encode_state(state)), f"{definition.name}: {key}"
            if definition.forms is not None:
                _drive(Desk(stream, None, None, None, 0).project, connection, facts)  # type: ignore[arg-type]
            if log is definition.logs[0]:
                _drive(definition.apply, connection, facts)
    for row in made.tables["accounts_ledger"].values():
        assert row["posted_cents"] == row["balance_cents"], f"the postings of {row['account_id']} do not add up"
    for table, rows in made.tables.items():
        assert rows == house.database.rows.tables[table], f"the rows of {table} are not what the logs make"


def _drive(work: Callable[..., Any], connection: Connection, facts: list[Fact]) -> None:
    """Carries out what waits for nothing."""
    running = work(connection, facts)
    try:
        running.send(None)
    except StopIteration:
        return
    raise AssertionError("a projection waits for something that is not its connection")
