"""Where a submission departs from what the Code's own words fix.

It is read all the same: the Code is amended and the Board grants variations, and the numbers are data. But the house is
told.
"""

from collections.abc import Collection, Iterator, Mapping

from services.core.fields import Path, Problem
from services.core.games import GAMES
from services.core.games.game import FIVE_CARD_HAND_BONUS, PROGRESSIVE
from services.core.hands import FIVE_CARD_HANDS
from services.core.money import dollars
from services.core.names import HandName, WagerName, words
from services.core.paytables import Kind, Line, Odds, Paytable
from services.core.published import Cited, Law, PaytableBook, PaytableId
from services.core.rules import Bonus, Progressive, Submission

_CONTAINED: Mapping[HandName, HandName] = {
    "royal_flush": "straight_flush",
    "mini_royal": "straight_flush",
    "pair_of_jacks_or_better": "pair",
    "pair_of_8s_or_better": "pair",
    "pair_of_6s_to_10s": "pair",
}
"""A hand that is of another class too, so that its line pays it."""


def departures(
    submission: Submission, book: PaytableBook, unsound: Collection[str] = frozenset()
) -> tuple[Problem, ...]:
    """Every place where the submission differs from the Code as it stood on the day it comes into force.

    `unsound` are the parts of a draft in which something is wrong: what looks at them is not asked.
    """
    if not {"game", "in_force_from"}.isdisjoint(unsound):
        return ()
    law = book.law(submission.game, submission.in_force_from)
    if law is None:
        return (
            Problem(
                ("in_force_from",),
                f"What the Code said of {GAMES[submission.game].title} on {submission.in_force_from} is not held here:"
                " nothing was held against it.",
            ),
        )
    return tuple(_departures(submission, law, book, frozenset(unsound)))


def _departures(submission: Submission, law: Law, book: PaytableBook, unsound: frozenset[str]) -> Iterator[Problem]:
    bonuses = {wager: bonus for wager, bonus in submission.bonuses.items() if wager not in unsound}
    if "multiples" not in unsound:
        yield from _multiples(submission, law)
    if "stub_count" not in unsound:
        yield from _stub_count(submission, law)
    for part, section in law.main_tables.items():
        fixed = _of_the_code(submission, part, section, book)
        if fixed is not None and part not in unsound:
            yield from _against(part, submission.main_tables[part], fixed, section)
    if unsound.isdisjoint({"aggregate_limit", "ante", "multiples", *submission.main_tables}):
        yield from _aggregate_limit(submission, law)
    if submission.progressive is not None and PROGRESSIVE not in unsound:
        yield from _progressive(submission, submission.progressive, law, book)
        if len(bonuses) == len(submission.bonuses):
            yield from _never_won(submission.progressive, bonuses)
    for kind in GAMES[submission.game].optional:
        if kind.wager in bonuses and kind.wager in law.lowest:
            yield from _lowest(bonuses[kind.wager], kind.hands, law.lowest[kind.wager])
    if law.verified_at is not None:
        if "verification" not in unsound:
            yield from _verification(submission, law.verified_at)
        if FIVE_CARD_HAND_BONUS in bonuses:
            yield from _five_card_hand_bonus(bonuses[FIVE_CARD_HAND_BONUS], law.verified_at)


def _multiples(submission: Submission, law: Law) -> Iterator[Problem]:
    if law.multiples is not None and submission.multiples != law.multiples.value:
        here, fixed = (", ".join(map(str, each)) for each in (submission.multiples, law.multiples.value))
        section = law.multiples.section
        yield Problem(("multiples", "allowed"), f"Only {here} times the ante is offered, and {section} has {fixed}.")


def _stub_count(submission: Submission, law: Law) -> Iterator[Problem]:
    count, fixed = submission.stub_count, law.stub_count_rounds
    if fixed is not None and not count.counting_shuffler and count.every_rounds > fixed.value:
        yield Problem(
            ("stub_count", "every_rounds"),
            f"The stub is counted every {count.every_rounds} rounds, and {fixed.section} wants it at least every"
            f" {fixed.value} where no shuffler counts.",
        )


def _of_the_code(submission: Submission, part: str, table: PaytableId, book: PaytableBook) -> Paytable | None:
    """The Code's own table, None where its numbers were not read."""
    found = book.in_force(submission.game, part, table, submission.in_force_from)
    return found.paytable if found is not None and found.basis == "text" else None


def _against(part: str, table: Paytable, law: Paytable, said: str) -> Iterator[Problem]:
    """The lines that differ from those of the Code's table."""
    fixed = {line.hand: line for line in law.lines}
    own = {line.hand for line in table.lines}
    levels: dict[str, str] = {}
    for place, line in enumerate(table.lines):
        if line.hand not in fixed:
            yield Problem(
                (part, "lines", place), f"{said} has no line for {words(line.hand)}, and here is '{line.odds.text}'."
            )
        elif not _same_odds(line, fixed[line.hand], levels):
            yield Problem(
                (part, "lines", place),
                f"{words(line.hand).capitalize()} is '{line.odds.text}' here, and"
                f" '{fixed[line.hand].odds.text}' by {said}.",
            )
    for hand, line in fixed.items():
        if hand not in own:
            text = f"There is no line for {words(hand)}, which is '{line.odds.text}' by {said}."
            yield Problem((part, "lines"), text)


