"""Caribbean Stud Poker, 58 Pa. Code chapter 639a: what a table allows, and what each wager comes to, worked out by hand."""

from dataclasses import replace

import pytest

from services.core import accounts, rounds, wagers
from services.core.asking import Following
from services.core.names import On, Result, Source
from services.core.rounds import (
    Bet,
    BetPlaced,
    CloseBetting,
    CloseRound,
    CountStub,
    DealerHandRevealed,
    DealHands,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    ForfeitWagers,
    HandFolded,
    HandsDealt,
    HandShown,
    LuckyPositionDrawn,
    OpenRound,
    OpenTable,
    PayoutAwaited,
    PlaceWager,
    ReleasePayout,
    RevealAllSixCard,
    RevealCommunityCard,
    RevealDealerHand,
    RevealSixCardBonus,
    RoundClosed,
    RoundVoided,
    ShowHand,
    StubCounted,
    VoidRound,
)
from services.core.rules import RuleBook
from services.core.wagers import ContributionReversed, EnvyBonusWon, RoundFinished, WagerSettled, following
from tests.support.given import (
    BOOK,
    Log,
    ante,
    bonus,
    figures,
    given,
    hand_bonus,
    played,
    round_state,
    rows,
    settled,
    show,
)

RULES = "demo-caribbean-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
R = "table-1-1"
BONUS, FIVE = "caribbean_stud_bonus", "five_card_hand_bonus"
BETTING = played(OpenTable("caribbean_stud", 6, RULES, "progressive-2", RULES), OpenRound())
NOTHING = "Ad Qs Jd 5s 3s"
"""A dealer's hand below ace-king."""
QUADS = "Ad Ac Ah As 3s"


def dealt(*commands: PlaceWager, after: Log = BETTING) -> Log:
    return played(*commands, CloseBetting(), DealHands("Ad"), after=after)


def decided(*decisions: Bet | Fold, dealer: str, after: Log) -> Log:
    """Cards for all who have an ante, these decisions, and the dealer's hand, whose first card was shown."""
    first, *hole = dealer.split()
    return played(CloseBetting(), DealHands(first), *decisions, RevealDealerHand(tuple(hole)), after=after)


def bets(*seats: int) -> tuple[Bet, ...]:
    return tuple(Bet(seat, 2) for seat in seats)


def drawn(after: Log, magic: str = "2h", lucky: str = "6") -> Log:
    return played(DrawMagicCard(magic), DrawLuckyPosition(lucky), after=after)


# The deal, 639a.10 ------------------------------------------------------------------------------------------------


@pytest.mark.law("which card the dealer shows in Caribbean Stud")
def test_the_dealer_shows_one_card_with_the_deal() -> None:
    log = played(*ante(1, 4), CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands()).refused("639a.10", "the dealer shows one card: name it with the deal")
    given(rounds, *log).when(DealHands("1s")).refused("639a.10", "not a card")
    # Five cards each for two players and the dealer.
    given(rounds, *log).when(DealHands("As")).then(HandsDealt(R, (1, 4), 52 - 15, "As"))
    given(rounds, *BETTING).when(DealHands("As")).refused("639a.10", "still open")
    given(rounds, *dealt(*ante(1))).when(DealHands("As")).refused("639a.10", "already")


@pytest.mark.parametrize("seats", [(1,), (2, 5), (1, 2, 3, 4, 5, 6)])
def test_no_optional_wager_takes_a_card_from_the_stub(seats: tuple[int, ...]) -> None:
    extras = tuple(bonus(seat, wager) for seat in seats for wager in (BONUS, "progressive"))
    log = played(*ante(*seats), *extras, CloseBetting(), after=BETTING)
    given(rounds, *log).when(DealHands("As")).then(HandsDealt(R, seats, 52 - 5 * len(seats) - 5, "As"))


def test_a_wrong_stub_voids_the_round_by_the_games_own_section() -> None:
    log = dealt(*ante(1))
    given(rounds, *log).when(CountStub(42)).then(StubCounted(R, 42, 42, False))
    given(rounds, *log).when(CountStub(41)).then(
        StubCounted(R, 41, 42, False), RoundVoided(R, "The stub has 41 cards and should have 42.", "639a.10", True)
    )


# Decisions, 639a.11(b) --------------------------------------------------------------------------------------------


@pytest.mark.law("639a.11(b)")
def test_the_bet_is_twice_the_ante() -> None:
    log = dealt(*ante(1, cents=700))
    given(rounds, *log).when(Bet(1, 2)).then(BetPlaced(R, 1, "bet", 2, 1400))


@pytest.mark.law("639a.11(b)")
@pytest.mark.parametrize("multiple", [-2, 0, 1, 3, 4])
def test_another_multiple_is_refused(multiple: int) -> None:
    given(rounds, *dealt(*ante(1))).when(Bet(1, multiple)).refused("639a.11(b)", "the multiple is always 2.")


