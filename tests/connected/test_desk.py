"""The payout desk on a real house: over HTTP, and in a real Chromium by keyboard."""

import base64
import itertools
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest
from selenium.webdriver import Chrome

from services.core.people import Role
from services.runtime.issuing import AUDIENCE, ISSUER, key_in, token
from tests.support import parts
from tests.support.house import COMMAND_SERVICES, House, until
from tests.support.keyboard import Keys, focus_is_in, one, press, sees, text_of
from tests.support.playing import play, written
from tests.support.screen import Screen, screen
from tests.support.worlds import HouseWorld

ROYAL = Path(__file__).parents[1] / "rounds" / "ms-bonus-after-the-royal.yaml"
PHONE = (390, 844)
ASKING = ("progressive-asking", "backoffice-asking")
"""A second instance each, that asks people for tokens; the others ask nobody."""
_keys = (f"desk-{number}" for number in itertools.count())


class DeskHouse(House):
    """A house in which two services are run a second time, asking for tokens. From $5,000 on, two people sign."""

    def environment(self, name: str, service: str) -> dict[str, str]:
        found = {**super().environment(name, service), "ROUNDLOG_SIGNERS": "500000:2", "ROUNDLOG_HOUSE": "Pit 7"}
        if name in ASKING:
            where = f"http://127.0.0.1:{self.ports['progressive-asking']}"
            found |= {"AUTH": "on", "ROUNDLOG_JWKS": str(self.folder / "tokens" / "jwks.json")}
            found |= {"ROUNDLOG_ISSUER": ISSUER, "ROUNDLOG_AUDIENCE": AUDIENCE, "ROUNDLOG_PROGRESSIVE_URL": where}
        return found

    def token(self, name: str, *roles: Role) -> str:
        return token(key_in(self.folder / "tokens"), name, roles, int(time.time()), 3600)


@pytest.fixture(scope="module")
def own() -> Iterator[DeskHouse]:
    """A house of its own: its desk shows nothing but what these tests make."""
    with parts.broker() as broker, parts.database() as database:
        house = DeskHouse(cast(Any, broker), cast(Any, database), database.dsn)
        try:
            key_in(house.folder / "tokens")
            house.start(*COMMAND_SERVICES, "backoffice", wait=False)
            for name in ASKING:
                house.start(name, service=name.partition("-")[0], wait=False)
            for name in (*COMMAND_SERVICES, "backoffice", *ASKING):
                house.wait_ready(name)
            yield house
        finally:
            house.close()


@pytest.fixture(scope="module")
def desk() -> Iterator[Screen]:
    with screen() as shown:
        yield shown


@pytest.fixture
def page(own: DeskHouse, desk: Screen) -> Chrome:
    """The desk on a screen of 1280 by 720, without a name."""
    desk.show(own.url("backoffice") + "/desk")
    desk.run("localStorage.clear()")
    desk.driver.refresh()
    return desk.driver


def royal(own: House, unique: str) -> tuple[str, str, str]:
    """A royal flush at seat 3, keyed by `dealer`: it wins the meter and a bonus of $500.00, and seat 4 is due an Envy
    Bonus. Gives the table, the progressive and the claim on the meter."""
    document = written(ROYAL, unique)
    shown = [number for number, step in enumerate(document["commands"]) if step["body"]["command"] == "ShowHand"]
    play(HouseWorld(own), {"commands": document["commands"][: shown[-1] + 1], "then": []}, unique)
    table, meter = f"table-{unique}-1", f"progressive-{unique}-2"
    until("the desk has both claims", lambda: len(claims(own, meter)) == 2)
    return table, meter, f"{table}-1.3.progressive"


def named(page: Chrome, name: str, table: str) -> None:
    """Says who acts, once the table's claims are there; then focus is on the first."""
    sees(page, "#claims li:nth-child(1) .head", table)
    field = one(page, "#name")
    field.clear()
    field.send_keys(name, Keys.ENTER)
    assert focus_is_in(page, "#claims li:nth-child(1) .head")


def is_for_me(page: Chrome) -> None:
    """Waits until the first claim's next step may be taken by who acts."""
    until(
        "the next step is for them", lambda: page.find_elements("css selector", "#claims li:nth-child(1) .next.yours")
    )


def read(own: House, actor: str = "anna") -> Any:
    answer = own.client.get(own.url("backoffice") + "/desk/claims", headers={"X-Actor": actor})
    assert answer.status_code == 200, answer.text
    return answer.json()


