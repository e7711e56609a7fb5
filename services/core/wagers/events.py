"""What became of wagers: the events of the wagers log."""

from dataclasses import dataclass

from services.core.money import Cents
from services.core.names import (
    AccountId,
    ClaimId,
    GameName,
    HandName,
    On,
    PlayerId,
    ProgressiveId,
    Result,
    RoundId,
    RulesId,
    Seat,
    Source,
    WagerName,
)


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round was opened at the table."""

    round_id: RoundId
    game: GameName
    rules: RulesId


@dataclass(frozen=True, slots=True)
class HoldRequested:
    """The stake of a requested wager must be held by the account."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hold_id: str
    amount_cents: Cents
    player_id: PlayerId
    account_id: AccountId
    request_sequence: int


@dataclass(frozen=True, slots=True)
class HoldReturned:
    """The held stake must be released: the wager was withdrawn or declined, or the round is void."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    hold_id: str
    account_id: AccountId


@dataclass(frozen=True, slots=True)
class ContributionDue:
    """The accepted progressive wagers of the round, together, contribute to the progressive. One a round."""

    round_id: RoundId
    progressive_id: ProgressiveId
    wager_cents: Cents
    wagers: int


@dataclass(frozen=True, slots=True)
class ContributionReversed:
    """The round is void: its contribution is reversed."""

    round_id: RoundId
    progressive_id: ProgressiveId


@dataclass(frozen=True, slots=True)
class WagerSettled:
    """What one wager came to. A void's `returned` takes the place of an earlier result of the same wager.

    `won_cents` is what is added and `returned_cents` the stake given back; `won_cents` is None for a
    share of a meter, whose amount is in its claim. `hand` is the line met. `hold_id` and `account_id`
    are those of a stake from a game account, empty otherwise; a stake that was posted before a void returns it, or
    before its hand is settled anew, has no `hold_id` any more.
    """

    round_id: RoundId
    seat: Seat
    wager: WagerName
    on: On
    hand: HandName | None
    stake_cents: Cents
    result: Result
    odds: str | None
    won_cents: Cents | None
    returned_cents: Cents
    source: Source | None
    claim_id: ClaimId | None
    section: str
    player_id: PlayerId | None
    account_id: AccountId | None
    hold_id: str | None
    progressive_id: ProgressiveId | None
    entered_by: str


@dataclass(frozen=True, slots=True)
class WagerReversed:
    """The hand was keyed wrongly: what this wager had come to does not stand. Where the right cards give it a result,
    that follows. `won_cents` is what it had won, nothing for a share of a meter; `credited_cents` is what the account
    had of it without a claim."""

    round_id: RoundId
    seat: Seat
    wager: WagerName
    on: On
    won_cents: Cents
    credited_cents: Cents
    claim_id: ClaimId | None
    account_id: AccountId | None
    progressive_id: ProgressiveId | None


@dataclass(frozen=True, slots=True)
class EnvyBonusReversed:
    """The hand was keyed wrongly: the Envy Bonuses that it had brought to others were not earned."""

    round_id: RoundId
    progressive_id: ProgressiveId
    holder_seat: Seat


@dataclass(frozen=True, slots=True)
class EnvyBonusWon:
    """A hand at the table qualifies: each of these other progressive players gets the Envy Bonus. 655a.11(i)(1)(v)"""

    round_id: RoundId
    progressive_id: ProgressiveId
    holder_seat: Seat
    recipient_seats: tuple[Seat, ...]
    hand: HandName
    amount_cents: Cents
    section: str


@dataclass(frozen=True, slots=True)
class RoundFinished:
    """Nothing more is settled in the round: it was closed, or is void."""

    round_id: RoundId
    void: bool


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record of the table that could not be settled was passed over, in the name of a person: nothing came of it.
    `command` is the name of that record's event."""

    command: str
    reason: str
    skipped_by: str
    round_id: RoundId | None


Event = (
    RoundStarted
    | HoldRequested
    | HoldReturned
    | ContributionDue
    | ContributionReversed
    | WagerSettled
    | EnvyBonusWon
    | RoundFinished
    | WagerReversed
    | EnvyBonusReversed
    | Skipped
)
