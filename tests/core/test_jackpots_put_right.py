"""What goes wrong with a payout is put right in the open: rejected, taken back, slips void; and who signs. Every figure
is worked out by hand."""

import pytest

from services.core import accounts, jackpots, rounds, sheets
from services.core.asking import Following
from services.core.jackpots import (
    AwardEnvy,
    Contribute,
    DocumentPayout,
    EnvyBonusDue,
    EnvyBonusPaid,
    EnvyBonusTakenBack,
    LevelHit,
    LevelRestored,
    PayEnvy,
    PayoutClaimed,
    PayoutDocumented,
    PayoutRejected,
    PayoutSigned,
    PayoutTakenBack,
    PayoutValidated,
    PayPayout,
    RejectPayout,
    ReverseContribution,
    SignerBand,
    SignPayout,
    SlipVoided,
    TakeBackEnvy,
    TakeBackPayout,
    ValidatePayout,
    VoidSlip,
    following,
    view,
)
from services.core.names import Source
from services.core.payouts import ClaimState
from tests.support.told import CENT, Told, claim, refused

SEAT_2 = "table-1-1.2.progressive"
SEAT_1 = "table-1-1.1.progressive"
FIVE = "five_card_hand_bonus"
BANDS = (SignerBand(120_000, 2), SignerBand(1_000_000, 3))


def take_back(claim_id: str) -> TakeBackPayout:
    round_id = claim_id.partition(".")[0]
    return TakeBackPayout(claim_id, round_id.rpartition("-")[0], round_id)


# Who validates, and who signs -----------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(iii)")
def test_who_keyed_the_hand_does_not_validate_its_payout() -> None:
    told = Told("ms")
    told.when(claim(entered_by="ruth"))
    told.refused(ValidatePayout(SEAT_2), "ruth keyed", "another person", actor="ruth")
    assert told.when(ValidatePayout(SEAT_2), actor="omar") == (PayoutValidated(SEAT_2, "table-1", "omar", "ruth"),)


@pytest.mark.law("655a.11(i)(3)(ii)")
def test_nor_where_the_payout_goes_to_an_account() -> None:
    told = Told("ms")
    told.when(claim("500 for 1", 50_000, wager=FIVE, source=Source.GAME_ACCOUNT, account_id="a", entered_by="ruth"))
    told.refused(ValidatePayout(f"table-1-1.2.{FIVE}"), "ruth keyed", actor="ruth")
    assert len(told.when(ValidatePayout(f"table-1-1.2.{FIVE}"), actor="omar")) == 2


@pytest.mark.law("655a.11(i)(1)(iv)")
@pytest.mark.parametrize(("amount_cents", "needed"), [(119_999, 1), (120_000, 2), (999_999, 2), (1_000_000, 3)])
def test_the_amount_says_how_many_people_sign(amount_cents: int, needed: int) -> None:
    told = Told("ms")
    told.when(claim("50 for 1", amount_cents))
    told.refused(SignPayout(SEAT_2), "not validated", actor="vera")
    told.when(ValidatePayout(SEAT_2), actor="omar")
    document = DocumentPayout(SEAT_2, "slip", BANDS)
    for number, person in list(enumerate(("omar", "vera", "iris"), start=1))[: needed - 1]:
        told.refused(document, f"needs the names of {needed} different people", f"has {number}", actor=person)
        if person != "omar":
            assert told.when(SignPayout(SEAT_2), actor=person) == (PayoutSigned(SEAT_2, person),)
    told.refused(SignPayout(SEAT_2), "omar signed", actor="omar")
    # Whoever completes the document is one of them.
    last = ("omar", "vera", "iris")[needed - 1]
    assert told.when(document, actor=last) == (PayoutDocumented(SEAT_2, "table-1", "slip", 1, last, "dealer"),)


