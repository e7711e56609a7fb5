"""Cajun Stud, 58 Pa. Code chapter 683a: what a table allows, and what each wager comes to, worked out by hand."""

from dataclasses import replace

import pytest

from services.core import rounds, wagers
from services.core.names import On, Result, Source
from services.core.rounds import (
    AllSixCardRevealed,
    Bet,
    BetPlaced,
    CloseBetting,
    CloseRound,
    CommunityCardRevealed,
    CountStub,
    DealHands,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    ForfeitWagers,
    HandFolded,
    HandsDealt,
    HandShown,
    OpenRound,
    OpenTable,
    PlaceWager,
    RevealAllSixCard,
    RevealCommunityCard,
    RevealDealerHand,
    RevealSixCardBonus,
    RoundClosed,
    RoundVoided,
    ShowHand,
    StubCounted,
    TableOpened,
    VoidRound,
)
from services.core.rules import RuleBook
from services.core.wagers import RoundFinished, WagerSettled
from tests.support.given import BOOK, Log, ante, bonus, figures, given, played, round_state, rows, settled, show

RULES = "demo-cajun-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
R = "table-1-1"
MAIN = ("ante", "raise_1", "raise_2", "raise_3")
OPTIONAL = ("pocket_bonus", "board_bonus", "lo_ball", "all_six_bonus")
BETTING = played(OpenTable("cajun_stud", 6, RULES), OpenRound())
LOST = (Result.LOST, None, 0, 0)


def dealt(*commands: PlaceWager, after: Log = BETTING) -> Log:
    return played(*commands, CloseBetting(), DealHands(), after=after)


def bets(*seats: int, multiple: int = 1) -> tuple[Bet, ...]:
    return tuple(Bet(seat, multiple) for seat in seats)


def board(cards: str, *seats: int, multiple: int = 1, after: Log) -> Log:
    """These seats raise on every street, and the cards come out."""
    log = after
    for card in cards.split():
        log = played(*bets(*seats, multiple=multiple), RevealCommunityCard(card), after=log)
    return log


def folded(cards: str, *commands: PlaceWager) -> Log:
    """Seat 1 folds at once, and the cards come out for its optional wagers."""
    return board(cards, after=played(Fold(1), after=dealt(*ante(1), *commands)))


# The table and the deal, 683a.10 -------------------------------------------------------------------------------------


def test_a_table_needs_no_progressive_and_offers_no_wager_on_one() -> None:
    given(rounds).when(OpenTable("cajun_stud", 6, RULES)).then(TableOpened("cajun_stud", 6, RULES, None, HOUSE.sha256))
    log = played(*ante(1), after=BETTING)
    for wager in ("progressive", "three_card_bonus", "six_card_bonus", "caribbean_stud_bonus", "street_3", "bet"):
        given(rounds, *log).when(bonus(1, wager)).refused(None, "not offered: Cajun Stud has no such wager")
    for extra in ("magic_card", "lucky_position"):
        given(rounds, *log).when(bonus(1, extra)).refused(None, "not offered: Cajun Stud has no such wager")
    hand_bonus = PlaceWager(1, "five_card_hand_bonus", 100, "player-1", "account-1")
    given(rounds, *log).when(hand_bonus).refused(None, "not offered")
    given(rounds, *log).when(bonus(1, "raise_1")).refused(None, "use Bet")
    given(rounds, *log).when(PlaceWager(1, "lo_ball", 100, hand=On.DEALER)).refused(None, "on the dealer's hand")


def test_a_progressive_is_not_given_to_a_table_that_offers_no_wager_on_it() -> None:
    # Whether it exists, or is open under whatever rules, nobody has looked.
    for rules in (None, RULES, "demo-caribbean-stud"):
        table = OpenTable("cajun_stud", 6, RULES, "progressive-2", rules)
        given(rounds).when(table).refused(None, "leave progressive-2 out")


