"""Jackpots, given events, when a command comes, then these events: every figure worked out by hand."""

import json
from dataclasses import replace

import pytest
from cattrs.preconf.json import make_converter

from services.core import accounts, jackpots, refusal, rounds
from services.core.asking import Following
from services.core.jackpots import (
    INITIAL,
    AwardEnvy,
    Contribute,
    ContributionAccepted,
    ContributionTakenBack,
    DocumentPayout,
    EnvyBonusDue,
    EnvyBonusPaid,
    LevelContribution,
    LevelHit,
    LevelOpened,
    LevelReversal,
    OpenProgressive,
    PayEnvy,
    PayoutClaimed,
    PayoutDocumented,
    PayoutPaid,
    PayoutValidated,
    PayPayout,
    ProgressiveOpened,
    Refused,
    ReverseContribution,
    State,
    ValidatePayout,
    decide,
    evolve,
    following,
    view,
)
from services.core.names import Source
from tests.support.told import ASKING, CENT, Told, claim, refused

YEAR_BEFORE = replace(ASKING, at_ms=1_750_000_000_000)


# Opening ------------------------------------------------------------------------------------------------


def test_a_progressive_opens_with_the_levels_of_its_submission() -> None:
    assert decide(INITIAL, OpenProgressive("ms"), ASKING) == (
        ProgressiveOpened(
            "ms",
            b"ms",
            (LevelOpened("meter", 1_000_000 * CENT, 1_000_000 * CENT, 190_000, 10_000, 25_000_000 * CENT),),
        ),
    )
    told = Told("ms")
    told.shows(value_cents=1_000_000, seeded_microcents=1_000_000 * CENT)
    told.shows(contributed_microcents=0, hits=0, paid_cents=0)


def test_opening_is_refused() -> None:
    refused(Told("ms").state, OpenProgressive("ms"), "open already")
    refused(INITIAL, OpenProgressive("nobody"), "in force")
    refused(INITIAL, OpenProgressive("cj"), "no progressive wager")
    with pytest.raises(refusal.Refused, match="in force"):
        decide(INITIAL, OpenProgressive("ms"), YEAR_BEFORE)


@pytest.mark.parametrize(
    "command",
    [
        Contribute("table-1", "table-1-1", 100, 1),
        claim(),
        ValidatePayout("x"),
        PayEnvy("table-1-1", 1),
        AwardEnvy("table-1", "table-1-1", 1, (2,), "royal_flush", 100_000),
        ReverseContribution("table-1", "table-1-1"),
    ],
)
def test_nothing_happens_at_a_progressive_that_is_not_open(command: jackpots.Command) -> None:
    if isinstance(command, ReverseContribution):
        assert decide(INITIAL, command, ASKING) == ()
    else:
        refused(INITIAL, command, "not open")


# Contributions ------------------------------------------------------------------------------------------


@pytest.mark.law("655a.12(c)(3), rate of progression, initial and reset amounts")
def test_wagers_raise_every_level_exactly() -> None:
    told = Told("ms-c")
    assert told.when(Contribute("table-1", "table-1-1", 100, 1)) == (
        ContributionAccepted(
            "table-1",
            "table-1-1",
            100,
            (
                LevelContribution("mega", 11_000_000, 1_500_000, 0),
                LevelContribution("major", 4_500_000, 500_000, 0),
                LevelContribution("minor", 3_333_300, 0, 0),
            ),
            ASKING.at_ms,
        ),
    )
    told.shows("minor", value_cents=20_003, value_microcents=20_003_333_300, contributed_microcents=3_333_300)
    told.shows("mega", value_cents=5_000_011, hidden_microcents=1_500_000, contributed_microcents=12_500_000)
    assert told.when(Contribute("table-1", "table-1-1", 100, 1)) == ()


@pytest.mark.law("655a.12(c)(3), rate of progression, initial and reset amounts")
def test_what_is_above_the_limit_goes_to_overflow() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 300, 3))  # 150 shown, of which 50 are above 1,100; 30 hidden
    told.shows(value_cents=1_100, overflow_microcents=50 * CENT, hidden_microcents=30 * CENT)
    told.when(Contribute("table-2", "table-2-1", 100, 1))
    told.shows(value_cents=1_100, overflow_microcents=100 * CENT, overflow_lifetime_microcents=100 * CENT)