@pytest.mark.law("639a.11(a)(3)", "639a.11(b)")
def test_the_decisions_go_clockwise_and_each_seat_has_one() -> None:
    log = dealt(*ante(2, 3, 5))
    for early in (Bet(3, 2), Fold(5)):
        given(rounds, *log).when(early).refused("639a.11(b)", "Seat 2 decides before")
    log = played(Bet(2, 2), after=log)
    given(rounds, *log).when(Bet(2, 2)).refused("639a.11(b)", "decided already: seats 3, 5 must decide first.")
    given(rounds, *log).when(Fold(5)).refused("639a.11(b)", "Seat 3 decides before")
    log = played(Fold(3), after=log)
    given(rounds, *log).when(Bet(3, 2)).refused("639a.11(b)", "it folded")
    log = played(Bet(5, 2), after=log)
    for late in (Bet(2, 2), Fold(5)):
        given(rounds, *log).when(late).refused("639a.11(b)", "decided already: no decision is left in this round.")
    given(rounds, *log).when(Bet(1, 2)).refused("639a.11(b)", "no ante")


@pytest.mark.law("639a.11(a)")
def test_no_decision_before_the_deal() -> None:
    log = played(*ante(1), CloseBetting(), after=BETTING)
    for command in (Bet(1, 2), Fold(1)):
        given(rounds, *log).when(command).refused("639a.11(b)", "decisions come after the deal")
    given(rounds, *BETTING).when(PlaceWager(1, "bet", 1000)).refused(None, "use Bet")


@pytest.mark.law("639a.11(b)", "639a.11(c)")
@pytest.mark.parametrize("wager", [BONUS, "progressive"])
def test_the_cards_of_a_fold_go_with_wagers_that_are_forfeited(wager: str) -> None:
    given(rounds, *dealt(*ante(1), bonus(1, wager))).when(Fold(1)).then(HandFolded(R, 1, False))


@pytest.mark.law("the cards of a folded Caribbean hand whose Five Card Hand Bonus lives")
@pytest.mark.parametrize("hand", list(On))
def test_the_cards_of_a_fold_stay_for_a_five_card_hand_bonus_on_either_hand(hand: On) -> None:
    log = dealt(after=hand_bonus(1, played(*ante(1), after=BETTING), hand))
    given(rounds, *log).when(Fold(1)).then(HandFolded(R, 1, True))


@pytest.mark.law("639a.11(b)")
def test_a_fold_collects_all_but_the_five_card_hand_bonus() -> None:
    log = played(*ante(1), bonus(1, BONUS), bonus(1, "progressive"), after=BETTING)
    log = dealt(after=hand_bonus(1, log))
    lost = given(wagers, *log).when(played(Fold(1), after=log)[-1]).events
    assert [(row.wager, row.result, row.section) for row in lost] == [
        (wager, Result.LOST, "639a.11(b)") for wager in ("ante", BONUS, "progressive")
    ]
    # A winning hand changes nothing of it: three aces are shown for the Five Card Hand Bonus alone, 6 for 1.
    log = drawn(played(Fold(1), after=log))
    row = rows(show(1, "Ac As Ah 9d 2c", log))
    assert {name: figures(each) for name, each in row.items()} == {FIVE: (Result.WON, "6 for 1", 600, 0)}


# The dealer's hand, 639a.11(c) ------------------------------------------------------------------------------------


@pytest.mark.law("639a.11(a)(3)", "639a.11(c)")
def test_the_dealers_hand_comes_out_once_and_after_every_decision() -> None:
    hole = RevealDealerHand(("Kd", "5c", "7h", "3s"))
    given(rounds, *played(*ante(1), CloseBetting(), after=BETTING)).when(hole).refused("639a.11(c)", "not dealt")
    log = dealt(*ante(1, 2))
    given(rounds, *log).when(hole).refused("639a.11(c)", "The dealer's hand stays down: seats 1, 2 must bet or fold")
    log = played(Bet(1, 2), after=log)
    given(rounds, *log).when(hole).refused("639a.11(c)", "The dealer's hand stays down: seat 2 must bet or fold first.")
    log = played(Fold(2), after=log)
    for cards, words in (
        (("Kd", "5c", "7h"), "4 hole cards, not 3"),
        (("Ad", "Kd", "5c", "7h", "3s"), "4 hole cards, not 5"),
        (("Kd", "5c", "7h", "Kd"), "twice"),
        (("Kd", "5c", "7h", "Ad"), "Ad was seen"),
        (("Kd", "5c", "7h", "1s"), "not a card"),
    ):
        given(rounds, *log).when(RevealDealerHand(cards)).refused("639a.11(c)", words)
    given(rounds, *log).when(hole).then(DealerHandRevealed(R, hole.cards))
    log = played(hole, after=log)
    given(rounds, *log).when(hole).refused("639a.11(c)", "face up already")
    given(rounds, *log).when(Bet(1, 2)).refused("639a.11(b)", "no decision is left")


