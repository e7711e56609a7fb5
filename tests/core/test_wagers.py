"""What wagers come to, from the round log alone: expected values are the law's odds worked out by hand."""

from dataclasses import replace

import pytest

from services.core import accounts, jackpots, rounds, wagers
from services.core.asking import Following
from services.core.names import On, Result, Source
from services.core.rounds import (
    Bet,
    BettingClosed,
    CloseBetting,
    CloseRound,
    ConfirmWager,
    CountStub,
    DealHands,
    DeclineWager,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    ForfeitWagers,
    OpenRound,
    OpenTable,
    PlaceWager,
    RevealCommunityCard,
    RevealSixCardBonus,
    ShowHand,
    VoidRound,
    WithdrawWager,
)
from services.core.rules import RuleBook, RulesMissing
from services.core.wagers import (
    ContributionDue,
    ContributionReversed,
    EnvyBonusWon,
    HoldRequested,
    HoldReturned,
    RoundFinished,
    RoundStarted,
    WagerSettled,
    following,
)
from tests.support.given import BOOK, ante, bonus, figures, given, hand_bonus, played, rows, settled, show

RULES = "demo-mississippi-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
R = "table-1-1"
FIVE = "five_card_hand_bonus"
BETTING = played(OpenTable("mississippi_stud", 6, RULES, "progressive-2", RULES), OpenRound())
MAIN = ("ante", "street_3", "street_4", "street_5")


def dealt(*commands: PlaceWager, after: tuple[rounds.Event, ...] = BETTING) -> tuple[rounds.Event, ...]:
    return played(*commands, CloseBetting(), DealHands(), after=after)


def board(cards: str, *seats: int, multiple: int = 1, after: tuple[rounds.Event, ...]) -> tuple[rounds.Event, ...]:
    """These seats bet on every street, and the cards come out."""
    log = after
    for card in cards.split():
        log = played(*(Bet(seat, multiple) for seat in seats), RevealCommunityCard(card), after=log)
    return log


# Main wagers, 655a.11(h) and 655a.12(a) ---------------------------------------------------------------------------


@pytest.mark.law("655a.11(h)(3)")
@pytest.mark.parametrize(
    ("cards", "hand", "line", "odds", "times"),
    [
        ("Th Jh Qh", "Kh Ah", "royal_flush", "500 to 1", 500),
        ("7h 8h 9h", "5h 6h", "straight_flush", "100 to 1", 100),
        ("9s 9h 4d", "9c 9d", "four_of_a_kind", "40 to 1", 40),
        ("9s 9h 4d", "4c 4s", "full_house", "10 to 1", 10),
        ("2h 7h 9h", "Kh 4h", "flush", "6 to 1", 6),
        ("2h 3d 4s", "Ac 5h", "straight", "4 to 1", 4),
        ("9s 9h 4d", "9c 2d", "three_of_a_kind", "3 to 1", 3),
        ("2s 3h 9d", "2c 3d", "two_pair", "2 to 1", 2),
        ("2s 3h 9d", "Jc Jd", "pair_of_jacks_or_better", "1 to 1", 1),
    ],
)
def test_a_winning_hand_is_paid_on_the_ante_and_every_street(
    cards: str, hand: str, line: str, odds: str, times: int
) -> None:
    settled_rows = rows(show(1, hand, board(cards, 1, multiple=2, after=dealt(*ante(1)))))
    assert tuple(settled_rows) == MAIN
    for name, row in settled_rows.items():
        stake = 500 if name == "ante" else 1000
        assert (row.hand, row.section, row.source) == (line, "655a.11(h)(3)", Source.TABLE_INVENTORY)
        assert figures(row) == (Result.WON, odds, times * stake, stake)


