"""Accounts, given events, when a command comes, then these events."""

from functools import reduce

import pytest
from cattrs.preconf.json import make_converter

from services.core import accounts, refusal, rounds
from services.core.accounts import (
    INITIAL,
    AccountOpened,
    CreditWinnings,
    Deposit,
    Deposited,
    HoldDeclined,
    HoldPlaced,
    HoldPosted,
    HoldReleased,
    OpenAccount,
    PlaceHold,
    PostHold,
    Refused,
    ReleaseHold,
    ReturnStake,
    StakeReturned,
    State,
    TakeBackWinnings,
    WinningsCredited,
    WinningsTakenBack,
    Withdraw,
    Withdrawn,
    decide,
    evolve,
    following,
    view,
)
from services.core.asking import Asking, Following
from services.core.rules import RuleBook

ASKING = Asking("account-3", "cashier", 1_800_000_000_000, RuleBook(()))
OPENED = AccountOpened("player-3")
HOLD = PlaceHold("hold-1", 100, "player-3", "table-1", "table-1-1", 7)
HELD = HoldPlaced("hold-1", 100, "table-1", "table-1-1", 7)


def given(*events: accounts.Event) -> State:
    return reduce(evolve, events, INITIAL)


def when(state: State, command: accounts.Command) -> tuple[accounts.Event, ...]:
    return decide(state, command, ASKING)


def refused(state: State, command: accounts.Command, *words: str) -> None:
    with pytest.raises(refusal.Refused) as raised:
        when(state, command)
    assert raised.value.section is None
    for word in words:
        assert word in raised.value.reason


def amounts(state: State) -> tuple[int, int, int]:
    shown = view("account-3", state)
    return shown["balance_cents"], shown["held_cents"], shown["available_cents"]


def test_an_account_opens_once() -> None:
    assert when(INITIAL, OpenAccount("player-3")) == (OPENED,)
    refused(given(OPENED), OpenAccount("player-3"), "open already")


@pytest.mark.parametrize(
    "command",
    [
        Deposit(1, "a"),
        Withdraw(1, "a"),
        CreditWinnings(1, "t-1", 3, "magic_card"),
        ReturnStake(1, "t-1", 3, "five_card_hand_bonus"),
        TakeBackWinnings(1, "t-1", 3, "five_card_hand_bonus"),
    ],
)
def test_an_account_that_is_not_open_takes_no_money(command: accounts.Command) -> None:
    refused(INITIAL, command, "account-3", "not open")


@pytest.mark.parametrize("amount_cents", [0, -1])
def test_amounts_are_more_than_nothing(amount_cents: int) -> None:
    for command in (
        Deposit(amount_cents, "a"),
        Withdraw(amount_cents, "a"),
        CreditWinnings(amount_cents, "table-1-1", 3, "magic_card"),
        ReturnStake(amount_cents, "table-1-1", 3, "five_card_hand_bonus"),
        TakeBackWinnings(amount_cents, "table-1-1", 3, "five_card_hand_bonus"),
    ):
        refused(given(OPENED), command, "more than nothing")


def test_money_comes_and_goes() -> None:
    state = given(OPENED, Deposited(2_000, "in-1"))
    assert when(state, Deposit(500, "in-2")) == (Deposited(500, "in-2"),)
    assert when(state, Withdraw(2_000, "out-1")) == (Withdrawn(2_000, "out-1"),)
    assert amounts(given(OPENED, Deposited(2_000, "in-1"), Withdrawn(750, "out-1"))) == (1_250, 0, 1_250)


def test_a_posted_stake_comes_back_when_its_round_is_void() -> None:
    # 2000 in, 100 staked and posted, 100 back.
    posted = given(OPENED, Deposited(2_000, "in-1"), HELD, HoldPosted("hold-1", 100))
    returned = StakeReturned(100, "table-1-1", 3, "five_card_hand_bonus")
    assert when(posted, ReturnStake(100, "table-1-1", 3, "five_card_hand_bonus")) == (returned,)
    assert amounts(evolve(posted, returned)) == (2_000, 0, 2_000)


@pytest.mark.parametrize(
    ("withdrawn", "taken", "owed", "left"),
    [(0, 15_000, 0, 1_900), (1_900, 15_000, 0, 0), (1_901, 14_999, 1, 0), (16_800, 100, 14_900, 0)],
)
def test_winnings_are_taken_back_as_far_as_they_are_there(withdrawn: int, taken: int, owed: int, left: int) -> None:
    # 2,000 in and 15,000 won; 100 of it are held for the next wager, and stay held.
    state = given(
        OPENED, Deposited(2_000, "in-1"), WinningsCredited(15_000, "table-1-1", 3, "five_card_hand_bonus"), HELD
    )
    state = evolve(state, Withdrawn(withdrawn, "out-1")) if withdrawn else state
    (event,) = when(state, TakeBackWinnings(15_000, "table-1-1", 3, "five_card_hand_bonus"))
    assert event == WinningsTakenBack(taken, owed, "table-1-1", 3, "five_card_hand_bonus")
    after = evolve(state, event)
    assert (amounts(after), view("account-3", after)["owed_cents"]) == ((left + 100, 100, left), owed)
    assert following("account-3", event) == ()