def test_there_is_no_other_card_on_the_layout_and_no_forfeit() -> None:
    log = dealt(*ante(1))
    given(rounds, *log).when(RevealCommunityCard("2c")).refused(None, "Caribbean Stud Poker has no community cards.")
    given(rounds, *log).when(RevealSixCardBonus(("2c", "2d", "2h", "2s"))).refused(
        None, "no cards for 'six card bonus'"
    )
    given(rounds, *log).when(RevealAllSixCard("2c")).refused(None, "no cards for 'all six'")
    given(rounds, *log).when(ForfeitWagers(1, "talked")).refused(None, "no rule by which a person forfeits")


@pytest.mark.law("639a.11(c)", "639a.11(c)(1)", "639a.11(d)")
def test_hands_are_shown_whole_counterclockwise_and_after_the_dealers() -> None:
    log = dealt(*ante(1, 2, 3))
    first = ShowHand(3, ("2c", "3c", "4c", "5c", "7d"))
    given(rounds, *log).when(first).refused("639a.11(c)", "seats 1, 2, 3 must bet or fold first")
    log = played(Bet(1, 2), Fold(2), Bet(3, 2), after=log)
    given(rounds, *log).when(first).refused("639a.11(c)", "Hands stay down until the dealer's hand is face up.")
    assert round_state(log) == "deciding"
    log = played(RevealDealerHand(("Kd", "5h", "7h", "3s")), after=log)
    assert round_state(log) == "settling"
    given(rounds, *log).when(ShowHand(1, ("2d", "4d", "6d", "8d", "Td"))).refused("639a.11(c)", "Seat 3 is settled")
    given(rounds, *log).when(ShowHand(3, ("2c", "3c"))).refused("639a.11(c)", "has 5 cards, not 2")
    given(rounds, *log).when(ShowHand(3, ("2c", "3c", "4c", "5c", "Kd"))).refused("639a.11(c)", "Kd was seen")
    given(rounds, *log).when(ShowHand(3, ("2c", "3c", "4c", "5c", "Ad"))).refused("639a.11(c)", "Ad was seen")
    given(rounds, *log).when(CloseRound()).refused("639a.11(d)", "Seat 3 still has a wager")
    given(rounds, *log).when(first).then(HandShown(R, 3, first.cards, "dealer"))
    log = played(first, after=log)
    # Seat 2 folded and has no wager: seat 1 is next.
    given(rounds, *log).when(ShowHand(1, ("2d", "4d", "6d", "8d", "7d"))).refused("639a.11(c)", "7d was seen")
    given(rounds, *log).when(RevealDealerHand(("9c", "9d", "9h", "9s"))).refused("639a.11(c)", "Settlement has begun")
    given(rounds, *log).when(VoidRound("late")).refused(None, "shown")
    log = played(ShowHand(1, ("2d", "4d", "6d", "8d", "Td")), after=log)
    given(rounds, *log).when(ShowHand(2, ("2h", "4h", "6h", "8h", "Th"))).refused("639a.11(c)", "close the round")
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))


@pytest.mark.law("cards that nobody's wager looks at any more")
def test_when_all_have_folded_the_dealers_hand_comes_out_for_a_wager_on_it_alone() -> None:
    log = played(Fold(1), Fold(2), after=dealt(*ante(1, 2), bonus(1, BONUS), bonus(2, "progressive")))
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))
    # The Code turns the dealer's cards up whoever is left; that is not forbidden then either.
    given(rounds, *log).when(RevealDealerHand(("Kd", "5c", "7h", "3s"))).then(
        DealerHandRevealed(R, ("Kd", "5c", "7h", "3s"))
    )
    own = drawn(played(Fold(1), after=dealt(after=hand_bonus(1, played(*ante(1), after=BETTING)))))
    assert round_state(own) == "settling"
    played(ShowHand(1, ("2d", "4d", "6d", "8d", "Td")), CloseRound(), after=own)
    dealers = dealt(after=hand_bonus(1, played(*ante(1), after=BETTING), On.DEALER))
    dealers = drawn(played(Fold(1), after=dealers))
    assert round_state(dealers) == "deciding"
    hand = ShowHand(1, ("2d", "4d", "6d", "8d", "Td"))
    given(rounds, *dealers).when(hand).refused("639a.11(c)", "until the dealer's hand is face up")
    played(RevealDealerHand(("Kd", "5c", "7h", "3s")), hand, CloseRound(), after=dealers)


# Draws, 639a.11(c)(6) ---------------------------------------------------------------------------------------------


