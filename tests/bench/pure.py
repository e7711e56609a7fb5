"""Rows that need no broker: the replay of logs into state, and the evaluation of hands."""

import random
import time
from collections.abc import Callable, Iterator
from types import ModuleType

import eval7

from services.core import accounts, hands, jackpots, rounds
from services.core.cards import DECK
from services.runtime.stepping import PartitionMemory, Stepper
from services.wire.records import CONTRACTS
from tests.bench.harness import Memory, Row
from tests.bench.material import BOOK, PROCESSORS, played

REPLAY_AIM, HANDS_AIM = 100_000, 1_000_000
SECONDS = 1.5
FOLDS: dict[str, ModuleType] = {"rounds": rounds, "jackpots": jackpots, "accounts": accounts}


def per_second(count: int, work: Callable[[], object]) -> float:
    """Units a second of the fastest of several goes: what the machine does besides only ever slows them."""
    best = float("inf")
    until = time.perf_counter() + SECONDS
    while time.perf_counter() < until:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return count / best


def replay(memory: Memory) -> Iterator[Row]:
    """Stored bytes into states: decode and evolve, evolve alone, and with every check of a processor that adopts."""
    for name, module in FOLDS.items():
        log = played()[name]
        contract = CONTRACTS[name]
        decoded = [(key, contract.decode_record(stored).event) for key, stored in log]
        stepper = Stepper(PROCESSORS[name], BOOK)

        def whole(log=log, contract=contract, module=module) -> None:  # type: ignore[no-untyped-def]
            states: dict[str, object] = {}
            for key, stored in log:
                states[key] = module.evolve(states.get(key, module.INITIAL), contract.decode_record(stored).event)

        def folded(decoded=decoded, module=module) -> None:  # type: ignore[no-untyped-def]
            states: dict[str, object] = {}
            for key, event in decoded:
                states[key] = module.evolve(states.get(key, module.INITIAL), event)

        def adopted(log=log, stepper=stepper) -> None:  # type: ignore[no-untyped-def]
            stepper.adopt(PartitionMemory(0, 0, 0, 0), log)

        rate = per_second(len(log), whole)
        yield Row(f"replay of {name}: bytes into state", f"{rate:,.0f} events/s", "100,000/s", rate >= REPLAY_AIM)
        yield Row(f"replay of {name}: evolve alone", f"{per_second(len(log), folded):,.0f} events/s")
        yield Row(f"replay of {name}: with chain, marks, commands", f"{per_second(len(log), adopted):,.0f} events/s")


def evaluation(memory: Memory) -> Iterator[Row]:
    """Five cards into a number by the library, and into the hands of a paytable by ours."""
    chance = random.Random(655)
    dealt = [tuple(chance.sample(DECK, 5)) for _ in range(20_000)]
    cards = [[eval7.Card(card) for card in hand] for hand in dealt]
    rate = per_second(len(dealt), lambda: [eval7.evaluate(hand) for hand in cards])
    yield Row("five-card hands: the library", f"{rate:,.0f} hands/s", "1,000,000/s", rate >= HANDS_AIM)
    rate = per_second(len(dealt), lambda: [hands.met(hand) for hand in dealt])
    yield Row("five-card hands: ours, from names to names", f"{rate:,.0f} hands/s", "1,000,000/s", rate >= HANDS_AIM)