@pytest.mark.law("605a.7 and 605a.8, transfer and adjustment of meters")
def test_a_void_takes_back_what_was_recorded() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 300, 3))
    assert told.when(ReverseContribution("table-1", "table-1-1")) == (
        ContributionTakenBack("table-1", "table-1-1", (LevelReversal("meter", 100 * CENT, 30 * CENT, 50 * CENT, 0),)),
    )
    told.shows(
        value_microcents=1_000 * CENT,
        hidden_microcents=0,
        overflow_microcents=0,
        contributed_microcents=0,
        seeded_microcents=1_000 * CENT,
        overflow_lifetime_microcents=50 * CENT,
    )
    assert told.when(ReverseContribution("table-1", "table-1-1")) == ()


def test_only_the_last_round_of_a_table_is_taken_back() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 100, 1))
    told.when(Contribute("table-1", "table-1-2", 100, 1))
    assert told.when(ReverseContribution("table-1", "table-1-1")) == ()
    assert told.when(ReverseContribution("table-9", "table-9-1")) == ()
    assert len(told.when(ReverseContribution("table-1", "table-1-2"))) == 1
    told.shows(value_microcents=1_000_019 * CENT, contributed_microcents=20 * CENT)


def test_a_void_after_another_table_won_is_taken_from_the_value_and_the_house_funds_the_rest() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 300, 3))  # 100 shown, 30 hidden, 50 overflow
    told.when(claim("100% of meter", round_id="table-2-1"))
    told.shows(value_microcents=1_080 * CENT, hidden_microcents=0, overflow_microcents=0)
    told.shows(seeded_microcents=2_000 * CENT)
    assert told.when(ReverseContribution("table-1", "table-1-1")) == (
        ContributionTakenBack("table-1", "table-1-1", (LevelReversal("meter", 180 * CENT, 0, 0, 100 * CENT),)),
    )
    told.shows(value_microcents=1_000 * CENT, contributed_microcents=0, seeded_microcents=2_100 * CENT)


# Hits ---------------------------------------------------------------------------------------------------


@pytest.mark.law("several winners of one share of a meter in a round")
def test_two_straight_flushes_take_their_tenths_in_order() -> None:
    told = Told("ms")
    told.when(Contribute("table-1", "table-1-1", 400, 4))
    first = told.when(claim(seat=2))
    assert first[0] == LevelHit(
        "table-1-1.2.progressive",
        "table-1",
        2,
        "meter",
        10,
        100_007,
        1_000_000 * CENT,
        4 * CENT,
        0,
        1_000_000 * CENT - (1_000_076 - 100_007) * CENT,
    )
    assert isinstance(first[1], PayoutClaimed)
    assert (first[1].amount_cents, first[1].level) == (100_007, "meter")
    second = told.when(claim(seat=1))
    assert isinstance(second[0], LevelHit)
    assert second[0].amount_cents == 100_000
    for seat in (2, 1):
        told.when(ValidatePayout(f"table-1-1.{seat}.progressive"))
        told.when(DocumentPayout(f"table-1-1.{seat}.progressive", "slip 17"))
        told.when(PayPayout(f"table-1-1.{seat}.progressive"))
    told.shows(
        value_cents=1_000_000,
        value_microcents=1_000_000_000_000,
        hidden_microcents=4_000_000,
        overflow_microcents=0,
        contributed_microcents=80_000_000,
        paid_cents=200_007,
        hits=2,
        pending_cents=0,
    )
    assert [award["amount_cents"] for award in view("progressive-1", told.state)["awards"]] == [100_007, 100_000]


@pytest.mark.law("655a.12(c)(3), rate of progression, initial and reset amounts")
def test_a_royal_flush_takes_the_meter_and_the_bonus_its_share_of_what_is_left() -> None:
    told = Told("cs")
    told.when(Contribute("table-1", "table-1-1", 100, 1))
    told.when(claim("100% of meter"))
    told.shows(value_microcents=1_000_001 * CENT, hidden_microcents=0, pending_cents=1_000_029)
    told.when(claim("5% of meter", wager="five_card_hand_bonus"))
    told.shows(
        value_microcents=1_000_000 * CENT,
        hidden_microcents=0,
        contributed_microcents=30_000_000,
        hits=2,
        paid_cents=0,
        pending_cents=1_050_029,
        seeded_microcents=2_000_000 * CENT + 49_999 * CENT,
    )


def test_a_fraction_of_a_cent_stays_in_the_level() -> None:
    told = Told("ms-c")
    told.when(Contribute("table-1", "table-1-1", 100, 1))
    hit, _ = told.when(claim("100% of minor"))
    assert isinstance(hit, LevelHit)
    assert (hit.amount_cents, hit.value_microcents) == (20_003, 20_000 * CENT + 333_300)
    told.shows("mega", value_cents=5_000_011, hits=0)


