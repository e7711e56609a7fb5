"""58 Pa. Code §§ 639a.11 and 683a.11 paragraph by paragraph, where no other test holds us to one."""

from dataclasses import replace

import pytest

from services.core import jackpots, rounds
from services.core.jackpots import (
    ClaimPayout,
    DocumentPayout,
    OpenProgressive,
    PayEnvy,
    PayPayout,
    ValidatePayout,
)
from services.core.names import On, Result, Source
from services.core.rounds import (
    Bet,
    BettingClosed,
    CloseBetting,
    CloseRound,
    CommunityCardRevealed,
    CountStub,
    DealHands,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    HandShown,
    OpenRound,
    OpenTable,
    PlaceWager,
    RevealCommunityCard,
    RevealDealerHand,
    RoundClosed,
    ShowHand,
    WithdrawWager,
)
from services.core.rules import RuleBook
from services.core.wagers import EnvyBonusWon
from tests.support.given import BOOK, Log, ante, bonus, figures, given, hand_bonus, played, rows, show

CARIBBEAN, CAJUN = "demo-caribbean-stud", "demo-cajun-stud"
HOUSES = {held.id: held for held in BOOK.submissions}
R = "table-1-1"
FIVE = "five_card_hand_bonus"
CARIBBEAN_TABLE = OpenTable("caribbean_stud", 6, CARIBBEAN, "progressive-2", CARIBBEAN)
CAJUN_TABLE = OpenTable("cajun_stud", 6, CAJUN)
BETTING = played(CARIBBEAN_TABLE, OpenRound())
HOLE = RevealDealerHand(("Kd", "5c", "7h", "3s"))
"""With the ace of diamonds an ace-king, which plays."""


def at_settlement(after: Log) -> Log:
    """Seat 1 bets, the dealer has an ace-king."""
    return played(CloseBetting(), DealHands("Ad"), Bet(1, 2), HOLE, after=after)


# Caribbean Stud Poker, 639a.11 --------------------------------------------------------------------------------


@pytest.mark.law("639a.11(c)(2)", "639a.11(c)(5)(i)")
def test_the_hand_is_the_same_in_whatever_order_its_cards_lie() -> None:
    log = at_settlement(played(*ante(1), bonus(1, "progressive"), after=BETTING))
    for hand in ("9c 9d 9s 4d 4c", "4c 9s 4d 9c 9d"):
        row = rows(show(1, hand, log))
        assert (row["bet"].hand, row["progressive"].hand) == ("full_house", "full_house")
        # Only the highest line: 7 to 1 and 100 for 1, nothing besides for the three 9s.
        assert (row["bet"].won_cents, row["progressive"].won_cents) == (7_000, 10_000)


@pytest.mark.law("639a.11(c)(5)", "639a.11(c)(6)", "639a.12(c), Caribbean Stud Bonus")
@pytest.mark.parametrize("wager", ["caribbean_stud_bonus", "progressive", FIVE])
def test_an_optional_wager_that_the_submission_does_not_offer_is_not_taken(wager: str) -> None:
    house = HOUSES[CARIBBEAN]
    offers = {name: each for name, each in house.bonuses.items() if name != wager}
    progressive = None if wager == "progressive" else house.progressive
    book = RuleBook((replace(house, progressive=progressive, bonuses=offers),))
    log = played(CARIBBEAN_TABLE, OpenRound(), *ante(1), book=book)
    place = PlaceWager(1, wager, 100, "player-1", "account-1" if wager == FIVE else None)
    given(rounds, *log).when(place, book=book).refused("not offered")
    assert given(rounds, *log).when(place).refusal is None


@pytest.mark.law("639a.11(c)(5)(ii)")
def test_the_lights_are_those_of_the_wagers_that_stand_when_betting_closes() -> None:
    taken_back = (bonus(2, "progressive"), WithdrawWager(2, "progressive"))
    log = played(*ante(1, 2, 4), bonus(4, "progressive"), *taken_back, bonus(1, "progressive"), after=BETTING)
    given(rounds, *log).when(CloseBetting()).then(BettingClosed(R, lit=(1, 4)))
    alone = played(*ante(1), bonus(1, "progressive"), WithdrawWager(1, "progressive"), after=BETTING)
    assert tuple(rows(show(1, "9c 9d 9h 9s 2c", at_settlement(alone)))) == ("ante", "bet")


