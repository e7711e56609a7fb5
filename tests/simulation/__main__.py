"""Worlds by the thousand, or one again: `make simulate`."""

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

from tests.simulation.world import STEPS, Broken, digest, live

TOLD_EVERY = 100
"""Worlds."""


def main() -> None:
    """Lives through worlds and says what came of them; ends with 1 at the first that is broken."""
    parser = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1_000, help="how many worlds, 0 until stopped")
    parser.add_argument("--seed", type=int, help="this one alone, with all that happened")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--steps", type=int, default=STEPS, help="how many commands the clients of a world send")
    told = parser.parse_args()
    if told.seeds < 0 or told.steps < 1:
        parser.error("--seeds is 0 or more, --steps 1 or more")
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


class Lived(NamedTuple):
    """What came of a world that held: records, those that came more than once, seconds of the house's time."""

    records: int
    duplicates: int
    seconds: float


def _lived(steps: int, seed: int) -> Lived | str:
    """What came of a world, or why it is broken."""
    try:
        house = live(seed, steps)
    except Broken as broken:
        return str(broken)
    records = sum(len(known.records) for known in house.auditor.keys.values())
    return Lived(records, house.auditor.duplicates, house.loop.time())


def _many(first: int, seeds: int, steps: int) -> None:
    """A process on each core, and a word after every hundred worlds."""
    started = time.monotonic()
    end = first + seeds if seeds else sys.maxsize
    total = Lived(0, 0, 0.0)
    with ProcessPoolExecutor() as cores:
        for begin in range(first, end, TOLD_EVERY):
            some = range(begin, min(begin + TOLD_EVERY, end))
            for lived in cores.map(partial(_lived, steps), some, chunksize=TOLD_EVERY // 20):
                if isinstance(lived, str):
                    cores.shutdown(cancel_futures=True)
                    sys.exit(lived)
                total = Lived(*map(sum, zip(total, lived, strict=True)))
            print(
                f"{some.stop - first} worlds in {time.monotonic() - started:.0f} s: {total.records} records,"
                f" {total.duplicates} duplicates, {total.seconds / 3600:.1f} h of the houses' time;"
                " nothing lost, nothing twice",
                flush=True,
            )


if __name__ == "__main__":
    main()
