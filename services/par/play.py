"""The main game under best play: how every round ends, and what it adds up to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from services.core.games import GAMES
from services.core.money import Cents
from services.core.names import GameName, HandName, WagerName
from services.core.paytables import Line, Odds, Paytable
from services.core.rules import Submission
from services.par.counts import made
from services.par.wagers import lines_of

Progress = Callable[[int, int], None]
FIVE = 5
NOT_QUALIFIED, HIGHER, EQUAL, LOWER = AGAINST = ("not_qualified", "higher", "equal", "lower")
"""How a hand that was bet on stands to the dealer's. 639a.11(c)(3)"""


@dataclass(frozen=True, slots=True)
class Terms:
    """All that best play depends on, and nothing else. `antes_cents`: the lowest and the highest ante."""

    game: GameName
    multiples: tuple[int, ...]
    tables: tuple[tuple[str, tuple[tuple[HandName, str], ...]], ...]
    """By name, the lines as the submission writes them."""
    antes_cents: tuple[Cents, Cents]
    limit_cents: Cents


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which a round ends: how much was wagered in all, in antes, and what the hand was.

    `folded_at` names the wager that was not made, and `names` are empty where the hand was not complete by then.
    `against` tells how the hand stands to the dealer's, where there is one. `ways` counts deals.
    """

    staked: int
    names: frozenset[HandName]
    ways: int
    folded_at: WagerName | None = None
    against: str | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """Best play at one ante: every ending with its deals."""

    ante_cents: Cents
    endings: tuple[Ending, ...]

    @property
    def deals(self) -> int:
        """All deals, in the game's own count: own cards, and the order in which the rest is seen."""
        return sum(ending.ways for ending in self.endings)


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


def terms_of(submission: Submission) -> Terms:
    """The terms of the submission's main game."""
    tables = tuple(
        (name, tuple((line.hand, line.odds.text) for line in table.lines))
        for name, table in sorted(submission.main_tables.items())
    )
    antes = (submission.ante.minimum_cents, submission.ante.maximum_cents)
    return Terms(submission.game, submission.multiples, tables, antes, submission.aggregate_limit_cents)


def came_to(submission: Submission, ante_cents: Cents, ending: Ending) -> tuple[Cents, Cents]:
    """What a hand wins, the aggregate limit applied, and what of its stakes goes back.

    As `Game.settle_main` and `rounds.settlement` settle the cards themselves. The limit cuts the latest wager first,
    and what is left is the least of the winnings and the limit. 655a.12(b)
    """
    if ending.folded_at is not None or ending.against == LOWER:
        return 0, 0
    stakes_cents = ending.staked * ante_cents
    if ending.against == EQUAL:
        return 0, stakes_cents
    if ending.against is None:
        paid = [(submission.main_tables["main"], stakes_cents)]
    else:
        paid = [(submission.main_tables["ante_table"], ante_cents)]
        if ending.against == HIGHER:
            paid.append((submission.main_tables["bet_table"], stakes_cents - ante_cents))
    won = returned = 0
    for table, stake in paid:
        line = _first(table, ending.names)
        if line is not None:
            won += line.odds.won_cents(stake) or 0
            returned += line.odds.returned_cents(stake)
    if ending.against == NOT_QUALIFIED:
        returned += stakes_cents - ante_cents
    return min(won, submission.aggregate_limit_cents), returned


def net_cents(submission: Submission, ante_cents: Cents, ending: Ending) -> Cents:
    """What a hand adds to its player; less than zero where he loses."""
    return sum(came_to(submission, ante_cents, ending)) - ending.staked * ante_cents


def best_play(submission: Submission, progress: Progress = lambda done, of: None) -> tuple[Play, Play]:
    """Best play at the lowest ante and at the highest, every deal counted: seconds, and the kernels' compilation."""
    if submission.game == "caribbean_stud":
        return _against_the_dealer(submission, progress)
    return _by_streets(submission, progress)


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
    most = most_won_antes(submission)
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