@pytest.mark.law("655a.11(h)(1)", "655a.11(h)(2)", "655a.11(h)(3)")
@pytest.mark.parametrize(
    ("hand", "result", "section", "returned"),
    [
        ("5c 5d", Result.LOST, "655a.11(h)(1)", 0),
        ("Ac Qd", Result.LOST, "655a.11(h)(1)", 0),
        ("6c 6d", Result.PUSHED, "655a.11(h)(2)", 500),
        ("Tc Td", Result.PUSHED, "655a.11(h)(2)", 500),
        ("Jc Jd", Result.WON, "655a.11(h)(3)", 500),
    ],
)
def test_the_push_band(hand: str, result: Result, section: str, returned: int) -> None:
    for row in rows(show(1, hand, board("2c 7d Kh", 1, after=dealt(*ante(1))))).values():
        assert (row.result, row.section, row.returned_cents) == (result, section, returned)
        assert row.source is (Source.TABLE_INVENTORY if result is Result.WON else None)


@pytest.mark.law("655a.11(h)(3)", "655a.12(b), the limit below its bound")
def test_the_aggregate_limit_cuts_the_latest_wager_first_and_what_is_cut_to_nothing_stays_won() -> None:
    # 500 to 1 on 4000 and three times 12000 cents: 2,000,000 for the ante, and 3,000,000 left of 6,000,000.
    log = board("Th Jh Qh", 1, multiple=3, after=dealt(*ante(1, cents=4000)))
    row = rows(show(1, "Kh Ah", log))
    assert [row[wager].won_cents for wager in MAIN] == [2_000_000, 3_000_000, 0, 0]
    assert {row[wager].result for wager in MAIN} == {Result.WON}
    assert row["street_5"].returned_cents == 12_000


@pytest.mark.law("655a.11(d)")
def test_a_fold_collects_the_main_wagers_at_once_and_nothing_else() -> None:
    log = played(Bet(1, 1), RevealCommunityCard("2c"), after=dealt(*ante(1), bonus(1, "progressive")))
    folded = played(Fold(1), after=log)[-1]
    lost = given(wagers, *log).when(folded, actor="ruth").events
    assert [(row.wager, row.result, row.section, row.entered_by) for row in lost] == [
        ("ante", Result.LOST, "655a.11(d)", "ruth"),
        ("street_3", Result.LOST, "655a.11(d)", "ruth"),
    ]
    log = played(Fold(1), RevealCommunityCard("7d"), RevealCommunityCard("Kh"), after=log)
    assert tuple(rows(show(1, "Ac Qd", log))) == ("progressive",)


# Optional wagers, 655a.11(i) ---------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)", "655a.11(i)(1)(iv)", "655a.11(i)(2)(i)", "655a.11(i)(3)(iii)", "655a.11(i)(4)(i)")
def test_optional_wagers_are_settled_in_order_after_the_main_ones() -> None:
    log = hand_bonus(
        1,
        played(
            *ante(1), bonus(1, "six_card_bonus"), bonus(1, "three_card_bonus"), bonus(1, "progressive"), after=BETTING
        ),
    )
    log = played(
        DrawMagicCard("9c"),
        DrawLuckyPosition("1"),
        RevealSixCardBonus(("2h", "2d", "2s", "7c")),
        after=board("9s 9h 4d", 1, after=dealt(after=log)),
    )
    row = rows(show(1, "9c 9d", log))
    assert tuple(row) == (
        *MAIN,
        "progressive",
        "three_card_bonus",
        FIVE,
        "six_card_bonus",
        "magic_card",
        "lucky_position",
    )
    optional = {name: (each.hand, *figures(each), each.source, each.section) for name, each in list(row.items())[4:]}
    assert optional == {
        "progressive": (
            "four_of_a_kind",
            Result.WON,
            "300 for 1",
            30_000,
            0,
            Source.TABLE_INVENTORY,
            "655a.11(i)(1)(iv)",
        ),
        "three_card_bonus": ("pair", Result.WON, "1 to 1", 100, 100, Source.TABLE_INVENTORY, "655a.11(i)(2)(i)"),
        FIVE: ("four_of_a_kind", Result.WON, "150 for 1", 15_000, 0, Source.GAME_ACCOUNT, "655a.11(i)(3)(iii)"),
        "six_card_bonus": ("full_house", Result.WON, "25 to 1", 2_500, 100, Source.TABLE_INVENTORY, "655a.11(i)(4)(i)"),
        "magic_card": (None, Result.WON, None, 400, 0, Source.GAME_ACCOUNT, "655a.11(i)(3)(iii)"),
        "lucky_position": (None, Result.WON, None, 200, 0, Source.GAME_ACCOUNT, "655a.11(i)(3)(iii)"),
    }
    assert (row["progressive"].claim_id, row["progressive"].progressive_id) == (f"{R}.1.progressive", "progressive-2")
    assert {name for name in row if row[name].claim_id} == {"progressive"}
    held = {name: (row[name].account_id, row[name].hold_id) for name in row if row[name].account_id}
    hold_id = f"table-1/{len(BETTING) + 5}"
    assert held == {
        FIVE: ("account-1", hold_id),
        "magic_card": ("account-1", None),
        "lucky_position": ("account-1", None),
    }


