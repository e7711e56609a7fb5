"""What a game is, as data: its cards, its wagers in the order of settlement, and the sections behind its rules."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from services.core.hands import FIVE_CARD_HANDS, FIVE_CARDS_MADE
from services.core.names import Card, GameName, HandName, On, Result, WagerName
from services.core.paytables import Kind, Line, first_met, line_for
from services.core.rules import Submission

ANTE: WagerName = "ante"
PROGRESSIVE: WagerName = "progressive"
FIVE_CARD_HAND_BONUS: WagerName = "five_card_hand_bonus"
MAGIC_CARD: WagerName = "magic_card"
LUCKY_POSITION: WagerName = "lucky_position"


class Area(StrEnum):
    """A place on the layout where cards lie."""

    OWN = "own"
    COMMUNITY = "community"
    DEALER = "dealer"
    SIX_CARD_BONUS = "six_card_bonus"
    ALL_SIX = "all_six"


@dataclass(frozen=True, slots=True)
class Faces:
    """The cards that are face up when a seat is settled, by area; an area without cards may be left out."""

    by_area: dict[Area, tuple[Card, ...]] = field(default_factory=dict)

    def of(self, areas: tuple[Area, ...]) -> tuple[Card, ...]:
        """The cards of several areas together."""
        return tuple(card for area in areas for card in self.by_area.get(area, ()))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a wager came to: the line met, if any, and the section behind it."""

    result: Result
    line: Line | None
    section: str


SettleMain = Callable[[Submission, WagerName, Faces], Outcome]


@dataclass(frozen=True, slots=True)
class Street:
    """A later main wager: the decision to make it or fold, and the card or dealer's hand turned over after it."""

    wager: WagerName
    decide_section: str
    reveal_section: str


@dataclass(frozen=True, slots=True)
class OptionalWager:
    """A wager against a posted table, placed before the deal.

    `sees` are the areas whose cards it looks at, by the hand that it is on. `hands` are those that its table may name,
    from the highest. `extra_cards` are dealt once for the table if anybody makes the wager. `from_account`: staked from
    and paid to the player's game account.
    `validate_section` says who validates a payout, `document_section` how it is paid and until when the cards stay.
    """

    wager: WagerName
    sees: dict[On, tuple[Area, ...]]
    won_section: str
    lost_section: str
    hands: tuple[HandName, ...] = FIVE_CARD_HANDS
    outlives_fold: bool = True
    from_account: bool = False
    extra_area: Area | None = None
    extra_cards: int = 0
    validate_section: str | None = None
    document_section: str | None = None

    def needs_table_cards(self, on: On) -> bool:
        """Whether community or dealer cards must come out for it on that hand: it looks at them, or at cards
        revealed after them."""
        seen = self.sees[on]
        return self.extra_area is not None or Area.COMMUNITY in seen or Area.DEALER in seen


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections behind the rules that are the game's own; None where the game has no such rule."""

    deal: str
    count_stub: str
    stub_is_right: str
    stub_is_wrong: str
    show: str
    close: str
    irregularity: str
    extras: str | None = None
    envy: str | None = None
    forfeit: str | None = None


@dataclass(frozen=True, slots=True)
class Game:
    """One game. The optional wagers stand in the order of their settlement; `main_tables` are what a submission calls
    the tables of the main wagers."""

    name: GameName
    title: str
    own_cards: int
    community_cards: int
    dealer_cards: int
    streets: tuple[Street, ...]
    optional: tuple[OptionalWager, ...]
    settle_main: SettleMain
    sections: Sections
    main_tables: tuple[str, ...] = ("main",)

    @property
    def main(self) -> tuple[WagerName, ...]:
        """The main wagers, in the order in which they are made."""
        return (ANTE, *(street.wager for street in self.streets))

    @property
    def settlement_order(self) -> tuple[WagerName, ...]:
        """All wagers of a seat in the order in which they are settled, the two extras last."""
        return (*self.main, *(kind.wager for kind in self.optional), MAGIC_CARD, LUCKY_POSITION)

    def optional_wager(self, wager: WagerName) -> OptionalWager | None:
        """The optional wager of that name, None for a main wager or one that the game does not know."""
        return next((each for each in self.optional if each.wager == wager), None)

    def most_won_antes(self, submission: Submission) -> int:
        """The most that one hand can win on the main wagers where no limit cuts it, in antes, every later wager made at
        the highest multiple."""
        later = max(submission.multiples) * len(self.streets)
        staked = {"main": 1 + later, "ante_table": 1, "bet_table": later}

        def won(made: frozenset[HandName]) -> int:
            met = ((staked[name], line_for(table, made)) for name, table in submission.main_tables.items())
            return sum(antes * line.odds.multiple for antes, line in met if line is not None)

        return max(map(won, FIVE_CARDS_MADE))


def by_one_table(*, lost: str, pushed: str, won: str) -> SettleMain:
    """Settles every main wager by the table `main` of the submission, on the own and the community cards."""

    def settle(submission: Submission, wager: WagerName, faces: Faces) -> Outcome:
        line = first_met(submission.main_tables["main"], faces.of((Area.OWN, Area.COMMUNITY)))
        return Outcome(Result.LOST, None, lost) if line is None else by_line(line, pushed=pushed, won=won)

    return settle


def by_line(line: Line, *, pushed: str, won: str) -> Outcome:
    """What a wager that meets a line comes to, with the section for either result."""
    if line.odds.kind is Kind.PUSH:
        return Outcome(Result.PUSHED, line, pushed)
    return Outcome(Result.WON, line, won)