def test_a_person_counts_once_however_often_they_act() -> None:
    told = Told("ms")
    told.when(claim("50 for 1", 120_000))
    told.when(ValidatePayout(SEAT_2), actor="omar")
    told.refused(DocumentPayout(SEAT_2, "slip", BANDS), "has 1: omar", actor="omar")
    told.when(SignPayout(SEAT_2), actor="vera")
    told.when(DocumentPayout(SEAT_2, "slip", BANDS), actor="omar")


def test_nobody_signs_for_what_needs_no_document_or_has_it() -> None:
    told = Told("ms")
    told.when(claim("50 for 1", 5_000, source=Source.TABLE_INVENTORY))
    told.when(ValidatePayout(SEAT_2))
    told.refused(SignPayout(SEAT_2), "comes from the table inventory and needs no document", actor="vera")
    told.when(PayPayout(SEAT_2))
    told.when(claim(seat=1))
    told.when(ValidatePayout(SEAT_1))
    told.when(DocumentPayout(SEAT_1, "slip"))
    told.refused(SignPayout(SEAT_1), "has its document, slip 1", actor="vera")


# Slips ----------------------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(iv)")
def test_a_void_slip_keeps_its_number_and_the_payout_gets_the_next() -> None:
    told = Told("ms")
    told.when(claim(seat=2))
    told.when(claim(seat=1))
    for claim_id in (SEAT_2, SEAT_1):
        told.when(ValidatePayout(claim_id))
    told.refused(VoidSlip(SEAT_2, "torn"), "has no slip")
    told.when(DocumentPayout(SEAT_2, "first"))
    assert told.when(VoidSlip(SEAT_2, "torn")) == (SlipVoided(SEAT_2, 1, "torn", "table-1", "dealer"),)
    refused(told.state, PayPayout(SEAT_2), "no document yet", section="655a.11(i)(1)(iv)")
    told.when(DocumentPayout(SEAT_1, "other"))
    assert told.when(DocumentPayout(SEAT_2, "second")) == (
        PayoutDocumented(SEAT_2, "table-1", "second", 3, "floorperson", "dealer"),
    )
    assert [(line["claim_id"], line["slip_number"]) for line in view("p", told.state)["claims"]] == [
        (SEAT_2, 3),
        (SEAT_1, 2),
    ]
    told.when(PayPayout(SEAT_2))
    told.refused(VoidSlip(SEAT_2, "late"), "paid already")


# Rejected -------------------------------------------------------------------------------------------------


def test_a_rejected_share_is_back_in_its_level_and_the_house_has_its_money_again() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))  # 76 shown, 4 hidden
    told.when(claim())  # 10 % of 1,000,076 is 100,007; the house puts 99,931 in for the reset
    told.shows(value_microcents=1_000_000 * CENT, seeded_microcents=1_099_931 * CENT, hits=1, pending_cents=100_007)
    restored, rejected = told.when(RejectPayout(SEAT_2, "the hand is a flush"))
    assert restored == LevelRestored(
        SEAT_2, "table-1", "meter", 100_007, 1_000_076 * CENT, 4 * CENT, 0, 0, -99_931 * CENT
    )
    assert rejected == PayoutRejected(SEAT_2, "table-1", 100_007, "the hand is a flush", "dealer")
    told.shows(value_microcents=1_000_076 * CENT, hidden_microcents=4 * CENT, seeded_microcents=1_000_000 * CENT)
    told.shows(hits=0, pending_cents=0, paid_cents=0)
    assert told.state.claims == {}
    assert following("progressive-1", rejected) == (
        Following(
            "rounds", "table-1", rounds.ReleasePayout(SEAT_2, documented=False, rejected=True, entered_by="dealer")
        ),
    )
    told.refused(ValidatePayout(SEAT_2), "rejected or paid already")