@pytest.mark.law("655a.11(i)(1)", "655a.11(i)(2)(ii)", "655a.11(i)(4)(ii)")
@pytest.mark.parametrize(
    ("wager", "section"),
    [
        ("progressive", "655a.11(i)(1)"),
        ("three_card_bonus", "655a.11(i)(2)(ii)"),
        ("six_card_bonus", "655a.11(i)(4)(ii)"),
    ],
)
def test_an_optional_wager_that_meets_no_line_is_lost(wager: str, section: str) -> None:
    log = board("2c 7d Kh", 1, after=dealt(*ante(1), bonus(1, wager)))
    if wager == "six_card_bonus":
        log = played(RevealSixCardBonus(("3s", "5s", "9d", "Jc")), after=log)
    row = rows(show(1, "Ac Qd", log))[wager]
    assert (*figures(row), row.hand, row.source, row.claim_id, row.section) == (
        Result.LOST,
        None,
        0,
        0,
        None,
        None,
        None,
        section,
    )


@pytest.mark.law("655a.11(i)(4)", "655a.11(i)(4)(ii)")
def test_the_six_card_bonus_does_not_look_at_the_board() -> None:
    log = board("As Ah 7d", 1, after=dealt(*ante(1), bonus(1, "six_card_bonus")))
    log = played(RevealSixCardBonus(("3s", "5s", "9d", "Jc")), after=log)
    row = rows(show(1, "Ac Ad", log))
    assert row["ante"].hand == "four_of_a_kind"
    assert row["six_card_bonus"].result is Result.LOST


@pytest.mark.law("655a.11(i)(2)", "655a.11(i)(2)(ii)", "655a.6(c), 639a.6 and 683a.6, how hands rank")
def test_the_three_card_bonus_looks_at_the_board_only_and_a_straight_beats_a_flush() -> None:
    straight = board("4c 5d 6h", 1, after=dealt(*ante(1), bonus(1, "three_card_bonus")))
    assert figures(rows(show(1, "Ac Kd", straight))["three_card_bonus"]) == (Result.WON, "6 to 1", 600, 100)
    pair_in_hand = board("2c 7d Kh", 1, after=dealt(*ante(1), bonus(1, "three_card_bonus")))
    assert rows(show(1, "Kc Kd", pair_in_hand))["three_card_bonus"].result is Result.LOST


@pytest.mark.law("655a.11(i)(3)")
def test_the_extras_pay_whatever_the_hand_and_only_with_the_bonus() -> None:
    log = hand_bonus(1, played(*ante(1, 2), after=BETTING))
    log = board("2c 7d Kh", 1, 2, after=dealt(after=log))
    log = played(DrawMagicCard("7d"), DrawLuckyPosition("2"), after=log)
    assert tuple(rows(show(2, "Ac Qd", log))) == MAIN
    row = rows(show(1, "As Qs", played(ShowHand(2, ("Ac", "Qd")), after=log)))
    assert (row[FIVE].result, row["magic_card"].won_cents, "lucky_position" in row) == (Result.LOST, 400, False)