@pytest.mark.parametrize(
    ("optional", "stub"),
    [
        ((), 52 - 4 - 3),
        ((bonus(1, "pocket_bonus"), bonus(1, "board_bonus"), bonus(2, "lo_ball")), 52 - 4 - 3),
        ((bonus(2, "all_six_bonus"),), 52 - 4 - 3 - 1),
        # One card for the table, however many play for it.
        ((bonus(1, "all_six_bonus"), bonus(2, "all_six_bonus")), 52 - 4 - 3 - 1),
    ],
)
def test_the_all_six_card_leaves_the_stub_only_if_somebody_wagered(optional: tuple[PlaceWager, ...], stub: int) -> None:
    log = played(*ante(1, 2), *optional, CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands()).then(HandsDealt(R, (1, 2), stub, None))


def test_no_dealers_hand() -> None:
    log = played(*ante(1), CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands("As")).refused("683a.10", "In Cajun Stud the dealer has no hand")
    given(rounds, *dealt(*ante(1))).when(DealHands()).refused("683a.10", "already")
    given(rounds, *dealt(*ante(1))).when(RevealDealerHand(("As", "Ks", "Qs", "Js"))).refused(None, "has no hand")


def test_a_wrong_stub_voids_the_round_by_the_games_own_section() -> None:
    log = dealt(*ante(1))
    given(rounds, *log).when(CountStub(47)).then(StubCounted(R, 47, 47, False))
    given(rounds, *log).when(CountStub(46, misdealt=True)).then(
        StubCounted(R, 46, 47, True), RoundVoided(R, "The stub has 46 cards and should have 47.", "683a.10", False)
    )


# Raises and folds, 683a.11(b)-(g) --------------------------------------------------------------------------------------


@pytest.mark.law("683a.11(b)", "683a.11(d)", "683a.11(f)")
def test_every_raise_is_a_multiple_of_the_ante_whatever_the_last_was() -> None:
    log = dealt(*ante(1, cents=700))
    for wager, multiple, card, section in (
        ("raise_1", 3, "2c", "683a.11(b)"),
        ("raise_2", 1, "7d", "683a.11(d)"),
        ("raise_3", 2, "Kh", "683a.11(f)"),
    ):
        for other in (0, 4, 6):
            given(rounds, *log).when(Bet(1, other)).refused(section, "the multiple is one of 1, 2, 3.")
        given(rounds, *log).when(Bet(1, multiple)).then(BetPlaced(R, 1, wager, multiple, multiple * 700))
        log = played(Bet(1, multiple), RevealCommunityCard(card), after=log)


@pytest.mark.law("683a.11(b)", "683a.11(d)")
def test_the_first_raises_go_clockwise_and_the_later_ones_in_any_order() -> None:
    log = dealt(*ante(2, 5))
    given(rounds, *log).when(Bet(5, 1)).refused("683a.11(b)", "Seat 2 decides before")
    log = played(*bets(2, 5), after=log)
    given(rounds, *log).when(Bet(2, 1)).refused("683a.11(b)", "the next card must be turned over first")
    played(RevealCommunityCard("2c"), *bets(5, 2), after=log)


@pytest.mark.law("683a.11(c)", "683a.11(e)", "683a.11(g)")
def test_each_community_card_waits_for_every_decision_and_there_is_no_fourth() -> None:
    log = dealt(*ante(1, 2))
    for card, section in (("2c", "683a.11(c)"), ("7d", "683a.11(e)"), ("Kh", "683a.11(g)")):
        given(rounds, *log).when(RevealCommunityCard(card)).refused(section, "seats 1, 2 must bet or fold first")
        log = played(*bets(1, 2), after=log)
        given(rounds, *log).when(RevealCommunityCard(card)).then(CommunityCardRevealed(R, card))
        log = played(RevealCommunityCard(card), after=log)
    given(rounds, *log).when(RevealCommunityCard("4s")).refused("683a.11(g)", "No community card is left")
    given(rounds, *log).when(Bet(1, 1)).refused("683a.11(f)", "no decision is left in this round")


