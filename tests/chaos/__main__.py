"""What happens to a house that is hurt while it plays: `python -m tests.chaos [FAULT ...]`.

Afterwards everything is compared with what the clients were told. It ends with 0 where nothing was lost, doubled or torn.
"""

import argparse
import asyncio
import contextlib
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from services.runtime.local import LocalError, LocalKafka, LocalPostgres
from services.runtime.stepping import Contradiction
from tests.bench.harness import machine
from tests.chaos.compared import differences
from tests.chaos.disk import OWN_MOUNTS, NotPossible, SmallDisk, run_with_own_mounts
from tests.chaos.faults import SERVICES, Fault, Row, disk_full, part_away, part_killed, paused, scaled, service_killed
from tests.chaos.play import Pit
from tests.chaos.witness import Notes, Told, longest_wait
from tests.support.audit import Audit, read_all
from tests.support.exact import drained, holds, roundlog
from tests.support.house import House

DISK_MB = {"broker": 256, "database": 512}
AWAY_S = 60.0
PART_START_S = 300.0
"""A broker or a service starts beside everything else that is at work."""


def broker(pit: Pit) -> LocalKafka:
    return pit.house.kafka


def database(pit: Pit) -> LocalPostgres:
    return pit.house.postgres


PARTS: dict[str, Callable[[Pit], LocalKafka | LocalPostgres]] = {"broker": broker, "database": database}
FAULTS = (
    *(f"kill-{name}" for name in (*SERVICES, *PARTS)),
    "paused",
    "scaled",
    *(f"{name}-away" for name in PARTS),
    *(f"{name}-disk" for name in PARTS),
)


def fault_of(name: str, away_s: float, disk: SmallDisk | None) -> Fault:
    """The fault of that name."""
    verb, _, who = name.partition("-")
    if verb == "kill":
        return part_killed(PARTS[who], f"the {who}") if who in PARTS else service_killed(who)
    if verb in PARTS:
        part = PARTS[verb]
        if disk is None:
            return part_away(part, f"the {verb}", away_s)
        return disk_full(part, f"the {verb}", disk)
    return {"paused": paused, "scaled": scaled}[name]


# A house and its faults -------------------------------------------------------------------------------


@contextlib.contextmanager
def house(disk: SmallDisk | None, of: str) -> Iterator[House]:
    """A house with every service; the folder of one of its parts is on the small disk, where there is one."""
    folders: dict[str, Path | None] = {name: disk.folder / name if disk and name == of else None for name in PARTS}
    kafka, postgres = LocalKafka(folders["broker"], None), LocalPostgres(folders["database"], None)
    opened = House(kafka, postgres, postgres.dsn)
    opened.ready_seconds = PART_START_S
    try:
        for server in (kafka, postgres):
            # What a server says is not to be lost with its disk.
            server.log = opened.folder / f"{server.name}.log"
            server.start_seconds_max = PART_START_S
            server.start()
        opened.start(*SERVICES)
        yield opened
    finally:
        opened.close()
        for server in (postgres, kafka):
            server.close()


@dataclass
class Result:
    """What became of a house: its rows, what its clients were told, and what is wrong."""

    rows: list[Row]
    notes: Notes
    audit: Audit
    wrong: list[tuple[str, str]]
    """Under which fault, and what."""


def hurt(opened: House, faults: list[Fault], tables: int, seed: int) -> Result:
    """Plays through the faults, lets everything come through, and compares."""
    result = Result([], Notes(), Audit(), [])

    async def play() -> None:
        async with Pit(opened, result.notes, tables, seed) as pit:
            for fault in faults:
                await pit.steady()
                async for row in fault(pit):
                    result.rows.append(row)
                    print(f"  {row.fault}: {row.worst_s:.1f} s", flush=True)
            await pit.steady()

    def judge() -> Iterator[Callable[[], None]]:
        yield lambda: asyncio.run(play())
        yield lambda: drained(opened)
        result.audit = read_all(opened.kafka.bootstrap)
        yield lambda: holds(opened, result.audit)

    print("  playing ...", flush=True)
    try:
        for check in judge():
            with _noted(result):
                check()
    except Contradiction as error:
        # What cannot be read whole is not compared: everything would seem lost.
        result.wrong.append(("", str(error)))
        return result
    result.wrong += [("", f"{name} ended by itself") for name in SERVICES if opened.processes[name].poll() is not None]
    result.wrong += [(row.fault, words) for row in result.rows for words in row.wrong]
    for told, words in differences(result.notes.commands.values(), result.audit):
        result.wrong.append((told.during if told else "", words))
    verified = roundlog(opened, "verify")
    if verified.returncode:
        result.wrong.append(("", f"roundlog verify: {verified.stdout}{verified.stderr}"))
    return result


