"""What a table allows: given its events, when a command comes, then these events or this refusal."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from cattrs.preconf.json import make_converter

from services.core import rounds
from services.core.names import On
from services.core.paytables import Odds
from services.core.rounds import (
    INITIAL,
    Bet,
    BetPlaced,
    BettingClosed,
    CloseBetting,
    CloseRound,
    CloseTable,
    CommunityCardRevealed,
    ConfirmWager,
    CountStub,
    DealHands,
    DeclineWager,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    ForfeitWagers,
    HandFolded,
    HandsDealt,
    HandShown,
    LuckyPositionDrawn,
    MagicCardDrawn,
    OpenRound,
    OpenTable,
    PayoutAwaited,
    PayoutDocumented,
    PayoutValidated,
    PlaceWager,
    Refused,
    ReleasePayout,
    RevealAllSixCard,
    RevealCommunityCard,
    RevealDealerHand,
    RevealSixCardBonus,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    ShowHand,
    SixCardBonusRevealed,
    State,
    StubCounted,
    TableClosed,
    TableOpened,
    VoidRound,
    WagerConfirmed,
    WagerDeclined,
    WagerPlaced,
    WagerRequested,
    WagersForfeited,
    WagerWithdrawn,
    WithdrawWager,
    view,
)
from services.core.rules import RuleBook
from tests.support.given import AT_MS, BOOK, ante, bonus, given, played

RULES = "demo-mississippi-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
UNCOUNTED = RuleBook((replace(HOUSE, stub_count=replace(HOUSE.stub_count, counting_shuffler=False)),))
PLAIN = RuleBook((replace(HOUSE, progressive=None, bonuses={}),))
OPEN_TABLE = OpenTable("mississippi_stud", 6, RULES, "progressive-2", RULES)
R = "table-1-1"
FIVE = "five_card_hand_bonus"


def hand_bonus(seat: int) -> PlaceWager:
    return PlaceWager(seat, FIVE, 100, f"player-{seat}", f"account-{seat}")


def bets(*seats: int) -> tuple[Bet, ...]:
    return tuple(Bet(seat, 1) for seat in seats)


def cards(*shown: str) -> tuple[RevealCommunityCard, ...]:
    return tuple(RevealCommunityCard(card) for card in shown)


BETTING = played(OPEN_TABLE, OpenRound())


def dealt(*wagers: object) -> tuple[rounds.Event, ...]:
    return played(*wagers, CloseBetting(), DealHands(), after=BETTING)


def to_settle(*wagers: object, seats: tuple[int, ...] = (1,), board: str = "2c 7d Kh") -> tuple[rounds.Event, ...]:
    """Everybody bets to the end and the board is out."""
    first, second, third = board.split()
    return played(
        *bets(*seats), *cards(first), *bets(*seats), *cards(second), *bets(*seats), *cards(third), after=dealt(*wagers)
    )


def confirmed(*seats: int) -> tuple[rounds.Event, ...]:
    """Betting with an ante and a held Five Card Hand Bonus for each seat."""
    log = BETTING
    for seat in seats:
        log = played(*ante(seat), hand_bonus(seat), after=log)
        log = played(ConfirmWager(len(log)), after=log)
    return log


# The table ------------------------------------------------------------------------------------------------


def test_a_table_opens_under_a_submission_and_names_its_progressive() -> None:
    given(rounds).when(OPEN_TABLE).then(TableOpened("mississippi_stud", 6, RULES, "progressive-2", HOUSE.sha256))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"game": "baccarat"}, "No table deals 'baccarat' here: choose one of mississippi_stud, "),
        ({"game": "cajun_stud"}, "No submission 'demo-mississippi-stud' for Cajun Stud is in force"),
        ({"rules": "demo-caribbean-stud"}, "No submission 'demo-caribbean-stud' for Mississippi Stud is in force"),
        ({"rules": "demo-none"}, "demo-none"),
        ({"seats": 7}, "7 seats"),
        ({"seats": 0}, "0 seats"),
        ({"progressive_id": None}, "name the progressive"),
        ({"progressive_rules": None}, "not open under"),
        ({"progressive_rules": "demo-mississippi-stud-c"}, "not open under"),
    ],
)
def test_a_table_does_not_open(change: dict[str, object], words: str) -> None:
    given(rounds).when(replace(OPEN_TABLE, **change)).refused(None, words)


def test_a_table_does_not_open_before_its_submission_is_in_force() -> None:
    given(rounds).when(OPEN_TABLE, at=0).refused(None, "in force")


def test_a_table_without_wagers_on_a_progressive_needs_none() -> None:
    opened = TableOpened("mississippi_stud", 6, RULES, None, HOUSE.sha256)
    given(rounds).when(OpenTable("mississippi_stud", 6, RULES), book=PLAIN).then(opened)


def test_a_table_opens_once_and_closes_when_no_round_is_open() -> None:
    given(rounds, *played(OPEN_TABLE)).when(OPEN_TABLE).refused(None, "open already")
    given(rounds, *BETTING).when(CloseTable()).refused(None, "not over")
    given(rounds, *played(CloseRound(), after=BETTING)).when(CloseTable()).then(TableClosed())
    given(rounds).when(CloseTable()).refused(None, "closed already")
    given(rounds).when(OpenRound()).refused(None, "closed")


def test_rounds_are_counted_for_ever() -> None:
    given(rounds, *played(OPEN_TABLE)).when(OpenRound()).then(RoundOpened(R, RULES, HOUSE.sha256))
    given(rounds, *BETTING).when(OpenRound()).refused(None, "not over")
    again = played(VoidRound("spilt drink"), CloseTable(), OPEN_TABLE, after=BETTING)
    given(rounds, *again).when(OpenRound()).then(RoundOpened("table-1-2", RULES, HOUSE.sha256))


def test_a_progressive_wager_is_taken_while_the_controller_was_heard_of_within_a_second() -> None:
    log = played(*ante(1), after=BETTING)
    heard = PlaceWager(1, "progressive", 100, progressive_age_ms=1_000)
    given(rounds, *log).when(heard).then(WagerPlaced(R, 1, "progressive", On.PLAYER, 100, None))
    silent = replace(heard, progressive_age_ms=1_001)
    given(rounds, *log).when(silent).refused(None, "progressive-2 has not answered for 1.0 s", "All other wagers are")


def test_no_wager_is_taken_on_a_progressive_that_ends() -> None:
    log = played(*ante(1), after=BETTING)
    ends = PlaceWager(1, "progressive", 100, progressive_age_ms=0, progressive_ends=True)
    given(rounds, *log).when(ends).refused(None, "progressive-2 ends", "open it with another progressive")


# A submission that comes into force while a table is open --------------------------------------------------

TOMORROW = AT_MS + 24 * 60 * 60 * 1000
assert HOUSE.progressive is not None
RENAMED = replace(
    HOUSE.progressive, levels=tuple(replace(each, name=f"{each.name}_2") for each in HOUSE.progressive.levels)
)


def later(**changes: object) -> RuleBook:
    """The house, and from tomorrow the same submission with these changes."""
    day = datetime.fromtimestamp(TOMORROW / 1000, UTC).date()
    return RuleBook((HOUSE, replace(HOUSE, sha256=b"later", in_force_from=day, **changes)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seats": 5}, "allows 5 seats, and this table has 6"),
        ({"progressive": RENAMED}, "not those of this table's progressive"),
        ({"game": "cajun_stud"}, "not in force any more"),
    ],
)
def test_a_table_that_the_newer_submission_does_not_fit_is_closed_first(changes: dict[str, object], words: str) -> None:
    book = later(**changes)
    log = played(OPEN_TABLE, book=book)
    played(OpenRound(), after=log, book=book)
    given(rounds, *log).when(OpenRound(), at=TOMORROW, book=book).refused(None, words)
    given(rounds, *log).when(OpenRound(), at=TOMORROW, book=book).refused("close the table and open it")


def test_a_table_without_a_progressive_does_not_outlive_the_submission_that_needed_none() -> None:
    book = RuleBook((replace(PLAIN.submissions[0], sha256=b"plain"), later().submissions[1]))
    log = played(OpenTable("mississippi_stud", 6, RULES), book=book)
    played(OpenRound(), after=log, book=book)
    given(rounds, *log).when(OpenRound(), at=TOMORROW, book=book).refused("this table has none: close the table")


def test_a_newer_submission_that_the_table_fits_is_that_of_the_next_round() -> None:
    book = later(multiples=(1,))
    log = played(OPEN_TABLE, book=book)
    given(rounds, *log).when(OpenRound(), at=TOMORROW, book=book).then(RoundOpened(R, RULES, b"later"))


def test_a_table_of_the_oldest_records_is_known_by_its_first_round() -> None:
    book = later(progressive=RENAMED)
    oldest = TableOpened("mississippi_stud", 6, RULES, "progressive-2")
    log = played(OpenRound(), CloseRound(), after=(oldest,), book=book)
    given(rounds, *log).when(OpenRound(), at=TOMORROW, book=book).refused("close the table and open it")


def test_a_progressive_with_the_levels_of_an_earlier_submission_is_not_linked() -> None:
    book = later(progressive=RENAMED)
    stamped = replace(OPEN_TABLE, progressive_sha256=HOUSE.sha256)
    given(rounds).when(stamped, at=TOMORROW, book=book).refused(None, "other levels", "opened since")
    same = later(multiples=(1,))
    given(rounds).when(stamped, at=TOMORROW, book=same).then(
        TableOpened("mississippi_stud", 6, RULES, "progressive-2", b"later")
    )
    newest = replace(OPEN_TABLE, progressive_sha256=b"later")
    given(rounds).when(newest, at=TOMORROW, book=book).then(
        TableOpened("mississippi_stud", 6, RULES, "progressive-2", b"later")
    )


def test_a_command_in_a_round_needs_one() -> None:
    for command in (CloseBetting(), DealHands(), Bet(1, 1), ShowHand(1, ("As", "Ad")), CloseRound(), VoidRound("x")):
        given(rounds, *played(OPEN_TABLE)).when(command).refused(None, "No round is open")


# The stub, 655a.10(d)-(f) ------------------------------------------------------------------------------------

ONE_ROUND = (*ante(1), CloseBetting(), DealHands(), Fold(1), CloseRound())


@pytest.mark.law("655a.10(d)")
def test_after_five_rounds_without_a_count_the_next_is_not_opened() -> None:
    four = played(OPEN_TABLE, *((OpenRound(), *ONE_ROUND) * 4), book=UNCOUNTED)
    five = played(OpenRound(), *ONE_ROUND, after=four, book=UNCOUNTED)
    given(rounds, *five).when(OpenRound(), book=UNCOUNTED).refused("655a.10(d)", "inspected deck")
    inspected = played(CloseTable(), OPEN_TABLE, after=five, book=UNCOUNTED)
    played(OpenRound(), after=inspected, book=UNCOUNTED)
    counted = played(OpenRound(), *ONE_ROUND[:3], CountStub(47), Fold(1), CloseRound(), after=four, book=UNCOUNTED)
    played(*((OpenRound(), *ONE_ROUND) * 5), after=counted, book=UNCOUNTED)
    removed = played(OpenRound(), *ONE_ROUND[:3], CountStub(46), after=four, book=UNCOUNTED)
    played(*((OpenRound(), *ONE_ROUND) * 5), after=removed, book=UNCOUNTED)
    misdealt = played(OpenRound(), *ONE_ROUND[:3], CountStub(46, misdealt=True), after=four, book=UNCOUNTED)
    # A wrong count is a count: 655a.10(d) asks for the count, (f) says what follows from it.
    played(*((OpenRound(), *ONE_ROUND) * 5), after=misdealt, book=UNCOUNTED)


@pytest.mark.law("655a.10(d)")
def test_a_counting_shuffler_needs_no_count() -> None:
    played(OPEN_TABLE, *((OpenRound(), *ONE_ROUND) * 7))


@pytest.mark.law("655a.10(b)", "655a.10(c)")
@pytest.mark.parametrize(
    ("wagers", "stub"),
    [
        (ante(1), 52 - 2 - 3),
        (ante(1, 4, 6), 52 - 6 - 3),
        ((*ante(1, 4), bonus(4, "six_card_bonus")), 52 - 4 - 3 - 4),
        ((*ante(1, 2), bonus(1, "six_card_bonus"), bonus(2, "six_card_bonus")), 52 - 4 - 3 - 4),
    ],
)
def test_the_deal_says_what_must_be_left(wagers: tuple[PlaceWager, ...], stub: int) -> None:
    seats = tuple(sorted({wager.seat for wager in wagers}))
    given(rounds, *played(*wagers, CloseBetting(), after=BETTING)).when(DealHands()).then(
        HandsDealt(R, seats, stub, None)
    )


@pytest.mark.law("655a.10(d)", "655a.10(e)")
def test_the_stub_is_counted_once_while_hands_are_down() -> None:
    hands = dealt(*ante(1))
    given(rounds, *hands).when(CountStub(47)).then(StubCounted(R, 47, 47, False))
    given(rounds, *hands).when(CountStub(47, misdealt=True)).refused("655a.10(e)")
    given(rounds, *played(CountStub(47), after=hands)).when(CountStub(47)).refused("655a.10(d)", "already")
    given(rounds, *BETTING).when(CountStub(47)).refused("655a.10(d)", "not dealt")
    shown = played(ShowHand(2, ("Ac", "Qd")), after=to_settle(*ante(1, 2), seats=(1, 2)))
    given(rounds, *shown).when(CountStub(45)).refused("655a.10(d)", "shown")


@pytest.mark.law("655a.10(f)")
@pytest.mark.parametrize("misdealt", [True, False])
def test_a_wrong_count_voids_the_round_and_removes_the_deck_unless_misdealt(misdealt: bool) -> None:
    reason = "The stub has 46 cards and should have 47."
    given(rounds, *dealt(*ante(1))).when(CountStub(46, misdealt)).then(
        StubCounted(R, 46, 47, misdealt), RoundVoided(R, reason, "655a.10(f)", not misdealt)
    )


# Betting ------------------------------------------------------------------------------------------------------


def test_wagers_are_placed() -> None:
    given(rounds, *BETTING).when(PlaceWager(3, "ante", 500, "player-1")).then(
        WagerPlaced(R, 3, "ante", On.PLAYER, 500, "player-1")
    )
    given(rounds, *played(*ante(3), after=BETTING)).when(bonus(3, "progressive")).then(
        WagerPlaced(R, 3, "progressive", On.PLAYER, 100, None)
    )
    given(rounds, *played(*ante(3), after=BETTING)).when(hand_bonus(3)).then(
        WagerRequested(R, 3, FIVE, On.PLAYER, 100, "player-3", "account-3")
    )


@pytest.mark.law("how many seats, and how many a player may have", "655a.7, 639a.7, 683a.7, amounts of the wagers")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (PlaceWager(7, "ante", 500), "no seat 7"),
        (PlaceWager(1, "ante", 400), "500 to 50000"),
        (PlaceWager(1, "ante", 50_100), "500 to 50000"),
        (PlaceWager(1, "ante", 550), "steps of 100"),
        (PlaceWager(1, "progressive", 100), "ante comes first"),
        (PlaceWager(3, "ante", 500), "already"),
        (PlaceWager(3, "progressive", 200), "always 100"),
        (PlaceWager(3, "three_card_bonus", 10_001), "100 to 10000"),
        (PlaceWager(3, "lo_ball", 100), "not offered"),
        (PlaceWager(3, "street_3", 500), "use Bet"),
        (PlaceWager(3, "magic_card", 100), "no wager of its own"),
        (PlaceWager(3, FIVE, 100, "player-3", "account-3", On.DEALER), "dealer's hand"),
        (PlaceWager(3, "progressive", 100, "player-9"), "player-3, not of player-9"),
        (PlaceWager(3, "progressive", 100, "player-3", "account-3"), "leave the account out"),
        (PlaceWager(3, FIVE, 100, "player-3"), "name the player and the account"),
        (PlaceWager(4, FIVE, 100, None, "account-4"), "name the player and the account"),
    ],
)
def test_wagers_are_refused(command: PlaceWager, words: str) -> None:
    log = played(*ante(3, player="player-3"), *ante(4), after=BETTING)
    given(rounds, *log).when(command).refused(None, words)


@pytest.mark.law("655a.10(a)(2)")
def test_no_bets_after_no_more_bets() -> None:
    log = played(*ante(1), CloseBetting(), after=BETTING)
    given(rounds, *log).when(PlaceWager(2, "ante", 500)).refused(None, "Betting is closed")
    given(rounds, *log).when(WithdrawWager(1, "ante")).refused(None, "Betting is closed")


def test_withdrawing_the_ante_withdraws_the_rest_and_frees_the_seat() -> None:
    log = played(*ante(1), bonus(1, "progressive"), hand_bonus(1), after=BETTING)
    outcome = given(rounds, *log).when(WithdrawWager(1, "ante"))
    outcome.then(*(WagerWithdrawn(R, 1, wager, On.PLAYER) for wager in ("ante", "progressive", FIVE)))
    given(rounds, *log, *outcome.events).when(ante(1, player="player-9")[0]).then(
        WagerPlaced(R, 1, "ante", On.PLAYER, 500, "player-9")
    )
    given(rounds, *log).when(WithdrawWager(1, "six_card_bonus")).refused(None, "to withdraw")


def test_a_withdrawn_or_declined_wager_may_be_placed_again() -> None:
    log = played(*ante(1), bonus(1, "progressive"), WithdrawWager(1, "progressive"), after=BETTING)
    played(bonus(1, "progressive"), after=log)
    requested = played(hand_bonus(1), after=log)
    declined = played(DeclineWager(len(requested), "too little"), after=requested)
    played(hand_bonus(1), after=declined)
    given(rounds, *requested).when(hand_bonus(1)).refused(None, "already")


def test_a_seat_is_that_of_the_first_player_whose_wager_stands_or_waits() -> None:
    waits = played(*ante(1), hand_bonus(1), after=BETTING)
    other = PlaceWager(1, "progressive", 100, "player-9")
    given(rounds, *waits).when(other).refused(None, "player-1, not of player-9")
    held = played(ConfirmWager(len(waits)), after=waits)
    given(rounds, *held).when(other).refused(None, "player-1, not of player-9")
    for command in (DeclineWager(len(waits), "not yours"), WithdrawWager(1, FIVE)):
        log = played(command, other, after=waits)
        given(rounds, *log).when(hand_bonus(1)).refused(None, "player-9, not of player-1")


def test_the_account_answers_the_request_that_it_names_and_nothing_else() -> None:
    log = played(*ante(1), hand_bonus(1), after=BETTING)
    number = len(log)
    given(rounds, *log).when(ConfirmWager(number)).then(WagerConfirmed(R, 1, FIVE, On.PLAYER, number))
    given(rounds, *log).when(DeclineWager(number, "empty")).then(WagerDeclined(R, 1, FIVE, On.PLAYER, number, "empty"))
    given(rounds, *log).when(ConfirmWager(number - 1)).then()
    given(rounds, *played(ConfirmWager(number), after=log)).when(DeclineWager(number, "late")).then()
    given(rounds, *played(WithdrawWager(1, FIVE), after=log)).when(ConfirmWager(number)).then()
    given(rounds, *played(CloseBetting(), after=log)).when(ConfirmWager(number)).then()
    given(rounds, *played(VoidRound("x"), after=log)).when(ConfirmWager(number)).then()
    given(rounds).when(ConfirmWager(1)).then()


def test_a_refusal_counts_as_a_record_so_requests_keep_their_sequence() -> None:
    log = (*played(*ante(1), after=BETTING), Refused("Bet", "no", None))
    log = played(hand_bonus(1), after=log)
    given(rounds, *log).when(ConfirmWager(len(log))).then(WagerConfirmed(R, 1, FIVE, On.PLAYER, len(log)))


@pytest.mark.law("655a.10(a)(2)", "655a.11(i)(1)(ii)")
def test_closing_declines_what_waits_and_lights_the_progressive_wagers() -> None:
    log = played(*ante(1, 2), bonus(2, "progressive"), bonus(1, "progressive"), hand_bonus(1), after=BETTING)
    given(rounds, *log).when(CloseBetting()).then(
        WagerDeclined(R, 1, FIVE, On.PLAYER, len(log), "Betting closed before the account had answered."),
        BettingClosed(R, (1, 2)),
    )
    given(rounds, *BETTING).when(CloseBetting()).refused(None, "Nobody has an ante")


# Streets, 655a.11(b)-(g) -----------------------------------------------------------------------------------------


@pytest.mark.law("655a.10(b)")
def test_hands_are_dealt_once_after_betting() -> None:
    given(rounds, *played(*ante(1), after=BETTING)).when(DealHands()).refused("655a.10(b)", "still open")
    given(rounds, *dealt(*ante(1))).when(DealHands()).refused("655a.10(b)", "already")
    closed = played(*ante(1), CloseBetting(), after=BETTING)
    given(rounds, *closed).when(DealHands("As")).refused("655a.10(b)", "dealer has no hand")


@pytest.mark.law("655a.11(b)", "655a.11(d)")
def test_the_first_decisions_go_clockwise_and_the_later_ones_in_any_order() -> None:
    log = dealt(*ante(2, 5))
    given(rounds, *log).when(Bet(5, 1)).refused("655a.11(b)", "Seat 2 decides before")
    log = played(Bet(2, 1), Bet(5, 1), *cards("2c"), after=log)
    played(Bet(5, 1), Bet(2, 1), after=log)


@pytest.mark.law("655a.11(d)")
@pytest.mark.parametrize("multiple", [1, 2, 3])
def test_every_street_is_a_multiple_of_the_ante(multiple: int) -> None:
    log = played(Bet(1, 3), *cards("2c"), after=dealt(*ante(1)))
    given(rounds, *log).when(Bet(1, multiple)).then(BetPlaced(R, 1, "street_4", multiple, multiple * 500))


@pytest.mark.law("655a.11(b)")
@pytest.mark.parametrize("multiple", [0, 4, -1])
def test_other_multiples_are_refused(multiple: int) -> None:
    given(rounds, *dealt(*ante(1))).when(Bet(1, multiple)).refused("655a.11(b)", "1, 2, 3")


@pytest.mark.law("655a.11(b)", "655a.11(d)", "655a.11(f)")
def test_a_seat_decides_once_a_street_and_not_after_a_fold() -> None:
    log = dealt(*ante(1, 2))
    given(rounds, *log).when(Bet(3, 1)).refused("655a.11(b)", "no ante")
    log = played(Bet(1, 1), after=log)
    given(rounds, *log).when(Bet(1, 1)).refused("655a.11(b)", "decided already")
    log = played(Fold(2), *cards("2c"), after=log)
    given(rounds, *log).when(Bet(2, 1)).refused("655a.11(d)", "folded")
    log = played(Bet(1, 1), *cards("3c"), Bet(1, 1), *cards("4c"), after=log)
    given(rounds, *log).when(Bet(1, 1)).refused("655a.11(f)")


@pytest.mark.law("655a.11(b)")
def test_a_folded_hand_stays_while_an_optional_wager_lives() -> None:
    log = dealt(*ante(1, 2), bonus(2, "three_card_bonus"))
    given(rounds, *log).when(Fold(1)).then(HandFolded(R, 1, False))
    given(rounds, *played(Fold(1), after=log)).when(Fold(2)).then(HandFolded(R, 2, True))


@pytest.mark.law("655a.11(c)", "655a.11(e)", "655a.11(g)")
def test_a_community_card_waits_for_every_decision() -> None:
    log = dealt(*ante(1, 2))
    given(rounds, *log).when(RevealCommunityCard("2c")).refused("655a.11(c)", "seats 1, 2")
    log = played(*bets(1, 2), *cards("2c"), Bet(2, 1), after=log)
    given(rounds, *log).when(RevealCommunityCard("3c")).refused("655a.11(e)", "seat 1")
    log = played(Bet(1, 1), after=log)
    given(rounds, *log).when(RevealCommunityCard("3c")).then(CommunityCardRevealed(R, "3c"))
    given(rounds, *log).when(RevealCommunityCard("2c")).refused("655a.11(e)", "2c was seen")
    given(rounds, *log).when(RevealCommunityCard("1c")).refused("655a.11(e)", "not a card")
    out = played(*cards("3c"), *bets(1, 2), *cards("4c"), after=log)
    given(rounds, *out).when(RevealCommunityCard("5c")).refused("655a.11(g)", "No community card is left")


@pytest.mark.law("cards that nobody's wager looks at any more")
def test_when_all_have_folded_and_nobodys_wager_needs_them_the_board_stays_down() -> None:
    log = played(Fold(1), Fold(2), after=dealt(*ante(1, 2)))
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))


@pytest.mark.law("655a.11(b)", "655a.11(h)", "655a.11(j)")
@pytest.mark.parametrize("wager", ["progressive", "three_card_bonus", "six_card_bonus"])
def test_the_board_comes_out_for_a_folded_hand_with_an_optional_wager(wager: str) -> None:
    log = played(Fold(1), after=dealt(*ante(1), bonus(1, wager)))
    given(rounds, *log).when(CloseRound()).refused("655a.11(j)", "Seat 1 still has a wager")
    given(rounds, *log).when(ShowHand(1, ("As", "Ad"))).refused("655a.11(h)", "face up")
    assert view("table-1", given(rounds, *log).state)["round"]["state"] == "deciding"
    played(*cards("2c", "7d", "Kh"), after=log)


def test_there_is_no_dealer_hand_and_no_all_six_card() -> None:
    given(rounds, *dealt(*ante(1))).when(RevealDealerHand(("As", "Ks", "Qs", "Js"))).refused("no hand")
    given(rounds, *dealt(*ante(1))).when(RevealAllSixCard("As")).refused("no cards for 'all six'")


# Draws and extra cards, 655a.11(i)(3)-(4) --------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(3)", "655a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus")
def test_draws_are_made_once_for_somebodys_hand_bonus() -> None:
    section = "655a.11(i)(3)(iii)"
    log = confirmed(1)
    given(rounds, *log).when(DrawMagicCard("As")).refused(section, "still open")
    log = played(CloseBetting(), after=log)
    given(rounds, *log).when(DrawMagicCard("As")).then(MagicCardDrawn(R, "As"))
    given(rounds, *log).when(DrawMagicCard("Ax")).refused("not a card")
    given(rounds, *log).when(DrawLuckyPosition("6")).then(LuckyPositionDrawn(R, "6"))
    for position in ("dealer", "7", "0", "01"):
        given(rounds, *log).when(DrawLuckyPosition(position)).refused(None, "no position here")
    drawn = played(DrawMagicCard("As"), DrawLuckyPosition("1"), after=log)
    given(rounds, *drawn).when(DrawMagicCard("Ks")).refused(section, "already")
    given(rounds, *drawn).when(DrawLuckyPosition("2")).refused(section, "already")
    nobody = played(*ante(1), CloseBetting(), after=BETTING)
    given(rounds, *nobody).when(DrawMagicCard("As")).refused(section, "Nobody")
    given(rounds, *nobody).when(DrawLuckyPosition("1")).refused(section, "Nobody")


@pytest.mark.law("655a.12(e), Five Card Hand Bonus, Magic Card, Lucky Bonus")
def test_draws_that_the_submission_does_not_pay_are_refused_and_not_due() -> None:
    unpaid = replace(HOUSE.bonuses[FIVE], magic_card_cents=0, lucky_position_cents=0)
    book = RuleBook((replace(HOUSE, bonuses={FIVE: unpaid}),))
    log = played(CloseBetting(), DealHands(), Fold(1), *cards("2c", "7d", "Kh"), after=confirmed(1), book=book)
    given(rounds, *log).when(DrawMagicCard("As"), book=book).refused("pays no Magic Card")
    given(rounds, *log).when(DrawLuckyPosition("1"), book=book).refused("pays no lucky position")
    given(rounds, *log).when(ShowHand(1, ("As", "Qd")), book=book).then(HandShown(R, 1, ("As", "Qd"), "dealer"))


@pytest.mark.law("655a.11(i)(3)")
def test_draws_are_due_before_the_hand_with_the_bonus_is_shown() -> None:
    log = played(CloseBetting(), DealHands(), Fold(1), *cards("2c", "7d", "Kh"), after=confirmed(1))
    hand = ShowHand(1, ("As", "Qd"))
    given(rounds, *log).when(hand).refused("draw the Magic Card first")
    # The Magic Card is drawn apart from the deck: it may be one that lies on the table.
    log = played(DrawMagicCard("2c"), after=log)
    given(rounds, *log).when(hand).refused("draw the lucky position first")
    played(DrawLuckyPosition("4"), hand, after=log)


@pytest.mark.law("655a.11(i)(4)")
def test_the_six_card_bonus_cards_come_after_the_board_and_before_the_hand() -> None:
    log = dealt(*ante(1), bonus(1, "six_card_bonus"))
    six = RevealSixCardBonus(("3c", "3d", "3h", "4c"))
    given(rounds, *log).when(six).refused("655a.11(i)(4)(i)", "stay down")
    log = played(Fold(1), *cards("2c", "7d", "Kh"), after=log)
    given(rounds, *log).when(ShowHand(1, ("As", "Qd"))).refused("turn over its cards first")
    given(rounds, *log).when(RevealSixCardBonus(("3c", "3d", "3h"))).refused("4 cards, not 3")
    given(rounds, *log).when(RevealSixCardBonus(("3c", "3c", "3h", "4c"))).refused("twice")
    given(rounds, *log).when(RevealSixCardBonus(("2c", "3c", "3h", "4c"))).refused("2c was seen")
    given(rounds, *log).when(six).then(SixCardBonusRevealed(R, six.cards))
    given(rounds, *played(six, after=log)).when(RevealSixCardBonus(("5c", "5d", "5h", "5s"))).refused("already")
    given(rounds, *played(six, after=log)).when(ShowHand(1, ("3c", "Qd"))).refused("3c was seen")
    given(rounds, *to_settle(*ante(1))).when(six).refused("Nobody has a wager")


@pytest.mark.law("655a.11(a)(3)", "655a.11(i)(4)")
def test_the_six_card_bonus_cards_of_a_forfeited_wager_stay_down() -> None:
    # They were dealt before the person spoke, 655a.10(c); a forfeited wager is not settled by them, 655a.11(a)(3).
    log = played(Fold(2), after=played(Bet(1, 1), after=dealt(*ante(1, 2), bonus(1, "six_card_bonus"))))
    log = played(ForfeitWagers(1, "talked"), after=log)
    six = RevealSixCardBonus(("3c", "3d", "3h", "4c"))
    given(rounds, *log).when(six).refused("655a.11(i)(4)(i)", "left to be settled: its cards stay down")


@pytest.mark.law("655a.11(i)(4)")
def test_the_six_card_bonus_cards_are_up_once_its_hand_is_settled() -> None:
    six = RevealSixCardBonus(("3c", "3d", "3h", "4c"))
    log = to_settle(*ante(1, 2), bonus(2, "six_card_bonus"), seats=(1, 2))
    log = played(six, ShowHand(2, ("As", "Qd")), after=log)
    given(rounds, *log).when(six).refused("655a.11(i)(4)(i)", "face up already")


# Settlement, 655a.11(h)-(j) -----------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(h)")
def test_hands_are_shown_counterclockwise_over_the_seats_that_have_a_wager() -> None:
    log = played(
        Bet(1, 1),
        Fold(2),
        Bet(3, 1),
        Fold(4),
        *cards("2c"),
        *bets(1, 3),
        *cards("7d"),
        *bets(1, 3),
        *cards("Kh"),
        after=dealt(*ante(1, 2, 3, 4), bonus(4, "three_card_bonus")),
    )
    given(rounds, *log).when(ShowHand(3, ("Ac", "Qd"))).refused("655a.11(h)", "Seat 4 is settled before")
    given(rounds, *log).when(ShowHand(4, ("Ac",))).refused("2 cards, not 1")
    given(rounds, *log).when(ShowHand(4, ("Ac", "Ac"))).refused("twice")
    given(rounds, *log).when(ShowHand(4, ("Ac", "Kh"))).refused("Kh was seen")
    given(rounds, *log).when(ShowHand(4, ("Ac", "10h"))).refused("not a card")
    log = played(ShowHand(4, ("Ac", "Qd")), after=log)
    given(rounds, *log).when(ShowHand(2, ("5c", "5d"))).refused("Seat 3 is settled before")
    given(rounds, *log).when(ShowHand(3, ("Ac", "5d"))).refused("Ac was seen")
    log = played(ShowHand(3, ("5c", "5d")), ShowHand(1, ("9c", "9d")), after=log)
    given(rounds, *log).when(ShowHand(2, ("6c", "6d"))).refused("655a.11(h)", "close the round")
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))


@pytest.mark.law("655a.11(h)")
def test_hands_stay_down_until_all_have_decided() -> None:
    given(rounds, *played(*ante(1), after=BETTING)).when(ShowHand(1, ("Ac", "Qd"))).refused("655a.11(h)", "not dealt")
    given(rounds, *dealt(*ante(1))).when(ShowHand(1, ("Ac", "Qd"))).refused("655a.11(h)", "seat 1")


@pytest.mark.law("655a.11(i)(1)(iii)", "655a.11(i)(1)(iv)")
def test_a_progressive_win_is_awaited_and_a_share_of_the_meter_with_documents() -> None:
    claim = f"{R}.1.progressive"
    wagers = (*ante(1), bonus(1, "progressive"))
    quads = to_settle(*wagers, board="9s 9h 4d")
    given(rounds, *quads).when(ShowHand(1, ("9c", "9d"))).then(
        HandShown(R, 1, ("9c", "9d"), "dealer"), PayoutAwaited(R, claim, documents=False)
    )
    flush = to_settle(*wagers, board="7h 8h 9h")
    given(rounds, *flush).when(ShowHand(1, ("5h", "6h"))).then(
        HandShown(R, 1, ("5h", "6h"), "dealer"), PayoutAwaited(R, claim, documents=True)
    )
    given(rounds, *flush).when(ShowHand(1, ("2c", "2d"))).then(HandShown(R, 1, ("2c", "2d"), "dealer"))


@pytest.mark.law("655a.11(i)(3)(ii)")
@pytest.mark.parametrize(
    ("board", "hand", "documents"),
    [
        ("9s 9h 4d", ("9c", "9d"), None),
        ("7h 8h 9h", ("5h", "6h"), False),
        ("Th Jh Qh", ("Ah", "Kh"), True),
    ],
)
def test_a_hand_bonus_is_awaited_from_500_for_1_on(board: str, hand: tuple[str, str], documents: bool | None) -> None:
    log = played(
        CloseBetting(),
        DealHands(),
        Fold(1),
        *cards(*board.split()),
        DrawMagicCard("2c"),
        DrawLuckyPosition("6"),
        after=confirmed(1),
    )
    awaited = () if documents is None else (PayoutAwaited(R, f"{R}.1.{FIVE}", documents),)
    given(rounds, *log).when(ShowHand(1, hand)).then(HandShown(R, 1, hand, "dealer"), *awaited)


@pytest.mark.law("655a.11(i)(3)(ii)")
def test_the_odds_that_call_a_floorperson_are_the_submissions() -> None:
    book = RuleBook((replace(HOUSE, floorperson_at_odds=Odds.parse("150 for 1")),))
    log = played(
        CloseBetting(),
        DealHands(),
        Fold(1),
        *cards("9s", "9h", "4d"),
        DrawMagicCard("2c"),
        DrawLuckyPosition("6"),
        after=confirmed(1),
        book=book,
    )
    given(rounds, *log).when(ShowHand(1, ("9c", "9d")), book=book).then(
        HandShown(R, 1, ("9c", "9d"), "dealer"), PayoutAwaited(R, f"{R}.1.{FIVE}", documents=False)
    )


@pytest.mark.law("655a.11(i)(1)(iii)", "655a.11(i)(1)(iv)", "655a.11(j)")
def test_the_round_closes_once_payouts_are_validated_and_hand_pays_documented() -> None:
    claim = f"{R}.1.progressive"
    log = to_settle(*ante(1), bonus(1, "progressive"), board="7h 8h 9h")
    given(rounds, *log).when(CloseRound()).refused("655a.11(j)", "Seat 1 still has a wager")
    log = played(ShowHand(1, ("5h", "6h")), after=log)
    given(rounds, *log).when(CloseRound()).refused("655a.11(i)(1)(iii)", "validate")
    given(rounds, *log).when(ReleasePayout("another", documented=False)).then()
    given(rounds, *log).when(ReleasePayout(claim, documented=False)).then(PayoutValidated(R, claim))
    log = played(ReleasePayout(claim, documented=False), after=log)
    given(rounds, *log).when(ReleasePayout(claim, documented=False)).then()
    given(rounds, *log).when(CloseRound()).refused("655a.11(i)(1)(iv)", "documentation")
    given(rounds, *log).when(ReleasePayout(claim, documented=True)).then(PayoutDocumented(R, claim))
    log = played(ReleasePayout(claim, documented=True), after=log)
    given(rounds, *log).when(ReleasePayout(claim, documented=True)).then()
    given(rounds, *log).when(CloseRound()).then(RoundClosed(R))
    given(rounds, *played(CloseRound(), after=log)).when(ReleasePayout(claim, documented=False)).then()


@pytest.mark.law("655a.11(i)(3)(ii)", "655a.11(i)(3)(iii)")
def test_a_hand_bonus_that_waits_is_named_by_its_own_sections() -> None:
    claim = f"{R}.1.{FIVE}"
    log = played(
        CloseBetting(),
        DealHands(),
        Fold(1),
        *cards("Th", "Jh", "Qh"),
        DrawMagicCard("2c"),
        DrawLuckyPosition("6"),
        ShowHand(1, ("Ah", "Kh")),
        after=confirmed(1),
    )
    given(rounds, *log).when(CloseRound()).refused("655a.11(i)(3)(ii)", "validate")
    log = played(ReleasePayout(claim, documented=False), after=log)
    given(rounds, *log).when(CloseRound()).refused("655a.11(i)(3)(iii)", "documentation")
    played(ReleasePayout(claim, documented=True), CloseRound(), after=log)


@pytest.mark.law("655a.11(j)")
def test_a_round_without_wagers_closes() -> None:
    given(rounds, *BETTING).when(CloseRound()).then(RoundClosed(R))
    given(rounds, *played(*ante(1), after=BETTING)).when(CloseRound()).refused("655a.11(j)")
    withdrawn = played(*ante(1), WithdrawWager(1, "ante"), after=BETTING)
    given(rounds, *withdrawn).when(CloseRound()).then(RoundClosed(R))
    given(rounds, *played(*ante(1), CloseBetting(), after=BETTING)).when(CloseRound()).refused("655a.11(j)")


@pytest.mark.law("655a.13, 639a.13, 683a.13, irregularities")
def test_a_round_is_void_only_before_the_first_hand() -> None:
    void = RoundVoided(R, "card exposed", None, False)
    log = to_settle(*ante(1, 2), seats=(1, 2))
    for before in (BETTING, dealt(*ante(1)), log):
        given(rounds, *before).when(VoidRound("card exposed")).then(void)
    given(rounds, *played(ShowHand(2, ("Ac", "Qd")), after=log)).when(VoidRound("late")).refused(None, "shown")
    given(rounds, *BETTING, void).when(VoidRound("again")).refused(None, "No round is open")


# Forfeiture, 655a.11(a)(3) -----------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(a)(3)", "how many seats, and how many a player may have")
def test_the_person_forfeits_every_seat_and_the_turn_passes_on() -> None:
    wagers = (*ante(1, 3, player="player-1"), *ante(2, player="player-2"), bonus(3, "progressive"))
    log = dealt(*wagers)
    forfeits = (WagersForfeited(R, 1, "talked"), WagersForfeited(R, 3, "talked"))
    given(rounds, *log).when(ForfeitWagers(3, "talked")).then(*forfeits)
    log = (*log, *forfeits)
    given(rounds, *log).when(Bet(1, 1)).refused("655a.11(b)", "forfeited")
    given(rounds, *log).when(ForfeitWagers(3, "again")).refused("655a.11(a)(3)", "no wager left")
    log = played(Bet(2, 1), *cards("2c"), Bet(2, 1), *cards("7d"), Bet(2, 1), *cards("Kh"), after=log)
    given(rounds, *log).when(ForfeitWagers(2, "late")).refused("655a.11(a)(3)", "may speak")
    played(ShowHand(2, ("Ac", "Qd")), CloseRound(), after=log)


@pytest.mark.law("655a.11(a)(3)")
def test_seats_without_a_name_forfeit_alone_and_a_folded_seat_its_optional_wagers() -> None:
    log = played(Fold(1), after=dealt(*ante(1, 2), bonus(1, "three_card_bonus")))
    given(rounds, *log).when(ForfeitWagers(1, "talked")).then(WagersForfeited(R, 1, "talked"))
    given(rounds, *played(*ante(1), after=BETTING)).when(ForfeitWagers(1, "x")).refused("655a.11(a)(3)", "not dealt")


def test_when_everybody_forfeited_the_round_closes() -> None:
    played(ForfeitWagers(1, "talked"), CloseRound(), after=dealt(*ante(1), bonus(1, "progressive")))


# What readers see ----------------------------------------------------------------------------------------------------


def shown(*events: rounds.Event) -> dict[str, object]:
    found: dict[str, object] = view("table-1", given(rounds, *events).state)
    return found


def test_the_view_before_the_first_round() -> None:
    assert view("table-1", INITIAL) == {
        "table_id": "table-1",
        "game": None,
        "rules": None,
        "progressive_id": None,
        "sequence": 0,
        "round": None,
    }


def test_the_view_of_a_round_and_how_its_wagers_stand() -> None:
    log = played(*ante(2), bonus(2, "progressive"), hand_bonus(2), after=BETTING)
    log = played(*ante(1), CloseBetting(), after=log)
    assert shown(*log) == {
        "table_id": "table-1",
        "game": "mississippi_stud",
        "rules": RULES,
        "progressive_id": "progressive-2",
        "sequence": 8,
        "round": {
            "round_id": R,
            "state": "dealing",
            "community": [],
            "dealer": [],
            "six_card_bonus": [],
            "all_six": [],
            "magic_card": None,
            "lucky_position": None,
            "seats": [
                {
                    "seat": 1,
                    "player_id": None,
                    "folded": False,
                    "forfeited": False,
                    "cards": [],
                    "wagers": [{"wager": "ante", "hand": "player", "amount_cents": 500, "state": "placed"}],
                },
                {
                    "seat": 2,
                    "player_id": None,
                    "folded": False,
                    "forfeited": False,
                    "cards": [],
                    "wagers": [
                        {"wager": "ante", "hand": "player", "amount_cents": 500, "state": "placed"},
                        {"wager": "progressive", "hand": "player", "amount_cents": 100, "state": "accepted"},
                        {"wager": FIVE, "hand": "player", "amount_cents": 100, "state": "declined"},
                    ],
                },
            ],
        },
    }


def test_the_view_has_the_cards_that_are_face_up_and_who_folded_or_forfeited() -> None:
    log = dealt(*ante(1, 2, 3), *(bonus(seat, "six_card_bonus") for seat in (1, 2, 3)))
    log = played(Fold(1), *bets(2, 3), ForfeitWagers(3, "talked"), *cards("2c"), Bet(2, 1), *cards("7d"), after=log)
    log = played(Bet(2, 1), *cards("Kh"), RevealSixCardBonus(("3c", "3d", "3h", "3s")), after=log)
    round_ = view("table-1", given(rounds, *played(ShowHand(2, ("Ac", "Qd")), after=log)).state)["round"]
    assert (round_["community"], round_["six_card_bonus"]) == (["2c", "7d", "Kh"], ["3c", "3d", "3h", "3s"])
    seats = [(at["seat"], at["folded"], at["forfeited"], at["cards"]) for at in round_["seats"]]
    assert seats == [(1, True, False, []), (2, False, False, ["Ac", "Qd"]), (3, False, True, [])]


def test_the_states_of_a_round_in_order() -> None:
    log = to_settle(*ante(1))
    states = [view("table-1", given(rounds, *log[:count]).state)["round"]["state"] for count in range(2, len(log) + 1)]
    assert list(dict.fromkeys(states)) == ["betting", "dealing", "deciding", "settling"]
    log = played(ShowHand(1, ("Ac", "Qd")), CloseRound(), after=log)
    assert view("table-1", given(rounds, *log).state)["round"]["state"] == "closed"
    closed = view("table-1", given(rounds, *log, TableClosed()).state)
    assert closed["round"]["round_id"] == R
    assert closed["game"] is None


def test_a_state_survives_its_snapshot() -> None:
    converter = make_converter()
    log = played(
        ShowHand(2, ("5h", "6h")),
        after=to_settle(*ante(1, 2), bonus(2, "progressive"), seats=(1, 2), board="7h 8h 9h"),
    )
    for count in range(len(log) + 1):
        state = given(rounds, *log[:count]).state
        assert converter.loads(converter.dumps(state), State) == state
        assert state.sequence == count