@pytest.mark.law("639a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus")
def test_the_drawn_position_may_be_the_dealers() -> None:
    log = dealt(after=hand_bonus(1, played(*ante(1), after=BETTING)))
    given(rounds, *log).when(DrawLuckyPosition("dealer")).then(LuckyPositionDrawn(R, "dealer"))
    given(rounds, *log).when(DrawLuckyPosition("7")).refused(None, "a seat from 1 to 6 or 'dealer'")
    log = played(DrawLuckyPosition("dealer"), after=log)
    given(rounds, *log).when(DrawLuckyPosition("1")).refused("639a.11(c)(6)(iii)", "drawn already: dealer")


@pytest.mark.law("639a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus")
def test_both_draws_are_due_before_a_hand_with_a_bonus_on_the_dealers_hand_is_shown() -> None:
    log = hand_bonus(1, played(*ante(1), after=BETTING), On.DEALER)
    log = decided(*bets(1), dealer=NOTHING, after=log)
    hand = ShowHand(1, ("2d", "4d", "6d", "8d", "Td"))
    given(rounds, *log).when(hand).refused("639a.11(c)(6)(iii)", "draw the Magic Card first")
    log = played(DrawMagicCard("Ad"), after=log)
    given(rounds, *log).when(hand).refused("639a.11(c)(6)(iii)", "draw the lucky position first")
    played(DrawLuckyPosition("dealer"), hand, after=log)
    nobody = dealt(*ante(1), bonus(1, "progressive"))
    given(rounds, *nobody).when(DrawLuckyPosition("dealer")).refused("639a.11(c)(6)(iii)", "Nobody")


# Ante and Bet, 639a.11(c)(3) ----------------------------------------------------------------------------------------

PAID, BACK, LOST = (Result.WON, "1 to 1", 500, 500), (Result.RETURNED, None, 0, 1000), (Result.LOST, None, 0, 0)


@pytest.mark.law("639a.11(c)(3)", "639a.11(c)(3)(i)")
@pytest.mark.parametrize(
    "dealer",
    [
        "Ad Qd Jc Th 9s",  # the highest hand that does not play
        "Kd Qd Jc Th 8s",
        "7d 5d 4c 3h 2s",
    ],
)
@pytest.mark.parametrize("hand", ["Ks Kh Kc 8c 4h", "6c 5s 4d 3s 2c", "Ac Ah As 8h 8c"])
def test_below_ace_king_the_ante_is_paid_and_the_bet_returned_whoever_is_better(dealer: str, hand: str) -> None:
    row = rows(show(1, hand, decided(*bets(1), dealer=dealer, after=played(*ante(1), after=BETTING))))
    assert (figures(row["ante"]), figures(row["bet"])) == (PAID, BACK)
    assert (row["ante"].section, row["bet"].section) == ("639a.11(c)(3)(i)", "639a.11(c)(3)(i)")
    assert (row["ante"].source, row["bet"].source) == (Source.TABLE_INVENTORY, None)


@pytest.mark.law(
    "639a.11(c)(2)",
    "639a.11(c)(3)",
    "639a.11(c)(3)(ii)",
    "639a.11(c)(3)(ii)(A)",
    "655a.6(c), 639a.6 and 683a.6, how hands rank",
)
@pytest.mark.parametrize(
    ("dealer", "hand"),
    [
        ("Ad Kd 4c 3h 2s", "Ac Qh Jd Tc 8s"),  # the lowest hand that plays
        ("Ad Kd 9c 3h 2s", "Ac Kh 8d 7c 6s"),
        ("2d 2c 5c 4h 3s", "Ac Kh 9d 7c 6s"),
        ("2d 2c 6c 4h 3s", "2h 2s 5d 4s 3c"),
        ("6d 5c 4c 3h 2s", "Ac 5h 4d 3c 2h"),  # a straight to the six against one to the five
        ("Kd Kc 9c 9h 2s", "Ks Kh 8d 8c As"),
        (QUADS, "Kc Kd Kh Ks Qh"),
    ],
)
def test_a_lower_hand_loses_both(dealer: str, hand: str) -> None:
    row = rows(show(1, hand, decided(*bets(1), dealer=dealer, after=played(*ante(1), after=BETTING))))
    assert {name: (figures(each), each.section) for name, each in row.items()} == {
        "ante": (LOST, "639a.11(c)(3)(ii)(A)"),
        "bet": (LOST, "639a.11(c)(3)(ii)(A)"),
    }