def claims(own: House, meter: str, actor: str = "anna") -> list[Any]:
    """The claims of a progressive with all that the archive has of them."""
    found = [row for row in read(own, actor)["claims"] if row["progressive_id"] == meter]
    return found if all(row["cards"] for row in found) else []


def claim(own: House, meter: str, claim_id: str, actor: str = "anna") -> Any:
    return next(row for row in claims(own, meter, actor) if row["claim_id"] == claim_id)


def ask(own: House, meter: str, command: str, actor: str = "anna", key: str = "", **fields: Any) -> httpx.Response:
    headers = {"Idempotency-Key": (key or next(_keys)).encode(), "X-Actor": actor.encode()}
    body = {"progressive_id": meter, "command": command, **fields}
    return own.client.post(own.url("backoffice") + "/desk/commands", json=body, headers=headers)


def do(own: House, meter: str, command: str, actor: str = "anna", **fields: Any) -> None:
    answer = ask(own, meter, command, actor, **fields)
    assert answer.status_code == 200, answer.text


def records(own: House, meter: str, event: str) -> list[Any]:
    found = own.client.get(own.url("backoffice") + f"/records/jackpots/{meter}", params={"limit": 1000}).json()
    return [record for record in found if record["event"]["event"] == event]


@pytest.fixture(autouse=True)
def nothing_waits_afterwards(own: DeskHouse) -> Iterator[None]:
    """Each test begins with an empty desk, whatever became of the one before it."""
    yield
    if own.processes["backoffice"].poll() is not None:
        return
    for row in read(own)["claims"]:
        meter, subject = row["progressive_id"], {"claim_id": row["claim_id"]}
        if row["state"] == "hit":
            do(own, meter, "ValidatePayout", "validator", **subject)
        if row["source"] == "hand_pay" and row["state"] != "documented":
            do(own, meter, "DocumentPayout", "documenter", **subject, document="W-2G")
        if row["source"] != "game_account":
            do(own, meter, "PayPayout", "documenter", **subject)
    for due in read(own)["envy"]:
        subject = {"round_id": due["round_id"], "recipient_seat": due["recipient_seat"]}
        do(own, due["progressive_id"], "PayEnvy", **subject)


# By keyboard, in Chromium -----------------------------------------------------------------------------------


def test_a_claim_is_validated_documented_and_paid_by_keyboard(own: DeskHouse, page: Chrome) -> None:
    sees(page, "#no-claims", "No claim is waiting")
    sees(page, "#no-envy", "No Envy Bonus is due")
    table, meter, _ = royal(own, "k")
    # $10,000.00 at first, and 19 cents of each of two progressive wagers are shown.
    sees(
        page, "#claims li:nth-child(1) .head", "A♥", "10♥", "royal flush on progressive, $1.00, light on", "$10,000.38"
    )
    sees(page, "#figures", "Claims waiting 2", "Highest amount $10,000.38", "Envy Bonuses due 1")
    sees(page, "#claims li:nth-child(1) .next", "Validate: a floorperson or a manager, but not dealer")

    press(page, "j", "v")
    sees(page, "#told", "Say first who you are")
    named(page, "anna", table)
    is_for_me(page)
    press(page, Keys.ENTER)
    sees(page, "#claims li:nth-child(1) .facts", "Keyed by dealer", "Envy Bonuses seat 4 $1,000.00", "100% of meter")
    press(page, "v")
    sees(page, "#dialog", "Validate $10,000.38?", f"{table}, seat 3: royal flush")
    press(page, Keys.ESCAPE)
    until("the dialog is closed", lambda: not one(page, "#dialog").is_displayed())
    assert focus_is_in(page, "#claims li:nth-child(1) .head") and records(own, meter, "PayoutValidated") == []

    press(page, "v")
    # A double click: two submissions of one intention.
    page.execute_script("const form = document.getElementById('form'); form.requestSubmit(); form.requestSubmit();")
    sees(page, "#told", f"{table}, seat 3: $10,000.38 is validated.")
    assert focus_is_in(page, "#claims li:nth-child(1) .head")
    assert len(records(own, meter, "PayoutValidated")) == 1 and records(own, meter, "Refused") == []

    # $10,000.38 asks for two people: anna is not enough.
    sees(page, "#claims li:nth-child(1) .more", "needs the names of 2 different people and has 1: anna")
    press(page, "d")
    sees(page, "#told", "needs the names of 2 different people")
    assert not one(page, "#dialog").is_displayed()
    named(page, "cara", table)
    is_for_me(page)
    press(page, "d")
    sees(page, "#dialog", "The document")
    press(page, "W-2G 0001", Keys.ENTER)
    sees(page, "#told", "documented by slip 1", "Print slip 1")
    sees(page, "#claims li:nth-child(1) .more", "Slip 1, to print", "anna, cara")
    press(page, "p")
    press(page, Keys.ENTER)
    sees(page, "#told", "$10,000.38 is paid.")
    # Its row is gone, and focus is on the one that took its place.
    until("the row is gone", lambda: len(page.find_elements("css selector", "#claims > li")) == 1)
    until("focus is on the next claim", lambda: focus_is_in(page, "#claims li:nth-child(1) .head"))

    for keys in (("v", Keys.ENTER), ("d", "W-2G 0002", Keys.ENTER), ("p", Keys.ENTER)):
        done = {"v": "validated", "d": "documented", "p": "paid"}[keys[0]]
        press(page, *keys)
        sees(page, "#told", f"$500.00 is {done}")
    until("focus is on the Envy Bonus", lambda: focus_is_in(page, "#envy li .head"))
    sees(page, "#envy li .head", f"{table}, seat 4", "the royal flush of seat 3", "$1,000.00")
    press(page, "p", Keys.ENTER)
    sees(page, "#no-envy", "No Envy Bonus is due.")
    assert len(records(own, meter, "EnvyBonusPaid")) == 1
    until("focus is not lost", lambda: focus_is_in(page, "#claims-title"))
    sees(page, "#awards", "meter", "$10,000.38", "$500.00")
    sees(page, "#slips", "1", "2", "paid")


