"""The payout desk's JSON: what waits, who may do what with it next, and why not; slips, void ones too."""

from pathlib import Path
from typing import Any

import pytest

from services.backoffice.desk import Asker, Behind, claim_row, envy_rows, waiting_figures
from services.backoffice.forwarding import errand_of
from services.backoffice.reconstruction import Entry
from services.backoffice.slips import listed, printed, slips_of
from services.core.jackpots import ClaimState, PayoutTakenBack, SignerBand
from services.core.money import dollars_in_words
from services.core.people import Role
from services.runtime.forms import Malformed
from services.runtime.tokens import Person
from tests.support.given import AT_MS
from tests.support.playing import play, written
from tests.support.worlds import BOOK, MemoryWorld

ROUNDS = Path(__file__).parents[1] / "rounds"
ROYAL = ROUNDS / "ms-bonus-after-the-royal.yaml"
DEALERS_ROYAL = ROUNDS / "cs-share-of-the-meter-counterclockwise-and-by-hand.yaml"
FULL_HOUSE = ROUNDS / "cs-bonuses-pay-though-outranked.yaml"
TABLE, METER = "table-d-1", "progressive-d-2"
CLAIM = f"{TABLE}-1.3.progressive"
ANNA = Person("anna", frozenset({Role.FLOORPERSON}))
BEN = Person("ben", frozenset({Role.FLOORPERSON}))
CARA = Person("cara", frozenset({Role.CAGE}))
KEYED_IT = Person("dealer", frozenset({Role.DEALER, Role.FLOORPERSON}))
"""Who keyed the hand, and is a floorperson besides."""


class Desk:
    """A royal flush at seat 3 of table-d-1, keyed by `dealer`: the whole meter, and 5 % of it for the bonus. Seat 4 is
    due an Envy Bonus."""

    def __init__(self, path: Path = ROYAL) -> None:
        self.world = MemoryWorld()
        document = written(path, "d")
        shown = [n for n, step in enumerate(document["commands"]) if step["body"]["command"] == "ShowHand"]
        play(self.world, {"commands": document["commands"][: shown[-1] + 1], "then": []}, "d")
        self.asked = 0

    def do(self, person: Person, command: str, **fields: Any) -> Any:
        self.asked += 1
        body = {"command": command, **fields}
        status, answer = self.world.post(f"/progressives/{METER}/commands", body, f"d-desk-{self.asked}", person.name)
        assert status == 200, answer
        return answer

    @property
    def state(self) -> Any:
        return self.world.house.fold("jackpots", METER)

    def row(self, person: Person, claim_id: str = CLAIM, bands: tuple[SignerBand, ...] = (), **asker: Any) -> Any:
        table = self.world.house.fold("rounds", TABLE)
        behind = Behind(AT_MS, table.round)
        return claim_row(METER, self.state, self.state.claims[claim_id], behind, self.asker(person, bands, **asker))

    def asker(self, person: Person, bands: tuple[SignerBand, ...] = (), named: bool = True) -> Asker:
        return Asker(person, named, AT_MS, BOOK, bands)

    def entries(self) -> list[Entry]:
        records = self.world.house.records("jackpots", METER)
        return [Entry("jackpots", METER, r.sequence, r.recorded_at_ms, r.actor, b"", r.event) for r in records]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def may(row: Any, command: str) -> bool:
    return action(row, command)["may"] is True


def why(row: Any, command: str) -> str:
    found = action(row, command)
    assert found["may"] is False and found["why"].endswith(".")
    return str(found["why"])


def action(row: Any, command: str) -> Any:
    return next(each for each in row["actions"] if each["command"] == command)


def offered(row: Any) -> set[str]:
    return {each["command"] for each in row["actions"] if each["offered"]}


# What a claim shows -----------------------------------------------------------------------------------------


