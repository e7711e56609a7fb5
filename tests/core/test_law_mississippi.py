"""58 Pa. Code §§ 655a.10 and 655a.11 paragraph by paragraph, where no other test holds us to one."""

from dataclasses import replace

import pytest

from services.core import rounds, wagers
from services.core.names import Result, Source
from services.core.rounds import (
    Bet,
    BetPlaced,
    BettingClosed,
    CloseBetting,
    CountStub,
    DealHands,
    Fold,
    ForfeitWagers,
    HandFolded,
    HandsDealt,
    OpenRound,
    OpenTable,
    PlaceWager,
    RevealCommunityCard,
    RevealSixCardBonus,
    WagersForfeited,
    WithdrawWager,
)
from services.core.rules import RuleBook
from services.core.wagers import EnvyBonusWon
from tests.support.given import BOOK, ante, bonus, figures, given, hand_bonus, played, rows, settled, show

RULES = "demo-mississippi-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
R = "table-1-1"
TABLE = OpenTable("mississippi_stud", 6, RULES, "progressive-2", RULES)
BETTING = played(TABLE, OpenRound())
STREETS = (("street_3", "655a.11(b)"), ("street_4", "655a.11(d)"), ("street_5", "655a.11(f)"))
OPTIONAL = ("progressive", "three_card_bonus", "five_card_hand_bonus", "six_card_bonus")


def dealt(*commands: object, after: tuple[rounds.Event, ...] = BETTING) -> tuple[rounds.Event, ...]:
    return played(*commands, CloseBetting(), DealHands(), after=after)


def on_street(number: int, after: tuple[rounds.Event, ...]) -> tuple[rounds.Event, ...]:
    """Seat 1 bets three times its ante on each street before that one, and the cards come out."""
    log = after
    for card in ("2c", "7d")[:number]:
        log = played(Bet(1, 3), RevealCommunityCard(card), after=log)
    return log


def board(cards: str, after: tuple[rounds.Event, ...]) -> tuple[rounds.Event, ...]:
    """Seat 1 bets on every street, and the cards come out."""
    log = after
    for card in cards.split():
        log = played(Bet(1, 1), RevealCommunityCard(card), after=log)
    return log


# The deal, 655a.10 ------------------------------------------------------------------------------------------


@pytest.mark.law("655a.10(b)")
def test_hands_go_clockwise_to_the_antes_that_stand_in_whatever_order_they_were_placed() -> None:
    log = played(*ante(6, 1, 4, 3), WithdrawWager(3, "ante"), CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands()).then(HandsDealt(R, (1, 4, 6), 52 - 3 * 2 - 3, None))


@pytest.mark.law("655a.10(c)")
def test_no_six_card_bonus_cards_are_dealt_for_a_wager_that_was_taken_back() -> None:
    withdrawn = (bonus(1, "six_card_bonus"), WithdrawWager(1, "six_card_bonus"))
    log = played(*ante(1), *withdrawn, CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands()).then(HandsDealt(R, (1,), 52 - 2 - 3, None))


@pytest.mark.law("655a.10(e)")
def test_after_the_right_count_the_round_goes_on() -> None:
    log = played(CountStub(52 - 2 - 3), after=dealt(*ante(1)))
    given(rounds, *log).when(Bet(1, 1)).then(BetPlaced(R, 1, "street_3", 1, 500))


# Decisions, 655a.11(a)-(g) ----------------------------------------------------------------------------------


@pytest.mark.law("655a.11(a)")
@pytest.mark.parametrize("decision", [Bet(1, 1), Fold(1)])
def test_nobody_decides_before_the_cards_are_dealt(decision: Bet | Fold) -> None:
    open_, closed = played(*ante(1), after=BETTING), played(*ante(1), CloseBetting(), after=BETTING)
    for log in (open_, closed):
        given(rounds, *log).when(decision).refused("655a.11(b)", "after the deal")


