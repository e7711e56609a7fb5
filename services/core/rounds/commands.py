"""What may be asked of a table: the commands of people, and those that other processors send."""

from dataclasses import dataclass

from services.core.money import Cents
from services.core.names import (
    AccountId,
    Card,
    ClaimId,
    Count,
    GameName,
    Multiple,
    On,
    PlayerId,
    Position,
    ProgressiveId,
    RulesId,
    Seat,
    Text,
    WagerName,
)

# Commands of people -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OpenTable:
    """Opens a table for a game under a Rules Submission, linked to a progressive where it offers one."""

    game: GameName
    seats: Count
    rules: RulesId
    progressive_id: ProgressiveId | None = None
    progressive_rules: RulesId | None = None
    """Stamped by the API: the submission under which the progressive is open, None where it is not."""
    progressive_sha256: bytes | None = None
    """Stamped by the API: which of the submissions of that id it is, for they differ by date."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """Opens the next round: betting is open."""


@dataclass(frozen=True, slots=True)
class PlaceWager:
    """A player wagers before `no more bets`."""

    seat: Seat
    wager: WagerName
    amount_cents: Cents
    player_id: PlayerId | None = None
    account_id: AccountId | None = None
    hand: On = On.PLAYER
    progressive_age_ms: int | None = None
    """Stamped by the API on a progressive wager: how long ago the progressive controller was last heard of."""
    progressive_ends: bool = False
    """Stamped by the API on a progressive wager: the table's progressive is closing or closed."""


@dataclass(frozen=True, slots=True)
class WithdrawWager:
    """Takes a wager back while betting is open."""

    seat: Seat
    wager: WagerName
    hand: On = On.PLAYER


@dataclass(frozen=True, slots=True)
class CloseBetting:
    """No more bets: the lights come on for the progressive wagers that are accepted."""


@dataclass(frozen=True, slots=True)
class DealHands:
    """The cards are dealt, face down but for the one that a dealer with a hand shows."""

    dealer_card: Card | None = None


@dataclass(frozen=True, slots=True)
class CountStub:
    """The dealer counted the stub face down. 655a.10(d)-(f)"""

    cards: Count
    misdealt: bool = False


@dataclass(frozen=True, slots=True)
class Bet:
    """The seat's next later main wager, a multiple of its ante. 655a.11(b),(d),(f); 639a.11(b); 683a.11(b),(d),(f)"""

    seat: Seat
    multiple: Multiple


@dataclass(frozen=True, slots=True)
class Fold:
    """The seat withdraws by not making it. 655a.11(b),(d),(f); 639a.11(b); 683a.11(b),(d),(f)"""

    seat: Seat


@dataclass(frozen=True, slots=True)
class RevealCommunityCard:
    """The next community card is turned over. 655a.11(c),(e),(g); 683a.11(c),(e),(g)"""

    card: Card


@dataclass(frozen=True, slots=True)
class RevealDealerHand:
    """The dealer's hole cards are turned over. 639a.11(c)"""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class DrawMagicCard:
    """The system drew the Magic Card."""

    card: Card


@dataclass(frozen=True, slots=True)
class DrawLuckyPosition:
    """The system drew the lucky position."""

    position: Position


@dataclass(frozen=True, slots=True)
class RevealSixCardBonus:
    """The four Six Card Bonus cards are turned over. 655a.11(i)(4)"""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class RevealAllSixCard:
    """The All-Six card is turned over."""

    card: Card


@dataclass(frozen=True, slots=True)
class ShowHand:
    """The dealer turns the seat's cards face up and settles its wagers. 655a.11(h)"""

    seat: Seat
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class ForfeitWagers:
    """The person spoke of the hand before all community cards were out. 655a.11(a)(3)"""

    seat: Seat
    reason: Text


@dataclass(frozen=True, slots=True)
class ReplaceHand:
    """A hand was keyed wrongly: another person keys it again, before its payouts are validated and the round closed."""

    seat: Seat
    cards: tuple[Card, ...]
    reason: Text


@dataclass(frozen=True, slots=True)
class VoidRound:
    """Every wager is returned."""

    reason: Text


@dataclass(frozen=True, slots=True)
class CloseRound:
    """The cards go to the discard rack. 655a.11(j)"""


@dataclass(frozen=True, slots=True)
class CloseTable:
    """The table closes."""


# Commands of processors -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfirmWager:
    """`accounts`: the account holds the stake of the wager requested at that sequence."""

    request_sequence: int


@dataclass(frozen=True, slots=True)
class DeclineWager:
    """`accounts`: the account cannot hold the stake of the wager requested at that sequence."""

    request_sequence: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReleasePayout:
    """`jackpots`: a floorperson validated the claim (or completed its documentation, or rejected it).

    With `slip_void` its documentation is not complete any more. `entered_by` is who keyed the hand that the claim is of:
    the same claim may be made again when the hand is keyed anew.
    """

    claim_id: ClaimId
    documented: bool
    rejected: bool = False
    slip_void: bool = False
    entered_by: str = ""


PeopleCommand = (
    OpenTable
    | OpenRound
    | PlaceWager
    | WithdrawWager
    | CloseBetting
    | DealHands
    | CountStub
    | Bet
    | Fold
    | RevealCommunityCard
    | RevealDealerHand
    | DrawMagicCard
    | DrawLuckyPosition
    | RevealSixCardBonus
    | RevealAllSixCard
    | ShowHand
    | ReplaceHand
    | ForfeitWagers
    | VoidRound
    | CloseRound
    | CloseTable
)
ProcessorCommand = ConfirmWager | DeclineWager | ReleasePayout
Command = PeopleCommand | ProcessorCommand
