"""What happened at a progressive: the events of its log."""

from dataclasses import dataclass

from services.core.jackpots.commands import (
    AwardEnvy,
    ClaimPayout,
    Contribute,
    ReverseContribution,
    TakeBackEnvy,
    TakeBackPayout,
)
from services.core.jackpots.levels import ContributionAccepted, LevelMoved, LevelTerms
from services.core.money import Cents, Microcents
from services.core.names import (
    AccountId,
    ClaimId,
    HandName,
    On,
    PlayerId,
    ProgressiveId,
    RoundId,
    RulesId,
    Seat,
    Source,
    TableId,
    Text,
    WagerName,
)
from services.core.payouts import ClaimState


@dataclass(frozen=True, slots=True)
class LevelOpened:
    """One level at its opening. The house put in `base_microcents`; no round adds more than `contribution_bound_microcents`
    where there is such a bound."""

    name: str
    base_microcents: Microcents
    reset_microcents: Microcents
    rate_ppm: int
    hidden_rate_ppm: int
    limit_microcents: Microcents
    contribution_bound_microcents: Microcents | None = None


@dataclass(frozen=True, slots=True)
class ProgressiveOpened:
    """Once: the progressive is open under this submission."""

    rules: RulesId
    rules_sha256: bytes
    levels: tuple[LevelOpened, ...]


@dataclass(frozen=True, slots=True)
class LevelReversal:
    """What a void took from one level, and what the house put in so that it did not fall below its reset."""

    name: str
    shown_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ContributionTakenBack:
    """The round is void: its contribution left the levels again."""

    table_id: TableId
    round_id: RoundId
    levels: tuple[LevelReversal, ...]


@dataclass(frozen=True, slots=True)
class LevelHit:
    """A share of a level was won: the amount is locked for the claim and the level starts again at once.

    `value_microcents`, `hidden_microcents` and `overflow_microcents` are those after the hit;
    `seeded_microcents` is what the house put in for it.
    """

    claim_id: ClaimId
    table_id: TableId
    seat: Seat
    name: str
    percent: int
    amount_cents: Cents
    value_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class LevelRestored:
    """A share that was won is taken back: the level regains the amount, and the house what it had put in.

    The three parts are those after it. `seeded_microcents` is what the house put in by it, negative where it got back.
    """

    claim_id: ClaimId
    table_id: TableId
    name: str
    amount_cents: Cents
    value_microcents: Microcents
    hidden_microcents: Microcents
    overflow_microcents: Microcents
    newly_above_microcents: Microcents
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class PayoutClaimed:
    """A payout waits for a floorperson. For a share of a meter it follows its LevelHit and has its amount.

    `level_value_microcents` is what the level held before that hit, of which this is a share, and `hit_sequence` the hit's
    place in the log: where two hands win in the same instant, the later one wins what the earlier one left.
    """

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    on: On
    hand: HandName
    odds: str
    amount_cents: Cents
    source: Source
    player_id: PlayerId | None
    account_id: AccountId | None
    entered_by: str
    level: str | None
    level_value_microcents: Microcents | None = None
    hit_sequence: int | None = None


@dataclass(frozen=True, slots=True)
class PayoutValidated:
    """A floorperson validated the payout. To a game account it is thereby paid."""

    claim_id: ClaimId
    table_id: TableId
    validated_by: str = ""
    entered_by: str = ""


@dataclass(frozen=True, slots=True)
class PayoutSigned:
    """One more person signed for the payout."""

    claim_id: ClaimId
    signed_by: str


@dataclass(frozen=True, slots=True)
class PayoutDocumented:
    """The documentation is complete. Slip numbers have no gaps."""

    claim_id: ClaimId
    table_id: TableId
    document: Text
    slip_number: int
    documented_by: str = ""
    entered_by: str = ""


@dataclass(frozen=True, slots=True)
class SlipVoided:
    """The slip is void and kept; the payout needs a new one."""

    claim_id: ClaimId
    slip_number: int
    reason: Text
    table_id: TableId
    entered_by: str


@dataclass(frozen=True, slots=True)
class PayoutRejected:
    """The payout is not made. What a share had locked is back in its level, by the record before this one."""

    claim_id: ClaimId
    table_id: TableId
    amount_cents: Cents
    reason: Text
    entered_by: str


