"""Reads a Rules Submission from its document, and says everything that is wrong with it at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from services.core.cards import DECK
from services.core.fields import Fields, Problem
from services.core.hands import FIVE_CARD_HANDS, LO_BALL_HANDS, POCKET_HANDS, THREE_CARD_HANDS
from services.core.money import Cents
from services.core.names import GameName, HandName, On, WagerName
from services.core.paytables import Line, Odds, Paytable
from services.core.rules import AnteLimits, Bonus, Envy, LevelRules, Progressive, StubCount, Submission


class RulesInvalid(Exception):
    """A document is no Rules Submission. `problems` are all that were found, in the document's order of checks."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(f"{'.'.join(map(str, problem.path))}: {problem.reason}" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class _Game:
    main_tables: tuple[str, ...]
    bonuses: tuple[WagerName, ...]
    cards_per_seat: int
    cards_beside: int
    """Community cards, the dealer's hand and the dummy cards of a bonus: what the seats must leave in the deck."""
    has_progressive: bool
    has_dealer_hand: bool


_GAMES: Mapping[GameName, _Game] = {
    "mississippi_stud": _Game(
        ("main",), ("three_card_bonus", "five_card_hand_bonus", "six_card_bonus"), 2, 3 + 4, True, False
    ),
    "caribbean_stud": _Game(
        ("ante_table", "bet_table"), ("caribbean_stud_bonus", "five_card_hand_bonus"), 5, 5, True, True
    ),
    "cajun_stud": _Game(("main",), ("pocket_bonus", "board_bonus", "lo_ball", "all_six_bonus"), 2, 3 + 1, False, False),
}
_HANDS_OF: Mapping[WagerName, tuple[HandName, ...]] = {
    "three_card_bonus": THREE_CARD_HANDS,
    "board_bonus": THREE_CARD_HANDS,
    "pocket_bonus": POCKET_HANDS,
    "lo_ball": LO_BALL_HANDS,
}
"""Of the wagers that do not look at a five-card hand."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_LEVEL = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PPM_MAX = 1_000_000
_MULTIPLE_MAX = 100
_ROUNDS_MAX = 1_000_000
_CENTS_MAX = 100_000_000_000
# Bounds on what is read, so that a slip of the pen is found; the figures of the house are in its submissions.


def submission(document: Mapping[str, object], sha256: bytes) -> Submission:
    """The submission that a document states, `sha256` being that of its bytes.

    Raises RulesInvalid with everything that is wrong at once.
    """
    problems: list[Problem] = []
    fields = Fields(document, (), problems)
    name = fields.word("game", tuple(_GAMES))
    game = _GAMES.get(name) or _any_game(fields)
    wagers = tuple(wager for wager in game.bonuses if fields.has(wager))
    has_progressive = game.has_progressive and fields.has("progressive")
    progressive = _progressive(fields.fields("progressive"), name) if has_progressive else None
    levels = tuple(level.name for level in progressive.levels) if progressive else ()
    verified = has_progressive or "five_card_hand_bonus" in wagers or fields.has("verification")
    read = Submission(
        id=fields.form("id", _ID),
        sha256=sha256,
        game=name,
        in_force_from=fields.day("in_force_from"),
        seats=fields.whole("seats", 1, (len(DECK) - game.cards_beside) // game.cards_per_seat),
        ante=_ante(fields.fields("ante")),
        stub_count=_stub_count(fields.fields("stub_count")),
        multiples=_multiples(fields.fields("multiples")),
        main_tables={main: _main_table(fields.fields(main)) for main in game.main_tables},
        aggregate_limit_cents=_aggregate_limit(fields.fields("aggregate_limit")),
        progressive=progressive,
        bonuses={wager: _bonus(fields.fields(wager), wager, game, levels) for wager in wagers},
        floorperson_at_odds=_floorperson(fields.fields("verification")) if verified else None,
    )
    if game.has_dealer_hand:
        _dealer(fields.fields("dealer_qualifies"))
    fields.end()
    if problems:
        raise RulesInvalid(tuple(problems))
    return read


def _any_game(fields: Fields) -> _Game:
    """Stands in for a game that does not exist, so that the rest of its document is checked all the same."""
    tables = tuple(table for game in _GAMES.values() for table in game.main_tables if fields.has(table))
    wagers = tuple(wager for game in _GAMES.values() for wager in game.bonuses)
    return _Game(tuple(dict.fromkeys(tables)), tuple(dict.fromkeys(wagers)), 1, 0, True, fields.has("dealer_qualifies"))


def _ante(fields: Fields) -> AnteLimits:
    limits = AnteLimits(
        minimum_cents=fields.whole("minimum_cents", 1, _CENTS_MAX),
        maximum_cents=fields.whole("maximum_cents", 1, _CENTS_MAX),
        step_cents=fields.whole("step_cents", 1, _CENTS_MAX),
    )
    if fields.sound:
        _ascending(fields, "minimum_cents", limits.minimum_cents, "maximum_cents", limits.maximum_cents)
        for name, cents in (("minimum_cents", limits.minimum_cents), ("maximum_cents", limits.maximum_cents)):
            if cents % limits.step_cents:
                fields.wrong(f"'{name}' {cents} is no multiple of the step {limits.step_cents}.", name)
    fields.end(source=True)
    return limits


def _ascending(fields: Fields, lower: str, lower_cents: Cents, upper: str, upper_cents: Cents) -> None:
    if lower_cents > upper_cents:
        fields.wrong(f"'{lower}' {lower_cents} is above '{upper}' {upper_cents}.", lower)


def _stub_count(fields: Fields) -> StubCount:
    count = StubCount(fields.whole("every_rounds", 1, _ROUNDS_MAX), fields.flag("counting_shuffler"))
    fields.end(source=True)
    return count


def _multiples(fields: Fields) -> tuple[int, ...]:
    allowed: list[int] = []
    for place, found in enumerate(fields.items("allowed")):
        if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= _MULTIPLE_MAX:
            fields.wrong(f"A multiple is a whole number from 1 to {_MULTIPLE_MAX}, not {found!r}.", "allowed", place)
        elif allowed and found <= allowed[-1]:
            fields.wrong("The multiples must ascend, each once.", "allowed", place)
        else:
            allowed.append(found)
    fields.end(source=True)
    return tuple(allowed)


def _aggregate_limit(fields: Fields) -> Cents:
    cents = fields.whole("cents", 1, _CENTS_MAX)
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
        if not fields.flag(name) and fields.sound:
            fields.wrong(f"'{name}' must be true: 655a.11(i) and 639a.11(c) leave no choice.", name)
    fields.end(source=True)
    return odds


def _main_table(fields: Fields) -> Paytable:
    table = _table(fields, FIVE_CARD_HANDS, ())
    fields.end()
    return table


def _table(fields: Fields, hands: tuple[HandName, ...], levels: tuple[str, ...]) -> Paytable:
    """The lines and the source; `levels` are those whose shares its odds may name."""
    lines: list[Line] = []
    lowest = -1
    for line in fields.mappings("lines"):
        hand, odds = line.word("hand", hands), line.odds("odds")
        if hand in hands:
            if hands.index(hand) <= lowest:
                line.wrong(f"'{hand}' is not lower than the hands above it: the highest goes first.", "hand")
            lowest = max(lowest, hands.index(hand))
        if odds is not None:
            if odds.level is not None and odds.level not in levels:
                line.wrong(f"There is no level '{odds.level}' here whose share could be paid.", "odds")
            lines.append(Line(hand, odds))
        line.end()
    return Paytable(tuple(lines), fields.text("source"))


def _bonus(fields: Fields, wager: WagerName, game: _Game, levels: tuple[str, ...]) -> Bonus:
    if fields.has("wager_cents"):
        minimum = maximum = fields.whole("wager_cents", 1, _CENTS_MAX)
    else:
        minimum, maximum = (fields.whole(name, 1, _CENTS_MAX) for name in ("minimum_cents", "maximum_cents"))
        if fields.sound:
            _ascending(fields, "minimum_cents", minimum, "maximum_cents", maximum)
    hands = _HANDS_OF.get(wager, FIVE_CARD_HANDS)
    extras = wager == "five_card_hand_bonus"
    bonus = Bonus(
        wager=wager,
        minimum_cents=minimum,
        maximum_cents=maximum,
        table=_table(fields, hands, levels),
        ace_low_straight=fields.flag("ace_low_straight") if hands is THREE_CARD_HANDS else False,
        hands=_hands(fields, game) if extras and fields.has("hands") else (On.PLAYER,),
        magic_card_cents=_extra(fields, "magic_card_cents") if extras else 0,
        lucky_position_cents=_extra(fields, "lucky_position_cents") if extras else 0,
    )
    fields.end()
    return bonus


def _extra(fields: Fields, name: str) -> Cents:
    return fields.whole(name, 0, _CENTS_MAX) if fields.has(name) else 0


def _hands(fields: Fields, game: _Game) -> tuple[On, ...]:
    allowed = (On.PLAYER, On.DEALER) if game.has_dealer_hand else (On.PLAYER,)
    hands: list[On] = []
    for place, found in enumerate(fields.items("hands")):
        on = next((on for on in allowed if on == found), None)
        if on is None or on in hands:
            fields.wrong(f"Each hand is one of {', '.join(allowed)}, once; not {found!r}.", "hands", place)
        else:
            hands.append(on)
    return tuple(hands)


def _progressive(fields: Fields, game: GameName) -> Progressive:
    levels = _levels(fields)
    progressive = Progressive(
        paytable_name=fields.word("paytable", ("A", "B", "C", "D")),
        wager_cents=fields.whole("wager_cents", 1, _CENTS_MAX),
        table=_table(fields, FIVE_CARD_HANDS, tuple(level.name for level in levels)),
        levels=levels,
        envy=_envy(fields.fields("envy")) if fields.has("envy") else None,
    )
    fields.word("several_winners", ("in_order",))
    if game == "caribbean_stud" and progressive.envy and progressive.paytable_name != "D":
        fields.wrong("There is an Envy Bonus under paytable D only, 639a.11(c)(5)(v).", "envy")
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
        name=fields.form("name", _LEVEL),
        base_cents=fields.whole("base_cents", 0, _CENTS_MAX),
        reset_cents=fields.whole("reset_cents", 0, _CENTS_MAX),
        rate_ppm=fields.whole("rate_ppm", 0, _PPM_MAX),
        hidden_rate_ppm=fields.whole("hidden_rate_ppm", 0, _PPM_MAX),
        limit_cents=fields.whole("limit_cents", 0, _CENTS_MAX),
    )
    if fields.sound:
        _ascending(fields, "reset_cents", level.reset_cents, "base_cents", level.base_cents)
        _ascending(fields, "base_cents", level.base_cents, "limit_cents", level.limit_cents)
    fields.end(source=True)
    return level


def _envy(fields: Fields) -> Envy:
    envy = Envy(
        amounts_cents=tuple(
            (hand, fields.whole(f"{hand}_cents", 0, _CENTS_MAX)) for hand in ("royal_flush", "straight_flush")
        ),
        folded_hand_qualifies=fields.flag("folded_hand_qualifies"),
    )
    fields.end(source=True)
    return envy