def test_who_keyed_the_hand_is_told_why_it_is_not_for_them(own: DeskHouse, page: Chrome) -> None:
    table, meter, claim_id = royal(own, "w")
    named(page, "dealer", table)
    press(page, Keys.ENTER)
    sees(page, "#claims li:nth-child(1) .why", "dealer keyed the hand of the payout", "655a.11(i)(1)(iii)")
    button = one(page, "#claims li:nth-child(1) .act")
    assert button.get_attribute("aria-disabled") == "true" and "Validate" in button.text
    button.click()
    sees(page, "#told", f"dealer keyed the hand of the payout {claim_id}: another person validates it.")
    assert records(own, meter, "Refused") == []


def test_what_the_log_refuses_is_a_sentence_in_the_dialog(own: DeskHouse, page: Chrome) -> None:
    table, meter, claim_id = royal(own, "r")
    named(page, "anna", table)
    is_for_me(page)
    press(page, "v")
    # Ben is quicker: what the dialog asks is not right any more.
    do(own, meter, "ValidatePayout", "ben", claim_id=claim_id)
    press(page, Keys.ENTER)
    sees(page, "#outcome", f"The payout {claim_id} is validated already.")
    press(page, Keys.ESCAPE)
    until("focus is on the claim", lambda: focus_is_in(page, "#claims li:nth-child(1) .head"))
    press(page, "r")
    press(page, "The card was marked.", Keys.ENTER)
    sees(page, "#told", "$10,000.38 is rejected.")
    assert len(records(own, meter, "PayoutRejected")) == 1


def test_a_dialog_about_a_hand_that_is_keyed_anew_cannot_be_sent(own: DeskHouse, page: Chrome) -> None:
    table, meter, claim_id = royal(own, "o")
    named(page, "anna", table)
    is_for_me(page)
    press(page, "v")
    sees(page, "#question", "Validate $10,000.38?")
    # The claim of the hand as it was keyed anew has the same id: a straight flush, a tenth of the meter.
    body = {"command": "ReplaceHand", "seat": 3, "cards": ["Kh", "9h"], "reason": "The ace was a nine."}
    assert own.post(f"/tables/{table}/commands", body, next(_keys), "ben").status_code == 200
    sees(page, "#outcome", "This has changed: it is $1,000.03 now.")
    assert focus_is_in(page, "#cancel") and not one(page, "#do").is_displayed()
    page.execute_script("document.getElementById('form').requestSubmit()")
    press(page, Keys.ESCAPE, "v")
    sees(page, "#question", "Validate $1,000.03?")
    press(page, Keys.ENTER)
    sees(page, "#told", "$1,000.03 is validated.")
    (validated,) = records(own, meter, "PayoutValidated")
    assert validated["event"]["claim_id"] == claim_id


