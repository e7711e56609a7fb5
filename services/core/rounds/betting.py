"""Decisions while betting is open: wagers placed, withdrawn, confirmed and declined, and `no more bets`."""

from services.core.asking import Asking
from services.core.games.game import (
    ANTE,
    FIVE_CARD_HAND_BONUS,
    LUCKY_POSITION,
    MAGIC_CARD,
    PROGRESSIVE,
    Game,
    OptionalWager,
)
from services.core.money import Cents
from services.core.names import On, WagerName, words
from services.core.refusal import Refused
from services.core.rounds.checks import round_betting, rules_of, seat_exists
from services.core.rounds.commands import ConfirmWager, DeclineWager, PlaceWager, WithdrawWager
from services.core.rounds.events import (
    BettingClosed,
    Event,
    WagerConfirmed,
    WagerDeclined,
    WagerPlaced,
    WagerRequested,
    WagerWithdrawn,
)
from services.core.rounds.table import Phase, Round, Seated, Standing, Table, Wager, game_of
from services.core.rules import Submission

PROGRESSIVE_AGE_MAX_MS = 1000
"""How long a progressive controller may be silent before its wagers are refused. That they are is the rule of New
Jersey and New York (13:69E-1.39B(d)-(f), 9 CRR 5321.18(b)); neither says after how long."""
SILENT = "The controller of the progressive"
"""How that refusal begins: a client that plays on without the wager knows it by this, for no section is behind it."""


def place(state: Table, command: PlaceWager, asking: Asking) -> tuple[Event, ...]:
    """A wager on the layout, or a request to the account that it comes from."""
    round_ = round_betting(state)
    rules = rules_of(round_, asking)
    seat_exists(state, command.seat)
    seated = round_.seated(command.seat)
    kind = _offered(game_of(round_), rules, command)
    if command.wager != ANTE and seated.ante is None:
        raise Refused(f"Seat {command.seat} has no ante: the ante comes first.")
    present = seated.wager(command.wager, command.hand)
    if present is not None and present.holds_place:
        on = " on the dealer's hand" if command.hand is On.DEALER else ""
        raise Refused(f"Seat {command.seat} has {_said(command.wager)}{on} already: withdraw it first to change it.")
    _within_limits(rules, command.wager, command.amount_cents)
    if command.wager == PROGRESSIVE:
        _progressive_answers(state, command)
    _same_player(seated, command)
    if kind is not None and kind.from_account:
        return (_requested(round_, seated, command),)
    if command.account_id is not None:
        raise Refused(f"{_said(command.wager)} is not made from a game account: leave the account out.")
    return (
        WagerPlaced(
            round_.round_id, command.seat, command.wager, command.hand, command.amount_cents, command.player_id
        ),
    )


def withdraw(state: Table, command: WithdrawWager) -> tuple[Event, ...]:
    """The wager is taken back; with the ante goes all that the seat wagered."""
    round_ = round_betting(state)
    seat_exists(state, command.seat)
    seated = round_.seated(command.seat)
    wager = seated.wager(command.wager, command.hand)
    if wager is None or not wager.holds_place:
        raise Refused(f"Seat {command.seat} has no {_said(command.wager)} to withdraw.")
    others = tuple(each for each in seated.wagers if each is not wager and each.holds_place)
    taken = (wager, *others) if command.wager == ANTE else (wager,)
    return tuple(WagerWithdrawn(round_.round_id, command.seat, each.wager, each.hand) for each in taken)


def close(state: Table) -> tuple[Event, ...]:
    """No more bets: what no account has answered for is declined, and the lights come on."""
    round_ = round_betting(state)
    if all(seated.ante is None for seated in round_.seats):
        raise Refused("Nobody has an ante: wait for one, or close the round.")
    reason = "Betting closed before the account had answered."
    declined = tuple(
        WagerDeclined(round_.round_id, seated.seat, wager.wager, wager.hand, wager.request_sequence, reason)
        for seated in round_.seats
        for wager in seated.wagers
        if wager.standing is Standing.REQUESTED and wager.request_sequence is not None
    )
    lit = tuple(
        seated.seat for seated in round_.seats if (wager := seated.wager(PROGRESSIVE)) is not None and wager.stands
    )
    return (*declined, BettingClosed(round_.round_id, lit))