def test_a_claim_has_its_cards_wager_light_and_who_keyed_it(desk: Desk) -> None:
    row = desk.row(ANNA)
    assert row["cards"] == [
        {"area": "own", "cards": ["Kh", "Ah"], "seen": True},
        {"area": "community", "cards": ["Th", "Jh", "Qh"], "seen": True},
    ]
    assert (row["wager"], row["stake_cents"], row["lit"], row["hand"]) == ("progressive", 100, True, "royal_flush")
    # The meter stood at $10,000.00, and two progressive wagers of a dollar add 19 cents each to what is shown.
    assert (row["amount_cents"], row["odds"], row["level"]) == (1000038, "100% of meter", "meter")
    assert (row["entered_by"], row["people"], row["state"], row["since_ms"]) == ("dealer", [], "hit", AT_MS)


def test_only_a_progressive_wager_has_a_light(desk: Desk) -> None:
    row = desk.row(ANNA, f"{TABLE}-1.3.five_card_hand_bonus")
    assert row["lit"] is None and row["player_id"] == "player-3"


@pytest.mark.law("639a.11(c)(6)")
def test_a_bonus_on_the_dealers_hand_looks_at_the_dealers_cards() -> None:
    row = Desk(DEALERS_ROYAL).row(ANNA, f"{TABLE}-1.4.five_card_hand_bonus.dealer")
    assert row["on"] == "dealer" and row["hand"] == "royal_flush"
    assert row["cards"] == [
        {"area": "own", "cards": ["9s", "8c", "6h", "4d", "2c"], "seen": False},
        {"area": "dealer", "cards": ["Ad", "Td", "Jd", "Qd", "Kd"], "seen": True},
    ]


def test_what_the_table_pays_needs_no_document() -> None:
    desk = Desk(FULL_HOUSE)
    claim_id = next(iter(desk.state.claims))
    assert desk.row(ANNA, claim_id)["source"] == "table_inventory"
    desk.do(ANNA, "ValidatePayout", claim_id=claim_id)
    row = desk.row(CARA, claim_id, THREE_FROM_10000)
    assert offered(row) == {"PayPayout", "RejectPayout"} and may(row, "PayPayout") and row["people_needed"] == 1
    assert row["next"]["text"] == "Pay: a cage, a dealer, a floorperson or a manager."
    assert "needs no document" in why(row, "DocumentPayout")


# Who may do what, and why not -----------------------------------------------------------------------------------


@pytest.mark.law("655a.11(i)(1)(iii)")
def test_who_keyed_the_hand_does_not_validate_it_though_a_floorperson(desk: Desk) -> None:
    row = desk.row(KEYED_IT)
    assert "dealer keyed the hand" in why(row, "ValidatePayout")
    assert action(row, "ValidatePayout")["section"] == "655a.11(i)(1)(iii)"
    assert may(desk.row(ANNA), "ValidatePayout")
    assert row["next"]["command"] == "ValidatePayout" and row["next"]["besides"] == ["dealer"]
    assert row["next"]["text"] == "Validate: a floorperson or a manager, but not dealer, who keyed the hand."


def test_the_cage_does_not_validate_but_pays(desk: Desk) -> None:
    assert why(desk.row(CARA), "ValidatePayout") == (
        "cara is a cage: ValidatePayout is for a floorperson or a manager."
    )
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    assert "no document yet" in why(desk.row(CARA), "PayPayout")
    desk.do(CARA, "DocumentPayout", claim_id=CLAIM, document="W-2G 1")
    assert may(desk.row(CARA), "PayPayout") and desk.row(CARA)["slip_number"] == 1


def test_an_auditor_may_do_nothing(desk: Desk) -> None:
    row = desk.row(Person("olga", frozenset({Role.AUDITOR})))
    assert not any(each["may"] for each in row["actions"])


def test_who_has_not_said_their_name_is_told_to(desk: Desk) -> None:
    row = desk.row(Person("unnamed", frozenset(Role)), named=False)
    assert {each["why"] for each in row["actions"]} == {
        "Say first who you are: your name stands in the log beside what you do."
    }