@pytest.mark.law("683a.11(b)", "683a.11(d)", "683a.11(f)")
@pytest.mark.parametrize(
    ("street", "section", "collected"),
    [(0, "683a.11(b)", MAIN[:1]), (1, "683a.11(d)", MAIN[:2]), (2, "683a.11(f)", MAIN[:3])],
)
def test_a_fold_loses_ante_and_raises_and_no_optional_wager(
    street: int, section: str, collected: tuple[str, ...]
) -> None:
    cards = ("2c", "7d", "Kh")
    log = board(" ".join(cards[:street]), 1, after=dealt(*ante(1), *(bonus(1, wager) for wager in OPTIONAL)))
    fold = played(Fold(1), after=log)[-1]
    assert fold == HandFolded(R, 1, True)
    lost = given(wagers, *log).when(fold).events
    assert [(row.wager, *figures(row), row.section) for row in lost] == [(name, *LOST, section) for name in collected]
    log = board(" ".join(cards[street:]), after=(*log, fold))
    log = played(RevealAllSixCard("3c"), after=log)
    assert tuple(rows(show(1, "Ac Qd", log))) == OPTIONAL


@pytest.mark.law("683a.11(b)")
@pytest.mark.parametrize("wager", OPTIONAL)
def test_the_cards_of_a_fold_stay_for_any_optional_wager(wager: str) -> None:
    log = dealt(*ante(1, 2), bonus(1, wager))
    given(rounds, *log).when(Fold(1)).then(HandFolded(R, 1, True))
    given(rounds, *played(Fold(1), after=log)).when(Fold(2)).then(HandFolded(R, 2, False))


@pytest.mark.law("683a.11(h)", "683a.11(j)")
@pytest.mark.parametrize("wager", ["board_bonus", "lo_ball", "all_six_bonus"])
def test_when_all_have_folded_the_board_comes_out_for_a_wager_that_looks_at_it(wager: str) -> None:
    log = played(Fold(1), after=dealt(*ante(1), bonus(1, wager)))
    assert round_state(log) == "deciding"
    given(rounds, *log).when(ShowHand(1, ("Ac", "Qd"))).refused("683a.11(h)", "until all community cards are face up")
    given(rounds, *log).when(CloseRound()).refused("683a.11(j)", "Seat 1 still has a wager")
    assert round_state(board("2c 7d Kh", after=log)) == "settling"


@pytest.mark.law("cards that nobody's wager looks at any more")
def test_when_all_have_folded_a_pocket_bonus_needs_no_board() -> None:
    log = played(Fold(1), after=dealt(*ante(1), bonus(1, "pocket_bonus")))
    assert round_state(log) == "settling"
    # The Code turns the community cards up whoever is left; that is not forbidden then either.
    given(rounds, *log).when(RevealCommunityCard("2c")).then(CommunityCardRevealed(R, "2c"))
    played(ShowHand(1, ("Ac", "Ad")), CloseRound(), after=log)
    nobody = played(Fold(1), after=dealt(*ante(1)))
    given(rounds, *nobody).when(CloseRound()).then(RoundClosed(R))


@pytest.mark.law("683a.11(a)(3)")
def test_nobody_forfeits_by_talking_and_nothing_is_drawn() -> None:
    log = dealt(*ante(1), bonus(1, "lo_ball"))
    given(rounds, *log).when(ForfeitWagers(1, "talked")).refused(None, "Cajun Stud has no rule by which a person")
    given(rounds, *log).when(DrawMagicCard("As")).refused(None, "Cajun Stud has no five card hand bonus")
    betting = played(*ante(1), after=BETTING)
    given(rounds, *betting).when(DrawLuckyPosition("1")).refused(None, "Cajun Stud has no five card hand bonus")
    given(rounds, *log).when(RevealSixCardBonus(("3c", "3d", "3h", "4c"))).refused(
        None, "no cards for 'six card bonus'"
    )


# Ante and Raises, 683a.11(h) -------------------------------------------------------------------------------------------


@pytest.mark.law("683a.11(h)(1) ff.", "683a.12, all odds of Cajun Stud, and any limit on payouts")
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
def test_a_winning_hand_is_paid_on_the_ante_and_every_raise(
    cards: str, hand: str, line: str, odds: str, times: int
) -> None:
    row = rows(show(1, hand, board(cards, 1, multiple=2, after=dealt(*ante(1)))))
    assert tuple(row) == MAIN
    for name, each in row.items():
        stake = 500 if name == "ante" else 1000
        assert (each.hand, each.section, each.source) == (line, "683a.11(h)", Source.TABLE_INVENTORY)
        assert figures(each) == (Result.WON, odds, times * stake, stake)