def test_a_start_above_the_limit_goes_to_overflow_again() -> None:
    told = Told("tight")
    told.when(Contribute("table-1", "table-1-1", 1_000, 10))  # 100 shown, 400 overflow, 100 hidden
    told.when(claim("100% of meter"))
    told.shows(
        value_cents=1_100,
        hidden_microcents=0,
        overflow_microcents=400 * CENT,
        overflow_lifetime_microcents=400 * CENT,
        pending_cents=1_100,
    )


@pytest.mark.law("655a.11(i)(1)(iv)", "655a.11(i)(3)(iii)")
def test_a_share_of_a_meter_is_a_hand_pay_of_a_known_level() -> None:
    told = Told("ms")
    refused(told.state, claim("10% of mega"), "10% of mega")
    section = "655a.11(i)(1)(iv)"
    refused(told.state, claim(source=Source.TABLE_INVENTORY), "by hand", section=section)
    by_bonus = claim(source=Source.GAME_ACCOUNT, account_id="a", wager="five_card_hand_bonus")
    refused(told.state, by_bonus, "by hand", section="655a.11(i)(3)(iii)")


def test_a_claim_is_made_once() -> None:
    told = Told("ms")
    told.when(claim())
    assert told.when(claim()) == ()
    told.shows(hits=1)


# The steps of a payout ----------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(iii)", "655a.11(i)(1)(iv)")
def test_a_hand_pay_is_validated_documented_and_paid_with_slips_in_order() -> None:
    told = Told("ms")
    for number, seat in enumerate((5, 4, 3), start=1):
        told.when(claim(seat=seat))
        claim_id = f"table-1-1.{seat}.progressive"
        assert told.when(ValidatePayout(claim_id)) == (PayoutValidated(claim_id, "table-1", "floorperson", "dealer"),)
        assert told.when(DocumentPayout(claim_id, "slip 17")) == (
            PayoutDocumented(claim_id, "table-1", "slip 17", number, "floorperson", "dealer"),
        )
        (paid,) = told.when(PayPayout(claim_id))
        assert isinstance(paid, PayoutPaid)
        assert (paid.source, paid.level) == (Source.HAND_PAY, "meter")
    assert told.state.claims == {}


@pytest.mark.law("655a.11(i)(1)(iii)", "655a.11(i)(1)(iv)", "655a.11(i)(3)(ii)", "655a.11(i)(3)(iii)")
@pytest.mark.parametrize(
    ("wager", "validate", "pay"),
    [
        ("progressive", "655a.11(i)(1)(iii)", "655a.11(i)(1)(iv)"),
        ("five_card_hand_bonus", "655a.11(i)(3)(ii)", "655a.11(i)(3)(iii)"),
    ],
)
def test_steps_out_of_order_are_refused_with_their_section(wager: str, validate: str, pay: str) -> None:
    told = Told("ms")
    told.when(claim(wager=wager))
    claim_id = f"table-1-1.2.{wager}"
    refused(told.state, PayPayout(claim_id), "floorperson", section=validate)
    refused(told.state, DocumentPayout(claim_id, "slip"), "floorperson", section=validate)
    told.when(ValidatePayout(claim_id))
    refused(told.state, ValidatePayout(claim_id), "validated already", "document")
    refused(told.state, PayPayout(claim_id), "no document yet", section=pay)
    told.when(DocumentPayout(claim_id, "slip"))
    refused(told.state, DocumentPayout(claim_id, "slip"), "slip 1")
    refused(told.state, ValidatePayout(claim_id), "validated already", "pay it")
    told.when(PayPayout(claim_id))
    for command in (ValidatePayout(claim_id), DocumentPayout(claim_id, "slip"), PayPayout(claim_id)):
        refused(told.state, command, "paid already, or never made")


@pytest.mark.law("655a.11(i)(1)(iv)")
def test_a_payout_from_the_table_inventory_needs_no_document() -> None:
    told = Told("ms")
    told.when(claim("50 for 1", 5_000, source=Source.TABLE_INVENTORY))
    claim_id = "table-1-1.2.progressive"
    told.when(ValidatePayout(claim_id))
    refused(told.state, DocumentPayout(claim_id, "slip"), "table inventory", section="655a.11(i)(1)(iv)")
    refused(told.state, ValidatePayout(claim_id), "validated already", "pay it")
    (paid,) = told.when(PayPayout(claim_id))
    assert isinstance(paid, PayoutPaid)
    assert (paid.amount_cents, paid.level) == (5_000, None)
    told.shows(paid_cents=0, hits=0, value_cents=1_000_000)


