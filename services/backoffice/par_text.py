"""A par sheet as text for a terminal and for paper: plain, aligned, one block for each wager."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import wrap

from services.backoffice.printing import table
from services.core.money import dollars
from services.core.names import WagerName, words
from services.core.rules import LevelRules
from services.par.exact import decimal, fraction, percent, root
from services.par.main_game import MainSheet, PlayFigures
from services.par.sheet import STANDS, Sheet, limit_sentence
from services.par.wagers import MILLION, LineFigure, WagerSheet

WIDTH = 110
NO_BREAK = "\N{NO-BREAK SPACE}"
CHANCE_PLACES, FIGURE_PLACES = 10, 4
SHOWN_CENTS = 100_000
"""A step of the meter that people can imagine: $1,000."""


def sheet_as_text(sheet: Sheet) -> str:
    """The whole sheet."""
    folded = dict(sheet.folded)
    blocks = [
        _head(sheet),
        _said("Implausible", sheet.warnings),
        _said("Assumptions", sheet.assumptions),
        _main(sheet.main) if sheet.main is not None else [],
        *(_wager(each, folded.get(each.wager)) for each in sheet.wagers),
    ]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def _head(sheet: Sheet) -> list[str]:
    held = sheet.submission
    ante = held.ante
    return [
        f"Par sheet: {sheet.title}",
        f"  rules    {held.id}, in force from {held.in_force_from}",
        f"  SHA-256  {held.sha256.hex()}",
        f"  ante     {dollars(ante.minimum_cents)} to {dollars(ante.maximum_cents)} in steps of"
        f" {dollars(ante.step_cents)}, {held.seats} seats",
    ]


def _said(title: str, sentences: Sequence[str]) -> list[str]:
    # No line begins with the sign of the number before it.
    kept = (said.replace(" %", f"{NO_BREAK}%") for said in sentences)
    lines = [line for said in kept for line in wrap(said, WIDTH, initial_indent="  - ", subsequent_indent="    ")]
    return [title, *(line.replace(NO_BREAK, " ") for line in lines)] if lines else []


def _main(main: MainSheet) -> list[str]:
    return [
        f"Main game: {', '.join(map(words, main.wagers))}; {main.deals:,} deals",
        *table(list(_plays(main)), frozenset({1, 2, 3})),
        f"  {limit_sentence(main)}",
        "",
        *table(list(_exactly(main.at_minimum)), frozenset({1})),
        "",
        *table(list(_main_lines(main)), frozenset({3, 4, 5})),
        "",
        *table(list(_ends(main)), frozenset({1, 2})),
    ]


def _plays(main: MainSheet) -> Iterator[tuple[str, ...]]:
    yield "  best play", "lowest ante", "highest ante", "highest, played as at the lowest"
    each = (main.at_minimum, main.at_maximum, main.unchanged)
    rows: tuple[tuple[str, list[str]], ...] = (
        ("ante", [dollars(figures.ante_cents) for figures in each]),
        ("return, of the ante", [percent(figures.returned) for figures in each]),
        ("house edge, of the ante", [percent(figures.edge) for figures in each]),
        ("average wager, in antes", [_figure(figures.average_wager) for figures in each]),
        ("element of risk", [percent(figures.element_of_risk) for figures in each]),
        ("standard deviation, in antes", [_deviation(figures) for figures in each]),
    )
    for name, cells in rows:
        yield f"  {name}", *cells


def _exactly(figures: PlayFigures) -> Iterator[tuple[str, str]]:
    yield "  exactly, at the lowest ante", ""
    yield "  house edge", fraction(figures.edge)
    yield "  average wager", fraction(figures.average_wager)
    yield "  element of risk", fraction(figures.element_of_risk)
    yield "  variance", fraction(figures.variance)


def _main_lines(main: MainSheet) -> Iterator[tuple[str, ...]]:
    yield "  table", "hand", "odds", "chance dealt", "chance paid", "exactly"
    for line in main.lines:
        yield (
            f"  {words(line.table)}", words(line.hand), line.odds.text,
            _chance(line.dealt), _chance(line.paid), fraction(line.paid),
        )  # fmt: skip


def _ends(main: MainSheet) -> Iterator[tuple[str, ...]]:
    yield "  under best play, at the lowest ante", "chance", "exactly"
    for wager, chance in main.folds:
        yield f"  folded before {words(wager)}", _chance(chance), fraction(chance)
    for against, chance in main.stands:
        yield f"  {STANDS[against]}", _chance(chance), fraction(chance)


def _wager(sheet: WagerSheet, folded: Fraction | None) -> list[str]:
    lines = [
        f"{_title(sheet.wager)}: {_stake(sheet)}, on {sheet.cards} cards",
        f"  odds from {sheet.source}",
        *table(list(_lines(sheet)), frozenset({2, 3, 4, 5})),
        "",
        *table(list(_figures(sheet, folded)), frozenset({1, 2})),
    ]
    return lines


def _title(wager: WagerName) -> str:
    return words(wager)[0].upper() + words(wager)[1:]


def _stake(sheet: WagerSheet) -> str:
    hands = " or ".join(f"the {on}'s" for on in sheet.hands)
    on = f" on {hands} hand" if len(sheet.hands) > 1 else ""
    if sheet.minimum_cents == sheet.maximum_cents:
        return f"{dollars(sheet.minimum_cents)}{on}"
    return f"{dollars(sheet.minimum_cents)} to {dollars(sheet.maximum_cents)}{on}"


def _lines(sheet: WagerSheet) -> Iterator[tuple[str, ...]]:
    yield "  hand", "odds", "chance", "exactly", "one in", "return"
    for line in sheet.lines:
        yield f"  {words(line.hand)}", line.odds.text, *_chances(line.chance), _worth(sheet, line)
    for extra in sheet.extras:
        worth = percent(sheet.sum_return(extra))
        yield f"  {words(extra.wager)}", dollars(extra.cents), *_chances(extra.chance), worth
    for each in sheet.envy:
        worth = percent(sheet.sum_return(each))
        name = f"  Envy Bonus, {words(each.hand)} of one other hand"
        yield name, dollars(each.cents), *_chances(each.chance), worth
    yield "  no line", "", *_chances(sheet.lost), ""


def _worth(sheet: WagerSheet, line: LineFigure) -> str:
    returned = sheet.line_return(line)
    return "the meter's" if returned is None else percent(returned)


def _figures(sheet: WagerSheet, folded: Fraction | None) -> Iterator[tuple[str, str, str]]:
    if sheet.shared:
        yield _part("fixed return", sheet.fixed)
        yield _part("return, meters at their reset", 1 - sheet.edge)
        yield _part("return, meters at their limit", sheet.returned(sheet.at_limit))
    else:
        yield _part("return", 1 - sheet.edge)
    if sheet.depends_on_stake:
        returned = sheet.returned(sheet.at_reset, sheet.maximum_cents)
        yield _part(f"return at a wager of {dollars(sheet.maximum_cents)}", returned)
    yield _part(f"house edge{', meters at their reset' if sheet.shared else ''}", sheet.edge)
    yield "  standard deviation, in wagers", root(sheet.variance, FIGURE_PLACES), f"root of {fraction(sheet.variance)}"
    for level in sheet.shared:
        yield from _meter(sheet, level)
    for level in sheet.fed:
        yield _part(f"into {level.name}", Fraction(level.rate_ppm, MILLION))
        if level.hidden_rate_ppm:
            yield _part(f"into {level.name}, hidden", Fraction(level.hidden_rate_ppm, MILLION))
    if sheet.fed:
        yield _part("into the meters in all", sheet.rate)
    if sheet.envy:
        yield _part("Envy Bonuses, for each other hand", sheet.envy_return)
        yield _part(f"return at reset with those of {sheet.others} other hands", sheet.with_envy)
    if folded is not None:
        name = "  a hand that meets a line, folded under best play"
        yield name, "never" if not folded else _chance(folded), fraction(folded) if folded else ""


def _part(name: str, value: Fraction) -> tuple[str, str, str]:
    return f"  {name}", percent(value), fraction(value)


def _meter(sheet: WagerSheet, level: LevelRules) -> Iterator[tuple[str, str, str]]:
    even = sheet.break_even(level)
    for_each = sheet.slope(level) * SHOWN_CENTS
    between = f"{dollars(level.reset_cents)} to {dollars(level.limit_cents)}"
    yield _part(f"{level.name}, {between}: each {dollars(SHOWN_CENTS)} returns", for_each)
    if even is None:
        yield f"  {level.name} breaks even", "never: no hand brings a share", ""
    elif even.exact_cents <= 0:
        yield f"  {level.name} breaks even", "without the meter", ""
    else:
        beyond = "" if even.cents <= level.limit_cents else ", above its limit"
        yield f"  {level.name} breaks even at", f"{dollars(even.cents)}{beyond}", f"{fraction(even.exact_cents)} cents"


def _figure(value: Fraction) -> str:
    return decimal(value, FIGURE_PLACES)


def _deviation(figures: PlayFigures) -> str:
    return root(figures.variance, FIGURE_PLACES)


def _chance(value: Fraction) -> str:
    return decimal(value, CHANCE_PLACES)


def _chances(value: Fraction) -> tuple[str, str, str]:
    return _chance(value), fraction(value), _one_in(value)


def _one_in(value: Fraction) -> str:
    if not value:
        return "never"
    inverse = 1 / value
    return f"{round(inverse):,}" if inverse >= 100 else decimal(inverse, 2)