@pytest.mark.law("683a.11(h)(1) ff.")
@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("5c 5d", LOST),
        ("Ac Qd", LOST),
        ("6c 6d", (Result.PUSHED, "push", 0, 500)),
        ("Tc Td", (Result.PUSHED, "push", 0, 500)),
        ("Jc Jd", (Result.WON, "1 to 1", 500, 500)),
    ],
)
def test_the_push_band(hand: str, expected: tuple[object, ...]) -> None:
    row = rows(show(1, hand, board("2c 7d Kh", 1, after=dealt(*ante(1)))))
    assert [(figures(row[name]), row[name].section) for name in MAIN] == [(expected, "683a.11(h)")] * 4


@pytest.mark.law("683a.12, all odds of Cajun Stud, and any limit on payouts")
def test_the_aggregate_limit_cuts_the_latest_raise_first() -> None:
    # 500 times 3000 on each of four wagers is 6,000,000; the limit is 5,000,000.
    row = rows(show(1, "Kh Ah", board("Th Jh Qh", 1, after=dealt(*ante(1, cents=3000)))))
    assert [row[name].won_cents for name in MAIN] == [1_500_000, 1_500_000, 1_500_000, 500_000]


@pytest.mark.law("683a.11(h)", "683a.11(i)")
def test_hands_are_shown_counterclockwise_each_seat_settled_whole() -> None:
    log = board("2c 7d Kh", 1, 2, after=dealt(*ante(1, 2), *(bonus(2, wager) for wager in OPTIONAL)))
    given(rounds, *log).when(ShowHand(1, ("Ac", "Qd"))).refused("683a.11(h)", "Seat 2 is settled before")
    given(rounds, *log).when(ShowHand(2, ("Ac", "Qd"))).refused("683a.11(i)", "turn over its cards first")
    log = played(RevealAllSixCard("3c"), after=log)
    given(rounds, *log).when(ShowHand(2, ("Ac", "Qd", "9s"))).refused("683a.11(h)", "has 2 cards, not 3")
    given(rounds, *log).when(ShowHand(2, ("Ac", "3c"))).refused("683a.11(h)", "3c was seen")
    assert tuple(rows(show(2, "Ac Qd", log))) == (*MAIN, *OPTIONAL)
    log = played(ShowHand(2, ("Ac", "Qd")), after=log)
    given(rounds, *log).when(ShowHand(1, ("Ac", "5d"))).refused("683a.11(h)", "Ac was seen")
    log = played(ShowHand(1, ("5s", "5d")), after=log)
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))


# Optional wagers, 683a.11(i) -------------------------------------------------------------------------------------------


@pytest.mark.law("683a.11(i)(1) ff.", "683a.12, all odds of Cajun Stud, and any limit on payouts")
@pytest.mark.parametrize(
    ("hand", "line", "odds", "won"),
    [
        ("Ac Ad", "pair_of_aces", "30 to 1", 3000),
        ("Ac Kc", "ace_face_suited", "20 to 1", 2000),
        ("Jc Ac", "ace_face_suited", "20 to 1", 2000),
        ("Ac Qd", "ace_face_unsuited", "10 to 1", 1000),
        ("Kc Kd", "pair", "5 to 1", 500),
        ("3c 3d", "pair", "5 to 1", 500),
        ("Kc Qc", None, None, 0),
        ("Ac Tc", None, None, 0),
        # With the board a pair and a flush, which it does not look at.
        ("2d 7h", None, None, 0),
        ("Th 9h", None, None, 0),
    ],
)
def test_the_pocket_bonus_looks_at_the_own_two_cards(hand: str, line: str | None, odds: str | None, won: int) -> None:
    row = rows(show(1, hand, folded("2h 4h Jh", bonus(1, "pocket_bonus"))))["pocket_bonus"]
    assert (row.hand, row.odds, row.won_cents, row.section) == (line, odds, won, "683a.11(i)")
    assert row.returned_cents == (100 if won else 0)