@contextlib.contextmanager
def _noted(result: Result) -> Iterator[None]:
    """What does not hold inside is noted, under the fault of that moment."""
    try:
        yield
    except (AssertionError, LocalError) as error:
        result.wrong.append((result.notes.during, str(error)))


# The report -------------------------------------------------------------------------------------------

HEAD = f"{'what':<52} {'back to work':>12} {'aim':>5} {'':<5} {'waited':>7} {'answered':>8} {'unknown':>7} {'there':>5} {'wrong':>5}"


def line(row: Row, result: Result) -> str:
    """A fault: the worst time back; the longest that a caller waited; commands that were answered; those that never were,
    how many of them stand in the log whole; how many contradict what was told."""
    told = [one for one in result.notes.commands.values() if one.during == row.fault]
    unknown = [one for one in told if one.answer is None]
    there = sum(_stands(result.audit, one) for one in unknown)
    wrong = sum(during == row.fault for during, _ in result.wrong)
    aim = "" if row.aim_s is None else f"{row.aim_s:.0f} s"
    verdict = "" if row.aim_s is None else "ok" if row.worst_s <= row.aim_s else "short"
    counts = f"{len(told) - len(unknown):>8} {len(unknown):>7} {there:>5} {wrong:>5}"
    said = f"  {row.said}" if row.said else ""
    return f"{row.fault:<52} {row.worst_s:>10.1f} s {aim:>5} {verdict:<5} {longest_wait(told):>5.1f} s {counts}{said}"


def _stands(audit: Audit, told: Told) -> bool:
    return any(record.command_id == told.command_id for record in audit.records.get(told.stream, {}).get(told.key, ()))


def totals(results: list[Result]) -> str:
    """The whole, in a few lines."""
    told = [one for result in results for one in result.notes.commands.values()]
    answers = Counter(None if one.answer is None else one.answer[0] for one in told)
    records = sum(len(some) for result in results for keys in result.audit.records.values() for some in keys.values())
    repeated = sum(result.audit.duplicates for result in results)
    return (
        f"{len(told):,} commands: {answers[200]:,} carried out, {answers[409]:,} refused, {answers[None]:,} never answered."
        f" {records:,} records, {repeated:,} of them more than once, byte for byte."
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description="Hurts a house while it plays, and compares.")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"all unless named: {', '.join(FAULTS)}")
    parser.add_argument("--tables", type=int, default=200, help="tables at play (200)")
    parser.add_argument("--seed", type=int, default=1, help="of the cards and of who walks away (1)")
    parser.add_argument("--away-s", type=float, default=AWAY_S, help="how long a part is gone (60)")
    parser.add_argument("--all-or-fail", action="store_true", help="a fault that is not possible here is a failure")
    parser.add_argument(OWN_MOUNTS, action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    unknown = [name for name in told.faults if name not in FAULTS]
    if told.tables < 1:
        parser.error("--tables is 1 or more")
    if unknown:
        parser.error(f"there is no fault {', '.join(unknown)}; faults: {', '.join(FAULTS)}")
    return told


def main() -> int:
    """Hurts houses as told; the exit code."""
    run_with_own_mounts()
    told = arguments()
    wanted = [name for name in FAULTS if name in (told.faults or FAULTS)]
    print(machine(), end="\n\n", flush=True)
    began = monotonic()
    results: list[Result] = []
    impossible: list[str] = []

    def one(names: list[str], disk: SmallDisk | None = None) -> None:
        of = names[0].partition("-")[0]
        print(f"A house with {told.tables} tables: {', '.join(names)}", flush=True)
        with house(disk, of) as opened:
            results.append(hurt(opened, [fault_of(name, told.away_s, disk) for name in names], told.tables, told.seed))
        if results[-1].wrong:
            print(f"  what the house said is kept in {opened.folder}", flush=True)
        else:
            shutil.rmtree(opened.folder, ignore_errors=True)

    together = [name for name in wanted if not name.endswith("-disk")]
    if together:
        one(together)
    for name in wanted:
        if name.endswith("-disk"):
            try:
                with SmallDisk(DISK_MB[name.partition("-")[0]]) as disk:
                    one([name], disk)
            except NotPossible as error:
                impossible.append(f"{name:<52} NOT POSSIBLE HERE: {error}")
    print(f"\n{HEAD}")
    for result in results:
        for row in result.rows:
            print(line(row, result))
    print("\n".join(impossible), end="\n" if impossible else "")
    wrong = [words for result in results for words in result.wrong]
    print(f"\n{totals(results)}")
    for during, words in wrong:
        print(f"WRONG{f' ({during})' if during else ''}: {words}")
    print(f"{len(wrong)} contradictions. {monotonic() - began:.0f} s; seed {told.seed}.", flush=True)
    return 1 if wrong or (told.all_or_fail and impossible) else 0


if __name__ == "__main__":
    sys.exit(main())
