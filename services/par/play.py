"""Best play of the main game: how every round of it ends, and what an ending comes to."""

from collections.abc import Callable
from dataclasses import dataclass

from services.core.games import GAMES
from services.core.money import Cents
from services.core.names import GameName, HandName, WagerName
from services.core.paytables import line_for
from services.core.rules import Submission

Progress = Callable[[int, int], None]
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
        line = line_for(table, ending.names)
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
    if GAMES[submission.game].dealer_cards:
        return _against_the_dealer(submission, progress)
    return _by_streets(submission, progress)


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
