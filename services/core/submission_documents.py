"""Reads a Rules Submission from its document, and says everything that is wrong with it at once."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256

from services.core.cards import DECK
from services.core.fields import Fields, Problem
from services.core.games import GAMES
from services.core.games.game import FIVE_CARD_HAND_BONUS, PROGRESSIVE, Game, OptionalWager
from services.core.hands import FIVE_CARD_HANDS, THREE_CARD_HANDS
from services.core.money import Cents
from services.core.names import HandName, On, quoted
from services.core.paytables import Kind, Line, Odds, Paytable
from services.core.published import Law, PaytableBook, Published
from services.core.rules import AnteLimits, Bonus, Envy, LevelRules, Progressive, StubCount, Submission

# Bounds on what is read, so that a slip of the pen is found; the figures of the house are in its submissions.
MULTIPLE_MAX = 100
ROUNDS_MAX = 1_000_000
CENTS_MAX = 100_000_000_000


class RulesInvalid(Exception):
    """A document is not what it should be. `problems` are all that were found, in the order of checks.

    `draft` is the submission as far as it could be read, with something harmless in place of what could not.
    """

    def __init__(self, problems: tuple[Problem, ...], draft: Submission | None = None) -> None:
        super().__init__("\n".join(f"{'.'.join(map(str, problem.path))}: {problem.reason}" for problem in problems))
        self.problems = problems
        self.draft = draft


_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LETTER = re.compile(r"[A-Z]")
_LEVEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PPM_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the parts of one submission are read against. `named`: the published tables that were named, by the part."""

    game: Game
    day: date
    book: PaytableBook
    law: Law | None
    named: dict[str, Published] = field(default_factory=dict)


