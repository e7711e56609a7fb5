"""What is implausible in a submission: a house edge below zero, a line that cannot be hit. Quick enough for a start."""

from collections.abc import Iterator
from fractions import Fraction

from services.core.games import GAMES
from services.core.money import dollars
from services.core.names import words
from services.core.rules import Submission
from services.par.counts import HAND_CARDS, made
from services.par.exact import percent
from services.par.main_game import MainSheet
from services.par.play import Ending, net_cents
from services.par.wagers import LineFigure, WagerSheet, lines_of, wager_sheets


def implausible(submission: Submission, main: MainSheet | None = None) -> tuple[str, ...]:
    """A sentence for everything in the submission that a house would not want to file; none where nothing is found.

    Best play takes longer than a start may: where its figures are known, `main` brings them, and its edge is judged too.
    """
    return (*_main(submission, main), *(said for sheet in wager_sheets(submission) for said in _wager(sheet)))


def _main(submission: Submission, main: MainSheet | None) -> Iterator[str]:
    for name, table in submission.main_tables.items():
        what = "The main table" if name == "main" else f"The {words(name)}"
        yield from _unreachable(what, lines_of(table, HAND_CARDS), HAND_CARDS)
    if main is not None:
        for figures in (main.at_minimum, main.at_maximum):
            if figures.edge < 0:
                yield (
                    f"The main game's house edge is below zero: best play at an ante of {dollars(figures.ante_cents)}"
                    f" returns {percent(figures.returned)} of it."
                )
    elif "main" in submission.main_tables:
        best = max(_blind(submission, multiple) for multiple in submission.multiples)
        if best > 0:
            yield (
                "The main game's house edge is below zero: even who bets on every hand without looking gets"
                f" {percent(1 + best)} of the ante back."
            )


def _blind(submission: Submission, multiple: int) -> Fraction:
    """What it adds to the ante to make every later wager at one multiple, whatever the cards; by a table alone."""
    ante_cents, staked = submission.ante.minimum_cents, 1 + multiple * len(GAMES[submission.game].streets)
    endings = [Ending(staked, names, ways) for names, ways in made(HAND_CARDS).items()]
    won = sum(ending.ways * net_cents(submission, ante_cents, ending) for ending in endings)
    return Fraction(won, ante_cents * sum(ending.ways for ending in endings))


def _wager(sheet: WagerSheet) -> Iterator[str]:
    what = f"The {words(sheet.wager)}"
    yield from _unreachable(what, sheet.lines, sheet.cards)
    if not any(line.chance for line in sheet.lines):
        yield f"{what} cannot be won: no hand meets a line."
    alone = " without any share of a meter" if sheet.shared else ""
    if sheet.fixed > 1:
        yield f"{what}'s house edge is below zero: it returns {percent(sheet.fixed)}{alone}."
    elif sheet.fixed + sheet.rate > 1:
        yield (
            f"{what}'s house edge is below zero: it returns {percent(sheet.fixed)}{alone}, and {percent(sheet.rate)}"
            " goes into the meters."
        )
    elif sheet.edge < 0:
        yield f"{what}'s house edge is below zero with {_meters(sheet, 'reset')}: it returns {percent(1 - sheet.edge)}."
    elif sheet.shared and sheet.returned(sheet.at_limit) > 1:
        returned = percent(sheet.returned(sheet.at_limit))
        yield f"{what}'s house edge is below zero with {_meters(sheet, 'limit')}: it returns {returned}."


def _meters(sheet: WagerSheet, which: str) -> str:
    cents = sheet.at_reset if which == "reset" else sheet.at_limit
    if len(cents) == 1:
        ((name, value),) = cents.items()
        return f"{_meter(name)} at its {which} of {dollars(value)}"
    return "the meters at their " + which + "s, " + ", ".join(f"{name} {dollars(cents[name])}" for name in cents)


def _meter(name: str) -> str:
    return "the meter" if name == "meter" else f"the meter {name}"


def _unreachable(what: str, lines: tuple[LineFigure, ...], cards: int) -> Iterator[str]:
    for line in lines:
        if not line.made:
            yield f"{what}'s line {words(line.hand)} cannot be hit: no {cards} cards make it."
        elif not line.chance:
            yield f"{what}'s line {words(line.hand)} cannot be hit: every hand that makes it meets a line above."
