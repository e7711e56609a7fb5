"""A table as its round log leaves it, and the questions that decisions and settlements put to it."""

from enum import StrEnum

from services.core.changing import frozen, replace
from services.core.games import GAMES
from services.core.games.game import ANTE, FIVE_CARD_HAND_BONUS, Area, Faces, Game, OptionalWager, Street
from services.core.money import Cents
from services.core.names import (
    DEALER,
    AccountId,
    Card,
    ClaimId,
    GameName,
    On,
    PlayerId,
    Position,
    ProgressiveId,
    RoundId,
    RulesId,
    Seat,
    WagerName,
)


class Standing(StrEnum):
    """How a wager stands. `accepted` is said of progressive wagers: their light is on."""

    REQUESTED = "requested"
    PLACED = "placed"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    WITHDRAWN = "withdrawn"


class Phase(StrEnum):
    """Where a round is."""

    BETTING = "betting"
    DEALING = "dealing"
    DECIDING = "deciding"
    SETTLING = "settling"
    CLOSED = "closed"
    VOID = "void"


@frozen
class Wager:
    """One wager of a seat, and whose it is where a player was named with it.

    `request_sequence` and `account_id` belong to a stake from a game account.
    """

    wager: WagerName
    hand: On
    amount_cents: Cents
    standing: Standing
    request_sequence: int | None = None
    account_id: AccountId | None = None
    player_id: PlayerId | None = None

    @property
    def stands(self) -> bool:
        """Whether it is on the layout, in play or already settled."""
        return self.standing in (Standing.PLACED, Standing.ACCEPTED)

    @property
    def holds_place(self) -> bool:
        """Whether another of its kind would be one too many: it stands, or waits for its account."""
        return self.stands or self.standing is Standing.REQUESTED


@frozen
class Seated:
    """A seat in a round. `cards` are empty until the hand is shown; `keyed_by` is who keyed them then."""

    seat: Seat
    wagers: tuple[Wager, ...] = ()
    folded: bool = False
    forfeited: bool = False
    cards: tuple[Card, ...] = ()
    keyed_by: str = ""

    def wager(self, name: WagerName, hand: On = On.PLAYER) -> Wager | None:
        """The wager of that name on that hand, however it stands."""
        for each in self.wagers:
            if each.wager == name and each.hand is hand:
                return each
        return None

    @property
    def player_id(self) -> PlayerId | None:
        """Whose seat it is: of the first player named with a wager that stands or waits."""
        named = (each.player_id for each in self.wagers if each.player_id is not None and each.holds_place)
        return next(named, None)

    @property
    def ante(self) -> Wager | None:
        """The ante while it stands."""
        ante = self.wager(ANTE)
        return ante if ante is not None and ante.stands else None

    @property
    def in_play(self) -> bool:
        """Whether decisions are asked of the seat: it has an ante, neither folded nor forfeited."""
        return not self.folded and not self.forfeited and self.ante is not None


@frozen
class Awaited:
    """A payout that holds the round open."""

    claim_id: ClaimId
    documents: bool
    validated: bool = False
    documented: bool = False
    rejected: bool = False

    @property
    def wager(self) -> WagerName:
        """Which wager won it: its name is in the claim's, before `dealer` where it was on the dealer's hand."""
        return self.claim_id.removesuffix(f".{DEALER}").rsplit(".", 1)[-1]

    @property
    def seat(self) -> Seat:
        """Whose payout it is: a claim's id is the round's, the seat and the wager, divided by dots."""
        return int(self.claim_id.split(".")[1])

    @property
    def released(self) -> bool:
        """Whether the round may close for all that this payout needs."""
        return self.rejected or (self.validated and (self.documented or not self.documents))