@pytest.mark.law("655a.11(a)(3)")
@pytest.mark.parametrize("community", [0, 1, 2])
def test_who_speaks_before_the_third_community_card_forfeits(community: int) -> None:
    log = on_street(community, dealt(*ante(1)))
    given(rounds, *log).when(ForfeitWagers(1, "talked")).then(WagersForfeited(R, 1, "talked"))
    out = board("2c 7d Kh", dealt(*ante(1)))
    given(rounds, *out).when(ForfeitWagers(1, "talked")).refused("655a.11(a)(3)")


@pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_street_is_one_two_or_three_times_the_ante_and_nothing_else(number: int) -> None:
    wager, section = STREETS[number]
    log = on_street(number, dealt(*ante(1, cents=700)))
    for multiple, cents in ((1, 700), (2, 1_400), (3, 2_100)):
        given(rounds, *log).when(Bet(1, multiple)).then(BetPlaced(R, 1, wager, multiple, cents))
    for multiple in (0, 4, -1):
        given(rounds, *log).when(Bet(1, multiple)).refused(section, "the multiple is one of 1, 2, 3")


@pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_fold_loses_at_once_what_was_wagered_so_far(number: int) -> None:
    log = on_street(number, dealt(*ante(1)))
    folded = played(Fold(1), after=log)
    collected = settled(folded)[len(settled(log)) :]
    stakes = (("ante", 500), ("street_3", 1_500), ("street_4", 1_500))[: number + 1]
    assert [(row.wager, row.stake_cents, *figures(row), row.section) for row in collected] == [
        (wager, stake, Result.LOST, None, 0, 0, STREETS[number][1]) for wager, stake in stakes
    ]


@pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)")
@pytest.mark.parametrize("wager", [None, *OPTIONAL])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_cards_of_a_fold_stay_for_each_of_the_four_optional_wagers(number: int, wager: str | None) -> None:
    log = played(*ante(1), after=BETTING)
    if wager == "five_card_hand_bonus":
        log = hand_bonus(1, log)
    elif wager is not None:
        log = played(bonus(1, wager), after=log)
    log = on_street(number, dealt(after=log))
    given(rounds, *log).when(Fold(1)).then(HandFolded(R, 1, cards_stay=wager is not None))


# Settlement, 655a.11(i) -------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)", "655a.12(d), Three Card Bonus", "655a.12(f), Six Card Bonus")
@pytest.mark.parametrize("wager", OPTIONAL)
def test_an_optional_wager_that_the_submission_does_not_offer_is_not_taken(wager: str) -> None:
    offers = {name: each for name, each in HOUSE.bonuses.items() if name != wager}
    progressive = None if wager == "progressive" else HOUSE.progressive
    book = RuleBook((replace(HOUSE, progressive=progressive, bonuses=offers),))
    log = played(TABLE, OpenRound(), *ante(1), book=book)
    place = PlaceWager(1, wager, 100, "player-1", "account-1" if wager == "five_card_hand_bonus" else None)
    given(rounds, *log).when(place, book=book).refused("not offered")
    assert given(rounds, *log).when(place).refusal is None


@pytest.mark.law("655a.11(i)(1)", "655a.11(i)(1)(i)", "655a.11(i)(1)(iv)")
@pytest.mark.parametrize(
    ("cards", "hand", "made", "odds", "won"),
    [
        ("Th Jh Qh", "Kh Ah", "royal_flush", "100% of meter", None),
        ("7h 8h 9h", "5h 6h", "straight_flush", "10% of meter", None),
        ("9s 9h 4d", "9c 9d", "four_of_a_kind", "300 for 1", 30_000),
        ("9s 9h 4d", "4c 4s", "full_house", "50 for 1", 5_000),
        ("2h 7h 9h", "Kh 4h", "flush", "40 for 1", 4_000),
        ("2h 3d 4s", "Ac 5h", "straight", "30 for 1", 3_000),
        ("9s 9h 4d", "9c 2d", "three_of_a_kind", "9 for 1", 900),
        ("Ks Kh 4d", "Ac Ad", None, None, 0),
        ("Ks Qh 4d", "Ac Ad", None, None, 0),
    ],
)
def test_the_progressive_wager_wins_from_three_of_a_kind_on_by_paytable_a(
    cards: str, hand: str, made: str | None, odds: str | None, won: int | None
) -> None:
    row = rows(show(1, hand, board(cards, dealt(*ante(1), bonus(1, "progressive")))))["progressive"]
    source = None if odds is None else Source.HAND_PAY if won is None else Source.TABLE_INVENTORY
    assert (row.hand, *figures(row), row.source) == (made, Result.WON if odds else Result.LOST, odds, won, 0, source)