def test_the_desk_fits_a_phone(own: DeskHouse, desk: Screen, page: Chrome) -> None:
    table, _, _ = royal(own, "p")
    desk.show(own.url("backoffice") + "/desk", *PHONE, mobile=True)
    named(page, "anna", table)
    is_for_me(page)
    sees(page, "#claims li:nth-child(1) .head", "$10,000.38")
    one(page, "#claims li:nth-child(1) .head").click()
    sees(page, "#claims li:nth-child(1) .acts", "Validate", "Reject")
    assert desk.overflow() == []
    one(page, "#claims li:nth-child(1) .act").click()
    sees(page, "#dialog", "Validate $10,000.38?")
    assert desk.overflow() == []
    one(page, "#do").click()
    sees(page, "#told", "is validated.")


def test_a_slip_prints_on_one_page_and_a_void_one_says_so(own: DeskHouse, desk: Screen, page: Chrome) -> None:
    table, meter, claim_id = royal(own, "s")
    do(own, meter, "ValidatePayout", claim_id=claim_id)
    do(own, meter, "SignPayout", "ben", claim_id=claim_id)
    do(own, meter, "DocumentPayout", "cara", claim_id=claim_id, document="W-2G 7")
    do(own, meter, "VoidSlip", "cara", claim_id=claim_id, reason="Smudged.")
    do(own, meter, "DocumentPayout", "cara", claim_id=claim_id, document="W-2G 8")
    sees(page, "#slips", "VOID: Smudged.")
    for number, void in ((1, True), (2, False)):
        url = own.url("backoffice") + f"/desk/slips/{meter}/{number}"
        desk.show(url)
        sees(page, "#slip", "Pit 7", f"Slip {number}", "$10,000.38", "Ten thousand dollars and 38 cents")
        sees(page, "#slip", table, "seat 3", "Royal flush", "A♥", "10♥", "100% of meter", f"W-2G {number + 6}")
        sees(page, "#slip", "Keyed the hand dealer", "Validated anna", "Signed ben", f"Documented, slip {number} cara")
        assert ("VOID" in text_of(page, "#slip")) is void
        printed = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
        desk.show(url, *PHONE, mobile=True)
        sees(page, "#slip", f"Slip {number}")
        assert desk.overflow() == []
    assert own.client.get(own.url("backoffice") + f"/desk/slips/{meter}/3").status_code == 404


# With tokens ------------------------------------------------------------------------------------------------


def test_a_token_says_who_acts_and_their_role_what_they_may(own: DeskHouse, desk: Screen) -> None:
    table, meter, claim_id = royal(own, "t")
    browser = desk.driver
    desk.show(own.url("backoffice-asking") + "/desk")
    desk.run(
        "document.querySelector('textarea').value = arguments[0]; document.forms[0].submit()",
        own.token("cara", Role.CAGE),
    )
    sees(browser, "#person", "cara, cage")
    assert not one(browser, "#naming").is_displayed()
    sees(browser, "#claims li:nth-child(1) .head", table)
    press(browser, "j", "v")
    sees(browser, "#told", "cara is a cage: ValidatePayout is for a floorperson or a manager.")

    body = {"progressive_id": meter, "command": "ValidatePayout", "claim_id": claim_id}
    url = own.url("backoffice-asking") + "/desk/commands"

    def with_token(name: str, *roles: Role) -> httpx.Response:
        headers = {"Authorization": f"Bearer {own.token(name, *roles)}", "Idempotency-Key": next(_keys)}
        return own.client.post(url, json=body, headers=headers)

    refused = with_token("cara", Role.CAGE)
    assert (refused.status_code, refused.json()) == (
        403, {"forbidden": "cara is a cage: ValidatePayout is for a floorperson or a manager."},
    )  # fmt: skip
    keyed = with_token("dealer", Role.FLOORPERSON)
    assert keyed.status_code == 409 and "dealer keyed the hand" in keyed.json()["refused"]
    assert with_token("anna", Role.FLOORPERSON).status_code == 200
    assert records(own, meter, "PayoutValidated")[0]["event"]["validated_by"] == "anna"

    # The page's own token pays what the cage may pay: by its cookie.
    is_for_me(browser)
    press(browser, "d")
    press(browser, "W-2G 9", Keys.ENTER)
    sees(browser, "#told", "documented by slip 1")
    assert records(own, meter, "PayoutDocumented")[0]["actor"] == "cara"
    # The next person at the same desk.
    one(browser, "#another").click()
    sees(browser, "body", "Paste the token")
    assert browser.get_cookies() == []
    desk.run(
        "document.querySelector('textarea').value = arguments[0]; document.forms[0].submit()",
        own.token("anna", Role.FLOORPERSON),
    )
    sees(browser, "#person", "anna, floorperson")
    browser.delete_all_cookies()
    sees(browser, "#asof", "STALE", "sign in")


