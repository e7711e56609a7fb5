"""The command line `roundlog`: into the logs of a house, and into its Rules Submissions."""

import argparse
import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from services.backoffice import archive, letters, par, printing, rules_files
from services.backoffice.par_text import sheet_as_text
from services.backoffice.reconstruction import RoundIncomplete
from services.backoffice.sentences import EventUnknown
from services.core.letters import Origin
from services.flow import logs
from services.par.sheet import sheet_document
from services.runtime.comparing import check
from services.runtime.kafka import Kafka
from services.runtime.letters import LettersLog, NotDone, discard, order_skip, replay
from services.runtime.published import load_paytables
from services.runtime.reaching import (
    Unreachable,
    database,
    in_words,
    kafka_of,
    paytables_folder,
    postgres_dsn,
    rules_folder,
)
from services.runtime.rebuilding import InUse, rebuild
from services.runtime.security import SettingWrong
from services.runtime.settings import environment, par_folder
from services.runtime.stepping import Contradiction
from services.runtime.submissions import load
from services.runtime.verifying import Verdict, archives_of, verify
from services.runtime.yaml_files import RulesUnreadable
from services.wire.records import Unreadable

HELD, NOT_HELD, AWAY = 0, 1, 2
PIPE_CLOSED = 141
SKIPPED_WITHIN_SECONDS = 15.0
NAMED_MAX = 10


class PipeClosed(Exception):
    """Nobody reads the lines any more: they were piped to `head`, say. It is no failure of the database."""


def say(line: str) -> None:
    """One line for the person at the screen. Raises PipeClosed."""
    try:
        print(printing.plain(line), flush=True)
    except OSError as error:
        # Python flushes once more at its end, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise PipeClosed from None
        print(f"The output cannot be written: {error.strerror}.", file=sys.stderr)
        raise SystemExit(AWAY) from None


def note(line: str) -> None:
    """One line beside what was asked for."""
    print(line, file=sys.stderr)


async def _reconstruct(options: argparse.Namespace) -> int:
    async with database(postgres_dsn(environment())) as pool:
        found = await archive.read_round(pool, options.round)
    if found is None:
        say(f"There is no round {options.round} in the archive.")
        return NOT_HELD
    say(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode() if options.json else printing.round_as_text(found))
    return HELD


async def _verify(_: argparse.Namespace) -> int:
    kafka = kafka_of(environment())
    verdicts: list[Verdict] = []
    async with database(postgres_dsn(environment())) as pool:
        for stream in logs():
            archives = await archives_of(pool, "backoffice", stream, "backoffice_records")
            verdicts.append(await verify(kafka, stream, archives))
            say(printing.verdict_line(verdicts[-1]))
    contradictions = [line for verdict in verdicts for line in verdict.contradictions]
    for line in contradictions[:NAMED_MAX]:
        say(f"  {line}")
    if len(contradictions) > NAMED_MAX:
        say(f"  and {len(contradictions) - NAMED_MAX} more")
    say("all logs hold" if not contradictions else f"{len(contradictions)} contradictions")
    return NOT_HELD if contradictions else HELD


async def _rebuild(options: argparse.Namespace) -> int:
    kafka, dsn = kafka_of(environment()), postgres_dsn(environment())
    book = load(rules_folder(environment()), load_paytables(paytables_folder(environment())))
    if not options.check:
        await rebuild(kafka, dsn, book, say)
        say("the database is made again from the logs")
        return HELD
    comparisons, lacking = await check(kafka, dsn, book, say)
    for comparison in comparisons:
        say(printing.comparison_lines(comparison))
    for line in lacking:
        say(f"  {line}")
    equal = not lacking and not any(comparison.different for comparison in comparisons)
    say("the database is what the logs make" if equal else "the database is not what the logs make")
    return HELD if equal else NOT_HELD


@contextlib.asynccontextmanager
async def producing() -> AsyncIterator[Kafka]:
    """A client that writes to the broker, and lets go of it."""
    kafka = kafka_of(environment())
    try:
        yield kafka
    finally:
        await kafka.close()