@pytest.mark.law("655a.11(i)(3)(ii)", "655a.11(i)(3)(iii)")
@pytest.mark.parametrize(
    ("cards", "hand", "won", "source"),
    [
        ("7h 8h 9h", "5h 6h", 50_000, Source.GAME_ACCOUNT),
        ("Th Jh Qh", "Kh Ah", None, Source.HAND_PAY),
    ],
)
def test_a_hand_bonus_of_500_for_1_or_a_share_is_a_claim(
    cards: str, hand: str, won: int | None, source: Source
) -> None:
    log = board(cards, 1, after=dealt(after=hand_bonus(1, played(*ante(1), after=BETTING))))
    row = rows(show(1, hand, played(DrawMagicCard("2c"), DrawLuckyPosition("6"), after=log)))[FIVE]
    assert (row.won_cents, row.source, row.claim_id, row.progressive_id) == (
        won,
        source,
        f"{R}.1.{FIVE}",
        "progressive-2",
    )


# Envy Bonuses, 655a.11(i)(1)(v) -------------------------------------------------------------------------------------


def envy(*commands: PlaceWager, lit: tuple[int, ...], forfeits: int | None = None) -> list[EnvyBonusWon]:
    """Seat 1 shows a straight flush; `lit` seats have a progressive wager."""
    log = dealt(*commands, *(bonus(seat, "progressive") for seat in lit))
    if forfeits is not None:
        log = played(ForfeitWagers(forfeits, "talked"), after=log)
    seats = sorted({command.seat for command in commands} - {forfeits})
    log = board("7h 8h 9h", *seats, after=log)
    others = {2: "2c 2d", 3: "3c 3d", 4: "4c 4d"}
    log = played(*(ShowHand(seat, tuple(others[seat].split())) for seat in reversed(seats) if seat != 1), after=log)
    return [event for event in show(1, "5h 6h", log) if isinstance(event, EnvyBonusWon)]


@pytest.mark.law("655a.11(i)(1)(v)")
def test_every_other_progressive_player_gets_an_envy_bonus() -> None:
    won = EnvyBonusWon(R, "progressive-2", 1, (2, 4), "straight_flush", 30_000, "655a.11(i)(1)(v)")
    assert envy(*ante(1, 2, 3, 4), lit=(1, 2, 4)) == [won]
    # The holder needs no progressive wager.
    assert envy(*ante(1, 2, 3, 4), lit=(2, 4)) == [won]


@pytest.mark.law("655a.11(a)(3)", "655a.11(i)(1)(v)")
def test_no_envy_bonus_for_ones_own_hand_or_seats_or_a_forfeited_wager() -> None:
    assert envy(*ante(1), lit=(1,)) == []
    assert envy(*ante(1, 2, player="player-1"), lit=(1, 2)) == []
    assert envy(*ante(1, 2), lit=(1, 2), forfeits=2) == []


@pytest.mark.law("whether a folded hand brings others an Envy Bonus")
def test_a_folded_hand_qualifies_where_the_submission_says_so() -> None:
    assert HOUSE.progressive is not None
    assert HOUSE.progressive.envy is not None
    log = played(Fold(1), after=dealt(*ante(1, 2), bonus(1, "progressive"), bonus(2, "progressive")))
    log = played(ShowHand(2, ("2c", "2d")), after=board("Th Jh Qh", 2, after=log))
    won = EnvyBonusWon(R, "progressive-2", 1, (2,), "royal_flush", 100_000, "655a.11(i)(1)(v)")
    assert show(1, "Kh Ah", log)[1:] == (won,)
    stricter = replace(HOUSE.progressive, envy=replace(HOUSE.progressive.envy, folded_hand_qualifies=False))
    book = RuleBook((replace(HOUSE, progressive=stricter),))
    assert len(show(1, "Kh Ah", log, book=book)) == 1


# Holds, contributions, forfeits, voids --------------------------------------------------------------------------------


