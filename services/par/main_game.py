"""The main game: what best play of it comes to, line by line and in all."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from services.core.games import GAMES
from services.core.money import Cents
from services.core.names import HandName, WagerName
from services.core.paytables import Odds, Paytable, line_for
from services.core.rules import Submission
from services.par.counts import HAND_CARDS
from services.par.play import AGAINST, HIGHER, NOT_QUALIFIED, Play, net_cents
from services.par.wagers import lines_of


@dataclass(frozen=True, slots=True)
class PlayFigures:
    """What a play comes to at an ante, in antes. `edge` and the return are of the ante; the risk of all wagered."""

    ante_cents: Cents
    edge: Fraction
    average_wager: Fraction
    variance: Fraction

    @property
    def returned(self) -> Fraction:
        """What of the ante comes back, later wagers counted with their wins and losses."""
        return 1 - self.edge

    @property
    def element_of_risk(self) -> Fraction:
        """The expected loss as a part of all that is wagered."""
        return self.edge / self.average_wager


@dataclass(frozen=True, slots=True)
class MainLine:
    """A line of a main table: the chance of the hand, and that a round ends with it paid under best play."""

    table: str
    hand: HandName
    odds: Odds
    dealt: Fraction
    paid: Fraction


@dataclass(frozen=True, slots=True)
class MainSheet:
    """The figures of the main wagers together.

    `at_maximum` is best play where the limit cuts; `unchanged` is the play of the lowest ante at the highest.
    `cut_from_cents` is the least ante at which the limit can cut a hand, None where none that is allowed does.
    """

    wagers: tuple[WagerName, ...]
    deals: int
    lines: tuple[MainLine, ...]
    folds: tuple[tuple[WagerName, Fraction], ...]
    stands: tuple[tuple[str, Fraction], ...]
    """Of hands that are bet on against a dealer, in the order of `AGAINST`; empty where there is no dealer."""
    at_minimum: PlayFigures
    at_maximum: PlayFigures
    unchanged: PlayFigures
    limit_cents: Cents
    most_won_antes: int
    cut_from_cents: Cents | None


def figures(submission: Submission, play: Play, ante_cents: Cents) -> PlayFigures:
    """What that play comes to at an ante, which need not be that for which it is the best."""
    deals = play.deals
    nets = [(ending.ways, net_cents(submission, ante_cents, ending)) for ending in play.endings]
    mean = Fraction(sum(ways * net for ways, net in nets), deals * ante_cents)
    square = Fraction(sum(ways * net * net for ways, net in nets), deals * ante_cents * ante_cents)
    wagered = Fraction(sum(ending.ways * ending.staked for ending in play.endings), deals)
    return PlayFigures(ante_cents, -mean, wagered, square - mean * mean)


def main_sheet(submission: Submission, plays: tuple[Play, Play]) -> MainSheet:
    """The figures of the main game from its best play at the lowest ante and at the highest."""
    lowest, highest = plays
    ante, deals = submission.ante, lowest.deals
    most = GAMES[submission.game].most_won_antes(submission)
    # The least multiple of the step, from the minimum on, at which the greatest win is above the limit.
    steps = max(0, submission.aggregate_limit_cents // most + 1 - ante.minimum_cents) if most else 0
    cut_from = ante.minimum_cents + -(-steps // ante.step_cents) * ante.step_cents
    return MainSheet(
        wagers=GAMES[submission.game].main,
        deals=deals,
        lines=tuple(_lines(submission, lowest)),
        folds=_folds(submission, lowest),
        stands=_stands(lowest),
        at_minimum=figures(submission, lowest, ante.minimum_cents),
        at_maximum=figures(submission, highest, ante.maximum_cents),
        unchanged=figures(submission, lowest, ante.maximum_cents),
        limit_cents=submission.aggregate_limit_cents,
        most_won_antes=most,
        cut_from_cents=cut_from if most and cut_from <= ante.maximum_cents else None,
    )


def chance_folded(play: Play, table: Paytable) -> Fraction:
    """The chance that a hand which meets a line of the table is folded; of hands that are complete when folded."""
    ways = sum(
        ending.ways
        for ending in play.endings
        if ending.folded_at is not None and line_for(table, ending.names) is not None
    )
    return Fraction(ways, play.deals)


def _lines(submission: Submission, play: Play) -> Iterator[MainLine]:
    for name, table in submission.main_tables.items():
        on_bet = name == "bet_table"
        paid = dict.fromkeys((line.hand for line in table.lines), 0)
        for ending in play.endings:
            stands = ending.against in ((HIGHER,) if on_bet else (HIGHER, NOT_QUALIFIED, None))
            line = line_for(table, ending.names)
            if ending.folded_at is None and stands and line is not None:
                paid[line.hand] += ending.ways
        for figure in lines_of(table, HAND_CARDS):
            yield MainLine(name, figure.hand, figure.odds, figure.chance, Fraction(paid[figure.hand], play.deals))


def _folds(submission: Submission, play: Play) -> tuple[tuple[WagerName, Fraction], ...]:
    ways = {street.wager: 0 for street in GAMES[submission.game].streets}
    for ending in play.endings:
        if ending.folded_at is not None:
            ways[ending.folded_at] += ending.ways
    return tuple((wager, Fraction(count, play.deals)) for wager, count in ways.items())


def _stands(play: Play) -> tuple[tuple[str, Fraction], ...]:
    ways = dict.fromkeys(AGAINST, 0)
    for ending in play.endings:
        if ending.against is not None:
            ways[ending.against] += ending.ways
    return (
        tuple((against, Fraction(count, play.deals)) for against, count in ways.items()) if any(ways.values()) else ()
    )
