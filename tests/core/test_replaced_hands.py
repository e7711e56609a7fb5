"""A hand that was keyed wrongly: what the table allows, and what its wagers come to anew. Worked out by hand."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from services.core import accounts, jackpots, rounds, wagers
from services.core.asking import Following
from services.core.names import On, Result
from services.core.paytables import Odds
from services.core.rounds import (
    Bet,
    CloseBetting,
    CloseRound,
    DealHands,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    HandReplaced,
    OpenRound,
    OpenTable,
    PayoutAwaited,
    PlaceWager,
    ReleasePayout,
    ReplaceHand,
    RevealCommunityCard,
    RevealDealerHand,
    ShowHand,
)
from services.core.rules import RuleBook
from services.core.wagers import EnvyBonusReversed, EnvyBonusWon, WagerReversed, WagerSettled, following
from tests.support.given import BOOK, ante, figures, given, hand_bonus, played, rows

RULES, CARIBBEAN = "demo-mississippi-stud", "demo-caribbean-stud"
HOUSE = next(held for held in BOOK.submissions if held.id == RULES)
R, FIVE, WHY = "table-1-1", "five_card_hand_bonus", "read again"
BETTING = played(OpenTable("mississippi_stud", 6, RULES, "progressive-2", RULES), OpenRound())
MAIN = ("ante", "street_3", "street_4", "street_5")
STRAIGHT_FLUSH_BOARD, ROYAL_BOARD = "7h 8h 9h", "Th Jh Qh"
PUSHES = replace(
    HOUSE,
    bonuses=MappingProxyType(
        {
            **HOUSE.bonuses,
            FIVE: replace(
                HOUSE.bonuses[FIVE],
                table=replace(
                    HOUSE.bonuses[FIVE].table,
                    lines=tuple(
                        replace(line, odds=Odds.parse("push")) if line.hand == "three_of_a_kind" else line
                        for line in HOUSE.bonuses[FIVE].table.lines
                    ),
                ),
            ),
        }
    ),
)
"""The bonus of the demonstration house, but three of a kind pushes."""

Log = tuple[rounds.Event, ...]


def cards(hand: str) -> tuple[str, ...]:
    return tuple(hand.split())


def board(shown: str, *seats: int, after: Log, book: RuleBook = BOOK) -> Log:
    """The betting is closed, these seats bet on every street, and the cards come out."""
    log = played(CloseBetting(), DealHands(), after=after, book=book)
    for card in shown.split():
        log = played(*(Bet(seat, 1) for seat in seats), RevealCommunityCard(card), after=log, book=book)
    return log


def linked(*seats: int) -> Log:
    """Seats with an ante and the progressive wager."""
    return played(*ante(*seats), *(PlaceWager(seat, "progressive", 100) for seat in seats), after=BETTING)


def shown(log: Log, *hands: tuple[int, str], book: RuleBook = BOOK) -> Log:
    return played(*(ShowHand(seat, cards(hand)) for seat, hand in hands), after=log, book=book)


def replaced(
    log: Log, seat: int, hand: str, actor: str = "omar", book: RuleBook = BOOK
) -> tuple[Log, tuple[wagers.Event, ...]]:
    """The round log behind the right cards, and what follows in `wagers`."""
    outcome = given(rounds, *log).when(ReplaceHand(seat, cards(hand), WHY), actor=actor, book=book)
    assert outcome.refusal is None, outcome.refusal.reason if outcome.refusal else ""
    settled: list[wagers.Event] = []
    for event in outcome.events:
        settled += given(wagers, *log).when(event, actor=actor, book=book).events
        log = (*log, event)
    return log, tuple(settled)


def reversed_(events: tuple[wagers.Event, ...]) -> dict[str, WagerReversed]:
    return {event.wager: event for event in events if isinstance(event, WagerReversed)}


def asked(events: tuple[wagers.Event, ...]) -> list[Following]:
    return [each for event in events for each in following("table-1", event)]


# What the table allows ------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(h)")
def test_another_person_keys_the_right_cards_and_the_payouts_are_awaited_anew() -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 3d"), (1, "Kh Ah"))
    right = given(rounds, *log).when(ReplaceHand(1, ("Kh", "2h"), WHY), actor="omar")
    right.then(HandReplaced(R, 1, ("Kh", "2h"), WHY, "omar"), PayoutAwaited(R, f"{R}.1.progressive", documents=False))
    state = given(rounds, *log, *right.events)
    (seat_1, _) = state.state.round.seats
    assert (seat_1.cards, seat_1.keyed_by) == (("Kh", "2h"), "omar")
    # The royal flush's hand pay is not waited for any more, the flush's payout from the table is.
    state.when(CloseRound()).refused("validate the payout")
    state = given(rounds, *log, *right.events, rounds.PayoutValidated(R, f"{R}.1.progressive"))
    assert state.when(CloseRound()).refusal is None


def test_whoever_keyed_a_hand_does_not_replace_it_and_may_look_at_anothers() -> None:
    log = shown(board(ROYAL_BOARD, 1, after=linked(1)), (1, "Kh Ah"))
    given(rounds, *log).when(ReplaceHand(1, ("Kh", "2h"), WHY)).refused("655a.11(h)", "dealer keyed this hand")
    log, _ = replaced(log, 1, "Kh 2h", actor="omar")
    given(rounds, *log).when(ReplaceHand(1, ("Kh", "3h"), WHY), actor="omar").refused("omar keyed this hand")
    log, _ = replaced(log, 1, "Kh 3h", actor="dealer")
    assert given(rounds, *log).state.round.seats[0].cards == ("Kh", "3h")


@pytest.mark.parametrize(
    ("seat", "hand", "words"),
    [
        (9, "Kh 2h", "no seat 9"),
        (3, "Kh 2h", "shown no hand"),
        (1, "Kh", "2 cards, not 1"),
        (1, "Kh 2h 3h", "2 cards, not 3"),
        (1, "Ah Kh", "nothing is to be replaced"),
        (1, "Kh Kh", "named twice"),
        (1, "Kh 1h", "not a card"),
        (1, "Kh Th", "Th was seen"),
        (1, "Kh 3c", "3c was seen"),
    ],
)
def test_cards_that_cannot_be_are_refused(seat: int, hand: str, words: str) -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 3d"), (1, "Kh Ah"))
    given(rounds, *log).when(ReplaceHand(seat, cards(hand), WHY), actor="omar").refused(words)


def test_without_a_round_or_before_the_hand_is_shown_there_is_nothing_to_replace() -> None:
    command = ReplaceHand(1, ("Kh", "2h"), WHY)
    given(rounds).when(command, actor="omar").refused("No round is open")
    log = board(ROYAL_BOARD, 1, after=linked(1))
    given(rounds, *log).when(command, actor="omar").refused("655a.11(h)", "shown no hand")
    log = shown(log, (1, "Ks 2h"))
    assert given(rounds, *log).when(CloseRound()).refusal is None
    log = played(CloseRound(), after=log)
    given(rounds, *log).when(command, actor="omar").refused("No round is open")


@pytest.mark.law("655a.11(i)(1)(iii)")
def test_a_hand_stands_once_a_payout_of_it_is_validated() -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 3d"), (1, "Kh Ah"))
    claim_id = f"{R}.1.progressive"
    log = (*log, rounds.PayoutValidated(R, claim_id))
    given(rounds, *log).when(ReplaceHand(1, ("Kh", "2h"), WHY), actor="omar").refused("655a.11(h)", claim_id)
    # That of another seat may still be replaced.
    assert given(rounds, *log).when(ReplaceHand(2, ("3c", "4d"), WHY), actor="omar").refusal is None


def test_a_card_that_was_misread_may_be_shown_by_whoever_has_it() -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, after=linked(1, 2)), (2, "As Ad"))
    given(rounds, *log).when(ShowHand(1, ("As", "2c"))).refused("As was seen")
    log, _ = replaced(log, 2, "Ac Ad")
    given(rounds, *log).when(ShowHand(1, ("Ac", "2c"))).refused("Ac was seen")
    assert given(rounds, *log).when(ShowHand(1, ("As", "2c"))).refusal is None


@pytest.mark.law("655a.11(i)(1)(iii)")
def test_after_a_rejection_the_right_hand_is_claimed_and_awaited_again() -> None:
    log = shown(board(STRAIGHT_FLUSH_BOARD, 1, after=linked(1)), (1, "5h 6h"))
    log = (*log, rounds.PayoutRejected(R, f"{R}.1.progressive"))
    assert given(rounds, *log).when(CloseRound()).refusal is None
    log, events = replaced(log, 1, "Th Jh")
    given(rounds, *log).when(CloseRound()).refused("validate the payout")
    claims = [each.command for each in asked(events) if isinstance(each.command, jackpots.ClaimPayout)]
    assert [(each.claim_id, each.odds, each.entered_by) for each in claims] == [
        (f"{R}.1.progressive", "10% of meter", "omar")
    ]
    assert given(rounds, *log).when(ReleasePayout(f"{R}.1.progressive", documented=False)).events == (
        rounds.PayoutValidated(R, f"{R}.1.progressive"),
    )


# What it comes to anew ------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(h)(3)", "655a.11(i)(1)(v)")
def test_a_royal_flush_that_was_a_flush() -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, 3, after=linked(1, 2, 3)), (3, "3c 3d"), (2, "4c 4d"), (1, "Kh Ah"))
    _, events = replaced(log, 1, "Kh 2h")
    # 500 to 1 on 500 each; the share of the meter has its amount in its claim.
    assert {name: (row.won_cents, row.credited_cents, row.claim_id) for name, row in reversed_(events).items()} == {
        **dict.fromkeys(MAIN, (250_000, 0, None)),
        "progressive": (0, 0, f"{R}.1.progressive"),
    }
    assert [event for event in events if isinstance(event, EnvyBonusReversed | EnvyBonusWon)] == [
        EnvyBonusReversed(R, "progressive-2", 1)
    ]
    row = rows(events)
    assert {name: (row[name].hand, *figures(row[name])) for name in row} == {
        **dict.fromkeys(MAIN, ("flush", Result.WON, "6 to 1", 3_000, 500)),
        "progressive": ("flush", Result.WON, "40 for 1", 4_000, 0),
    }
    assert {row[name].entered_by for name in row} == {"omar"}
    back, envy, claim = asked(events)
    assert back == Following("jackpots", "progressive-2", jackpots.TakeBackPayout(f"{R}.1.progressive", "table-1", R))
    assert envy == Following("jackpots", "progressive-2", jackpots.TakeBackEnvy("table-1", R, 1))
    assert isinstance(claim.command, jackpots.ClaimPayout)
    assert (claim.command.amount_cents, claim.command.odds, claim.command.entered_by) == (4_000, "40 for 1", "omar")


@pytest.mark.law("655a.11(h)(3)", "655a.11(i)(1)(v)")
def test_nothing_that_was_a_straight_flush() -> None:
    log = shown(board(STRAIGHT_FLUSH_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 4d"), (1, "Kc 2d"))
    _, events = replaced(log, 1, "5h 6h")
    assert {row.won_cents for row in reversed_(events).values()} == {0}
    row = rows(events)
    assert {name: figures(row[name]) for name in row} == {
        **dict.fromkeys(MAIN, (Result.WON, "100 to 1", 50_000, 500)),
        "progressive": (Result.WON, "10% of meter", None, 0),
    }
    assert [event for event in events if isinstance(event, EnvyBonusReversed | EnvyBonusWon)] == [
        EnvyBonusWon(R, "progressive-2", 1, (2,), "straight_flush", 30_000, "655a.11(i)(1)(v)")
    ]
    # A lost wager had no claim: nothing is taken back.
    assert [type(each.command).__name__ for each in asked(events)] == ["ClaimPayout", "AwardEnvy"]


def test_cards_that_come_to_the_same_change_nothing_but_the_record() -> None:
    log = shown(board("2c 7d Kh", 1, after=linked(1)), (1, "Ac Qd"))
    _, events = replaced(log, 1, "Ac Jd")
    assert events == ()


@pytest.mark.law("655a.11(i)(1)(iii)")
def test_a_claim_is_made_again_by_whoever_keyed_the_hand_and_the_envy_bonuses_stand() -> None:
    log = shown(board(STRAIGHT_FLUSH_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 4d"), (1, "5h 6h"))
    _, events = replaced(log, 1, "Th Jh")
    assert [type(event) for event in events] == [WagerReversed, WagerSettled]
    assert set(rows(events)) == {"progressive"}
    assert [type(each.command).__name__ for each in asked(events)] == ["TakeBackPayout", "ClaimPayout"]


def test_envy_of_one_hand_gives_way_to_that_of_another() -> None:
    log = shown(board(ROYAL_BOARD, 1, 2, after=linked(1, 2)), (2, "3c 4d"), (1, "Kh Ah"))
    _, events = replaced(log, 1, "8h 9h")
    assert [event for event in events if isinstance(event, EnvyBonusReversed | EnvyBonusWon)] == [
        EnvyBonusReversed(R, "progressive-2", 1),
        EnvyBonusWon(R, "progressive-2", 1, (2,), "straight_flush", 30_000, "655a.11(i)(1)(v)"),
    ]
    assert [type(each.command).__name__ for each in asked(events)] == [
        "TakeBackPayout", "TakeBackEnvy", "ClaimPayout", "AwardEnvy",
    ]  # fmt: skip


def test_where_nobody_had_an_envy_bonus_none_is_taken_back() -> None:
    log = shown(board(ROYAL_BOARD, 1, after=linked(1)), (1, "Kh Ah"))
    _, events = replaced(log, 1, "Kh 2h")
    assert not [event for event in events if isinstance(event, EnvyBonusReversed)]


def test_a_folded_hand_may_be_replaced_for_what_outlives_the_fold() -> None:
    log = played(CloseBetting(), DealHands(), Fold(1), Bet(2, 1), RevealCommunityCard("7h"), after=linked(1, 2))
    log = played(Bet(2, 1), RevealCommunityCard("8h"), Bet(2, 1), RevealCommunityCard("9h"), after=log)
    log = shown(log, (2, "3c 4d"), (1, "5h 6h"))
    _, events = replaced(log, 1, "5h 2h")
    assert set(reversed_(events)) == set(rows(events)) == {"progressive"}
    assert figures(rows(events)["progressive"]) == (Result.WON, "40 for 1", 4_000, 0)


# From a game account --------------------------------------------------------------------------------------


def with_bonus(hand: str, book: RuleBook = BOOK) -> Log:
    """Seat 1 has a Five Card Hand Bonus; 9s 9h 4d are out, the Magic Card is the 9c, seat 1 is the lucky position."""
    log = hand_bonus(1, played(*ante(1), after=BETTING))
    log = board("9s 9h 4d", 1, after=log, book=book)
    return shown(played(DrawMagicCard("9c"), DrawLuckyPosition("1"), after=log, book=book), (1, hand), book=book)


@pytest.mark.law("655a.11(i)(3)(iii)")
def test_what_was_credited_is_taken_back_and_what_was_won_is_credited() -> None:
    _, events = replaced(with_bonus("9c 9d"), 1, "9d 4c")
    # Four of a kind at 150 for 1 was a full house at 40 for 1; the 9c is not among the cards, the lucky position stands.
    back = reversed_(events)
    assert {name: back[name].credited_cents for name in (FIVE, "magic_card")} == {FIVE: 15_000, "magic_card": 400}
    assert set(back) == set(MAIN) | {FIVE, "magic_card"}
    row = rows(events)
    assert set(row) == set(MAIN) | {FIVE}
    assert (figures(row[FIVE]), row[FIVE].hold_id) == ((Result.WON, "40 for 1", 4_000, 0), None)
    assert asked(events) == [
        Following("accounts", "account-1", accounts.TakeBackWinnings(15_000, R, 1, FIVE)),
        Following("accounts", "account-1", accounts.TakeBackWinnings(400, R, 1, "magic_card")),
        Following("accounts", "account-1", accounts.CreditWinnings(4_000, R, 1, FIVE)),
    ]


@pytest.mark.law("655a.11(i)(3)(iii)")
def test_the_magic_card_may_come_with_the_right_cards() -> None:
    _, events = replaced(with_bonus("Ad Qd"), 1, "Ad 9c")
    assert [each.command for each in asked(events)] == [
        accounts.CreditWinnings(600, R, 1, FIVE),  # three of a kind at 6 for 1; the stake was debited before
        accounts.CreditWinnings(400, R, 1, "magic_card"),
    ]


def test_a_stake_that_was_pushed_is_lost() -> None:
    book = RuleBook((PUSHES,))
    _, events = replaced(with_bonus("9d 2d", book), 1, "Ad Qd", book=book)
    assert figures(rows(events)[FIVE]) == (Result.LOST, None, 0, 0)
    assert [each.command for each in asked(events)] == [accounts.TakeBackWinnings(100, R, 1, FIVE)]


def test_a_stake_that_was_lost_is_pushed() -> None:
    book = RuleBook((PUSHES,))
    _, events = replaced(with_bonus("Ad Qd", book), 1, "9d 2d", book=book)
    assert figures(rows(events)[FIVE]) == (Result.PUSHED, "push", 0, 100)
    assert [each.command for each in asked(events)] == [accounts.ReturnStake(100, R, 1, FIVE)]


def test_a_stake_that_was_pushed_and_wins_for_one_is_debited() -> None:
    book = RuleBook((PUSHES,))
    _, events = replaced(with_bonus("9d 2d", book), 1, "9d 4c", book=book)
    assert [each.command for each in asked(events)] == [
        accounts.TakeBackWinnings(100, R, 1, FIVE),
        accounts.CreditWinnings(4_000, R, 1, FIVE),
    ]


@pytest.mark.law("655a.11(i)(3)(ii)")
def test_what_waits_for_a_floorperson_is_taken_back_at_the_progressive_alone() -> None:
    log = hand_bonus(1, played(*ante(1), after=BETTING))
    log = board(STRAIGHT_FLUSH_BOARD, 1, after=log)
    log = shown(played(DrawMagicCard("2c"), DrawLuckyPosition("6"), after=log), (1, "5h 6h"))
    _, events = replaced(log, 1, "5h 2h")
    claim_id = f"{R}.1.{FIVE}"
    assert (reversed_(events)[FIVE].won_cents, reversed_(events)[FIVE].credited_cents) == (50_000, 0)
    assert [(each.stream, each.command) for each in asked(events)] == [
        ("jackpots", jackpots.TakeBackPayout(claim_id, "table-1", R)),
        ("accounts", accounts.CreditWinnings(2_500, R, 1, FIVE)),
    ]


@pytest.mark.law("639a.11(c)(6)(iii)")
def test_a_bonus_on_the_dealers_hand_stands_whatever_the_players_cards_are() -> None:
    betting = played(OpenTable("caribbean_stud", 6, CARIBBEAN, "progressive-2", CARIBBEAN), OpenRound(), *ante(1))
    log = hand_bonus(1, hand_bonus(1, betting), On.DEALER)
    log = played(CloseBetting(), DealHands("Ad"), Bet(1, 2), RevealDealerHand(cards("Ac Ah As 3s")), after=log)
    log = shown(played(DrawMagicCard("2h"), DrawLuckyPosition("6"), after=log), (1, "Kc Kd Kh 9s 9d"))
    _, events = replaced(log, 1, "Kc Kd Kh Ks 9d")
    # 40 for 1 was 150 for 1; the dealer's four aces at 150 for 1 were credited and stay.
    assert [each.command for each in asked(events)] == [
        accounts.TakeBackWinnings(4_000, R, 1, FIVE),
        accounts.CreditWinnings(15_000, R, 1, FIVE),
    ]
    assert set(rows(events)) == {FIVE}