def test_a_requested_wager_asks_for_a_hold_named_by_its_record() -> None:
    log = played(*ante(1), PlaceWager(1, FIVE, 100, "player-1", "account-1"), after=BETTING)
    hold_id = f"table-1/{len(log)}"
    requested = HoldRequested(R, 1, FIVE, hold_id, 100, "player-1", "account-1", len(log))
    returned = HoldReturned(R, 1, FIVE, hold_id, "account-1")
    assert settled(log) == (RoundStarted(R, "mississippi_stud", RULES), requested)
    for command in (WithdrawWager(1, FIVE), DeclineWager(len(log), "empty"), CloseBetting()):
        assert settled(played(command, after=log))[2] == returned
    assert settled(played(VoidRound("x"), after=log))[3:] == (returned, RoundFinished(R, void=True))
    assert settled(played(ConfirmWager(len(log)), after=log))[2:] == ()


@pytest.mark.law("655a.11(i)(1)(ii)")
def test_the_accepted_progressive_wagers_contribute_once_together() -> None:
    log = played(*ante(1, 2, 3), bonus(1, "progressive"), bonus(3, "progressive"), after=BETTING)
    given(wagers, *log).when(BettingClosed(R, (1, 3))).then(ContributionDue(R, "progressive-2", 200, 2))
    given(wagers, *played(*ante(1), after=BETTING)).when(BettingClosed(R, ())).then()


@pytest.mark.law("655a.11(a)(3)")
def test_a_forfeit_loses_everything_that_is_not_settled_yet() -> None:
    log = hand_bonus(1, played(*ante(1), bonus(1, "progressive"), after=BETTING))
    log = played(Bet(1, 2), after=dealt(after=log))
    lost = settled(played(ForfeitWagers(1, "talked"), after=log))[len(settled(log)) :]
    assert [(row.wager, row.stake_cents, *figures(row), row.section) for row in lost] == [
        (wager, stake, Result.LOST, None, 0, 0, "655a.11(a)(3)")
        for wager, stake in (("ante", 500), ("street_3", 1000), ("progressive", 100), (FIVE, 100))
    ]
    folded = played(Fold(1), after=log[:-1])
    assert [row.wager for row in settled(played(ForfeitWagers(1, "x"), after=folded))[-2:]] == ["progressive", FIVE]


@pytest.mark.law("655a.10(f)")
def test_a_void_returns_everything_and_reverses_the_contribution() -> None:
    log = hand_bonus(2, played(*ante(1, 2), bonus(1, "progressive"), after=BETTING))
    log = played(Bet(1, 3), Fold(2), after=dealt(after=log))
    void = settled(played(CountStub(44), after=log))[len(settled(log)) :]
    assert [(row.seat, row.wager, *figures(row), row.section) for row in void[:-2]] == [
        (seat, wager, Result.RETURNED, None, 0, stake, "655a.10(f)")
        for seat, wager, stake in (
            (2, "ante", 500),
            (2, FIVE, 100),
            (1, "ante", 500),
            (1, "street_3", 1500),
            (1, "progressive", 100),
        )
    ]
    assert void[-2:] == (ContributionReversed(R, "progressive-2"), RoundFinished(R, void=True))
    assert [following("table-1", row) for row in void[:2]] == [
        (),
        (Following("accounts", "account-2", accounts.ReleaseHold(void[1].hold_id)),),
    ]


def test_a_void_returns_a_forfeited_stake_that_was_posted() -> None:
    log = dealt(after=hand_bonus(1, played(*ante(1), after=BETTING)))
    log = played(ForfeitWagers(1, "talked"), after=log)
    posted = [command.command for row in settled(log) for command in following("table-1", row)][-1]
    assert posted == accounts.PostHold(f"table-1/{len(BETTING) + 2}")
    void = settled(played(VoidRound("card exposed"), after=log))
    row = next(each for each in reversed(void) if isinstance(each, WagerSettled))
    assert following("table-1", row) == (Following("accounts", "account-1", accounts.ReturnStake(100, R, 1, FIVE)),)


def test_a_closed_round_is_finished() -> None:
    assert settled(played(CloseRound(), after=BETTING))[-1] == RoundFinished(R, void=False)


def test_a_submission_that_is_not_held_stops_the_reader() -> None:
    log = played(ShowHand(1, ("Ac", "Qd")), after=board("2c 7d Kh", 1, after=dealt(*ante(1))))
    with pytest.raises(RulesMissing):
        given(wagers, *log[:-1]).when(log[-1], book=RuleBook(()))