async def _list_letters(options: argparse.Namespace) -> int:
    known = await LettersLog(kafka_of(environment())).read(keep_values=False)
    waiting = sum(1 for _ in known.open())
    for line in letters.listing(known.open() if options.open else known.letters.values()):
        say(line)
    say(
        "there are no dead letters" if not known.letters
        else f"{len(known.letters)} dead letters, {waiting} of them open"
    )  # fmt: skip
    return HELD


async def _show_letter(options: argparse.Namespace) -> int:
    known = await LettersLog(kafka_of(environment())).read()
    for line in letters.shown(known, letters.parsed(options.letter)):
        say(line)
    return HELD


async def _replay_letter(options: argparse.Namespace) -> int:
    origin = letters.parsed(options.letter)
    async with producing() as kafka:
        offset = await replay(kafka, origin, options.by)
    say(f"The letter {origin} is sent back: it stands at {Origin(origin.topic, origin.partition, offset)}.")
    return HELD


async def _discard_letter(options: argparse.Namespace) -> int:
    origin = letters.parsed(options.letter)
    async with producing() as kafka:
        await discard(kafka, origin, options.by, options.reason)
    say(f"The letter {origin} is discarded. It stays in the list.")
    return HELD


async def _list_standing(_: argparse.Namespace) -> int:
    async with database(postgres_dsn(environment())) as pool:
        stands = await letters.standing(pool)
    for origin, alarm in stands.items():
        say(f"{origin}: {alarm}")
    say(f"{len(stands)} partitions stand still" if stands else "no partition stands still")
    return HELD


async def _skip(options: argparse.Namespace) -> int:
    if options.input is None:
        return await _list_standing(options)
    if options.by is None or options.reason is None:
        raise NotDone("Say who passes over it with --by, and why with --reason: both are written into the log.")
    origin = letters.parsed(options.input)
    async with database(postgres_dsn(environment())) as pool, producing() as kafka:
        alarm = (await letters.standing(pool)).get(origin)
        if alarm is None:
            raise NotDone(f"No processor stands still at {origin}. `roundlog skip` alone lists where one does.")
        await order_skip(kafka, origin, options.by, options.reason)
        deadline = time.monotonic() + SKIPPED_WITHIN_SECONDS
        while (stands := await letters.standing(pool)).get(origin) is not None:
            if time.monotonic() > deadline:
                say(f"It is ordered to pass over {origin}, and its processor has not done it yet: {stands[origin]}")
                return NOT_HELD
            await asyncio.sleep(0.1)
    say(f"{origin} is passed over.")
    return HELD


def _check_rules(options: argparse.Namespace) -> int:
    paytables = load_paytables(paytables_folder(environment()))
    return _reported(rules_files.check(options.files, paytables, par_folder(environment()), note))


def _list_rules(options: argparse.Namespace) -> int:
    folder = options.folder or rules_folder(environment())
    return _reported(rules_files.listing(folder, load_paytables(paytables_folder(environment()))))


def _par(options: argparse.Namespace) -> int:
    paytables = load_paytables(paytables_folder(environment()))
    submission = par.meant(options.rules, options.in_force_from, rules_folder(environment()), paytables, note)
    sheet = par.computed(submission, None if options.no_cache else par_folder(environment()), note)
    if options.json:
        say(orjson.dumps(sheet_document(sheet), option=orjson.OPT_INDENT_2).decode())
    else:
        say(sheet_as_text(sheet))
    return HELD


def _reported(report: rules_files.Report) -> int:
    for line in report.lines:
        say(line)
    return HELD if report.sound else NOT_HELD