def submission(document: Mapping[str, object], content: bytes, book: PaytableBook) -> Submission:
    """The submission that a document states; `content` are the bytes of its file, `book` the tables that it may name.

    Its SHA-256 is that of the bytes; where it names published tables, of the bytes and then of each table as it was
    read (`Published.rendering`), in the order in which the file names them. So whoever holds the hash holds the
    numbers. Raises RulesInvalid with everything that is wrong at once.
    """
    problems: list[Problem] = []
    fields = Fields(document, (), problems)
    name = fields.word("game", tuple(GAMES))
    game = GAMES.get(name) or _any_game(fields)
    day = fields.day("in_force_from")
    reading = _Reading(game, day, book, book.law(name, day))
    offered = tuple(kind for kind in game.optional if fields.has(kind.wager) and kind.wager != PROGRESSIVE)
    has_progressive = game.optional_wager(PROGRESSIVE) is not None and fields.has("progressive")
    progressive = _progressive(fields.fields("progressive"), reading) if has_progressive else None
    levels = tuple(level.name for level in progressive.levels) if progressive else ()
    hand_bonus = any(kind.wager == FIVE_CARD_HAND_BONUS for kind in offered)
    verified = has_progressive or hand_bonus or fields.has("verification")
    read = Submission(
        id=fields.form("id", _ID, "letters, digits, '.', '_' and '-', at most 64 and no sign first"),
        sha256=b"",
        game=name,
        in_force_from=day,
        seats=fields.whole("seats", 1, (len(DECK) - _cards_beside(game)) // game.own_cards),
        ante=_ante(fields.fields("ante")),
        stub_count=_stub_count(fields.fields("stub_count")),
        multiples=_multiples(fields.fields("multiples"), reading),
        main_tables={part: _main_table(fields.fields(part), part, reading) for part in game.main_tables},
        aggregate_limit_cents=_aggregate_limit(fields.fields("aggregate_limit")),
        progressive=progressive,
        bonuses={kind.wager: _bonus(fields.fields(kind.wager), kind, levels, reading) for kind in offered},
        floorperson_at_odds=_floorperson(fields.fields("verification")) if verified else None,
    )
    if game.dealer_cards:
        _dealer(fields.fields("dealer_qualifies"))
    fields.end()
    if problems:
        raise RulesInvalid(tuple(problems), read)
    tables = b"".join(reading.named[part].rendering() for part in document if part in reading.named)
    return replace(read, sha256=sha256(content + tables).digest())


def _cards_beside(game: Game) -> int:
    """Community cards, the dealer's hand and the extra cards of a bonus: what the seats must leave in the deck."""
    return game.community_cards + game.dealer_cards + sum(kind.extra_cards for kind in game.optional)


def _any_game(fields: Fields) -> Game:
    """Stands in for a game that does not exist, so that the rest of its document is checked all the same."""
    tables = tuple(part for game in GAMES.values() for part in game.main_tables if fields.has(part))
    wagers = {kind.wager: kind for game in GAMES.values() for kind in game.optional}
    return replace(
        next(iter(GAMES.values())),
        main_tables=tuple(dict.fromkeys(tables)),
        optional=tuple(wagers.values()),
        own_cards=1,
        dealer_cards=1 if fields.has("dealer_qualifies") else 0,
    )


def _ante(fields: Fields) -> AnteLimits:
    limits = AnteLimits(
        minimum_cents=fields.whole("minimum_cents", 1, CENTS_MAX),
        maximum_cents=fields.whole("maximum_cents", 1, CENTS_MAX),
        step_cents=fields.whole("step_cents", 1, CENTS_MAX),
    )
    _ascending(fields, "minimum_cents", limits.minimum_cents, "maximum_cents", limits.maximum_cents)
    for name, cents in (("minimum_cents", limits.minimum_cents), ("maximum_cents", limits.maximum_cents)):
        if fields.sound(name, "step_cents") and cents % limits.step_cents:
            fields.wrong(f"'{name}' {cents} is no multiple of the step {limits.step_cents}.", name)
    fields.end(source=True)
    return limits


def _ascending(fields: Fields, lower: str, lower_cents: Cents, upper: str, upper_cents: Cents) -> None:
    if fields.sound(lower, upper) and lower_cents > upper_cents:
        fields.wrong(f"'{lower}' {lower_cents} is above '{upper}' {upper_cents}.", lower)


def _stub_count(fields: Fields) -> StubCount:
    count = StubCount(fields.whole("every_rounds", 1, ROUNDS_MAX), fields.flag("counting_shuffler"))
    fields.end(source=True)
    return count


def _multiples(fields: Fields, reading: _Reading) -> tuple[int, ...]:
    law = reading.law.multiples if reading.law is not None else None
    allowed: list[int] = []
    for place, found in fields.wholes("allowed", 1, MULTIPLE_MAX):
        if allowed and found <= allowed[-1]:
            fields.wrong("The multiples must ascend, each once.", "allowed", place)
        elif law is not None and found not in law.value:
            fixed = ", ".join(map(str, law.value))
            fields.wrong(f"The multiples of the ante are {fixed} by {law.section}, not {found}.", "allowed", place)
        else:
            allowed.append(found)
    fields.end(source=True)
    return tuple(allowed)


def _aggregate_limit(fields: Fields) -> Cents:
    cents = fields.whole("cents", 1, CENTS_MAX)
    fields.text("on")
    fields.end(source=True)
    return cents


def _dealer(fields: Fields) -> None:
    fields.word("with", ("ace_king",))
    fields.end(source=True)


def _floorperson(fields: Fields) -> Odds | None:
    odds = fields.odds("floorperson_at_odds")
    if odds is not None and not odds.multiple:
        fields.wrong(f"The floorperson is called from a multiple on, not at '{odds.text}'.", "floorperson_at_odds")
    for name in ("and_any_share_of_a_meter", "and_every_progressive_payout"):
        if not fields.flag(name) and fields.sound(name):
            fields.wrong(f"'{name}' must be true: 655a.11(i) and 639a.11(c) leave no choice.", name)
    fields.end(source=True)
    return odds


def _main_table(fields: Fields, part: str, reading: _Reading) -> Paytable:
    table = _table(fields, part, FIVE_CARD_HANDS, (), reading)
    if reading.game.dealer_cards and table.lines and table.lines[-1].hand in FIVE_CARD_HANDS[:-1]:
        fields.wrong(
            "The last line must be for 'any' hand: one that beats the dealer's is paid, whatever it is"
            f" ({reading.game.sections.show}).",
            "table" if fields.has("table") else "lines",
        )
    fields.end()
    return table


def _table(
    fields: Fields, part: str, hands: tuple[HandName, ...], levels: Container[str], reading: _Reading
) -> Paytable:
    """A published table that is named, or lines and their source; `levels` are those whose shares may be paid."""
    if fields.has("table"):
        table = _named(fields, part, levels, reading)
        if fields.has("lines"):
            fields.wrong(
                "'table' and 'lines' are both here: name a published table or bring lines and their source.", "lines"
            )
            fields.leave("lines")
        elif fields.has("source"):
            fields.wrong("The source of a published table is its own: leave 'source' out.", "source")
        fields.leave("source")
        return table
    if not fields.has("lines"):
        fields.wrong("There are no odds: name a published 'table', or bring 'lines' and their 'source'.", "lines")
        fields.leave("source")
        return Paytable((), "")
    return Paytable(lines(fields, hands, levels), fields.text("source"))


def _named(fields: Fields, part: str, levels: Container[str], reading: _Reading) -> Paytable:
    """The published table that a part of a submission names, as it is on the day the submission comes into force."""
    nothing = Paytable((), "")
    named = fields.text("table")
    if not named or reading.game.name not in GAMES or reading.day == date.min:
        return nothing
    found = reading.book.in_force(reading.game.name, part, named, reading.day)
    if found is None:
        known = reading.book.of(reading.game.name, part)
        if begins := min((held.in_force_from for held in known if held.id == named), default=None):
            fields.wrong(f"The table '{named}' is known from {begins} on, and this is from {reading.day}.", "table")
        else:
            ids = ", ".join(dict.fromkeys(held.id for held in known if held.paytable is not None)) or "none"
            fields.wrong(f"No table {quoted(named)} is published for '{part}'; there is {ids}.", "table")
        return nothing
    if found.paytable is None:
        fields.wrong(
            f"The numbers of '{named}' are not found: no source gives {found.section}, and none are made up. "
            "Name another table, or bring lines and their source.",
            "table",
        )
        return nothing
    shares = dict.fromkeys(line.odds.level for line in found.paytable.lines if line.odds.level is not None)
    if lacking := [level for level in shares if level not in levels]:
        fields.wrong(f"'{named}' pays shares of {', '.join(lacking)}: there is no level of that name here.", "table")
    reading.named[part] = found
    return found.paytable


def lines(fields: Fields, hands: tuple[HandName, ...], levels: Container[str] | None) -> tuple[Line, ...]:
    """The field `lines`; `levels` are those whose shares its odds may name, None where they may name any."""
    read: list[Line] = []
    lowest = -1
    for line in fields.mappings("lines"):
        hand, odds = line.word("hand", hands), line.odds("odds")
        if hand in hands:
            if hands.index(hand) <= lowest:
                line.wrong(f"'{hand}' is not lower than the hands above it: the highest goes first.", "hand")
            lowest = max(lowest, hands.index(hand))
        if odds is not None and odds.level is not None and levels is not None and odds.level not in levels:
            line.wrong(f"There is no level '{odds.level}' here whose share could be paid.", "odds")
        # A line whose odds cannot be read is a line all the same: nobody is told that it is missing.
        read.append(Line(hand, odds or Odds(Kind.PUSH, "push")))
        line.end()
    return tuple(read)


def _bonus(fields: Fields, kind: OptionalWager, levels: tuple[str, ...], reading: _Reading) -> Bonus:
    if fields.has("wager_cents"):
        minimum = maximum = fields.whole("wager_cents", 1, CENTS_MAX)
    else:
        minimum, maximum = (fields.whole(name, 1, CENTS_MAX) for name in ("minimum_cents", "maximum_cents"))
        _ascending(fields, "minimum_cents", minimum, "maximum_cents", maximum)
    extras = kind.wager == FIVE_CARD_HAND_BONUS
    bonus = Bonus(
        wager=kind.wager,
        minimum_cents=minimum,
        maximum_cents=maximum,
        table=_table(fields, kind.wager, kind.hands, levels, reading),
        ace_low_straight=fields.flag("ace_low_straight") if kind.hands is THREE_CARD_HANDS else False,
        hands=_hands(fields, tuple(kind.sees)) if extras and fields.has("hands") else (On.PLAYER,),
        magic_card_cents=_extra(fields, "magic_card_cents") if extras else 0,
        lucky_position_cents=_extra(fields, "lucky_position_cents") if extras else 0,
    )
    fields.end()
    return bonus


def _extra(fields: Fields, name: str) -> Cents:
    return fields.whole(name, 0, CENTS_MAX) if fields.has(name) else 0


def _hands(fields: Fields, allowed: tuple[On, ...]) -> tuple[On, ...]:
    hands: list[On] = []
    for place, found in enumerate(fields.items("hands")):
        on = next((on for on in allowed if on == found), None)
        if on is None or on in hands:
            fields.wrong(f"Each hand is one of {', '.join(allowed)}, once; not {quoted(found)}.", "hands", place)
        else:
            hands.append(on)
    return tuple(hands)


def _progressive(fields: Fields, reading: _Reading) -> Progressive:
    law = reading.law
    letters = law.progressive.paytables if law is not None and law.progressive is not None else ()
    levels = _levels(fields)
    progressive = Progressive(
        paytable_name=fields.word("paytable", letters)
        if letters
        else fields.form("paytable", _LETTER, "one capital letter"),
        wager_cents=fields.whole("wager_cents", 1, CENTS_MAX),
        table=_table(fields, PROGRESSIVE, FIVE_CARD_HANDS, tuple(level.name for level in levels), reading),
        levels=levels,
        envy=_envy(fields.fields("envy")) if fields.has("envy") else None,
    )
    fields.word("several_winners", ("in_order",))
    with_envy = law.envy if law is not None and progressive.paytable_name in letters else None
    if progressive.envy and with_envy is not None and progressive.paytable_name not in with_envy.value:
        only = " or ".join(with_envy.value)
        fields.wrong(f"There is an Envy Bonus under paytable {only} only, {with_envy.section}.", "envy")
    fields.end()
    return progressive


def _levels(fields: Fields) -> tuple[LevelRules, ...]:
    levels: list[LevelRules] = []
    for level_fields in fields.mappings("levels"):
        level = _level(level_fields)
        if level.name and any(level.name == other.name for other in levels):
            level_fields.wrong(f"There are two levels '{level.name}'.", "name")
        levels.append(level)
    if sum(level.rate_ppm + level.hidden_rate_ppm for level in levels) > _PPM_MAX:
        fields.wrong("The rates of all levels together take more than the wager.", "levels")
    return tuple(levels)


def _level(fields: Fields) -> LevelRules:
    level = LevelRules(
        name=fields.form("name", _LEVEL, "small letters, digits and '_', at most 32 and a letter first"),
        base_cents=fields.whole("base_cents", 0, CENTS_MAX),
        reset_cents=fields.whole("reset_cents", 0, CENTS_MAX),
        rate_ppm=fields.whole("rate_ppm", 0, _PPM_MAX),
        hidden_rate_ppm=fields.whole("hidden_rate_ppm", 0, _PPM_MAX),
        limit_cents=fields.whole("limit_cents", 0, CENTS_MAX),
        contribution_bound_cents=(
            fields.whole("contribution_bound_cents", 1, CENTS_MAX) if fields.has("contribution_bound_cents") else None
        ),
    )
    _ascending(fields, "reset_cents", level.reset_cents, "base_cents", level.base_cents)
    _ascending(fields, "base_cents", level.base_cents, "limit_cents", level.limit_cents)
    fields.end(source=True)
    return level


def _envy(fields: Fields) -> Envy:
    envy = Envy(
        amounts_cents=tuple(
            (hand, fields.whole(f"{hand}_cents", 0, CENTS_MAX)) for hand in ("royal_flush", "straight_flush")
        ),
        folded_hand_qualifies=fields.flag("folded_hand_qualifies"),
    )
    fields.end(source=True)
    return envy