@pytest.mark.law(
    "639a.11(c)(2)",
    "639a.11(c)(3)",
    "639a.11(c)(3)(ii)",
    "639a.11(c)(3)(ii)(B)",
    "639a.12(a) and (b), ante and bet, and any limit on payouts",
)
@pytest.mark.parametrize(
    ("hand", "line", "odds", "times"),
    [
        ("Th Jh Qh Kh Ah", "royal_flush", "100 to 1", 100),
        ("5h 6h 7h 8h 9h", "straight_flush", "50 to 1", 50),
        ("9c 9d 9h 9s 2c", "four_of_a_kind", "20 to 1", 20),
        ("9c 9d 9h 2d 2c", "full_house", "7 to 1", 7),
        ("2h 7h 9h Th Kh", "flush", "5 to 1", 5),
        ("5h 4d 3d 2c Ah", "straight", "4 to 1", 4),
        ("9c 9d 9h 4d 2c", "three_of_a_kind", "3 to 1", 3),
        ("3s 3d 2h 2d 9c", "two_pair", "2 to 1", 2),
        ("2h 2d 9c 8c 7c", "any", "1 to 1", 1),
        ("Ah Ks 5h 3d 2d", "any", "1 to 1", 1),
    ],
)
def test_a_higher_hand_is_paid_the_bet_by_its_table_and_the_ante_even_money(
    hand: str, line: str, odds: str, times: int
) -> None:
    # The dealer has the lowest hand that plays: A-K-4-3-2.
    log = decided(*bets(1), dealer="Ad Kd 4c 3h 2s", after=played(*ante(1), after=BETTING))
    row = rows(show(1, hand, log))
    assert figures(row["ante"]) == PAID
    assert (row["bet"].hand, *figures(row["bet"])) == (line, Result.WON, odds, times * 1000, 1000)
    assert {each.section for each in row.values()} == {"639a.11(c)(3)(ii)(B)"}


@pytest.mark.law("639a.11(c)(3)(ii)", "639a.11(c)(3)(ii)(C)")
@pytest.mark.parametrize(
    ("dealer", "hand"),
    [
        ("Ad Kd 4c 3h 2s", "Ac Kh 4d 3c 2h"),
        ("Kd Kc 9c 9h 2s", "Kh Ks 9d 9s 2h"),
        ("2d 5d 7d 9d Kd", "2h 5h 7h 9h Kh"),
        ("Td Jd Qd Kd Ad", "Th Jh Qh Kh Ah"),
    ],
)
def test_an_equal_hand_takes_both_back_for_suits_count_nothing(dealer: str, hand: str) -> None:
    row = rows(show(1, hand, decided(*bets(1), dealer=dealer, after=played(*ante(1), after=BETTING))))
    assert {name: (figures(each), each.section) for name, each in row.items()} == {
        "ante": ((Result.RETURNED, None, 0, 500), "639a.11(c)(3)(ii)(C)"),
        "bet": (BACK, "639a.11(c)(3)(ii)(C)"),
    }


@pytest.mark.law("639a.12(a) and (b), ante and bet, and any limit on payouts")
def test_the_aggregate_limit_is_filled_by_the_ante_first() -> None:
    # 50,000 on the ante, and 100 times 100,000 on the bet: of 5,000,000 the bet keeps 4,950,000.
    log = decided(
        *bets(1), dealer="Ad Kd 4c 3h 2s", after=played(*ante(1, cents=50_000), bonus(1, BONUS), after=BETTING)
    )
    row = rows(show(1, "Th Jh Qh Kh Ah", log))
    assert [row[wager].won_cents for wager in ("ante", "bet", BONUS)] == [50_000, 4_950_000, 10_000]
    assert row["bet"].returned_cents == 100_000


# Optional wagers, 639a.11(c)(4)-(6) -----------------------------------------------------------------------------------


@pytest.mark.law("639a.11(c)(4)", "639a.12(c), Caribbean Stud Bonus")
@pytest.mark.parametrize("dealer", [NOTHING, QUADS])
@pytest.mark.parametrize(
    ("hand", "line", "odds", "won"),
    [
        ("Th Jh Qh Kh 9h", "straight_flush", "50 to 1", 5000),
        ("9c 9d 8h 9s 2c", "three_of_a_kind", "3 to 1", 300),
        ("Kc Kd 2h 2d 9c", "two_pair", "2 to 1", 200),
        ("Kc Kd 2h 3d 9c", "pair_of_8s_or_better", "1 to 1", 100),
        ("8c 8d 2h 3d 9c", "pair_of_8s_or_better", "1 to 1", 100),
    ],
)
def test_the_caribbean_stud_bonus_is_paid_whatever_the_dealer_has(
    dealer: str, hand: str, line: str, odds: str, won: int
) -> None:
    row = rows(show(1, hand, decided(*bets(1), dealer=dealer, after=played(*ante(1), bonus(1, BONUS), after=BETTING))))
    assert (row[BONUS].hand, *figures(row[BONUS])) == (line, Result.WON, odds, won, 100)
    assert (row[BONUS].section, row[BONUS].source) == ("639a.11(c)(4)", Source.TABLE_INVENTORY)