def _letter_arguments(commands: Any) -> None:
    named = {"metavar": "LETTER", "help": "its id, such as round-commands-3-17"}
    by = {"metavar": "NAME", "help": "who decides this; it is written into the log"}
    four = commands.add_parser("dead-letters", help="the commands that no schema reads, and what was decided of them")
    four.add_argument("--open", action="store_true", help="only those of which nothing was decided")
    four.set_defaults(act=_list_letters)
    acts = four.add_subparsers(metavar="WHAT")
    show = acts.add_parser("show", help="all about one: where it came from, why it is here, its bytes")
    show.add_argument("letter", **named)
    show.set_defaults(act=_show_letter)
    again = acts.add_parser("replay", help="send one back to where it came from, once")
    again.add_argument("letter", **named)
    again.add_argument("--by", required=True, **by)
    again.set_defaults(act=_replay_letter)
    away = acts.add_parser("discard", help="nothing is done with one; it stays in the list")
    away.add_argument("letter", **named)
    away.add_argument("--by", required=True, **by)
    away.add_argument("--reason", required=True, metavar="TEXT", help="why; it is written into the log")
    away.set_defaults(act=_discard_letter)
    skip = commands.add_parser(
        "skip", help="pass over an input that cannot be decided; alone it lists where one stands"
    )
    skip.add_argument("input", metavar="INPUT", nargs="?", help="where it stands, such as round-commands-3-17")
    skip.add_argument("--by", **by)
    skip.add_argument("--reason", metavar="TEXT", help="why; it is written into the log")
    skip.set_defaults(act=_skip)


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="roundlog",
        description="Looks into the logs of the house and its Rules Submissions. ROUNDLOG_KAFKA and ROUNDLOG_POSTGRES say"
        " where the logs are; without them the house of `make run` is meant.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("reconstruct", help="a round as it was played")
    one.add_argument("round", metavar="ROUND", help="its id, such as table-1-17")
    one.add_argument("--json", action="store_true", help="as JSON")
    one.set_defaults(act=_reconstruct)
    two = commands.add_parser("verify", help="read every log from its beginning, and say whether it holds")
    two.set_defaults(act=_verify)
    three = commands.add_parser("rebuild", help="make everything in the database again from the logs")
    three.add_argument("--check", action="store_true", help="change nothing: compare what is there with what is made")
    three.set_defaults(act=_rebuild)
    _letter_arguments(commands)
    five = commands.add_parser("rules", help="Rules Submissions: what is wrong with a file, and which are held")
    rules = five.add_subparsers(required=True, metavar="WHAT")
    of_files = rules.add_parser("check", help="say all that is wrong with files, at once")
    of_files.add_argument("files", metavar="FILE", type=Path, nargs="+", help="a file, or a folder of them")
    of_files.set_defaults(act=_check_rules)
    held = rules.add_parser("list", help="the submissions of a folder, with the SHA-256 by which a round names one")
    held.add_argument("folder", metavar="FOLDER", type=Path, nargs="?", help="the house's own unless told")
    held.set_defaults(act=_list_rules)
    six = commands.add_parser("par", help="the par sheet of a Rules Submission: chances, returns, the house edge")
    six.add_argument("rules", metavar="RULES", help="a submission's id, or a file of one")
    six.add_argument(
        "--in-force-from", metavar="DATE", type=date.fromisoformat, help="of several with one id, that of this day"
    )
    six.add_argument("--json", action="store_true", help="as JSON, each figure as a fraction and as a decimal")
    six.add_argument("--no-cache", action="store_true", help="compute best play anew, and keep nothing")
    six.set_defaults(act=_par)
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command. 0: it holds; 1: it does not; 2: the broker or the database is away."""
    options = _arguments(words)
    # What libraries log about a broker that is away is said here in a sentence.
    logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        acted: int | Coroutine[Any, Any, int] = options.act(options)
        if isinstance(acted, int):
            return acted
        # Only what waits for the broker or the database runs in a loop: a loop would keep Ctrl-C from what computes.
        with in_words(environment()):
            return asyncio.run(acted)
    except (Unreachable, SettingWrong) as error:
        print(error, file=sys.stderr)
        return AWAY
    except (
        InUse,
        RulesUnreadable,
        par.NotHeld,
        RoundIncomplete,
        EventUnknown,
        Contradiction,
        NotDone,
        Unreadable,
    ) as error:
        print(error, file=sys.stderr)
        return NOT_HELD
    except PipeClosed:
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
