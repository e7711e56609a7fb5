"""Worlds by the thousand, or one again: `make simulate`."""

import argparse
import itertools
import sys
import time
from collections import Counter

from tests.simulation.world import STEPS, Broken, digest, live


def main() -> None:
    """Lives through worlds and says what came of them; ends with 1 at the first that is broken."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many worlds, 0 until stopped")
    parser.add_argument("--seed", type=int, help="this one alone, with all that happened")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steps", type=int, default=STEPS, help="how many commands the clients of a world send")
    told = parser.parse_args()
    try:
        if told.seed is not None:
            _one(told.seed, told.steps)
        else:
            _many(told.first, told.seeds, told.steps)
    except Broken as broken:
        sys.exit(str(broken))


def _one(seed: int, steps: int) -> None:
    house = live(seed, steps)
    print("\n".join(house.network.history))
    counts = Counter(stream for stream, key in house.auditor.keys for _ in house.auditor.records(stream)[key])
    print(f"seed {seed}: {dict(counts)} records, {house.auditor.duplicates} of them also as duplicates")
    print(f"{house.loop.time():.0f} s of the house; the topics' SHA-256 is {digest(house)}")


def _many(first: int, seeds: int, steps: int) -> None:
    started, records, duplicates, seconds = time.monotonic(), 0, 0, 0.0
    numbers = itertools.count(first) if seeds == 0 else range(first, first + seeds)
    for number, seed in enumerate(numbers, 1):
        house = live(seed, steps)
        records += sum(len(known.records) for known in house.auditor.keys.values())
        duplicates += house.auditor.duplicates
        seconds += house.loop.time()
        if number % 100 == 0 or number == seeds:
            took = time.monotonic() - started
            print(
                f"{number} worlds in {took:.0f} s: {records} records, {duplicates} duplicates, "
                f"{seconds / 3600:.1f} h of the houses' time; nothing lost, nothing twice",
                flush=True,
            )


if __name__ == "__main__":
    main()