def told(*commands: jackpots.Command) -> tuple[jackpots.Event, ...]:
    """The log of a Caribbean Stud progressive that was opened and given these commands, none of them refused."""
    log: tuple[jackpots.Event, ...] = ()
    for command in (OpenProgressive(CARIBBEAN), *commands):
        outcome = given(jackpots, *log).when(command, key="progressive-2", actor="floorperson")
        assert outcome.refusal is None, outcome.refusal
        log = (*log, *outcome.events)
    return log


def share(wager: str, source: Source) -> ClaimPayout:
    """Ten percent of the meter for seat 1."""
    claim = (f"{R}.1.{wager}", "table-1", R, 1, wager, On.PLAYER, "straight_flush", "10% of meter", None)
    return ClaimPayout(*claim, source, None, "account-1", "dealer")


@pytest.mark.law("639a.11(c)(5)(iii)", "639a.11(c)(5)(iv)", "639a.11(c)(6)(ii)", "639a.11(c)(6)(iii)")
@pytest.mark.parametrize(
    ("wager", "validate", "document"),
    [
        ("progressive", "639a.11(c)(5)(iii)", "639a.11(c)(5)(iv)"),
        (FIVE, "639a.11(c)(6)(ii)", "639a.11(c)(6)(iii)"),
    ],
)
def test_a_share_of_the_meter_is_validated_documented_and_paid_in_this_order(
    wager: str, validate: str, document: str
) -> None:
    claim, claim_id = share(wager, Source.HAND_PAY), f"{R}.1.{wager}"
    validated, documented, paid = ValidatePayout(claim_id), DocumentPayout(claim_id, "slip"), PayPayout(claim_id)
    for early in (paid, documented):
        given(jackpots, *told(claim)).when(early, key="progressive-2").refused(validate, "floorperson")
    given(jackpots, *told(claim, validated)).when(paid, key="progressive-2").refused(document, "documentation")
    told(claim, validated, documented, paid)


@pytest.mark.law("639a.11(c)(5)(iv)", "639a.11(c)(6)(iii)")
@pytest.mark.parametrize(
    ("wager", "source", "section"),
    [
        ("progressive", Source.TABLE_INVENTORY, "639a.11(c)(5)(iv)"),
        (FIVE, Source.GAME_ACCOUNT, "639a.11(c)(6)(iii)"),
    ],
)
def test_a_share_of_the_meter_comes_neither_from_the_table_nor_to_an_account(
    wager: str, source: Source, section: str
) -> None:
    given(jackpots, *told()).when(share(wager, source), key="progressive-2").refused(section, "by hand")


@pytest.mark.law("639a.11(c)(5)(v)")
def test_an_envy_bonus_that_is_not_due_is_not_paid() -> None:
    given(jackpots, *told()).when(PayEnvy(R, 1), key="progressive-2").refused("639a.11(c)(5)(v)", "seat 1")


@pytest.mark.law("639a.11(c)(5)(v)")
def test_envy_bonuses_of_several_hands_stack_and_nobody_envies_the_own_hand() -> None:
    seats = (1, 2, 3)
    log = played(*ante(*seats), *(bonus(seat, "progressive") for seat in seats), after=BETTING)
    log = played(CloseBetting(), DealHands("Ad"), *(Bet(seat, 2) for seat in seats), HOLE, after=log)
    won = []
    for seat, hand in ((3, "6c 7c 8c 9c Tc"), (2, "Th Jh Qh Kh Ah"), (1, "5s 6s 8h 9s 2c")):
        won += [event for event in show(seat, hand, log) if isinstance(event, EnvyBonusWon)]
        log = played(ShowHand(seat, tuple(hand.split())), after=log)
    assert [(event.holder_seat, event.recipient_seats, event.hand) for event in won] == [
        (3, (1, 2), "straight_flush"),
        (2, (1, 3), "royal_flush"),
    ]