def _same_odds(line: Line, fixed: Line, levels: dict[str, str]) -> bool:
    """Whether the odds are the same; a level may have another name than the Code's, the same on every line."""
    own, law = line.odds, fixed.odds
    if own.level is None or law.level is None:
        return own == law
    same_level = levels.setdefault(law.level, own.level) == own.level
    distinct = len(set(levels.values())) == len(levels)
    return own.percent == law.percent and same_level and distinct


def _aggregate_limit(submission: Submission, law: Law) -> Iterator[Problem]:
    fixed, limit = law.aggregate_limit_cents, submission.aggregate_limit_cents
    if fixed is None:
        return
    most = GAMES[submission.game].most_won_antes(submission) * submission.ante.minimum_cents
    if limit > max(fixed.value, most):
        yield Problem(
            ("aggregate_limit", "cents"),
            f"The limit is {dollars(limit)}, and by {fixed.section} at most {dollars(fixed.value)} or, if greater,"
            f" the most that one patron can win in a round at the minimum ante, which is {dollars(most)} here.",
        )


def _progressive(submission: Submission, progressive: Progressive, law: Law, book: PaytableBook) -> Iterator[Problem]:
    fixed = law.progressive
    if fixed is not None:
        name = progressive.paytable_name
        table = _of_the_code(submission, PROGRESSIVE, name, book)
        if table is not None:
            yield from _against(PROGRESSIVE, progressive.table, table, f"paytable {name} of {fixed.section}")
        else:
            yield from _not_below(progressive.table, fixed.lowest, fixed.section)
    if law.envy is not None and progressive.paytable_name in law.envy.value:
        yield from _envy(progressive, law.envy.section)


def _never_won(progressive: Progressive, bonuses: Mapping[WagerName, Bonus]) -> Iterator[Problem]:
    tables = (progressive.table, *(bonus.table for bonus in bonuses.values()))
    paid = {line.odds.level for table in tables for line in table.lines}
    for place, level in enumerate(progressive.levels):
        if level.name not in paid:
            yield Problem(
                (PROGRESSIVE, "levels", place, "name"),
                f"No line pays a share of the level '{level.name}': what it takes can never be won.",
            )


def _not_below(table: Paytable, lowest: HandName, section: str) -> Iterator[Problem]:
    for place, line in enumerate(table.lines):
        if FIVE_CARD_HANDS.index(line.hand) > FIVE_CARD_HANDS.index(lowest):
            yield Problem(
                (PROGRESSIVE, "lines", place),
                f"{words(line.hand).capitalize()} is paid, and by {section} a Progressive Payout Hand is"
                f" {words(lowest)} or better.",
            )


def _envy(progressive: Progressive, section: str) -> Iterator[Problem]:
    if progressive.envy is None:
        yield Problem((PROGRESSIVE,), f"There is no Envy Bonus, and {section} gives one under this paytable.")
        return
    for hand, amount_cents in progressive.envy.amounts_cents:
        if not amount_cents:
            yield Problem(
                (PROGRESSIVE, "envy", f"{hand}_cents"), f"The Envy Bonus of a {words(hand)} is nothing ({section})."
            )


def _lowest(bonus: Bonus, hands: tuple[HandName, ...], fixed: Cited[HandName]) -> Iterator[Problem]:
    """A bonus pays a hand and every higher one, and nothing lower; `hands` are those that there are."""
    rule = f"by {fixed.section} it pays {words(fixed.value)} or better"
    paid = {line.hand for line in bonus.table.lines}
    for place, line in enumerate(bonus.table.lines):
        if hands.index(line.hand) > hands.index(fixed.value):
            path: Path = (bonus.wager, "lines", place)
            yield Problem(path, f"{words(line.hand).capitalize()} is paid, and {rule}.")
    for hand in hands[: hands.index(fixed.value) + 1]:
        if hand not in paid and _CONTAINED.get(hand) not in paid:
            yield Problem((bonus.wager, "lines"), f"{words(hand).capitalize()} loses, and {rule}.")


def _verification(submission: Submission, fixed: Cited[Odds]) -> Iterator[Problem]:
    odds = submission.floorperson_at_odds
    if odds is not None and odds != fixed.value:
        yield Problem(
            ("verification", "floorperson_at_odds"),
            f"The floorperson is called at '{odds.text}', and {fixed.section} has '{fixed.value.text}'.",
        )


def _five_card_hand_bonus(bonus: Bonus, fixed: Cited[Odds]) -> Iterator[Problem]:
    if not any(line.odds == fixed.value for line in bonus.table.lines):
        yield Problem((bonus.wager, "lines"), f"No line is '{fixed.value.text}', as {fixed.section} has it.")
    if not any(line.odds.kind is Kind.SHARE for line in bonus.table.lines):
        yield Problem((bonus.wager, "lines"), f"No line is a share of a meter, as {fixed.section} has it.")
    for place, line in enumerate(bonus.table.lines):
        if line.odds.kind not in (fixed.value.kind, Kind.SHARE):
            yield Problem(
                (bonus.wager, "lines", place, "odds"),
                f"'{line.odds.text}' is neither 'for 1' nor a share of a meter, as {fixed.section} has them.",
            )