def test_what_is_offered_follows_the_steps(desk: Desk) -> None:
    assert offered(desk.row(ANNA)) == {"ValidatePayout", "RejectPayout"}
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    assert offered(desk.row(ANNA)) == {"DocumentPayout", "RejectPayout"}
    desk.do(ANNA, "DocumentPayout", claim_id=CLAIM, document="W-2G 1")
    assert offered(desk.row(ANNA)) == {"PayPayout", "VoidSlip"}
    assert "documented, by slip 1" in why(desk.row(ANNA), "RejectPayout")
    desk.do(ANNA, "VoidSlip", claim_id=CLAIM, reason="Smudged.")
    assert offered(desk.row(ANNA)) == {"DocumentPayout", "RejectPayout"}


TWO_FROM_1200 = (SignerBand(120_000, 2),)
THREE_FROM_10000 = (SignerBand(120_000, 2), SignerBand(1_000_000, 3))


def test_a_large_amount_asks_for_a_second_person(desk: Desk) -> None:
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    row = desk.row(ANNA, bands=TWO_FROM_1200)
    assert row["people_needed"] == 2 and row["people"] == ["anna"]
    assert "needs the names of 2 different people and has 1: anna" in why(row, "DocumentPayout")
    assert "anna signed for the payout" in why(row, "SignPayout")
    assert row["next"]["text"] == ("Document: a cage, a floorperson or a manager, but not anna, who signed already.")
    assert may(desk.row(CARA, bands=TWO_FROM_1200), "DocumentPayout")
    assert "SignPayout" in offered(row)


def test_a_larger_amount_asks_for_a_third(desk: Desk) -> None:
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    row = desk.row(BEN, bands=THREE_FROM_10000)
    assert row["next"]["command"] == "SignPayout" and may(row, "SignPayout")
    assert "has 2: anna, ben" in why(row, "DocumentPayout")
    desk.do(BEN, "SignPayout", claim_id=CLAIM)
    row = desk.row(CARA, bands=THREE_FROM_10000)
    assert row["next"]["command"] == "DocumentPayout" and row["next"]["besides"] == ["anna", "ben"]
    assert may(row, "DocumentPayout") and row["people"] == ["anna", "ben"]


def test_below_the_first_amount_one_person_is_enough(desk: Desk) -> None:
    # The bonus is 5 % of the reset: $500.00.
    bonus = f"{TABLE}-1.3.five_card_hand_bonus"
    desk.do(ANNA, "ValidatePayout", claim_id=bonus)
    row = desk.row(ANNA, bonus, TWO_FROM_1200)
    assert row["people_needed"] == 1 and may(row, "DocumentPayout") and "SignPayout" not in offered(row)


# Envy Bonuses and figures ------------------------------------------------------------------------------------------


def test_an_envy_bonus_names_the_seat_to_pay_and_for_whose_hand(desk: Desk) -> None:
    (row,) = envy_rows(METER, desk.state, {f"{TABLE}-1": AT_MS}, desk.asker(ANNA))
    assert (row["table_id"], row["recipient_seat"], row["amount_cents"], row["since_ms"]) == (TABLE, 4, 100000, AT_MS)
    assert row["for"] == [{"holder_seat": 3, "hand": "royal_flush", "amount_cents": 100000}]
    assert row["action"]["may"]
    (row,) = envy_rows(METER, desk.state, {}, desk.asker(Person("olga", frozenset({Role.AUDITOR}))))
    assert row["action"]["why"].startswith("olga is an auditor: PayEnvy is for")


def test_the_figures_are_how_many_the_oldest_and_the_highest() -> None:
    rows = [
        {"since_ms": 7, "amount_cents": 50},
        {"since_ms": 3, "amount_cents": 20},
        {"since_ms": None, "amount_cents": 90},
    ]
    assert waiting_figures(rows, [{}, {}]) == {"claims": 3, "envy": 2, "oldest_ms": 3, "highest_cents": 90}
    assert waiting_figures([], []) == {"claims": 0, "envy": 0, "oldest_ms": None, "highest_cents": None}


# Slips ----------------------------------------------------------------------------------------------------------