@pytest.mark.law("655a.11(i)(3)(ii)", "655a.11(i)(3)(iii)")
def test_a_payout_to_a_game_account_is_paid_when_it_is_validated() -> None:
    told = Told("ms")
    to_account = {"wager": "five_card_hand_bonus", "source": Source.GAME_ACCOUNT}
    told.when(claim("500 for 1", 50_000, account_id="account-3", **to_account))
    claim_id = "table-1-1.2.five_card_hand_bonus"
    validated, paid = told.when(ValidatePayout(claim_id))
    assert following("progressive-1", validated) == (
        Following("rounds", "table-1", rounds.ReleasePayout(claim_id, documented=False, entered_by="dealer")),
    )
    assert following("progressive-1", paid) == (
        Following("accounts", "account-3", accounts.CreditWinnings(50_000, "table-1-1", 2, "five_card_hand_bonus")),
    )
    refused(told.state, PayPayout(claim_id), "paid already")
    refused(told.state, claim("500 for 1", 50_000, seat=3, **to_account), "names none", section="655a.11(i)(3)(iii)")


def test_what_follows_at_the_table() -> None:
    documented = PayoutDocumented("table-1-1.2.progressive", "table-1", "slip 17", 1)
    assert following("progressive-1", documented) == (
        Following("rounds", "table-1", rounds.ReleasePayout("table-1-1.2.progressive", documented=True)),
    )
    paid = PayoutPaid("c", "table-1", "table-1-1", 2, "progressive", 900, Source.HAND_PAY, None, "meter")
    assert following("progressive-1", paid) == ()


def test_the_last_twenty_five_awards_are_kept() -> None:
    told = Told("ms")
    for number in range(1, 31):
        claim_id = f"table-1-{number}.2.progressive"
        told.when(claim(round_id=f"table-1-{number}"))
        for command in (ValidatePayout(claim_id), DocumentPayout(claim_id, "slip"), PayPayout(claim_id)):
            told.when(command)
    awards = view("progressive-1", told.state)["awards"]
    assert len(awards) == 25
    assert (awards[0]["claim_id"], awards[-1]["claim_id"]) == ("table-1-6.2.progressive", "table-1-30.2.progressive")
    told.shows(hits=30)


# Envy ---------------------------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(v)")
def test_each_envy_bonus_is_due_once_and_paid_together() -> None:
    told = Told("ms")
    first = AwardEnvy("table-1", "table-1-1", 2, (5, 1, 3), "straight_flush", 30_000)
    assert told.when(first) == tuple(
        EnvyBonusDue("table-1", "table-1-1", 2, seat, "straight_flush", 30_000) for seat in (1, 3, 5)
    )
    assert told.when(first) == ()
    told.when(AwardEnvy("table-1", "table-1-1", 1, (2, 3, 5), "straight_flush", 30_000))
    assert told.when(PayEnvy("table-1-1", 3)) == (
        EnvyBonusPaid("table-1-1", 2, 3, 30_000),
        EnvyBonusPaid("table-1-1", 1, 3, 30_000),
    )
    refused(told.state, PayEnvy("table-1-1", 3), "paid already", section="655a.11(i)(1)(v)")
    refused(told.state, PayEnvy("table-1-1", 4), "seat 4", section="655a.11(i)(1)(v)")
    for seat in (1, 2, 5):
        told.when(PayEnvy("table-1-1", seat))
    assert told.state.envy == {}


def test_nobody_to_envy_is_no_event() -> None:
    assert Told("ms").when(AwardEnvy("table-1", "table-1-1", 2, (), "royal_flush", 100_000)) == ()


# Records ------------------------------------------------------------------------------------------------


def test_every_event_is_one_record_and_the_state_survives_as_text() -> None:
    told = Told("ms-c")
    told.when(Contribute("table-1", "table-1-1", 100, 1))
    told.when(claim("100% of minor"))
    told.when(AwardEnvy("table-1", "table-1-1", 2, (1,), "royal_flush", 100_000))
    told.when(ValidatePayout("table-1-1.2.progressive"))
    told.state = evolve(told.state, Refused("PayPayout", "because", None))
    assert told.state.sequence == 7
    converter = make_converter()
    assert converter.loads(converter.dumps(told.state), State) == told.state
    shown = json.loads(json.dumps(view("progressive-1", told.state)))
    assert (shown["progressive_id"], shown["rules"], shown["sequence"]) == ("progressive-1", "ms-c", 7)
    assert [(waiting["state"], waiting["amount_cents"]) for waiting in shown["claims"]] == [("validated", 20_003)]