@pytest.mark.law("655a.11(i)(1)(ii)")
def test_without_a_light_there_is_no_progressive_wager_to_win() -> None:
    taken_back = (bonus(1, "progressive"), WithdrawWager(1, "progressive"))
    log = played(*ante(1, 2), *taken_back, bonus(2, "progressive"), after=BETTING)
    given(rounds, *log).when(CloseBetting()).then(BettingClosed(R, lit=(2,)))
    log = played(*ante(1), *taken_back, after=BETTING)
    assert "progressive" not in rows(show(1, "9c 9d", board("9s 9h 4d", dealt(after=log))))


@pytest.mark.law("655a.11(i)(1)(v)", "655a.12(c)(5), Envy Bonus, which paytables and how much")
@pytest.mark.parametrize(
    ("cards", "hand", "made"),
    [("Th Jh Qh", "Kh Ah", "royal_flush"), ("7h 8h 9h", "5h 6h", "straight_flush"), ("9s 9h 4d", "9c 9d", None)],
)
def test_what_an_envy_bonus_is_and_which_hands_bring_one_is_the_submissions(
    cards: str, hand: str, made: str | None
) -> None:
    assert HOUSE.progressive is not None and HOUSE.progressive.envy is not None
    amounts = {"royal_flush": 7_700, "straight_flush": 3_300}
    envy = replace(HOUSE.progressive.envy, amounts_cents=tuple(amounts.items()))
    book = RuleBook((replace(HOUSE, progressive=replace(HOUSE.progressive, envy=envy)),))
    log = played(Bet(1, 1), Fold(2), after=dealt(*ante(1, 2), bonus(2, "progressive")))
    first, second, third = cards.split()
    log = played(RevealCommunityCard(first), Bet(1, 1), RevealCommunityCard(second), Bet(1, 1), after=log)
    log = played(RevealCommunityCard(third), after=log)
    log = played(rounds.ShowHand(2, ("2c", "3d")), after=log)
    won = [event for event in show(1, hand, log, book=book) if isinstance(event, EnvyBonusWon)]
    section = "655a.11(i)(1)(v)"
    assert won == ([EnvyBonusWon(R, "progressive-2", 1, (2,), made, amounts[made], section)] if made else [])
    none = RuleBook((replace(HOUSE, progressive=replace(HOUSE.progressive, envy=None)),))
    assert not [event for event in show(1, hand, log, book=none) if isinstance(event, EnvyBonusWon)]


@pytest.mark.law("655a.11(i)(2)(i)", "655a.11(i)(2)(ii)", "655a.12(d), Three Card Bonus")
@pytest.mark.parametrize(
    ("cards", "odds", "won", "returned"),
    [
        ("Ah Kh Qh", "50 to 1", 5_000, 100),
        ("9h Th Jh", "40 to 1", 4_000, 100),
        ("9h 9d 9s", "30 to 1", 3_000, 100),
        ("9h Td Jh", "6 to 1", 600, 100),
        ("2h 9h Jh", "3 to 1", 300, 100),
        ("2h 2d Ah", "1 to 1", 100, 100),
        ("Ah Kd Jh", None, 0, 0),
    ],
)
def test_the_three_card_bonus_wins_from_a_pair_on(cards: str, odds: str | None, won: int, returned: int) -> None:
    row = rows(show(1, "4c 7s", board(cards, dealt(*ante(1), bonus(1, "three_card_bonus")))))["three_card_bonus"]
    assert figures(row) == (Result.WON if odds else Result.LOST, odds, won, returned)