def test_a_void_slip_is_kept_beside_the_one_that_took_its_place(desk: Desk) -> None:
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    desk.do(BEN, "SignPayout", claim_id=CLAIM)
    desk.do(CARA, "DocumentPayout", claim_id=CLAIM, document="W-2G 1")
    desk.do(BEN, "VoidSlip", claim_id=CLAIM, reason="Smudged.")
    desk.do(CARA, "DocumentPayout", claim_id=CLAIM, document="W-2G 2")
    desk.do(CARA, "PayPayout", claim_id=CLAIM)
    new, old = listed(slips_of(desk.entries()))
    assert (old["slip_number"], old["state"], old["reason"], old["paid_ms"]) == (1, "void", "Smudged.", None)
    assert (new["slip_number"], new["state"], new["document"]) == (2, "given", "W-2G 2")
    assert new["paid_ms"] is not None and new["amount_cents"] == 1000038

    hand = desk.world.house.fold("rounds", TABLE).round
    void, paid = (printed(slip, "Pit 7", hand) for slip in slips_of(desk.entries()))
    assert (void["state"], void["ended"]["who"], void["paid"]) == ("void", "ben", None)
    assert [(line["did"], line["who"]) for line in void["signatures"]] == [
        ("Keyed the hand", "dealer"), ("Validated", "anna"), ("Signed", "ben"), ("Documented, slip 1", "cara"),
    ]  # fmt: skip
    assert [line["did"] for line in paid["signatures"]][-2:] == ["Documented, slip 1", "Documented, slip 2"]
    assert paid["paid"]["who"] == "cara" and paid["house"] == "Pit 7" and paid["game"] == "Mississippi Stud"
    assert paid["amount"] == "$10,000.38"
    assert paid["amount_in_words"] == "ten thousand dollars and 38 cents"
    assert paid["cards"][0] == {"area": "own", "cards": ["Kh", "Ah"], "seen": True}


def test_the_slip_of_a_hand_that_had_been_keyed_wrongly_says_so(desk: Desk) -> None:
    desk.do(ANNA, "ValidatePayout", claim_id=CLAIM)
    desk.do(ANNA, "DocumentPayout", claim_id=CLAIM, document="W-2G 1")
    # The table asked for it before it heard of the validation.
    claimed = desk.state.claims[CLAIM].claimed
    taken_back = PayoutTakenBack(
        CLAIM, TABLE, claimed.round_id, 3, claimed.wager, ClaimState.DOCUMENTED, claimed.amount_cents, claimed.source,
        None, "meter", 1,
    )  # fmt: skip
    entries = desk.entries()
    last = Entry("jackpots", METER, entries[-1].sequence + 1, AT_MS, "ben", b"", taken_back)
    (slip,) = listed(slips_of([*entries, last]))
    assert (slip["state"], slip["slip_number"]) == ("taken_back", 1) and "keyed wrongly" in slip["reason"]


@pytest.mark.parametrize(
    ("cents", "said"),
    [
        (0, "zero dollars and 00 cents"),
        (101, "one dollar and 01 cents"),
        (1_399, "thirteen dollars and 99 cents"),
        (4_000, "forty dollars and 00 cents"),
        (120_000, "one thousand two hundred dollars and 00 cents"),
        (123_456, "one thousand two hundred thirty-four dollars and 56 cents"),
        (100_100_700, "one million one thousand seven dollars and 00 cents"),
    ],
)
def test_an_amount_in_words(cents: int, said: str) -> None:
    assert dollars_in_words(cents) == said


# What the desk takes on -------------------------------------------------------------------------------------------


def test_what_is_not_about_a_claim_is_not_taken_on() -> None:
    taken = errand_of(b'{"progressive_id": "p-1", "command": "PayPayout", "claim_id": "t-1.3.progressive"}')
    assert taken.progressive_id == "p-1" and taken.command == {"command": "PayPayout", "claim_id": "t-1.3.progressive"}
    for body in (
        b"{", b"[]", b'{"command": "PayPayout", "claim_id": "c"}', b'{"progressive_id": "p-1"}',
        b'{"progressive_id": "p-1", "command": "CloseProgressive", "transfer_to": "p-2"}',
        b'{"progressive_id": "p-1", "command": ["PayPayout"]}',
    ):  # fmt: skip
        with pytest.raises(Malformed):
            errand_of(body)