@frozen
class Round:
    """One round. `seats` has those that wagered, ascending; `stub_cards` is None until the hands are dealt."""

    round_id: RoundId
    game: GameName
    rules: RulesId
    rules_sha256: bytes
    phase: Phase = Phase.BETTING
    seats: tuple[Seated, ...] = ()
    lit: tuple[Seat, ...] = ()
    stub_cards: int | None = None
    stub_counted: bool = False
    community: tuple[Card, ...] = ()
    dealer: tuple[Card, ...] = ()
    six_card_bonus: tuple[Card, ...] = ()
    all_six: tuple[Card, ...] = ()
    magic_card: Card | None = None
    lucky_position: Position | None = None
    awaited: tuple[Awaited, ...] = ()

    @property
    def over(self) -> bool:
        """Whether nothing more happens in the round."""
        return self.phase in (Phase.CLOSED, Phase.VOID)

    def seated(self, seat: Seat) -> Seated:
        """That seat; an empty one where nobody wagered there."""
        return next((each for each in self.seats if each.seat == seat), Seated(seat))

    @property
    def hand_shown(self) -> bool:
        """Whether settlement has begun."""
        return any(each.cards for each in self.seats)

    def extra(self, area: Area) -> tuple[Card, ...]:
        """The extra cards that were turned over in an area."""
        return self.six_card_bonus if area is Area.SIX_CARD_BONUS else self.all_six

    def faces(self, own: tuple[Card, ...]) -> Faces:
        """The cards that the wagers of a seat look at, once its own are face up."""
        return Faces(
            {
                Area.OWN: own,
                Area.COMMUNITY: self.community,
                Area.DEALER: self.dealer,
                Area.SIX_CARD_BONUS: self.six_card_bonus,
                Area.ALL_SIX: self.all_six,
            }
        )

    @property
    def face_up(self) -> tuple[Card, ...]:
        """Every card of the deck that was seen in the round; the drawn Magic Card is of no deck."""
        shown = tuple(card for each in self.seats for card in each.cards)
        return (*self.community, *self.dealer, *self.six_card_bonus, *self.all_six, *shown)


@frozen
class Table:
    """The fold of a round log. `round` stays the last one after it is over, until the next is opened."""

    sequence: int = 0
    game: GameName | None = None
    seats: int = 0
    rules: RulesId | None = None
    rules_sha256: bytes | None = None
    """Of the submission in force when the table was opened."""
    progressive_id: ProgressiveId | None = None
    rounds_opened: int = 0
    rounds_uncounted: int = 0
    """Rounds dealt since the deck was inspected or its stub counted. 655a.10(d)"""
    round: Round | None = None


State = Table
INITIAL = Table()


def game_of(round_: Round) -> Game:
    """The game that the round is of."""
    return GAMES[round_.game]


def live_main(round_: Round, seated: Seated) -> tuple[Wager, ...]:
    """The main wagers of a seat that are still to be settled, in the order in which they were made."""
    if seated.cards or not seated.in_play:
        return ()
    made = (seated.wager(name) for name in game_of(round_).main)
    return tuple(wager for wager in made if wager is not None and wager.stands)


def live_optional(round_: Round, seated: Seated) -> tuple[tuple[OptionalWager, Wager], ...]:
    """The optional wagers of a seat that are still to be settled, in the order of settlement, player's hand first."""
    if seated.cards or seated.forfeited:
        return ()
    return tuple(
        (kind, wager)
        for kind in game_of(round_).optional
        for hand in kind.sees
        if (wager := seated.wager(kind.wager, hand)) is not None
        and wager.stands
        and (kind.outlives_fold or not seated.folded)
    )


def live(round_: Round, seated: Seated) -> bool:
    """Whether the seat still has a wager to be settled."""
    return bool(live_main(round_, seated) or live_optional(round_, seated))


def has_live(round_: Round, seated: Seated, wager: WagerName) -> bool:
    """Whether the seat has a live optional wager of that name, on whichever hand."""
    return any(kind.wager == wager for kind, _ in live_optional(round_, seated))


def has_hand_bonus(round_: Round) -> bool:
    """Whether anybody's Five Card Hand Bonus is still to be settled."""
    return any(has_live(round_, seated, FIVE_CARD_HAND_BONUS) for seated in round_.seats)


def street_due(round_: Round) -> Street | None:
    """The street on which decisions are made now, None once the last has its card."""
    streets = game_of(round_).streets
    step = len(round_.community)
    return streets[step] if step < len(streets) else None


def undecided(round_: Round) -> tuple[Seat, ...]:
    """The seats whose decision on the present street is due, ascending."""
    street = street_due(round_)
    if street is None:
        return ()
    return tuple(each.seat for each in round_.seats if each.in_play and each.wager(street.wager) is None)


def needs_more_cards(round_: Round) -> bool:
    """Whether community or dealer cards must still come out for somebody's wager."""
    game = game_of(round_)
    if len(round_.community) == game.community_cards and len(round_.dealer) == game.dealer_cards:
        return False
    for each in round_.seats:
        if each.in_play and not each.cards:
            return True
        if any(kind.needs_table_cards(wager.hand) for kind, wager in live_optional(round_, each)):
            return True
    return False


def unshown(round_: Round, seat: Seat) -> Round:
    """The round as if that seat's hand were not shown: what its wagers came to is open again."""
    return replace(round_, seats=tuple(replace(each, cards=()) if each.seat == seat else each for each in round_.seats))


def next_to_show(round_: Round) -> Seat | None:
    """Whose turn it is in settlement, counterclockwise: the highest seat that still has a wager."""
    return max((each.seat for each in round_.seats if live(round_, each)), default=None)
