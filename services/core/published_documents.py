"""Reads published paytables and what the Code fixes from their document, and says everything wrong with it at once."""

from collections.abc import Mapping, Sequence
from datetime import date

from services.core.fields import Fields, Problem
from services.core.games import GAMES
from services.core.games.game import FIVE_CARD_HAND_BONUS, Game
from services.core.hands import FIVE_CARD_HANDS
from services.core.names import HandName, quoted
from services.core.paytables import Odds, Paytable
from services.core.published import Cited, Law, PaytableBook, PaytableId, ProgressiveLaw, Published
from services.core.submission_documents import CENTS_MAX, MULTIPLE_MAX, ROUNDS_MAX, RulesInvalid, lines


def sources(document: Mapping[str, object]) -> Sequence[str]:
    """The short names of the sources; one that ends in `-` is the beginning of many. Raises RulesInvalid."""
    problems: list[Problem] = []
    fields = Fields(document, (), problems)
    named = fields.fields("sources")
    names = named.names()
    for name in names:
        named.text(name)
    fields.end()
    if problems:
        raise RulesInvalid(tuple(problems))
    return names


def paytables(document: Mapping[str, object], names: Sequence[str]) -> PaytableBook:
    """The tables and the law of one game's document; `names` are the sources that may be named.

    Raises RulesInvalid with everything that is wrong at once, also where an entry is there twice.
    """
    problems: list[Problem] = []
    fields = Fields(document, (), problems)
    game = GAMES.get(fields.word("game", tuple(GAMES)))
    if game is None:
        raise RulesInvalid(tuple(problems))
    laws = tuple(_law(each, game) for each in fields.mappings("law"))
    tables = tuple(_published(each, game, names) for each in fields.mappings("tables"))
    for each in fields.mappings("not_found") if fields.has("not_found") else ():
        each.text("what")
        each.text("section")
        each.end()
    fields.end()
    seen: set[tuple[str, PaytableId, date]] = set()
    for place, table in enumerate(tables):
        if (table.part, table.id, table.in_force_from) in seen:
            fields.wrong(f"'{table.id}' for '{table.part}' is here twice from the same day.", "tables", place, "id")
        seen.add((table.part, table.id, table.in_force_from))
    for place, law in enumerate(laws):
        for part, table_id in law.main_tables.items():
            if not any((table.part, table.id) == (part, table_id) and table.paytable for table in tables):
                fields.wrong(f"No table '{table_id}' for '{part}' is here.", "law", place, "main_tables", part)
    if problems:
        raise RulesInvalid(tuple(problems))
    return PaytableBook(tables, laws)


def _published(fields: Fields, game: Game, names: Sequence[str]) -> Published:
    hands_of: dict[str, tuple[HandName, ...]] = dict.fromkeys(game.main_tables, FIVE_CARD_HANDS)
    hands_of |= {kind.wager: kind.hands for kind in game.optional}
    table_id, part = fields.text("id"), fields.word("part", tuple(hands_of))
    day = _from(fields)
    basis, section, paytable = "", "", None
    if fields.has("status"):
        fields.word("status", ("not_found",))
        section = fields.text("section")
    else:
        basis = fields.word("basis", ("text", "sibling", "secondary"))
        fields.word("confidence", ("high", "medium", "low"))
        source = _sources(fields, names)
        paytable = Paytable(lines(fields, hands_of.get(part, FIVE_CARD_HANDS), None), source)
    if fields.has("note"):
        fields.text("note")
    fields.end()
    return Published(game.name, part, table_id, day, section, basis, paytable)


def _from(fields: Fields) -> date:
    return fields.day("in_force_from") if fields.has("in_force_from") else date.min


def _sources(fields: Fields, names: Sequence[str]) -> str:
    """A source is a short name, what a prefix begins, or either and more words behind it."""
    written: list[str] = []
    for place, found in fields.texts("source"):
        word = found.split(" ", 1)[0]
        if word in names or any(name.endswith("-") and word.startswith(name) for name in names):
            written.append(found)
        else:
            fields.wrong(f"There is no source {quoted(word)}: the names are {', '.join(names)}.", "source", place)
    return ", ".join(written)


def _law(fields: Fields, game: Game) -> Law:
    fields.word("basis", ("text",))
    has = fields.has
    law = Law(
        game=game.name,
        in_force_from=_from(fields),
        multiples=_multiples(fields.fields("multiples")) if has("multiples") else None,
        stub_count_rounds=_whole(fields.fields("stub_count"), "every_rounds", ROUNDS_MAX)
        if has("stub_count")
        else None,
        main_tables=_main_tables(fields.fields("main_tables"), game) if has("main_tables") else {},
        aggregate_limit_cents=_whole(fields.fields("aggregate_limit"), "cents", CENTS_MAX)
        if has("aggregate_limit")
        else None,
        progressive=_progressive(fields.fields("progressive")) if has("progressive") else None,
        envy=_envy(fields.fields("envy")) if has("envy") else None,
        lowest=_lowest(fields, game) if has("lowest") else {},
        verified_at=_verified(fields.fields(FIVE_CARD_HAND_BONUS)) if has(FIVE_CARD_HAND_BONUS) else None,
    )
    fields.end()
    return law


def _section(fields: Fields) -> str:
    section = fields.text("section")
    fields.end()
    return section


def _multiples(fields: Fields) -> Cited[tuple[int, ...]]:
    return Cited(tuple(found for _, found in fields.wholes("allowed", 1, MULTIPLE_MAX)), _section(fields))


def _whole(fields: Fields, name: str, most: int) -> Cited[int]:
    return Cited(fields.whole(name, 1, most), _section(fields))


def _main_tables(fields: Fields, game: Game) -> dict[str, PaytableId]:
    tables = {part: fields.text(part) for part in game.main_tables if fields.has(part)}
    fields.end()
    return tables


def _progressive(fields: Fields) -> ProgressiveLaw:
    return ProgressiveLaw(_letters(fields), fields.word("lowest", FIVE_CARD_HANDS), _section(fields))


def _envy(fields: Fields) -> Cited[tuple[PaytableId, ...]]:
    return Cited(_letters(fields), _section(fields))


def _letters(fields: Fields) -> tuple[PaytableId, ...]:
    return tuple(found for _, found in fields.texts("paytables"))


def _lowest(fields: Fields, game: Game) -> dict[str, Cited[HandName]]:
    lowest: dict[str, Cited[HandName]] = {}
    kinds = {kind.wager: kind for kind in game.optional}
    for each in fields.mappings("lowest"):
        wager = each.word("wager", tuple(kinds))
        hand = each.word("hand", kinds[wager].hands if wager in kinds else FIVE_CARD_HANDS)
        lowest[wager] = Cited(hand, _section(each))
    return lowest


def _verified(fields: Fields) -> Cited[Odds] | None:
    odds, section = fields.odds("verified_at"), _section(fields)
    return Cited(odds, section) if odds is not None else None