@pytest.mark.law("639a.11(c)(4)", "639a.12(c), Caribbean Stud Bonus")
@pytest.mark.parametrize("hand", ["7c 7d Kh Qd 9c", "2c 2d Kh Qd 9c"])
def test_a_pair_below_8s_pushes_the_caribbean_stud_bonus(hand: str) -> None:
    log = decided(*bets(1), dealer=QUADS, after=played(*ante(1), bonus(1, BONUS), after=BETTING))
    row = rows(show(1, hand, log))
    assert (row[BONUS].hand, *figures(row[BONUS])) == ("pair", Result.PUSHED, "push", 0, 100)
    assert row[BONUS].source is None
    assert figures(row["bet"]) == LOST


@pytest.mark.law("639a.11(c)(4)", "639a.11(c)(5)", "639a.11(c)(5)(i)")
@pytest.mark.parametrize("wager", [BONUS, "progressive"])
def test_high_cards_lose_the_caribbean_stud_bonus_and_less_than_three_of_a_kind_the_progressive(wager: str) -> None:
    log = decided(*bets(1), dealer=NOTHING, after=played(*ante(1), bonus(1, wager), after=BETTING))
    hand = "Ac Kd Qh Jh 9c" if wager == BONUS else "Ac As Kh Kd 9c"
    row = rows(show(1, hand, log))[wager]
    assert figures(row) == LOST
    assert row.section == ("639a.11(c)(4)" if wager == BONUS else "639a.11(c)(5)")


@pytest.mark.law(
    "639a.11(c)(5)",
    "639a.11(c)(5)(i)",
    "639a.11(c)(5)(iv)",
    "639a.12(d), Progressive Payout Wager and Envy Bonus",
)
@pytest.mark.parametrize("dealer", [NOTHING, QUADS])
@pytest.mark.parametrize(
    ("hand", "odds", "won", "source"),
    [
        ("Th Jh Qh Kh 9h", "10% of meter", None, Source.HAND_PAY),
        ("9c 9d 8h 9s 8c", "100 for 1", 10_000, Source.TABLE_INVENTORY),
        ("2h 4h 6h 8h Th", "50 for 1", 5_000, Source.TABLE_INVENTORY),
        ("2h 3h 4h 5h 6c", "10 for 1", 1_000, Source.TABLE_INVENTORY),
        ("9c 9d 8h 9s 2c", "3 for 1", 300, Source.TABLE_INVENTORY),
    ],
)
def test_the_progressive_wager_is_paid_whatever_the_dealer_has(
    dealer: str, hand: str, odds: str, won: int | None, source: Source
) -> None:
    log = decided(*bets(1), dealer=dealer, after=played(*ante(1), bonus(1, "progressive"), after=BETTING))
    row = rows(show(1, hand, log))["progressive"]
    assert (*figures(row), row.source, row.section) == (Result.WON, odds, won, 0, source, "639a.11(c)(5)(iv)")
    assert (row.claim_id, row.progressive_id) == (f"{R}.1.progressive", "progressive-2")
    shown = ShowHand(1, tuple(hand.split()))
    awaited = PayoutAwaited(R, f"{R}.1.progressive", documents=source is Source.HAND_PAY)
    given(rounds, *log).when(shown).then(HandShown(R, 1, shown.cards, "dealer"), awaited)


@pytest.mark.law(
    "639a.11(c)(5)",
    "639a.11(c)(6)",
    "639a.11(c)(6)(iii)",
    "639a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus",
)
def test_a_seat_is_settled_in_the_order_of_the_code_with_a_bonus_on_each_hand() -> None:
    # The dealer's aces full, 40 for 1, with the drawn Ah among them; the player's three 9s, 6 for 1, at the drawn seat.
    log = hand_bonus(1, played(*ante(1), bonus(1, "progressive"), bonus(1, BONUS), after=BETTING), On.DEALER)
    log = hand_bonus(1, log)
    log = drawn(decided(*bets(1), dealer="Ad Ac Ah Ks Kd", after=log), magic="Ah", lucky="1")
    row = rows(show(1, "9c 9d 9s 4d 2c", log))
    assert tuple(row) == (
        *("ante", "bet", BONUS, "progressive", FIVE, f"{FIVE}.dealer", "magic_card.dealer", "lucky_position"),
    )
    assert {name: (row[name].hand, *figures(row[name]), row[name].section) for name in tuple(row)[4:]} == {
        FIVE: ("three_of_a_kind", Result.WON, "6 for 1", 600, 0, "639a.11(c)(6)(iii)"),
        f"{FIVE}.dealer": ("full_house", Result.WON, "40 for 1", 4_000, 0, "639a.11(c)(6)(iii)"),
        "magic_card.dealer": (None, Result.WON, None, 400, 0, "639a.11(c)(6)(iii)"),
        "lucky_position": (None, Result.WON, None, 200, 0, "639a.11(c)(6)(iii)"),
    }
    asked = {name: [each.command for each in following("table-1", row[name])] for name in tuple(row)[4:]}
    dealers, own = (f"table-1/{len(BETTING) + number}" for number in (4, 6))
    assert asked == {
        FIVE: [accounts.PostHold(own), accounts.CreditWinnings(600, R, 1, FIVE)],
        f"{FIVE}.dealer": [accounts.PostHold(dealers), accounts.CreditWinnings(4_000, R, 1, FIVE)],
        "magic_card.dealer": [accounts.CreditWinnings(400, R, 1, "magic_card")],
        "lucky_position": [accounts.CreditWinnings(200, R, 1, "lucky_position")],
    }


