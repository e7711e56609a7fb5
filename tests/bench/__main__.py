"""How fast it is: `python -m tests.bench [ROW ...]`, every row on a broker and a database of its own."""

import sys
import time
from collections.abc import Callable, Iterator

from tests.bench.displays import events, many
from tests.bench.growth import growth, million
from tests.bench.harness import Memory, Row, machine
from tests.bench.kills import kills
from tests.bench.pure import evaluation, replay
from tests.bench.sustained import credited, link, sustained, two_processes

ROWS: dict[str, Callable[[Memory], Iterator[Row]]] = {
    "replay": replay,
    "million": million,
    "hands": evaluation,
    "sustained": sustained,
    "link": link,
    "two": two_processes,
    "credits": credited,
    "events": events,
    "displays": many,
    "kills": kills,
    "growth": growth,
}


def main(names: list[str]) -> None:
    """Measures the rows named, or all of them."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"There is no row {', '.join(unknown)}. Rows: {', '.join(ROWS)}.")
    print(machine(), end="\n\n", flush=True)
    print(Row("what", "figure", "aim", ratio="ratio").shown())
    memory = Memory()
    start = time.monotonic()
    for name in names or ROWS:
        for row in ROWS[name](memory):
            print(row.shown(), flush=True)
    for row in memory.rows():
        print(row.shown())
    print(f"\n{time.monotonic() - start:.0f} s. Figures of one run; on a shared machine only the ratios compare.")


if __name__ == "__main__":
    main(sys.argv[1:])