def test_what_is_owed_adds_up() -> None:
    state = given(OPENED, WinningsTakenBack(0, 300, "t-1", 3, "magic_card"), WinningsTakenBack(0, 50, "t-2", 3, "a"))
    assert view("account-3", state)["owed_cents"] == 350


def test_a_reference_serves_once_for_ever() -> None:
    state = given(OPENED, Deposited(2_000, "slip-1"), Withdrawn(500, "slip-2"))
    refused(state, Deposit(2_000, "slip-1"), "slip-1", "record 2")
    refused(state, Withdraw(2_000, "slip-1"), "slip-1", "record 2")
    refused(state, Deposit(500, "slip-2"), "slip-2", "record 3")


def test_what_is_held_cannot_be_withdrawn() -> None:
    state = given(OPENED, Deposited(123_405, "in-1"), HELD)
    refused(state, Withdraw(123_306, "out"), "$1,233.05 available", "$1.00 more is held", "$1,233.06")
    assert when(state, Withdraw(123_305, "out")) == (Withdrawn(123_305, "out"),)


def test_a_hold_is_placed_once() -> None:
    state = given(OPENED, Deposited(100, "in-1"))
    assert when(state, HOLD) == (HELD,)
    assert when(given(OPENED, Deposited(100, "in-1"), HELD), HOLD) == ()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (INITIAL, "not open"),
        (given(AccountOpened("player-4"), Deposited(500, "in-1")), "another player"),
        (given(OPENED, Deposited(99, "in-1")), "$0.99 available"),
        (given(OPENED, Deposited(199, "in-1"), HoldPlaced("hold-0", 100, "t-1", "t-1-1", 6)), "$0.99 available"),
    ],
)
def test_a_hold_that_cannot_be_placed_is_declined(state: State, words: str) -> None:
    (declined,) = when(state, HOLD)
    assert isinstance(declined, HoldDeclined)
    assert words in declined.reason
    assert following("account-3", declined) == (
        Following("rounds", "table-1", rounds.DeclineWager(7, declined.reason)),
    )
    after = evolve(state, declined)
    assert (amounts(after), after.sequence) == (amounts(state), state.sequence + 1)


def test_the_table_learns_that_the_stake_is_held() -> None:
    assert following("account-3", HELD) == (Following("rounds", "table-1", rounds.ConfirmWager(7)),)
    assert following("account-3", HoldPosted("hold-1", 100)) == ()


def test_a_hold_is_posted_or_released_once() -> None:
    state = given(OPENED, Deposited(2_000, "in-1"), HELD)
    assert amounts(state) == (2_000, 100, 1_900)
    assert when(state, PostHold("hold-1")) == (HoldPosted("hold-1", 100),)
    assert when(state, ReleaseHold("hold-1")) == (HoldReleased("hold-1", 100),)
    posted = evolve(state, HoldPosted("hold-1", 100))
    assert amounts(posted) == (1_900, 0, 1_900)
    released = evolve(state, HoldReleased("hold-1", 100))
    assert amounts(released) == (2_000, 0, 2_000)
    for ended in (posted, released, INITIAL):
        assert when(ended, PostHold("hold-1")) == ()
        assert when(ended, ReleaseHold("hold-1")) == ()


def test_four_of_a_kind_with_magic_card_and_lucky_position() -> None:
    state = given(OPENED, Deposited(1_000, "in-1"), HELD, HoldPosted("hold-1", 100))
    for amount_cents, wager in ((15_000, "five_card_hand_bonus"), (400, "magic_card"), (200, "lucky_position")):
        events = when(state, CreditWinnings(amount_cents, "table-1-1", 1, wager))
        assert events == (WinningsCredited(amount_cents, "table-1-1", 1, wager),)
        state = reduce(evolve, events, state)
    assert amounts(state) == (16_500, 0, 16_500)


def test_every_event_is_one_record_and_the_state_survives_as_text() -> None:
    state = given(OPENED, Deposited(2_000, "in-1"), HELD, Refused("Withdraw", "because", None))
    assert state.sequence == 4
    converter = make_converter()
    assert converter.loads(converter.dumps(state), State) == state
    assert view("account-3", state) == {
        "account_id": "account-3",
        "player_id": "player-3",
        "sequence": 4,
        "balance_cents": 2_000,
        "held_cents": 100,
        "available_cents": 1_900,
        "owed_cents": 0,
    }
