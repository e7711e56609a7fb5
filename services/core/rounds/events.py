"""What happened at a table: the events of the round log."""

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
    RoundId,
    RulesId,
    Seat,
    Text,
    WagerName,
)


@dataclass(frozen=True, slots=True)
class TableOpened:
    """The table deals this game under this submission."""

    game: GameName
    seats: Count
    rules: RulesId
    progressive_id: ProgressiveId | None
    rules_sha256: bytes | None = None
    """Of the submission in force at that moment, whose levels its progressive has; None in the oldest records."""


@dataclass(frozen=True, slots=True)
class TableClosed:
    """No more rounds until it is opened again."""


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """Betting is open. The submission in force is named by its hash and stays that of the round."""

    round_id: RoundId
    rules: RulesId
    rules_sha256: bytes


@dataclass(frozen=True, slots=True)
class WagerRequested:
    """A wager from a game account waits for the account to hold the stake; this record's sequence names the request."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hand: On
    amount_cents: Cents
    player_id: PlayerId
    account_id: AccountId


@dataclass(frozen=True, slots=True)
class WagerPlaced:
    """A wager is on the layout."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hand: On
    amount_cents: Cents
    player_id: PlayerId | None


@dataclass(frozen=True, slots=True)
class WagerConfirmed:
    """The account holds the stake: the requested wager is placed."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hand: On
    request_sequence: int


@dataclass(frozen=True, slots=True)
class WagerDeclined:
    """The requested wager does not stand: the account refused, or betting closed first."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hand: On
    request_sequence: int
    reason: str


@dataclass(frozen=True, slots=True)
class WagerWithdrawn:
    """The player took the wager back while betting was open."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hand: On


@dataclass(frozen=True, slots=True)
class BettingClosed:
    """No more bets. `lit` are the seats whose progressive wagers the system accepted, ascending."""

    round_id: RoundId
    lit: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class HandsDealt:
    """Cards are dealt face down; only counts are known. `stub_cards` must be left."""

    round_id: RoundId
    seats: tuple[Seat, ...]
    stub_cards: Count
    dealer_card: Card | None


@dataclass(frozen=True, slots=True)
class StubCounted:
    """The dealer counted the stub."""

    round_id: RoundId
    cards: Count
    expected_cards: Count
    misdealt: bool


@dataclass(frozen=True, slots=True)
class BetPlaced:
    """A later main wager (street, raise or bet) was made."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    multiple: Multiple
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class HandFolded:
    """The seat folded: its main wagers are lost; `cards_stay` while an optional wager lives."""

    round_id: RoundId
    seat: Seat
    cards_stay: bool


@dataclass(frozen=True, slots=True)
class CommunityCardRevealed:
    """A community card is face up."""

    round_id: RoundId
    card: Card


@dataclass(frozen=True, slots=True)
class DealerHandRevealed:
    """The dealer's hole cards are face up."""

    round_id: RoundId
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class MagicCardDrawn:
    """The Magic Card of the round."""

    round_id: RoundId
    card: Card


@dataclass(frozen=True, slots=True)
class LuckyPositionDrawn:
    """The lucky position of the round."""

    round_id: RoundId
    position: Position


@dataclass(frozen=True, slots=True)
class SixCardBonusRevealed:
    """The four Six Card Bonus cards are face up; they serve the whole table."""

    round_id: RoundId
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class AllSixCardRevealed:
    """The All-Six card is face up."""

    round_id: RoundId
    card: Card


@dataclass(frozen=True, slots=True)
class HandShown:
    """The seat's cards are face up and its wagers are settled. `keyed_by` is who keyed the cards."""

    round_id: RoundId
    seat: Seat
    cards: tuple[Card, ...]
    keyed_by: str = ""


@dataclass(frozen=True, slots=True)
class HandReplaced:
    """The seat's hand had been keyed wrongly: these are its cards, and it is settled anew.

    The payouts that its first cards won are not awaited any more; those of these cards follow.
    """

    round_id: RoundId
    seat: Seat
    cards: tuple[Card, ...]
    reason: Text
    keyed_by: str


@dataclass(frozen=True, slots=True)
class PayoutAwaited:
    """A payout of the seat just settled holds the round open until it is validated.

    Where `documents`, until it is documented as well.
    """

    round_id: RoundId
    claim_id: ClaimId
    documents: bool


@dataclass(frozen=True, slots=True)
class PayoutValidated:
    """The awaited payout was validated."""

    round_id: RoundId
    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class PayoutDocumented:
    """The awaited payout's documentation is complete: the cards may leave the table."""

    round_id: RoundId
    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class DocumentVoided:
    """The document of the awaited payout is void: the cards stay until there is another."""

    round_id: RoundId
    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class PayoutRejected:
    """The awaited payout is not made: it holds the round open no longer."""

    round_id: RoundId
    claim_id: ClaimId


@dataclass(frozen=True, slots=True)
class WagersForfeited:
    """All wagers of the seat are lost. One for each seat of the person."""

    round_id: RoundId
    seat: Seat
    reason: Text


@dataclass(frozen=True, slots=True)
class RoundVoided:
    """Every wager is returned, every contribution reversed, every hold released."""

    round_id: RoundId
    reason: str
    section: str | None
    deck_removed: bool


@dataclass(frozen=True, slots=True)
class RoundClosed:
    """The round is over and its cards are in the discard rack."""

    round_id: RoundId


@dataclass(frozen=True, slots=True)
class Refused:
    """A command was refused; nothing changed."""

    command: str
    reason: str
    section: str | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A command that could not be decided was passed over, in the name of a person; nothing changed."""

    command: str
    reason: str
    skipped_by: str


Event = (
    TableOpened
    | TableClosed
    | RoundOpened
    | WagerRequested
    | WagerPlaced
    | WagerConfirmed
    | WagerDeclined
    | WagerWithdrawn
    | BettingClosed
    | HandsDealt
    | StubCounted
    | BetPlaced
    | HandFolded
    | CommunityCardRevealed
    | DealerHandRevealed
    | MagicCardDrawn
    | LuckyPositionDrawn
    | SixCardBonusRevealed
    | AllSixCardRevealed
    | HandShown
    | HandReplaced
    | PayoutAwaited
    | PayoutValidated
    | PayoutDocumented
    | PayoutRejected
    | DocumentVoided
    | WagersForfeited
    | RoundVoided
    | RoundClosed
    | Refused
    | Skipped
)