@pytest.mark.law("639a.11(c)(6)(i)")
def test_extras_are_those_of_the_hand_that_the_wager_is_on() -> None:
    # The magic card is the dealer's, the lucky position too: a bonus on the own hand has neither.
    log = hand_bonus(2, hand_bonus(1, played(*ante(1, 2), after=BETTING)), On.DEALER)
    log = drawn(decided(*bets(1, 2), dealer=NOTHING, after=log), magic="Jd", lucky="dealer")
    # Seat 2 has the wager on the dealer's hand, which wins nothing; the player's full house is not looked at.
    assert {
        name: figures(each)
        for name, each in rows(show(2, "Kc Ks Kh 4c 4d", log)).items()
        if name not in ("ante", "bet")
    } == {
        f"{FIVE}.dealer": LOST,
        "magic_card.dealer": (Result.WON, None, 400, 0),
        "lucky_position.dealer": (Result.WON, None, 200, 0),
    }
    log = played(ShowHand(2, ("Kc", "Ks", "Kh", "4c", "4d")), after=log)
    assert tuple(rows(show(1, "2c 3c 4s 5d 8d", log))) == ("ante", "bet", FIVE)


@pytest.mark.law("639a.11(c)(6)(ii)", "639a.11(c)(6)(iii)")
@pytest.mark.parametrize(
    ("dealer", "odds", "won", "source", "documents"),
    [
        ("5d 6d 7d 8d 9d", "500 for 1", 50_000, Source.GAME_ACCOUNT, False),
        ("Td Jd Qd Kd Ad", "5% of meter", None, Source.HAND_PAY, True),
    ],
)
def test_a_claim_on_the_dealers_hand_says_so_in_its_id(
    dealer: str, odds: str, won: int | None, source: Source, documents: bool
) -> None:
    log = hand_bonus(1, played(*ante(1), after=BETTING), On.DEALER)
    log = drawn(decided(Fold(1), dealer=dealer, after=log))
    claim = f"{R}.1.{FIVE}.dealer"
    row = rows(show(1, "2c 3c 4s 5c 8c", log))[f"{FIVE}.dealer"]
    assert (*figures(row), row.source, row.claim_id) == (Result.WON, odds, won, 0, source, claim)
    log = played(ShowHand(1, ("2c", "3c", "4s", "5c", "8c")), after=log)
    assert log[-1] == PayoutAwaited(R, claim, documents)
    given(rounds, *log).when(CloseRound()).refused("639a.11(c)(6)(ii)", f"validate the payout {claim} first")
    log = played(ReleasePayout(claim, documented=False), after=log)
    if documents:
        given(rounds, *log).when(CloseRound()).refused("639a.11(c)(6)(iii)", "documentation")
        log = played(ReleasePayout(claim, documented=True), after=log)
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))


@pytest.mark.law("639a.11(c)(5)(iii)", "639a.11(c)(5)(iv)")
def test_the_round_waits_for_a_progressive_win_by_the_games_own_sections() -> None:
    claim = f"{R}.1.progressive"
    log = decided(*bets(1), dealer=NOTHING, after=played(*ante(1), bonus(1, "progressive"), after=BETTING))
    log = played(ShowHand(1, ("Th", "Jh", "Qh", "Kh", "Ah")), after=log)
    given(rounds, *log).when(CloseRound()).refused("639a.11(c)(5)(iii)", "validate")
    log = played(ReleasePayout(claim, documented=False), after=log)
    given(rounds, *log).when(CloseRound()).refused("639a.11(c)(5)(iv)", "documentation")
    played(ReleasePayout(claim, documented=True), CloseRound(), after=log)


# Envy Bonuses, 639a.11(c)(5)(v) ---------------------------------------------------------------------------------------

STRAIGHT_FLUSH = "5h 6h 7h 8h 9h"


def envy(log: Log, seat: int, hand: str) -> list[EnvyBonusWon]:
    return [event for event in show(seat, hand, log) if isinstance(event, EnvyBonusWon)]


@pytest.mark.law("639a.11(b)", "639a.11(c)(5)(v)")
@pytest.mark.parametrize(
    ("hand", "line", "cents"),
    [(STRAIGHT_FLUSH, "straight_flush", 30_000), ("Th Jh Qh Kh Ah", "royal_flush", 100_000)],
)
def test_a_fold_keeps_the_right_to_an_envy_bonus(hand: str, line: str, cents: int) -> None:
    lit = tuple(bonus(seat, "progressive") for seat in (1, 2))
    log = decided(Fold(1), *bets(2, 3), dealer="Kd Kc Ks 4d 4c", after=played(*ante(1, 2, 3), *lit, after=BETTING))
    # Seat 3 holds the hand without a progressive wager: seats 1, which folded, and 2 have one.
    assert envy(log, 3, hand) == [EnvyBonusWon(R, "progressive-2", 3, (1, 2), line, cents, "639a.11(c)(5)(v)")]