def test_a_rejected_win_of_all_gives_hidden_and_overflow_their_parts_again() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 1_000, 10))  # 100 shown up to the limit, 400 above it, 100 hidden
    told.when(claim("100% of meter"))
    told.shows(value_cents=1_100, hidden_microcents=0, overflow_microcents=400 * CENT, seeded_microcents=2_000 * CENT)
    told.when(RejectPayout(SEAT_2, "no"))
    told.shows(value_cents=1_100, hidden_microcents=100 * CENT, overflow_microcents=400 * CENT)
    told.shows(seeded_microcents=1_000 * CENT, overflow_lifetime_microcents=400 * CENT, hits=0)


@pytest.mark.parametrize("order", [(SEAT_2, SEAT_1), (SEAT_1, SEAT_2)])
def test_two_wins_of_all_are_rejected_in_either_order(order: tuple[str, str]) -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 300, 3))  # 1,100 shown, 30 hidden, 50 above
    told.when(claim("100% of meter", seat=2))  # 1,100 won; 1,000 + 30 + 50 shown
    told.when(claim("100% of meter", seat=1))  # 1,080 won; 1,000 shown
    told.shows(value_cents=1_000, seeded_microcents=3_000 * CENT, pending_cents=2_180)
    told.when(RejectPayout(order[0], "no"))
    if order[0] == SEAT_2:
        # 1,000 and the 1,100, less the 1,000 of the house, less 30 and 50; what seat 1 won by the log stands.
        told.shows(value_cents=1_020, hidden_microcents=30 * CENT, overflow_microcents=50 * CENT, pending_cents=1_080)
    else:
        told.shows(value_cents=1_080, hidden_microcents=0, overflow_microcents=0, pending_cents=1_100)
    told.shows(seeded_microcents=2_000 * CENT, hits=1)
    told.when(RejectPayout(order[1], "no"))
    told.shows(value_cents=1_100, hidden_microcents=30 * CENT, overflow_microcents=50 * CENT)
    told.shows(seeded_microcents=1_000 * CENT, hits=0, pending_cents=0, overflow_lifetime_microcents=50 * CENT)


def test_what_comes_back_above_the_limit_is_overflow() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 200, 2))  # 1,100 shown, 20 hidden
    told.when(claim("100% of meter"))  # 1,020 shown
    told.when(Contribute("table-2", "table-2-1", 100, 1))  # 1,070 shown, 10 hidden
    restored, _ = told.when(RejectPayout(SEAT_2, "no"))
    # 1,070 + 10 + 1,100 - 1,000 are 1,180: 30 hidden, and of 1,150 the 50 above the limit.
    assert restored == LevelRestored(
        SEAT_2, "table-1", "meter", 1_100, 1_100 * CENT, 30 * CENT, 50 * CENT, 50 * CENT, -1_000 * CENT
    )
    told.shows(overflow_lifetime_microcents=50 * CENT)
    told.when(Contribute("table-2", "table-2-2", 100, 1))
    told.shows(value_cents=1_100, overflow_microcents=100 * CENT, overflow_lifetime_microcents=100 * CENT)


def test_the_fraction_of_a_cent_comes_back_too() -> None:
    told = Told("ms-c")
    told.when(Contribute("table-1", "table-1-1", 100, 1))
    told.when(claim("50% of minor"))  # half of 20,003.3333 is 10,001.66665: 10,001, and 9,998.6667 for the reset
    told.shows("minor", value_microcents=20_000 * CENT, seeded_microcents=20_000 * CENT + 9_997_666_700)
    told.when(RejectPayout(SEAT_2, "no"))
    told.shows("minor", value_microcents=20_003_333_300, seeded_microcents=20_000 * CENT)


def test_a_payout_is_rejected_before_it_is_documented_only() -> None:
    told = Told("ms")
    told.when(claim())
    told.when(ValidatePayout(SEAT_2))
    told.when(DocumentPayout(SEAT_2, "slip"))
    told.refused(RejectPayout(SEAT_2, "no"), "slip 1", "Void the slip")
    told.when(VoidSlip(SEAT_2, "wrong hand"))
    told.when(RejectPayout(SEAT_2, "wrong hand"))
    told.shows(value_cents=1_000_000, seeded_microcents=1_000_000 * CENT)
    told.refused(RejectPayout(SEAT_2, "no"), "rejected or paid already")
    # The number of the void slip stays used.
    told.when(claim(seat=1))
    told.when(ValidatePayout(SEAT_1))
    (documented,) = told.when(DocumentPayout(SEAT_1, "slip"))
    assert isinstance(documented, PayoutDocumented) and documented.slip_number == 2