# What follows -----------------------------------------------------------------------------------------------------


ROW = WagerSettled(
    R,
    1,
    FIVE,
    On.PLAYER,
    "full_house",
    100,
    Result.WON,
    "40 for 1",
    4_000,
    0,
    Source.GAME_ACCOUNT,
    None,
    "655a.11(i)(3)(iii)",
    "player-1",
    "account-1",
    "table-1/9",
    None,
    "dealer",
)


def test_holds_and_contributions_are_asked_of_their_streams() -> None:
    assert [
        following("table-1", HoldRequested(R, 1, FIVE, "table-1/9", 100, "player-1", "account-1", 9)),
        following("table-1", HoldReturned(R, 1, FIVE, "table-1/9", "account-1")),
        following("table-1", ContributionDue(R, "progressive-2", 200, 2)),
        following("table-1", ContributionReversed(R, "progressive-2")),
        following("table-1", EnvyBonusWon(R, "progressive-2", 1, (2, 4), "straight_flush", 30_000, "s")),
        following("table-1", RoundStarted(R, "mississippi_stud", RULES)),
        following("table-1", RoundFinished(R, void=False)),
    ] == [
        (Following("accounts", "account-1", accounts.PlaceHold("table-1/9", 100, "player-1", "table-1", R, 9)),),
        (Following("accounts", "account-1", accounts.ReleaseHold("table-1/9")),),
        (Following("jackpots", "progressive-2", jackpots.Contribute("table-1", R, 200, 2)),),
        (Following("jackpots", "progressive-2", jackpots.ReverseContribution("table-1", R)),),
        (
            Following(
                "jackpots", "progressive-2", jackpots.AwardEnvy("table-1", R, 1, (2, 4), "straight_flush", 30_000)
            ),
        ),
        (),
        (),
    ]


@pytest.mark.law("655a.11(i)(3)(iii)")
def test_a_stake_is_posted_and_winnings_are_credited() -> None:
    post = Following("accounts", "account-1", accounts.PostHold("table-1/9"))
    credit = Following("accounts", "account-1", accounts.CreditWinnings(4_000, R, 1, FIVE))
    assert following("table-1", ROW) == (post, credit)
    lost = replace(ROW, result=Result.LOST, hand=None, odds=None, won_cents=0, source=None)
    assert following("table-1", lost) == (post,)
    magic = replace(ROW, wager="magic_card", stake_cents=0, won_cents=400, hold_id=None)
    assert following("table-1", magic) == (
        Following("accounts", "account-1", accounts.CreditWinnings(400, R, 1, "magic_card")),
    )
    released = Following("accounts", "account-1", accounts.ReleaseHold("table-1/9"))
    returned = replace(lost, result=Result.RETURNED, returned_cents=100)
    assert following("table-1", returned) == (released,)
    # `N to 1` gives the stake back: it is released, and what is added is credited.
    assert following("table-1", replace(ROW, odds="40 to 1", returned_cents=100)) == (released, credit)


def test_a_claim_is_credited_by_others_after_its_validation() -> None:
    claim_id = f"{R}.1.{FIVE}"
    claimed = replace(ROW, odds="500 for 1", won_cents=50_000, claim_id=claim_id, progressive_id="progressive-2")
    claim = jackpots.ClaimPayout(
        claim_id,
        "table-1",
        R,
        1,
        FIVE,
        On.PLAYER,
        "full_house",
        "500 for 1",
        50_000,
        Source.GAME_ACCOUNT,
        "player-1",
        "account-1",
        "dealer",
    )
    assert following("table-1", claimed) == (
        Following("accounts", "account-1", accounts.PostHold("table-1/9")),
        Following("jackpots", "progressive-2", claim),
    )


def test_wagers_from_the_layout_ask_nothing() -> None:
    plain = replace(ROW, wager="ante", source=Source.TABLE_INVENTORY, account_id=None, hold_id=None)
    assert following("table-1", plain) == ()