# Over HTTP --------------------------------------------------------------------------------------------------


def test_the_answer_is_in_the_next_read_and_a_repeat_is_not_done_again(own: DeskHouse) -> None:
    _, meter, claim_id = royal(own, "h")
    first = ask(own, meter, "ValidatePayout", "Zoë", "desk-again", claim_id=claim_id)
    assert claim(own, meter, claim_id)["people"] == ["Zoë"]
    again = ask(own, meter, "ValidatePayout", "Zoë", "desk-again", claim_id=claim_id)
    assert (again.status_code, again.json()) == (first.status_code, first.json()) and first.status_code == 200
    assert again.headers["Idempotency-Hit"] == "true" and len(records(own, meter, "PayoutValidated")) == 1


def test_a_hand_that_was_keyed_again_is_shown_as_it_is_now(own: DeskHouse) -> None:
    table, meter, claim_id = royal(own, "a")
    body = {"command": "ReplaceHand", "seat": 3, "cards": ["Kh", "9h"], "reason": "The ace was a nine."}
    path = f"/tables/{table}/commands"
    assert own.post(path, body, next(_keys), "ben").status_code == 200
    # A straight flush now, nine to king, which ben keyed.
    until("the claim is of the other hand", lambda: claim(own, meter, claim_id)["hand"] == "straight_flush")
    row = claim(own, meter, claim_id, "ben")
    assert row["cards"][0] == {"area": "own", "cards": ["Kh", "9h"], "seen": True}
    assert row["entered_by"] == "ben" and "ben keyed the hand" in row["actions"][0]["why"]


def test_what_the_desk_does_not_take_on_changes_nothing(own: DeskHouse) -> None:
    _, meter, claim_id = royal(own, "n")
    url = own.url("backoffice") + "/desk/commands"
    body = {"progressive_id": meter, "command": "ValidatePayout", "claim_id": claim_id}
    who = {"X-Actor": "anna", "Idempotency-Key": next(_keys)}
    wrong = (
        own.client.post(url, content=b'{"command": "PayPayout"}', headers={**who, "Content-Type": "text/plain"}),
        own.client.post(url, data={"command": "PayPayout"}, headers=who),
        own.client.post(url, json=body, headers={"X-Actor": "anna"}),
        own.client.post(url, json=body, headers={"Idempotency-Key": next(_keys)}),
        own.client.post(url, json={**body, "command": "CloseProgressive", "transfer_to": "x"}, headers=who),
        own.client.post(url, json={**body, "progressive_id": "../tables"}, headers=who),
        own.client.post(url, json={**body, "claim": "x"}, headers=who),
    )
    assert [answer.status_code for answer in wrong] == [422] * len(wrong)
    assert all(answer.json()["malformed"].endswith(".") for answer in wrong)
    assert records(own, meter, "PayoutValidated") == [] == records(own, meter, "Refused")


def test_old_claims_are_not_shown_as_new_and_an_absence_is_said(own: DeskHouse, page: Chrome) -> None:
    table, meter, _ = royal(own, "z")
    named(page, "anna", table)
    is_for_me(page)
    own.kill("progressive")
    press(page, "v")
    press(page, Keys.ENTER)
    sees(page, "#outcome", "the progressive service cannot be reached", "may or may not have been taken")
    assert text_of(page, "#do") == "Send again"
    own.start("progressive")
    # The same intention, sent again.
    press(page, Keys.ENTER)
    sees(page, "#told", "is validated.")
    assert len(records(own, meter, "PayoutValidated")) == 1
    own.kill("backoffice")
    sees(page, "#asof", "STALE: as of")