def test_the_sheet_of_a_round_shows_no_slip_where_the_last_is_void() -> None:
    told, sheet = Told("ms"), sheets.JackpotSheet()
    shown = []
    for command in (claim(), ValidatePayout(SEAT_2), DocumentPayout(SEAT_2, "slip"), VoidSlip(SEAT_2, "torn")):
        for event in told.when(command):
            sheet = sheets.with_jackpot(sheet, event)
        (line,) = sheets.claims_view(sheet)
        shown.append((line["state"], line["slip_number"]))
    assert shown == [("hit", None), ("validated", None), ("documented", 1), ("validated", None)]


def test_a_rejected_payout_of_a_fixed_amount_touches_no_level() -> None:
    told = Told("ms")
    told.when(claim("50 for 1", 5_000, source=Source.TABLE_INVENTORY))
    assert told.when(RejectPayout(SEAT_2, "no")) == (PayoutRejected(SEAT_2, "table-1", 5_000, "no", "dealer"),)
    told.shows(hits=0, value_cents=1_000_000, seeded_microcents=1_000_000 * CENT)


# Taken back -----------------------------------------------------------------------------------------------


def taken_back(state: ClaimState, slip: int | None = None) -> PayoutTakenBack:
    return PayoutTakenBack(
        SEAT_2, "table-1", "table-1-1", 2, "progressive", state, 100_007, Source.HAND_PAY, None, "meter", slip
    )


def test_a_claim_of_a_hand_that_was_keyed_wrongly_is_taken_back() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))
    told.when(claim())
    restored, said = told.when(take_back(SEAT_2))
    assert isinstance(restored, LevelRestored) and said == taken_back(ClaimState.HIT)
    told.shows(value_microcents=1_000_076 * CENT, seeded_microcents=1_000_000 * CENT, hits=0, pending_cents=0)
    assert following("progressive-1", said) == ()
    assert told.when(take_back(SEAT_2)) == ()
    # The right cards may win by the same wager.
    hit, claimed = told.when(claim("100% of meter"))
    assert isinstance(hit, LevelHit) and isinstance(claimed, PayoutClaimed)
    assert (hit.amount_cents, hit.value_microcents) == (1_000_076, 1_000_004 * CENT)


@pytest.mark.parametrize(
    ("steps", "state", "slip"),
    [
        ((), ClaimState.HIT, None),
        ((ValidatePayout(SEAT_2),), ClaimState.VALIDATED, None),
        ((ValidatePayout(SEAT_2), DocumentPayout(SEAT_2, "s")), ClaimState.DOCUMENTED, 1),
        ((ValidatePayout(SEAT_2), DocumentPayout(SEAT_2, "s"), PayPayout(SEAT_2)), ClaimState.PAID, 1),
    ],
)
def test_however_far_it_had_come(steps: tuple[jackpots.Command, ...], state: ClaimState, slip: int | None) -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))
    told.when(claim())
    for step in steps:
        told.when(step)
    _, said = told.when(take_back(SEAT_2))
    assert said == taken_back(state, slip)
    told.shows(value_microcents=1_000_076 * CENT, hits=0, pending_cents=0, paid_cents=0)
    assert view("p", told.state)["awards"] == view("p", told.state)["claims"] == []
    assert told.when(take_back(SEAT_2)) == ()