BOARDS = [
    ("Qh Kh Ah", "straight_flush", "40 to 1", 4000),  # no class of its own here
    ("Ah 2h 3h", "straight_flush", "40 to 1", 4000),
    ("9c 9d 9h", "three_of_a_kind", "30 to 1", 3000),
    ("4c 5d 6h", "straight", "6 to 1", 600),
    ("Ac 2d 3h", "straight", "6 to 1", 600),
    ("2h 7h Kh", "flush", "4 to 1", 400),
    ("9c 9d 2h", "pair", "1 to 1", 100),
    ("Kc Ad 2h", None, None, 0),
    ("9c Jd Kh", None, None, 0),
]


@pytest.mark.law("683a.11(i)(1) ff.", "683a.12, all odds of Cajun Stud, and any limit on payouts")
@pytest.mark.parametrize(("cards", "line", "odds", "won"), BOARDS)
def test_the_board_bonus_looks_at_the_community_cards_and_a_straight_beats_a_flush(
    cards: str, line: str | None, odds: str | None, won: int
) -> None:
    # The two 7s or a lone king of the hand change nothing of it.
    row = rows(show(1, "7d Kd", folded(cards, bonus(1, "board_bonus"))))["board_bonus"]
    assert (row.hand, row.odds, row.won_cents) == (line, odds, won)


@pytest.mark.law("A-2-3 as a straight of three cards")
def test_ace_two_three_is_a_straight_where_the_submission_says_so() -> None:
    stricter = replace(HOUSE.bonuses["board_bonus"], ace_low_straight=False)
    book = RuleBook((replace(HOUSE, bonuses={**HOUSE.bonuses, "board_bonus": stricter}),))
    for cards, line in (("Ac 2d 3h", None), ("Ah 2h 3h", "flush"), ("2c 3d 4h", "straight")):
        log = folded(cards, bonus(1, "board_bonus"))
        assert rows(show(1, "7d Kd", log, book=book))["board_bonus"].hand == line


@pytest.mark.law("683a.11(i)(1) ff.", "which six cards are All-Six, and what Lo Ball counts")
@pytest.mark.parametrize(
    ("cards", "hand", "line", "odds", "won"),
    [
        ("2c 3d 4h", "5s 7c", "seven_high", "50 to 1", 5000),
        ("2c 3d 4h", "6s 8c", "eight_high", "20 to 1", 2000),
        ("2c 3d 4h", "8s 9c", "nine_high", "10 to 1", 1000),
        ("2c 3d 4h", "Ts 9c", "ten_high", "5 to 1", 500),
        ("2c 3d 4h", "Js 5c", "jack_high", "3 to 1", 300),
        ("9c 8d 5h", "Js Tc", "jack_high", "3 to 1", 300),
        ("2c 3d 4h", "Qs 5c", None, None, 0),
        ("2c 3d 4h", "As 7c", None, None, 0),  # the ace is high
        ("2c 3d 4h", "As 5c", None, None, 0),  # a straight
        ("2c 3d 4h", "5s 6c", None, None, 0),
        ("2c 3c 4c", "7c 9c", None, None, 0),  # a flush
        ("2c 3d 4h", "2s 7c", None, None, 0),  # a pair
        ("2c 3d 4h", "7s 7c", None, None, 0),
    ],
)
def test_lo_ball_takes_seven_to_jack_high_without_pair_straight_or_flush(
    cards: str, hand: str, line: str | None, odds: str | None, won: int
) -> None:
    row = rows(show(1, hand, folded(cards, bonus(1, "lo_ball"))))["lo_ball"]
    assert (row.hand, row.odds, row.won_cents) == (line, odds, won)