@pytest.mark.law("639a.11(c)(5)(v)")
def test_no_envy_bonus_for_ones_own_hand_or_below_a_straight_flush_or_for_the_dealers() -> None:
    lit = tuple(bonus(seat, "progressive") for seat in (1, 2))
    log = decided(*bets(1, 2), dealer="5d 6d 7d 8d 9d", after=played(*ante(1, 2), *lit, after=BETTING))
    assert envy(log, 2, "9c 9s 9h 4c 2c") == []
    assert envy(log, 2, "Kc Ks Kh Kd 2c") == []
    alone = decided(*bets(2), dealer=NOTHING, after=played(*ante(2), bonus(2, "progressive"), after=BETTING))
    assert envy(alone, 2, STRAIGHT_FLUSH) == []
    same = played(*ante(1, 2, player="player-1"), *lit, after=BETTING)
    assert envy(decided(*bets(1, 2), dealer=NOTHING, after=same), 2, "5c 6c 7c 8c 9c") == []


@pytest.mark.law("639a.11(c)(5)(v)")
def test_paytable_a_has_no_envy_bonus() -> None:
    rules = f"{RULES}-a"
    log = played(OpenTable("caribbean_stud", 6, rules, "progressive-3", rules), OpenRound())
    log = played(*ante(1, 2), bonus(1, "progressive"), bonus(2, "progressive"), after=log)
    log = decided(*bets(1, 2), dealer=NOTHING, after=log)
    assert envy(log, 2, STRAIGHT_FLUSH) == []
    assert rows(show(2, STRAIGHT_FLUSH, log))["progressive"].odds == "10% of meter"


@pytest.mark.law("whether a folded hand brings others an Envy Bonus")
def test_a_folded_hand_brings_an_envy_bonus_only_where_the_submission_says_so() -> None:
    log = hand_bonus(2, played(*ante(1, 2), bonus(1, "progressive"), after=BETTING))
    log = drawn(decided(Bet(1, 2), Fold(2), dealer=NOTHING, after=log))
    assert envy(log, 2, STRAIGHT_FLUSH) == []
    assert HOUSE.progressive is not None
    assert HOUSE.progressive.envy is not None
    wider = replace(HOUSE.progressive, envy=replace(HOUSE.progressive.envy, folded_hand_qualifies=True))
    book = RuleBook((replace(HOUSE, progressive=wider),))
    won = EnvyBonusWon(R, "progressive-2", 2, (1,), "straight_flush", 30_000, "639a.11(c)(5)(v)")
    # It comes before the Five Card Hand Bonus, where the progressive wager would have been settled.
    assert show(2, STRAIGHT_FLUSH, log, book=book)[0] == won


# Voids, 639a.13 -------------------------------------------------------------------------------------------------------


@pytest.mark.law("655a.13, 639a.13, 683a.13, irregularities")
def test_a_void_returns_what_a_fold_had_collected_and_the_holds_of_both_hands() -> None:
    log = played(*ante(1, 2), bonus(2, "progressive"), bonus(2, BONUS), after=BETTING)
    # The wager on the dealer's hand is placed first and still comes behind that on the player's.
    log = hand_bonus(2, hand_bonus(2, log, On.DEALER))
    log = played(Bet(1, 2), Fold(2), after=dealt(after=log))
    void = settled(played(VoidRound("card exposed"), after=log))[len(settled(log)) :]
    returned = [event for event in void if isinstance(event, WagerSettled)]
    assert [(row.seat, row.wager, row.on, *figures(row), row.section) for row in returned] == [
        (seat, wager, on, Result.RETURNED, None, 0, stake, "639a.13")
        for seat, wager, on, stake in (
            (2, "ante", On.PLAYER, 500),
            (2, BONUS, On.PLAYER, 100),
            (2, "progressive", On.PLAYER, 100),
            (2, FIVE, On.PLAYER, 100),
            (2, FIVE, On.DEALER, 100),
            (1, "ante", On.PLAYER, 500),
            (1, "bet", On.PLAYER, 1000),
        )
    ]
    assert void[-2:] == (ContributionReversed(R, "progressive-2"), RoundFinished(R, void=True))
    released = [each for row in returned for each in following("table-1", row)]
    dealers, own = (f"table-1/{len(BETTING) + number}" for number in (5, 7))
    assert released == [Following("accounts", "account-2", accounts.ReleaseHold(hold_id)) for hold_id in (own, dealers)]