def test_what_was_credited_leaves_the_account_again() -> None:
    told = Told("ms")
    claim_id = f"table-1-1.2.{FIVE}"
    told.when(claim("500 for 1", 50_000, wager=FIVE, source=Source.GAME_ACCOUNT, account_id="account-3"))
    told.when(ValidatePayout(claim_id))
    (said,) = told.when(take_back(claim_id))
    assert isinstance(said, PayoutTakenBack) and said.state is ClaimState.PAID
    assert following("progressive-1", said) == (
        Following("accounts", "account-3", accounts.TakeBackWinnings(50_000, "table-1-1", 2, FIVE)),
    )


def test_what_was_never_credited_is_asked_of_no_account() -> None:
    told = Told("ms")
    told.when(claim("500 for 1", 50_000, wager=FIVE, source=Source.GAME_ACCOUNT, account_id="account-3"))
    (said,) = told.when(take_back(f"table-1-1.2.{FIVE}"))
    assert isinstance(said, PayoutTakenBack) and said.state is ClaimState.HIT
    assert following("progressive-1", said) == ()


def test_there_is_nothing_to_take_back_of_a_payout_that_was_rejected_or_never_made() -> None:
    told = Told("ms")
    assert told.when(take_back(SEAT_2)) == ()
    told.when(claim())
    told.when(RejectPayout(SEAT_2, "no"))
    assert told.when(take_back(SEAT_2)) == ()
    told.shows(value_cents=1_000_000, hits=0)


def test_a_win_of_another_seat_in_between_stands() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))  # 1,000,076 shown, 4 hidden
    told.when(claim("100% of meter", seat=2))  # 1,000,076 won; 1,000,004 shown
    told.when(claim("10% of meter", seat=1))  # 100,000.4: 100,000 won; 900,004 and 99,996 of the house
    told.when(take_back(SEAT_2))
    # 1,000,000 + 1,000,076 - 1,000,000, of which 4 are hidden.
    told.shows(value_microcents=1_000_072 * CENT, hidden_microcents=4 * CENT, pending_cents=100_000, hits=1)
    told.shows(seeded_microcents=1_099_996 * CENT)


def test_a_payout_of_an_earlier_round_does_not_hide_one_of_the_last() -> None:
    told = Told("ms")
    told.when(claim("50 for 1", 5_000, seat=5, source=Source.TABLE_INVENTORY, round_id="table-1-1"))
    told.when(ValidatePayout("table-1-1.5.progressive"))
    told.when(claim("500 for 1", 50_000, wager=FIVE, source=Source.GAME_ACCOUNT, account_id="a", round_id="table-1-2"))
    told.when(ValidatePayout(f"table-1-2.2.{FIVE}"))
    told.when(PayPayout("table-1-1.5.progressive"))
    assert len(told.when(take_back(f"table-1-2.2.{FIVE}"))) == 1


def test_of_earlier_rounds_nothing_is_kept() -> None:
    told = Told("ms")
    for round_id in ("table-1-1", "table-1-2"):
        told.when(claim("50 for 1", 5_000, source=Source.TABLE_INVENTORY, round_id=round_id))
        told.when(ValidatePayout(f"{round_id}.2.progressive"))
        told.when(PayPayout(f"{round_id}.2.progressive"))
    assert told.when(take_back("table-1-1.2.progressive")) == ()
    assert [each.claimed.round_id for each in told.state.paid["table-1"]] == ["table-1-2"]


def test_a_void_of_another_table_after_a_win_that_is_taken_back() -> None:
    told = Told("tight")
    told.when(Contribute("table-2", "table-2-1", 200, 2))  # 1,100 shown, 20 hidden
    told.when(claim("50% of meter"))  # 550 won; 450 of the house
    told.when(ReverseContribution("table-2", "table-2-1"))  # 100 and 20 leave; 100 of the house
    told.shows(value_cents=1_000, seeded_microcents=1_550 * CENT, contributed_microcents=0)
    told.when(RejectPayout(SEAT_2, "no"))  # 550 come back, and 450 go back to the house
    told.shows(value_cents=1_100, hidden_microcents=0, seeded_microcents=1_100 * CENT)