def answer(state: Table, command: ConfirmWager | DeclineWager) -> tuple[Event, ...]:
    """The account's answer to a request; nothing where the request no longer waits for it."""
    found = _request(state.round, command.request_sequence)
    if state.round is None or found is None:
        return ()
    seated, wager = found
    if isinstance(command, ConfirmWager):
        return (WagerConfirmed(state.round.round_id, seated.seat, wager.wager, wager.hand, command.request_sequence),)
    return (
        WagerDeclined(
            state.round.round_id, seated.seat, wager.wager, wager.hand, command.request_sequence, command.reason
        ),
    )


def _request(round_: Round | None, request_sequence: int) -> tuple[Seated, Wager] | None:
    if round_ is None or round_.phase is not Phase.BETTING:
        return None
    return next(
        (
            (seated, wager)
            for seated in round_.seats
            for wager in seated.wagers
            if wager.standing is Standing.REQUESTED and wager.request_sequence == request_sequence
        ),
        None,
    )


def _offered(game: Game, rules: Submission, command: PlaceWager) -> OptionalWager | None:
    """The optional wager that is placed, None for the ante. Refused where it is not offered."""
    wager = command.wager
    kind = game.optional_wager(wager)
    if wager == ANTE:
        hands: tuple[On, ...] = (On.PLAYER,)
    elif wager in game.main:
        raise Refused(f"{_said(wager)} is made after the cards are looked at: use Bet when the seat's turn comes.")
    elif wager in (MAGIC_CARD, LUCKY_POSITION) and game.optional_wager(FIVE_CARD_HAND_BONUS) is not None:
        raise Refused(f"{_said(wager)} is no wager of its own: it comes with the five card hand bonus.")
    elif kind is None:
        raise Refused(f"{_said(wager)} is not offered: {game.title} has no such wager.")
    elif wager == PROGRESSIVE and rules.progressive is not None:
        hands = (On.PLAYER,)
    elif wager in rules.bonuses:
        hands = rules.bonuses[wager].hands
    else:
        raise Refused(f"{_said(wager)} is not offered: the submission {rules.id} has no table for it.")
    if command.hand not in hands:
        raise Refused(f"{_said(wager)} on the {command.hand.value}'s hand is not offered under {rules.id}.")
    return kind


def _within_limits(rules: Submission, wager: WagerName, amount_cents: Cents) -> None:
    if wager == ANTE:
        low, high, step = rules.ante.minimum_cents, rules.ante.maximum_cents, rules.ante.step_cents
    elif wager == PROGRESSIVE:
        assert rules.progressive is not None, "offered, so there is one"
        low, high, step = rules.progressive.wager_cents, rules.progressive.wager_cents, 1
    else:
        low, high, step = rules.bonuses[wager].minimum_cents, rules.bonuses[wager].maximum_cents, 1
    if low <= amount_cents <= high and amount_cents % step == 0:
        return
    if low == high:
        raise Refused(f"{_said(wager)} of {amount_cents} cents is not taken: it is always {low} cents.")
    steps = f", in steps of {step}" if step > 1 else ""
    raise Refused(f"{_said(wager)} of {amount_cents} cents is not taken: it is {low} to {high} cents{steps}.")


def _progressive_answers(state: Table, command: PlaceWager) -> None:
    """A table that cannot reach its progressive takes no progressive wager: it fails closed."""
    if command.progressive_ends:
        raise Refused(
            f"The progressive {state.progressive_id} ends: no more wagers are taken on it. Close the table after this"
            " round and open it with another progressive."
        )
    age_ms = command.progressive_age_ms
    if age_ms is not None and age_ms > PROGRESSIVE_AGE_MAX_MS:
        raise Refused(
            f"{SILENT} {state.progressive_id} has not answered for {age_ms / 1000:.1f} s: no"
            " progressive wager is taken until it does. All other wagers are."
        )


def _same_player(seated: Seated, command: PlaceWager) -> None:
    if command.player_id is None or seated.player_id is None or command.player_id == seated.player_id:
        return
    raise Refused(
        f"Seat {command.seat} is that of {seated.player_id}, not of {command.player_id}: "
        "only its own player wagers there."
    )


def _requested(round_: Round, seated: Seated, command: PlaceWager) -> WagerRequested:
    player_id = command.player_id or seated.player_id
    if command.account_id is None or player_id is None:
        raise Refused(
            f"{_said(command.wager)} is made from the player's game account: name the player and the account."
        )
    return WagerRequested(
        round_.round_id, command.seat, command.wager, command.hand, command.amount_cents, player_id, command.account_id
    )


def _said(wager: WagerName) -> str:
    return f"'{words(wager)}'"