@dataclass(frozen=True, slots=True)
class PayoutTakenBack:
    """The hand was keyed wrongly, and did not win this. `state` is how far the payout had come: what was paid
    from a table or by hand, people must get back; what was credited is taken from the account."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    state: ClaimState
    amount_cents: Cents
    source: Source
    account_id: AccountId | None
    level: str | None
    slip_number: int | None


@dataclass(frozen=True, slots=True)
class PayoutPaid:
    """The player was paid: by hand, from the table inventory, or by credit to the game account."""

    claim_id: ClaimId
    table_id: TableId
    round_id: RoundId
    seat: Seat
    wager: WagerName
    amount_cents: Cents
    source: Source
    account_id: AccountId | None
    level: str | None


@dataclass(frozen=True, slots=True)
class EnvyBonusDue:
    """One Envy Bonus: to this seat, for that other seat's hand. 655a.11(i)(1)(v)"""

    table_id: TableId
    round_id: RoundId
    holder_seat: Seat
    recipient_seat: Seat
    hand: HandName
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class EnvyBonusPaid:
    """That Envy Bonus was paid."""

    round_id: RoundId
    holder_seat: Seat
    recipient_seat: Seat
    amount_cents: Cents


@dataclass(frozen=True, slots=True)
class EnvyBonusTakenBack:
    """The holder's hand was keyed wrongly: this Envy Bonus was not earned. `paid` where people must get it back."""

    round_id: RoundId
    holder_seat: Seat
    recipient_seat: Seat
    amount_cents: Cents
    paid: bool


@dataclass(frozen=True, slots=True)
class ParametersProposed:
    """Somebody proposes other parameters for a level. `change` counts the proposals of the progressive, from 1.

    `idle_after_ms` is None where they wait until the level is won; else also until the link was idle for so long.
    """

    change: int
    name: str
    before: LevelTerms
    after: LevelTerms
    reason: Text
    proposed_by: str
    idle_after_ms: int | None


@dataclass(frozen=True, slots=True)
class ParametersApproved:
    """A second person approved the proposal. It waits for its moment."""

    change: int
    name: str
    approved_by: str


@dataclass(frozen=True, slots=True)
class ParametersDropped:
    """The proposal is void: somebody withdrew it, or it did not fit any more when its moment came."""

    change: int
    name: str
    reason: Text


@dataclass(frozen=True, slots=True)
class ParametersChanged:
    """From here on the level goes by the other parameters; what the house put in for a higher reset."""

    change: int
    name: str
    before: LevelTerms
    after: LevelTerms
    seeded_microcents: Microcents


@dataclass(frozen=True, slots=True)
class ProgressiveClosing:
    """The progressive ends: what it holds, less its resets, is offered to another, due there by `due_at_ms`."""

    transfer_to: ProgressiveId
    levels: tuple[LevelMoved, ...]
    contributions: tuple[ContributionAccepted, ...]
    due_at_ms: int


@dataclass(frozen=True, slots=True)
class TransferAccepted:
    """Another progressive ended: what it held is in these levels now, and so are the last contributions of its tables."""

    transfer_from: ProgressiveId
    levels: tuple[LevelMoved, ...]
    contributions: tuple[ContributionAccepted, ...]


@dataclass(frozen=True, slots=True)
class TransferDeclined:
    """What another progressive offered is not taken."""

    transfer_from: ProgressiveId
    reason: str


@dataclass(frozen=True, slots=True)
class ProgressiveClosed:
    """The other progressive has it all. The house has the resets back; what comes later follows there."""

    transfer_to: ProgressiveId
    levels: tuple[LevelMoved, ...]


@dataclass(frozen=True, slots=True)
class CommandForwarded:
    """What a processor still asked of a progressive that ends: it is asked of the one that has its levels now."""

    transfer_to: ProgressiveId
    contribute: Contribute | None = None
    reverse: ReverseContribution | None = None
    claim: ClaimPayout | None = None
    take_back: TakeBackPayout | None = None
    envy: AwardEnvy | None = None
    take_back_envy: TakeBackEnvy | None = None

    @property
    def command(self) -> Contribute | ReverseContribution | ClaimPayout | TakeBackPayout | AwardEnvy | TakeBackEnvy:
        """The one that was asked."""
        asked = self.contribute or self.reverse or self.claim or self.take_back or self.envy or self.take_back_envy
        assert asked is not None, "nothing was forwarded"
        return asked


@dataclass(frozen=True, slots=True)
class ClosingGivenUp:
    """The other progressive did not take it: this one goes on."""

    transfer_to: ProgressiveId
    reason: str


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
    ProgressiveOpened
    | ContributionAccepted
    | ContributionTakenBack
    | LevelHit
    | PayoutClaimed
    | PayoutValidated
    | PayoutDocumented
    | PayoutPaid
    | EnvyBonusDue
    | EnvyBonusPaid
    | Refused
    | LevelRestored
    | PayoutSigned
    | SlipVoided
    | PayoutRejected
    | PayoutTakenBack
    | EnvyBonusTakenBack
    | ParametersProposed
    | ParametersApproved
    | ParametersDropped
    | ParametersChanged
    | ProgressiveClosing
    | TransferAccepted
    | TransferDeclined
    | ProgressiveClosed
    | CommandForwarded
    | ClosingGivenUp
    | Skipped
)