@pytest.mark.law("683a.11(i)(1) ff.", "which six cards are All-Six, and what Lo Ball counts")
@pytest.mark.parametrize(
    ("cards", "hand", "extra", "line", "odds", "won"),
    [
        ("Th Jh Qh", "Ah 2c", "Kh", "royal_flush", "1000 to 1", 100_000),
        ("7h 8h 9h", "5h 2c", "6h", "straight_flush", "200 to 1", 20_000),
        ("9s 9h 4d", "9c 2c", "9d", "four_of_a_kind", "50 to 1", 5_000),
        ("9s 9h 4d", "4c 2c", "9d", "full_house", "25 to 1", 2_500),
        ("2h 7h 9h", "Kh 4c", "4h", "flush", "20 to 1", 2_000),
        ("2h 3d 4s", "Ac Kd", "5h", "straight", "10 to 1", 1_000),
        ("9s 9h 4d", "Ac 2c", "9d", "three_of_a_kind", "5 to 1", 500),
        # The best five are made without the extra card.
        ("9s 9h 4d", "9c 2c", "Kd", "three_of_a_kind", "5 to 1", 500),
        ("9s 9h 4d", "4c 2c", "2d", None, None, 0),  # three pairs are two pair
        ("9s Jh 4d", "Ac 2c", "Kd", None, None, 0),
    ],
)
def test_the_all_six_bonus_takes_the_best_five_of_six(
    cards: str, hand: str, extra: str, line: str | None, odds: str | None, won: int
) -> None:
    log = played(RevealAllSixCard(extra), after=folded(cards, bonus(1, "all_six_bonus")))
    row = rows(show(1, hand, log))["all_six_bonus"]
    assert (row.hand, row.odds, row.won_cents, row.section) == (line, odds, won, "683a.11(i)")


@pytest.mark.law("683a.11(i)")
def test_the_all_six_card_comes_after_the_board_and_before_the_hands_that_need_it() -> None:
    six = RevealAllSixCard("3c")
    log = dealt(*ante(1, 2), bonus(1, "all_six_bonus"))
    given(rounds, *log).when(six).refused("683a.11(i)", "stay down until all community cards are out")
    log = board("2c 7d Kh", 1, 2, after=log)
    # Seat 2 did not wager on it and does not wait for it; seat 1 does.
    log = played(ShowHand(2, ("Ac", "Qd")), after=log)
    given(rounds, *log).when(ShowHand(1, ("5s", "5d"))).refused("683a.11(i)", "turn over its cards first")
    given(rounds, *log).when(RevealAllSixCard("2c")).refused("683a.11(i)", "2c was seen")
    given(rounds, *log).when(RevealAllSixCard("Ac")).refused("683a.11(i)", "Ac was seen")
    given(rounds, *log).when(six).then(AllSixCardRevealed(R, "3c"))
    log = played(six, after=log)
    given(rounds, *log).when(RevealAllSixCard("4c")).refused("683a.11(i)", "face up already")
    given(rounds, *log).when(ShowHand(1, ("5s", "5d"))).then(HandShown(R, 1, ("5s", "5d"), "dealer"))


def test_the_all_six_card_stays_down_where_nobody_wagered() -> None:
    log = board("2c 7d Kh", 1, after=dealt(*ante(1), bonus(1, "board_bonus")))
    given(rounds, *log).when(RevealAllSixCard("3c")).refused("683a.11(i)", "Nobody has a wager on 'all six'")


# Voids, 683a.13 ----------------------------------------------------------------------------------------------------------


@pytest.mark.law("655a.13, 639a.13, 683a.13, irregularities")
def test_a_void_returns_every_wager_by_seat_and_order() -> None:
    log = dealt(*ante(1, 2), *(bonus(2, wager) for wager in reversed(OPTIONAL)))
    log = played(Bet(1, 3), Fold(2), RevealCommunityCard("2c"), after=log)
    void = settled(played(VoidRound("card exposed"), after=log))[len(settled(log)) :]
    assert [
        (row.seat, row.wager, row.returned_cents, row.section) for row in void if isinstance(row, WagerSettled)
    ] == [
        (2, "ante", 500, "683a.13"),
        *((2, wager, 100, "683a.13") for wager in OPTIONAL),
        (1, "ante", 500, "683a.13"),
        (1, "raise_1", 1500, "683a.13"),
    ]
    assert void[-1] == RoundFinished(R, void=True)