@pytest.mark.law("655a.11(i)(3)", "655a.11(i)(3)(i)", "655a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus")
@pytest.mark.parametrize(
    ("cards", "hand", "odds", "won"),
    [
        ("9s 9h 4d", "9c 9d", "150 for 1", 15_000),
        ("9s 9h 4d", "4c 4s", "40 for 1", 4_000),
        ("9s 9h 4d", "9c 2d", "6 for 1", 600),
        ("Ks Kh 4d", "Ac Ad", None, 0),
    ],
)
def test_the_five_card_hand_bonus_is_paid_by_its_own_table(cards: str, hand: str, odds: str | None, won: int) -> None:
    log = board(cards, dealt(after=hand_bonus(1, played(*ante(1), after=BETTING))))
    log = played(rounds.DrawMagicCard("3c"), rounds.DrawLuckyPosition("6"), after=log)
    row = rows(show(1, hand, log))["five_card_hand_bonus"]
    source = Source.GAME_ACCOUNT if odds else None
    assert (*figures(row), row.source, row.claim_id) == (
        Result.WON if odds else Result.LOST, odds, won, 0, source, None
    )  # fmt: skip


@pytest.mark.law("655a.11(i)(4)", "655a.11(i)(4)(i)", "655a.11(i)(4)(ii)", "655a.12(f), Six Card Bonus")
@pytest.mark.parametrize(
    ("six", "odds", "won", "returned"),
    [
        ("Qh Jh Th 2c", "1000 to 1", 100_000, 100),
        ("Ad Ac As 2c", "50 to 1", 5_000, 100),
        ("Ad As Kd 2c", "25 to 1", 2_500, 100),
        ("2h 5h 9h 2c", "20 to 1", 2_000, 100),
        ("Qs Jd Tc 2c", "10 to 1", 1_000, 100),
        ("Ad As 3c 2c", "5 to 1", 500, 100),
        ("Ad Kd 3c 2c", None, 0, 0),
    ],
)
def test_the_six_card_bonus_wins_from_three_of_a_kind_of_six_cards_on(
    six: str, odds: str | None, won: int, returned: int
) -> None:
    log = board("4s 7c 8d", dealt(*ante(1), bonus(1, "six_card_bonus")))
    log = played(RevealSixCardBonus(tuple(six.split())), after=log)
    row = rows(show(1, "Ah Kh", log))["six_card_bonus"]
    assert figures(row) == (Result.WON if odds else Result.LOST, odds, won, returned)


@pytest.mark.law("655a.10(f)")
@pytest.mark.parametrize("misdealt", [True, False])
def test_a_wrong_count_returns_every_wager_of_every_seat(misdealt: bool) -> None:
    bonuses = (bonus(1, "progressive"), bonus(1, "three_card_bonus"), bonus(1, "six_card_bonus"))
    log = hand_bonus(2, played(*ante(1, 2), *bonuses, after=BETTING))
    log = played(Bet(1, 3), Fold(2), after=dealt(after=log))
    void = settled(played(CountStub(52 - 2 * 2 - 3, misdealt), after=log))[len(settled(log)) :]
    back = {(row.seat, row.wager): row.returned_cents for row in void if isinstance(row, wagers.WagerSettled)}
    assert back == {
        (1, "ante"): 500,
        (1, "street_3"): 1_500,
        (1, "progressive"): 100,
        (1, "three_card_bonus"): 100,
        (1, "six_card_bonus"): 100,
        (2, "ante"): 500,
        (2, "five_card_hand_bonus"): 100,
    }
