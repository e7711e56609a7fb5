"""What the wagers of one seat came to when its hand was shown: the same answer for the table and for the wagers."""

from dataclasses import dataclass

from services.core.games.game import (
    FIVE_CARD_HAND_BONUS,
    LUCKY_POSITION,
    MAGIC_CARD,
    PROGRESSIVE,
    Faces,
    Game,
    OptionalWager,
)
from services.core.hands import met
from services.core.money import Cents
from services.core.names import DEALER, Card, ClaimId, HandName, On, Result, RoundId, Seat, Source, WagerName
from services.core.paytables import Kind, Line, Odds, Paytable, first_met
from services.core.rounds.table import Round, Seated, Wager, game_of, live_main, live_optional
from services.core.rules import Submission


@dataclass(frozen=True, slots=True)
class Settled:
    """What one wager came to: `won_cents` is added, `returned_cents` is of the stake.

    `won_cents` is None for a share of a meter; a payout with a `claim_id` needs a floorperson.
    """

    wager: WagerName
    on: On
    line: Line | None
    stake_cents: Cents
    result: Result
    won_cents: Cents | None
    returned_cents: Cents
    source: Source | None
    claim_id: ClaimId | None
    section: str

    @property
    def needs_documents(self) -> bool:
        """Whether the cards stay until the payout is documented: it comes neither from the table nor to an account."""
        return self.claim_id is not None and self.source is Source.HAND_PAY


def settle_hand(round_: Round, seated: Seated, cards: tuple[Card, ...], rules: Submission) -> tuple[Settled, ...]:
    """Every live wager of a seat in the order of settlement; `cards` are the seat's own. 655a.11(h),(i)"""
    faces = round_.faces(cards)
    rows = list(_main(round_, seated, faces, rules))
    extras: list[Settled] = []
    for kind, wager in live_optional(round_, seated):
        rows.append(_optional(round_.round_id, seated.seat, kind, wager, faces, rules))
        if kind.wager == FIVE_CARD_HAND_BONUS:
            extras += _extras(round_, seated.seat, kind, wager, faces, rules)
    # The two extras come last, the Magic Card before the lucky position.
    return (*rows, *sorted(extras, key=lambda row: row.wager == LUCKY_POSITION))


def lost(wager: Wager, section: str) -> Settled:
    """The wager is collected."""
    return Settled(wager.wager, wager.hand, None, wager.amount_cents, Result.LOST, 0, 0, None, None, section)


def returned(wager: Wager, section: str) -> Settled:
    """The stake goes back without a paytable's push."""
    stake = wager.amount_cents
    return Settled(wager.wager, wager.hand, None, stake, Result.RETURNED, 0, stake, None, None, section)


def envy_hand(
    round_: Round, seated: Seated, cards: tuple[Card, ...], rules: Submission
) -> tuple[HandName, Cents] | None:
    """The Envy Bonus that a shown hand brings to others, None where it brings none. 655a.11(i)(1)(v)

    The holder needs no progressive wager. A folded hand counts where the submission says so.
    """
    kind = game_of(round_).optional_wager(PROGRESSIVE)
    if rules.progressive is None or rules.progressive.envy is None or kind is None:
        return None
    envy = rules.progressive.envy
    if seated.folded and not envy.folded_hand_qualifies:
        return None
    made = met(round_.faces(cards).of(kind.sees[On.PLAYER]))
    return next(((hand, cents) for hand, cents in envy.amounts_cents if hand in made), None)


def pays_magic_card(rules: Submission) -> bool:
    """Whether the submission pays for the drawn Magic Card."""
    bonus = rules.bonuses.get(FIVE_CARD_HAND_BONUS)
    return bonus is not None and bonus.magic_card_cents > 0


def pays_lucky_position(rules: Submission) -> bool:
    """Whether the submission pays for the drawn lucky position."""
    bonus = rules.bonuses.get(FIVE_CARD_HAND_BONUS)
    return bonus is not None and bonus.lucky_position_cents > 0