# Two at once ----------------------------------------------------------------------------------------------


@pytest.mark.law("several winners of one share of a meter in a round")
def test_a_claim_says_of_what_it_is_a_share_and_where_in_the_log_the_level_was_hit() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))  # records 1 and 2
    told.when(claim("100% of meter", seat=2))  # records 3 and 4
    told.when(claim("100% of meter", seat=1))  # records 5 and 6
    told.when(claim("50 for 1", 5_000, seat=4, source=Source.TABLE_INVENTORY))
    said = [
        (line["seat"], line["amount_cents"], line["level_value_microcents"], line["hit_sequence"])
        for line in view("p", told.state)["claims"]
    ]
    assert said == [
        (2, 1_000_076, 1_000_076 * CENT, 3),
        (1, 1_000_004, 1_000_004 * CENT, 5),
        (4, 5_000, None, None),
    ]


# Envy -----------------------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(v)")
def test_envy_bonuses_of_a_hand_that_was_keyed_wrongly_are_taken_back() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))
    told.when(AwardEnvy("table-1", "table-1-1", 2, (1, 3), "straight_flush", 30_000))
    told.when(AwardEnvy("table-1", "table-1-1", 5, (1,), "royal_flush", 100_000))
    told.when(PayEnvy("table-1-1", 3))
    assert told.when(TakeBackEnvy("table-1", "table-1-1", 2)) == (
        EnvyBonusTakenBack("table-1-1", 2, 1, 30_000, paid=False),
        EnvyBonusTakenBack("table-1-1", 2, 3, 30_000, paid=True),
    )
    assert told.when(TakeBackEnvy("table-1", "table-1-1", 2)) == ()
    # The right hand may bring another.
    assert told.when(AwardEnvy("table-1", "table-1-1", 2, (1,), "royal_flush", 100_000)) == (
        EnvyBonusDue("table-1", "table-1-1", 2, 1, "royal_flush", 100_000),
    )
    assert told.when(PayEnvy("table-1-1", 1)) == (
        EnvyBonusPaid("table-1-1", 5, 1, 100_000),
        EnvyBonusPaid("table-1-1", 2, 1, 100_000),
    )


def test_an_envy_bonus_of_an_earlier_round_does_not_hide_those_of_the_last() -> None:
    told = Told("ms")
    for round_id in ("table-1-1", "table-1-2"):
        told.when(Contribute("table-1", round_id, 400, 4))
        told.when(AwardEnvy("table-1", round_id, 2, (1,), "straight_flush", 30_000))
    told.when(PayEnvy("table-1-2", 1))
    told.when(PayEnvy("table-1-1", 1))
    assert told.when(TakeBackEnvy("table-1", "table-1-2", 2)) == (
        EnvyBonusTakenBack("table-1-2", 2, 1, 30_000, paid=True),
    )


def test_nothing_is_taken_back_at_a_progressive_that_is_not_open() -> None:
    for command in (take_back(SEAT_2), TakeBackEnvy("table-1", "table-1-1", 2)):
        assert jackpots.decide(jackpots.INITIAL, command, Told("ms").asking) == ()
    for people in (RejectPayout(SEAT_2, "no"), SignPayout(SEAT_2), VoidSlip(SEAT_2, "no")):
        refused(jackpots.INITIAL, people, "not open")


# An unreasonable contribution -----------------------------------------------------------------------------


def test_more_than_a_round_can_bring_is_refused() -> None:
    told = Told("bound")  # 50 % shown and 10 % hidden; 360 at most
    told.when(Contribute("table-1", "table-1-1", 600, 6))
    told.refused(Contribute("table-1", "table-1-2", 601, 6), "table-1-2", "$6.01", "$3.60", "Nothing is added")
    told.shows(value_cents=1_300, hidden_microcents=60 * CENT, contribution_bound_cents=360)
    Told("ms").shows(contribution_bound_cents=None)