@pytest.mark.law("639a.11(c)(6)", "639a.11(c)(6)(ii)", "639a.11(c)(6)(iii)")
@pytest.mark.parametrize("on", list(On))
def test_a_five_card_hand_bonus_below_500_for_1_is_credited_without_a_floorperson(on: On) -> None:
    log = at_settlement(hand_bonus(1, played(*ante(1), after=BETTING), on))
    log = played(DrawMagicCard("2c"), DrawLuckyPosition("6"), after=log)
    hand = "9c 9d 9h 9s 2d"
    row = rows(show(1, hand, log))[FIVE + (".dealer" if on is On.DEALER else "")]
    if on is On.PLAYER:
        # Four 9s pay 150 for 1 whatever the dealer has.
        assert (*figures(row), row.source) == (Result.WON, "150 for 1", 15_000, 0, Source.GAME_ACCOUNT)
    else:
        assert figures(row) == (Result.LOST, None, 0, 0)
    shown = ShowHand(1, tuple(hand.split()))
    given(rounds, *log).when(shown).then(HandShown(R, 1, shown.cards, "dealer"))
    given(rounds, *played(shown, after=log)).when(CloseRound()).then(RoundClosed(R))


# The stub, 639a.10 and 683a.10 ----------------------------------------------------------------------------------


@pytest.mark.law("how often the stub is counted in Caribbean Stud and Cajun Stud")
@pytest.mark.parametrize(
    ("table", "deal", "stub", "section"),
    [(CARIBBEAN_TABLE, DealHands("Ad"), 52 - 5 - 5, "639a.10"), (CAJUN_TABLE, DealHands(), 52 - 2 - 3, "683a.10")],
)
def test_after_five_rounds_without_a_count_the_next_is_not_opened(
    table: OpenTable, deal: DealHands, stub: int, section: str
) -> None:
    house = HOUSES[table.rules]
    uncounted = replace(house, stub_count=replace(house.stub_count, every_rounds=5, counting_shuffler=False))
    book = RuleBook((uncounted,))
    one = (OpenRound(), *ante(1), CloseBetting(), deal, Fold(1), CloseRound())
    five = played(table, *one * 5, book=book)
    given(rounds, *five).when(OpenRound(), book=book).refused(section, "without a count of the stub")
    counted = (*one[:4], CountStub(stub), *one[4:])
    played(*one * 5, after=played(table, *one * 4, *counted, book=book), book=book)
    played(table, *one * 6, book=RuleBook((house,)))


# Cajun Stud, 683a.11 ---------------------------------------------------------------------------------------------


@pytest.mark.law("683a.11(a)")
@pytest.mark.parametrize("decision", [Bet(1, 1), Fold(1)])
def test_nobody_decides_before_the_cards_are_dealt(decision: Bet | Fold) -> None:
    open_ = played(CAJUN_TABLE, OpenRound(), *ante(1))
    for log in (open_, played(CloseBetting(), after=open_)):
        given(rounds, *log).when(decision).refused("683a.11(b)", "after the deal")


@pytest.mark.law("683a.11(c)", "683a.11(e)", "683a.11(g)")
def test_a_community_card_waits_for_those_who_are_left_and_not_for_a_fold() -> None:
    log = played(CAJUN_TABLE, OpenRound(), *ante(1, 2), CloseBetting(), DealHands(), Bet(1, 1))
    for card, section in (("2c", "683a.11(c)"), ("7d", "683a.11(e)"), ("Kh", "683a.11(g)")):
        if card == "2c":
            given(rounds, *log).when(RevealCommunityCard(card)).refused(section, "seat 2 must bet or fold first")
            log = played(Fold(2), after=log)
        else:
            given(rounds, *log).when(RevealCommunityCard(card)).refused(section, "seat 1 must bet or fold first")
            log = played(Bet(1, 1), after=log)
        given(rounds, *log).when(RevealCommunityCard(card)).then(CommunityCardRevealed(R, card))
        log = played(RevealCommunityCard(card), after=log)
    given(rounds, *log).when(CloseRound()).refused("683a.11(j)", "Seat 1 still has a wager")