def _main(round_: Round, seated: Seated, faces: Faces, rules: Submission) -> tuple[Settled, ...]:
    game: Game = game_of(round_)
    left_cents = rules.aggregate_limit_cents
    rows = []
    # The limit cuts the latest wager first, so the ante is filled first. 655a.12(b)
    for wager in live_main(round_, seated):
        outcome = game.settle_main(rules, wager.wager, faces)
        stake = wager.amount_cents
        won_cents, returned_cents, source = 0, 0, None
        if outcome.line is not None and outcome.result is Result.WON:
            won_cents = min(outcome.line.odds.won_cents(stake) or 0, left_cents)
            returned_cents = outcome.line.odds.returned_cents(stake)
            source = Source.TABLE_INVENTORY
        elif outcome.result in (Result.PUSHED, Result.RETURNED):
            returned_cents = stake
        left_cents -= won_cents
        rows.append(
            Settled(
                wager.wager,
                wager.hand,
                outcome.line,
                stake,
                outcome.result,
                won_cents,
                returned_cents,
                source,
                None,
                outcome.section,
            )
        )
    return tuple(rows)


def _optional(
    round_id: RoundId, seat: Seat, kind: OptionalWager, wager: Wager, faces: Faces, rules: Submission
) -> Settled:
    table, ace_low_straight = _table(rules, wager.wager)
    line = first_met(table, faces.of(kind.sees[wager.hand]), ace_low_straight=ace_low_straight)
    if line is None:
        return lost(wager, kind.lost_section)
    stake = wager.amount_cents
    if line.odds.kind is Kind.PUSH:
        return Settled(wager.wager, wager.hand, line, stake, Result.PUSHED, 0, stake, None, None, kind.won_section)
    claim_id = None
    if _needs_floorperson(kind, line.odds, rules):
        claim_id = f"{round_id}.{seat}.{wager.wager}" + (".dealer" if wager.hand is On.DEALER else "")
    return Settled(
        wager.wager,
        wager.hand,
        line,
        stake,
        Result.WON,
        line.odds.won_cents(stake),
        line.odds.returned_cents(stake),
        _source(kind, line.odds),
        claim_id,
        kind.won_section,
    )


def _table(rules: Submission, wager: WagerName) -> tuple[Paytable, bool]:
    if wager == PROGRESSIVE:
        assert rules.progressive is not None, "a progressive wager stands that the submission does not offer"
        return rules.progressive.table, False
    bonus = rules.bonuses[wager]
    return bonus.table, bonus.ace_low_straight


def _source(kind: OptionalWager, odds: Odds) -> Source:
    if odds.kind is Kind.SHARE:
        return Source.HAND_PAY
    return Source.GAME_ACCOUNT if kind.from_account else Source.TABLE_INVENTORY


def _needs_floorperson(kind: OptionalWager, odds: Odds, rules: Submission) -> bool:
    """Every progressive win, every share of a meter, and a bonus to an account from the submission's odds on."""
    if kind.wager == PROGRESSIVE or odds.kind is Kind.SHARE:
        return True
    limit = rules.floorperson_at_odds
    return kind.from_account and limit is not None and odds.paid_for_one >= limit.paid_for_one


def _extras(
    round_: Round, seat: Seat, kind: OptionalWager, wager: Wager, faces: Faces, rules: Submission
) -> list[Settled]:
    """Magic Card and Lucky Bonus pay whatever the hand, and have a row only when they pay. 655a.1, 655a.11(i)(3)"""
    bonus = rules.bonuses[wager.wager]
    position = DEALER if wager.hand is On.DEALER else str(seat)
    rows = []
    if round_.magic_card in faces.of(kind.sees[wager.hand]) and bonus.magic_card_cents:
        rows.append((MAGIC_CARD, bonus.magic_card_cents))
    if round_.lucky_position == position and bonus.lucky_position_cents:
        rows.append((LUCKY_POSITION, bonus.lucky_position_cents))
    return [
        Settled(name, wager.hand, None, 0, Result.WON, cents, 0, Source.GAME_ACCOUNT, None, kind.won_section)
        for name, cents in rows
    ]
