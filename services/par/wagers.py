"""The optional wagers: what every line, extra and meter is worth, by counting the hands that the wager looks at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from services.core.cards import DECK
from services.core.games import GAMES
from services.core.games.game import LUCKY_POSITION, MAGIC_CARD, PROGRESSIVE, Area, Game, OptionalWager
from services.core.money import Cents
from services.core.names import HandName, On, WagerName
from services.core.paytables import Kind, Odds, Paytable
from services.core.rules import Envy, LevelRules, Submission
from services.par.counts import hands_of, made

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class LineFigure:
    """A line, and the chance that it is the one that pays; `made` is the chance of its hand, whatever stands above."""

    hand: HandName
    odds: Odds
    chance: Fraction
    made: Fraction

    def paid_cents(self, stake_cents: Cents, meters: Mapping[str, Cents]) -> Cents:
        """What comes back in all, the stake included where it does; a share is cut to whole cents."""
        if self.odds.level is not None:
            return meters[self.odds.level] * self.odds.percent // 100
        return (self.odds.won_cents(stake_cents) or 0) + self.odds.returned_cents(stake_cents)


@dataclass(frozen=True, slots=True)
class Extra:
    """What is paid whatever the hand: for the Magic Card, or for the lucky position."""

    wager: WagerName
    cents: Cents
    chance: Fraction


@dataclass(frozen=True, slots=True)
class EnvyFigure:
    """An Envy Bonus, and the chance that one other hand of the table is the one that brings it."""

    hand: HandName
    cents: Cents
    chance: Fraction


@dataclass(frozen=True, slots=True)
class BreakEven:
    """The meter of one level at which the wager returns all that is wagered, every other level at its reset.

    `exact_cents` counts shares uncut; `cents` is the least that the meter can show, shares cut to whole cents. Zero or
    below: it returns all without that meter.
    """

    level: LevelRules
    exact_cents: Fraction
    cents: Cents


@dataclass(frozen=True, slots=True)
class WagerSheet:
    """The figures of one optional wager, the same for each of `hands`.

    Returns and variances are of one unit wagered. A share or an extra is a fixed sum, so it is worth the most to who
    wagers least: where nothing else is said, the stake is `minimum_cents`.
    """

    wager: WagerName
    hands: tuple[On, ...]
    cards: int
    minimum_cents: Cents
    maximum_cents: Cents
    source: str
    lines: tuple[LineFigure, ...]
    extras: tuple[Extra, ...]
    shared: tuple[LevelRules, ...]
    """The levels of which the wager pays shares, in the order of the submission."""
    fed: tuple[LevelRules, ...]
    """The levels to which the wager contributes."""
    envy: tuple[EnvyFigure, ...]
    others: int
    """The other seats of a full table, whose hands may bring an Envy Bonus."""
    outlives_fold: bool

    @property
    def lost(self) -> Fraction:
        """The chance that no line is met."""
        return 1 - sum((line.chance for line in self.lines), Fraction(0))

    @property
    def at_reset(self) -> dict[str, Cents]:
        """The meters as they start again."""
        return {level.name: level.reset_cents for level in self.shared}

    @property
    def at_limit(self) -> dict[str, Cents]:
        """The meters as high as they go."""
        return {level.name: level.limit_cents for level in self.shared}

    @property
    def fixed(self) -> Fraction:
        """The return without any share of a meter."""
        return self.returned(dict.fromkeys(self.at_reset, 0))

    @property
    def edge(self) -> Fraction:
        """The house edge, meters at their reset."""
        return 1 - self.returned(self.at_reset)

    @property
    def variance(self) -> Fraction:
        """Of what one unit wagered comes to, meters at their reset.

        The Magic Card and the lucky position are drawn beside the cards: neither says anything of the hand.
        """
        stake, meters = self.minimum_cents, self.at_reset
        paid = [(line.chance, Fraction(line.paid_cents(stake, meters), stake)) for line in self.lines]
        extras = [[(extra.chance, Fraction(extra.cents, stake))] for extra in self.extras]
        return sum((_variance(each) for each in [paid, *extras]), Fraction(0))

    @property
    def rate(self) -> Fraction:
        """What of each unit wagered goes into the meters, their hidden parts included."""
        return sum((Fraction(level.rate_ppm + level.hidden_rate_ppm, MILLION) for level in self.fed), Fraction(0))

    @property
    def envy_return(self) -> Fraction:
        """What each other hand of the table adds to the return."""
        return sum((self.sum_return(each) for each in self.envy), Fraction(0))

    @property
    def with_envy(self) -> Fraction:
        """The return with the Envy Bonuses of a full table, meters at their reset."""
        return 1 - self.edge + self.others * self.envy_return

    @property
    def depends_on_stake(self) -> bool:
        """Whether a larger stake returns another part of itself."""
        return self.minimum_cents != self.maximum_cents and bool(self.extras or self.shared)

    def returned(self, meters: Mapping[str, Cents], stake_cents: Cents | None = None) -> Fraction:
        """The return where the meters stand so."""
        stake = self.minimum_cents if stake_cents is None else stake_cents
        lines = sum((line.chance * line.paid_cents(stake, meters) for line in self.lines), Fraction(0))
        return (lines + sum((extra.chance * extra.cents for extra in self.extras), Fraction(0))) / stake

    def line_return(self, line: LineFigure) -> Fraction | None:
        """What a line adds to the return; None for a share, which is worth what the meter shows."""
        if line.odds.level is not None:
            return None
        return line.chance * line.paid_cents(self.minimum_cents, {}) / self.minimum_cents

    def sum_return(self, paid: Extra | EnvyFigure) -> Fraction:
        """What a fixed sum adds to the return."""
        return paid.chance * paid.cents / self.minimum_cents

    def slope(self, level: LevelRules) -> Fraction:
        """What each cent of the level's meter adds to the return, shares uncut."""
        shares = (line.chance * line.odds.percent for line in self.lines if line.odds.level == level.name)
        return sum(shares, Fraction(0)) / (100 * self.minimum_cents)

    def break_even(self, level: LevelRules) -> BreakEven | None:
        """Where the level's meter makes the return one; None where the cards never bring a share of it."""
        slope = self.slope(level)
        if not slope:
            return None
        others = self.at_reset | {level.name: 0}
        exact = (1 - self.returned(others)) / slope
        cents = max(0, -(-exact.numerator // exact.denominator))
        # Cutting takes less than a cent of each line, so the least whole cent is not far above.
        while self.returned(others | {level.name: cents}) < 1:
            cents += 1
        return BreakEven(level, exact, cents)


def wager_sheets(submission: Submission) -> tuple[WagerSheet, ...]:
    """Every optional wager of the submission, in the game's order of settlement."""
    game = GAMES[submission.game]
    offered = (kind for kind in game.optional if kind.wager == PROGRESSIVE or kind.wager in submission.bonuses)
    return tuple(
        _progressive(submission, game, kind) if kind.wager == PROGRESSIVE else _bonus(submission, game, kind)
        for kind in offered
        if kind.wager != PROGRESSIVE or submission.progressive is not None
    )


def lines_of(table: Paytable, size: int, ace_low_straight: bool = False) -> tuple[LineFigure, ...]:
    """The lines of a table on hands of so many cards; the first that is met pays."""
    pays: dict[HandName, int] = dict.fromkeys((line.hand for line in table.lines), 0)
    makes = dict(pays)
    for names, ways in made(size, ace_low_straight).items():
        met = [line.hand for line in table.lines if line.hand in names]
        for hand in met:
            makes[hand] += ways
        if met:
            pays[met[0]] += ways
    of = hands_of(size)
    return tuple(
        LineFigure(line.hand, line.odds, Fraction(pays[line.hand], of), Fraction(makes[line.hand], of))
        for line in table.lines
    )


def _cards_seen(game: Game, kind: OptionalWager, on: On) -> int:
    """How many cards the wager looks at."""
    sizes = {Area.OWN: game.own_cards, Area.COMMUNITY: game.community_cards, Area.DEALER: game.dealer_cards}
    if kind.extra_area is not None:
        sizes[kind.extra_area] = kind.extra_cards
    return sum(sizes[area] for area in kind.sees[on])


def _progressive(submission: Submission, game: Game, kind: OptionalWager) -> WagerSheet:
    offered = submission.progressive
    assert offered is not None
    cards = _cards_seen(game, kind, On.PLAYER)
    return WagerSheet(
        wager=kind.wager,
        hands=(On.PLAYER,),
        cards=cards,
        minimum_cents=offered.wager_cents,
        maximum_cents=offered.wager_cents,
        source=offered.table.source,
        lines=lines_of(offered.table, cards),
        extras=(),
        shared=_shared(offered.table, offered.levels),
        fed=offered.levels,
        envy=_envy(offered.envy, cards),
        others=submission.seats - 1,
        outlives_fold=kind.outlives_fold,
    )


def _bonus(submission: Submission, game: Game, kind: OptionalWager) -> WagerSheet:
    bonus = submission.bonuses[kind.wager]
    cards = _cards_seen(game, kind, bonus.hands[0])
    positions = submission.seats + (1 if game.dealer_cards else 0)
    extras = (
        Extra(MAGIC_CARD, bonus.magic_card_cents, Fraction(cards, len(DECK))),
        Extra(LUCKY_POSITION, bonus.lucky_position_cents, Fraction(1, positions)),
    )
    return WagerSheet(
        wager=kind.wager,
        hands=bonus.hands,
        cards=cards,
        minimum_cents=bonus.minimum_cents,
        maximum_cents=bonus.maximum_cents,
        source=bonus.table.source,
        lines=lines_of(bonus.table, cards, bonus.ace_low_straight),
        extras=tuple(extra for extra in extras if extra.cents),
        shared=_shared(bonus.table, submission.progressive.levels if submission.progressive else ()),
        fed=(),
        envy=(),
        others=submission.seats - 1,
        outlives_fold=kind.outlives_fold,
    )


def _shared(table: Paytable, levels: tuple[LevelRules, ...]) -> tuple[LevelRules, ...]:
    named = {line.odds.level for line in table.lines if line.odds.kind is Kind.SHARE}
    return tuple(level for level in levels if level.name in named)


def _envy(envy: Envy | None, cards: int) -> tuple[EnvyFigure, ...]:
    """As `rounds.settlement.envy_hand` gives it: the first of the hands that the cards make. 655a.11(i)(1)(v)"""
    if envy is None:
        return ()
    ways = dict.fromkeys((hand for hand, _ in envy.amounts_cents), 0)
    for names, count in made(cards).items():
        first = next((hand for hand, _ in envy.amounts_cents if hand in names), None)
        if first is not None:
            ways[first] += count
    return tuple(EnvyFigure(hand, cents, Fraction(ways[hand], hands_of(cards))) for hand, cents in envy.amounts_cents)


def _variance(outcomes: Sequence[tuple[Fraction, Fraction]]) -> Fraction:
    """Of chances and what is paid; what is left of the chance pays nothing."""
    mean = sum((chance * paid for chance, paid in outcomes), Fraction(0))
    return sum((chance * paid * paid for chance, paid in outcomes), Fraction(0)) - mean * mean