def folded_ways(play: Play, table: Paytable) -> Fraction:
    """The chance that a hand which meets a line of the table is folded; of hands that are complete when folded."""
    ways = sum(
        ending.ways
        for ending in play.endings
        if ending.folded_at is not None and _first(table, ending.names) is not None
    )
    return Fraction(ways, play.deals)


def most_won_antes(submission: Submission) -> int:
    """The most that one hand can win without a limit, in antes, whatever it wagers."""
    game, multiple = GAMES[submission.game], max(submission.multiples)
    staked = 1 + multiple * len(game.streets)
    hands = made(FIVE)
    if "main" in submission.main_tables:
        return max(_multiple(submission.main_tables["main"], names) * staked for names in hands)
    ante, bet = submission.main_tables["ante_table"], submission.main_tables["bet_table"]
    return max(_multiple(ante, names) + multiple * _multiple(bet, names) for names in hands)


def _first(table: Paytable, names: frozenset[HandName]) -> Line | None:
    return next((line for line in table.lines if line.hand in names), None)


def _multiple(table: Paytable, names: frozenset[HandName]) -> int:
    line = _first(table, names)
    return 0 if line is None else line.odds.multiple


def _lines(submission: Submission, play: Play) -> Iterator[MainLine]:
    for name, table in submission.main_tables.items():
        on_bet = name == "bet_table"
        paid = dict.fromkeys((line.hand for line in table.lines), 0)
        for ending in play.endings:
            stands = ending.against in ((HIGHER,) if on_bet else (HIGHER, NOT_QUALIFIED, None))
            line = _first(table, ending.names)
            if ending.folded_at is None and stands and line is not None:
                paid[line.hand] += ending.ways
        for figure in lines_of(table, FIVE):
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


def _by_streets(submission: Submission, progress: Progress) -> tuple[Play, Play]:
    import numpy as np

    from services.par import streets
    from services.par.classes import classes

    antes, names = terms_of(submission).antes_cents, classes().names
    size = streets.stakes(submission.multiples)[-1][-1] + 1
    pays = [
        [[net_cents(submission, ante, Ending(staked, made, 0)) for made in names] for staked in range(size)]
        for ante in antes
    ]
    ends, folds = streets.best_play(
        submission.multiples, np.array(antes, dtype=np.int64), np.array(pays, dtype=np.int64), progress=progress
    )
    wagers = [street.wager for street in GAMES[submission.game].streets]
    plays = []
    for which, ante in enumerate(antes):
        endings = [
            Ending(staked, frozenset(), int(folds[which, at, staked]), folded_at=wager)
            for at, wager in enumerate(wagers)
            for staked in range(size)
        ]
        endings += [
            Ending(staked, made, int(ends[which, staked, place]))
            for staked in range(size)
            for place, made in enumerate(names)
        ]
        plays.append(Play(ante, tuple(ending for ending in endings if ending.ways)))
    return plays[0], plays[1]


def _against_the_dealer(submission: Submission, progress: Progress) -> tuple[Play, Play]:
    import numpy as np

    from services.par import caribbean
    from services.par.classes import classes

    antes, names = terms_of(submission).antes_cents, classes().names
    pays = [
        [
            [
                [net_cents(submission, ante, Ending(1 + multiple, made, 0, against=against)) for made in names]
                for against in AGAINST
            ]
            for multiple in submission.multiples
        ]
        for ante in antes
    ]
    ends, folds = caribbean.best_play(
        np.array(antes, dtype=np.int64), np.array(pays, dtype=np.int64), progress=progress
    )
    (street,) = GAMES[submission.game].streets
    plays = []
    for which, ante in enumerate(antes):
        endings = [
            Ending(1, made, int(folds[which, place]), folded_at=street.wager) for place, made in enumerate(names)
        ]
        endings += [
            Ending(1 + multiple, made, int(ends[which, at, stand, place]), against=against)
            for at, multiple in enumerate(submission.multiples)
            for stand, against in enumerate(AGAINST)
            for place, made in enumerate(names)
        ]
        plays.append(Play(ante, tuple(ending for ending in endings if ending.ways)))
    return plays[0], plays[1]
