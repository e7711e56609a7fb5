"""The displays in a real Chromium: what people see of the meters, of wins, and of a feed that has stopped."""

import asyncio
import itertools
import os
import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from services.core import jackpots
from services.core.chain import ProcessorId
from services.core.names import On, Source
from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.local import start_kafka, start_postgres
from services.wire.records import CONTRACTS, Asked
from tests.support.house import House, until
from tests.support.screen import Screen, screen

THREE_LEVELS, ONE_LEVEL = "demo-mississippi-stud-c", "demo-mississippi-stud"
PHONE = {"width": 390, "height": 844, "mobile": True}
SIZES = ({"width": 1920, "height": 1080}, {"width": 1280, "height": 720}, PHONE)
TOLD_MS, BROKEN_MS, SILENT_MS = 1_000, 2_000, 3_000
"""By the page's own clock, so that a busy machine lengthens both ends alike."""
MANY = 16
"""Progressives on the overview of a large house."""
CONTRAST = 7.0
"""For text that is to be read by everybody: Web Content Accessibility Guidelines 2.2, 1.4.6."""


class Progressives:
    """A house with nothing but progressives: what `wagers` would ask of them, and what floorpersons do."""

    def __init__(self, house: House) -> None:
        self.house = house
        self._numbers = itertools.count(1)

    def open(self, progressive_id: str, rules: str = THREE_LEVELS) -> None:
        self.do(progressive_id, "OpenProgressive", rules=rules)

    def do(self, progressive_id: str, command: str, actor: str = "floorperson", **fields: Any) -> None:
        body = {"command": command, **fields}
        key = f"{progressive_id}-{next(self._numbers)}"
        answer = self.house.post(f"/progressives/{progressive_id}/commands", body, key, actor)
        assert answer.status_code == 200, answer.text

    def ask(self, progressive_id: str, *commands: jackpots.Command) -> None:
        async def append() -> None:
            kafka = Kafka(self.house.kafka.bootstrap)
            await kafka.append("jackpot-commands", partition_of(progressive_id, PARTITIONS), groups)
            await kafka.close()

        groups = []
        for command in commands:
            by = ProcessorId("wagers", "table-4", next(self._numbers), 0)
            asked = Asked(str(by), "wagers", b"", command)
            groups.append([(progressive_id, CONTRACTS["jackpots"].encode_command(asked))])
        asyncio.run(append())

    def contribute(self, progressive_id: str, wagers_cents: int) -> None:
        self.ask(progressive_id, jackpots.Contribute("table-4", "table-4-1", wagers_cents, 1))

    def claim(self, progressive_id: str, seat: int, hand: str, odds: str) -> str:
        """A share of a level; gives the claim's id."""
        claim_id = f"{progressive_id}-1.{seat}.progressive"
        claim = jackpots.ClaimPayout(
            claim_id=claim_id, table_id="table-4", round_id=f"{progressive_id}-1", seat=seat, wager="progressive",
            on=On.PLAYER, hand=hand, odds=odds, amount_cents=None, source=Source.HAND_PAY, player_id=None,
            account_id=None, entered_by="dealer",
        )  # fmt: skip
        self.ask(progressive_id, claim)
        return claim_id

    def url(self, path: str) -> str:
        return self.house.url("progressive") + path


@pytest.fixture(scope="module")
def own() -> Iterator[Progressives]:
    """A house of its own: these tests kill its service and pause its broker."""
    with start_kafka() as kafka, start_postgres() as postgres:
        house = House(kafka, postgres, postgres.dsn)
        house.start("progressive")
        yield Progressives(house)
        house.close()


@pytest.fixture(scope="module")
def seen() -> Iterator[Screen]:
    with screen() as opened:
        yield opened


def amounts_are(seen: Screen, *amounts: str) -> None:
    until(f"the amounts are {amounts}", lambda: seen.amounts() == list(amounts))


def as_dollars(levels: list[dict[str, Any]]) -> list[str]:
    return [f"${level['value_cents'] / 100:,.2f}" for level in levels]


CROWDED = """
// What of the overview cannot be read: it lies over something else, leaves its frame, or is too small.
const faults = [];
for (const group of document.querySelectorAll(".group")) {
  const frame = group.getBoundingClientRect();
  const title = group.querySelector(".title");
  const words = [[title.textContent, title.getBoundingClientRect()]];
  for (const level of group.querySelectorAll(".level")) {
    const [name, amount] = [level.querySelector(".name"), level.querySelector(".amount .seen")];
    const size = parseFloat(getComputedStyle(amount).fontSize);
    if (size < arguments[0]) faults.push(`${group.dataset.progressive}: ${size} px`);
    if (name.checkVisibility()) words.push([`the word ${name.textContent}`, name.getBoundingClientRect()]);
    words.push([level.dataset.level, amount.getBoundingClientRect()]);
  }
  for (const [index, [what, place]] of words.entries()) {
    if (place.bottom > frame.bottom + 1 || place.right > frame.right + 1) faults.push(`${group.dataset.progressive}: ${what} leaves its frame`);
    for (const [other, there] of words.slice(0, index)) {
      const over = Math.min(place.bottom, there.bottom) - Math.max(place.top, there.top);
      const beside = Math.min(place.right, there.right) - Math.max(place.left, there.left);
      if (over > 3 && beside > 1) faults.push(`${group.dataset.progressive}: ${what} lies over ${other}`);
    }
  }
}
return faults;
"""
SMALLEST_PX = 13


@pytest.mark.parametrize("size", SIZES[1:], ids=lambda size: f"{size['width']}x{size['height']}")
def test_a_house_of_many_progressives_can_be_read(
    own: Progressives, seen: Screen, unique: str, size: dict[str, Any]
) -> None:
    """First, while the house has no others."""
    longest = f"{unique}-{'a-very-long-name-' * 4}"[:64]
    for name in (longest, *(f"{unique}-{number}" for number in range(MANY - len(own.house.get("/progressives"))))):
        own.open(name)
    seen.show(own.url("/display"), **size)
    until("all are there", lambda: f"{unique}-" in seen.run("return document.querySelector('#levels').outerHTML"))
    until("they stand", lambda: "" not in seen.amounts())
    assert seen.run(CROWDED, SMALLEST_PX) == []
    claim = own.claim(longest, 1, "royal_flush", "100% of mega")
    until("the win is up", lambda: seen.texts(".win .amount"))
    assert seen.run(CROWDED, SMALLEST_PX) == []
    own.do(longest, "RejectPayout", claim_id=claim, reason="It was shown.")


def test_the_digits_are_those_of_the_meters(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(unique)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,000.00", "$5,000.00", "$200.00")
    assert seen.texts(".level .name") == ["Mega", "Major", "Minor"]
    assert seen.text("#pulse") == "Live"
    # $1,000 of wagers: 11 % is $110 and 4.5 % is $45; 3.3333 % is $33.33 and three tenths of a cent.
    own.contribute(unique, 100_000)
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")
    assert seen.amounts() == as_dollars(own.house.get(f"/progressives/{unique}")["levels"])


def test_the_digits_climb_and_never_pass_the_meter(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(unique, ONE_LEVEL)
    seen.show(own.url(f"/display/{unique}"))
    until("the first amount", lambda: len(seen.amounts()) == 1)
    before = int(re.sub(r"\D", "", seen.amounts()[0]))
    seen.run(
        """
        // At every frame, the whole dollars: how far each strip has been moved, rounded down.
        window.climb = [];
        (function look() {
          const strips = [...document.querySelectorAll(".level .digit i")].slice(0, -2);
          const places = strips.map((one) => Math.floor(-parseFloat(one.style.transform.slice(11)) / 1.12 + 1e-6) % 10);
          climb.push(Number(places.join("")));
          requestAnimationFrame(look);
        })();
        """
    )
    own.contribute(unique, 1_000_000)
    after = until("the contribution", lambda: _above(own, unique, before))
    amounts_are(seen, f"${after / 100:,.2f}")
    climb = seen.run("return climb")
    assert climb == sorted(climb)
    assert (climb[0], climb[-1]) == (before // 100, after // 100)
    assert len(set(climb)) > 3, "it jumped"


def _above(own: Progressives, progressive_id: str, cents: int) -> int:
    value = own.house.get(f"/progressives/{progressive_id}")["levels"][0]["value_cents"]
    return int(value) if value > cents else 0


def test_a_win_shows_amount_table_seat_and_hand_until_it_is_validated(
    own: Progressives, seen: Screen, unique: str
) -> None:
    own.open(unique)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,000.00", "$5,000.00", "$200.00")
    claim_id = own.claim(unique, 3, "royal_flush", "100% of mega")
    until("the win is up", lambda: seen.texts(".win .amount") == ["$50,000.00"])
    assert seen.text(".win .where") == "Table 4 · Seat 3"
    assert seen.text(".win .which") == "Mega · Royal flush"
    assert seen.text(".win .then") == "Awaiting validation"
    assert seen.text(".level.hit .mark") == "New base $50,000.00"
    own.do(unique, "ValidatePayout", claim_id=claim_id)
    until("it is said", lambda: seen.text(".win .then") == "Validated. Congratulations")
    seen.show(own.url(f"/display/{unique}?level=minor"))
    amounts_are(seen, "$200.00")
    assert seen.texts(".win") == []


def test_a_win_that_is_rejected_goes_and_its_level_climbs_back(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(unique)
    own.contribute(unique, 100_000)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")
    claim_id = own.claim(unique, 3, "straight_flush", "100% of major")
    until("the win is up", lambda: seen.texts(".win .amount") == ["$5,045.00"])
    # The level began again at its reset of $5,000 and the half per cent that was set aside: $5.
    amounts_are(seen, "$50,110.00", "$5,005.00", "$233.33")
    own.do(unique, "RejectPayout", claim_id=claim_id, reason="The hand was misread.")
    until("the win is gone", lambda: seen.texts(".win") == [])
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")


def test_several_wins_take_turns(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(unique)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,000.00", "$5,000.00", "$200.00")
    for seat, hand, level in (
        (1, "royal_flush", "mega"),
        (2, "straight_flush", "major"),
        (3, "four_of_a_kind", "minor"),
    ):
        own.claim(unique, seat, hand, f"100% of {level}")
    shown: set[tuple[str, ...]] = set()

    def all_were_up() -> bool:
        shown.update(seen.rows(".win", ".word", ".where", ".amount"))
        return {each for each in shown if "/3" in each[0]} == {
            ("WIN 1/3", "Table 4 · Seat 1", "$50,000.00"),
            ("WIN 2/3", "Table 4 · Seat 2", "$5,000.00"),
            ("WIN 3/3", "Table 4 · Seat 3", "$200.00"),
        }

    until("each of the three was up", all_were_up)


def test_a_progressive_that_is_closed_says_where_its_amounts_are(own: Progressives, seen: Screen, unique: str) -> None:
    heir = f"{unique}-heir"
    own.open(unique)
    own.open(heir)
    own.contribute(unique, 100_000)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")
    own.do(unique, "CloseProgressive", transfer_to=heir)
    until("it says so", lambda: seen.text("#sentence") == f"Closed: what it held is in {heir}")
    seen.show(own.url("/display"))
    group = f'.group[data-progressive="{unique}"]'
    until("the overview says so", lambda: seen.texts(f"{group} .note") == [f"Closed: what it held is in {heir}"])
    assert seen.texts(f"{group} .title") == [unique.capitalize()]
    seen.show(own.url(f"/display/{heir}"))
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")


def test_the_overview_has_every_level_of_the_house(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(f"{unique}-a", ONE_LEVEL)
    own.open(f"{unique}-c")
    seen.show(own.url("/display"), 1920, 1080)
    every = own.house.get("/progressives")
    open_ones = [each for each in every if each["state"] == "open"]
    amounts_are(seen, *(amount for each in open_ones for amount in as_dollars(each["levels"])))
    own.contribute(f"{unique}-c", 100_000)
    group = f'.group[data-progressive="{unique}-c"]'
    until("its own climb", lambda: seen.amounts(group) == ["$50,110.00", "$5,045.00", "$233.33"])
    own.claim(f"{unique}-c", 2, "royal_flush", "100% of mega")
    which = f"T{unique[1:]} c: Mega · Royal flush"
    until("the win is up", lambda: which in seen.texts(".win .which"))
    seen.show(own.url("/display?level=major"))
    majors = [level for each in open_ones for level in each["levels"] if level["name"] == "major"]
    until("majors alone", lambda: seen.texts(".level .name") == ["Major"] * len(majors))


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/display/{known}?level=grand", "This progressive has no level called “grand”. Levels: mega, major, minor."),
        ("/display/{known}?theme=pink", "There is no theme called “pink”. Themes: dark, bright."),
        ("/display?theme=pink", "There is no theme called “pink”. Themes: dark, bright."),
        ("/display/{known}-no", "There is no progressive called “{known}-no”. This screen keeps looking."),
    ],
)
def test_a_name_that_is_not_known_is_said(
    own: Progressives, seen: Screen, unique: str, path: str, sentence: str
) -> None:
    own.open(unique)
    seen.show(own.url(path.format(known=unique)))
    until("it is said", lambda: seen.text("#sentence") == sentence.format(known=unique))


@pytest.mark.parametrize("theme", ["dark", "bright"])
def test_a_theme_can_be_read(own: Progressives, seen: Screen, unique: str, theme: str) -> None:
    own.open(unique)
    own.claim(unique, 1, "royal_flush", "100% of mega")
    seen.show(own.url(f"/display/{unique}?theme={theme}"))
    until("the win is up", lambda: seen.texts(".win .amount") == ["$50,000.00"])
    ground = luminance(seen.run("return getComputedStyle(document.body).backgroundColor"))
    assert (ground > 0.5) == (theme == "bright")
    for what in (".level .amount", ".level .name", ".level .mark", ".win .amount", ".win .which", ".win .where"):
        ink = luminance(seen.run(f"return getComputedStyle(document.querySelector('{what}')).color"))
        contrast = (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)
        assert contrast >= CONTRAST, f"{what}: {contrast:.1f}"


def luminance(colour: str) -> float:
    """Relative luminance as the Guidelines define it, of `rgb(r, g, b)`."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size['width']}x{size['height']}")
def test_amounts_fit_the_screen(own: Progressives, seen: Screen, unique: str, size: dict[str, Any]) -> None:
    own.open(unique)
    own.contribute(unique, 500_000_000)  # mega: $550,000 more
    seen.show(own.url(f"/display/{unique}"), **size)
    amounts_are(seen, "$600,000.00", "$50,000.00", "$300.00")  # 4.5 % is more than the limit of major, and so of minor
    assert seen.overflow() == []
    own.claim(unique, 1, "royal_flush", "100% of mega")
    until("the win is up", lambda: seen.texts(".win .amount") == ["$600,000.00"])
    assert seen.overflow() == []
    seen.show(own.url("/display"), **size)
    until("the overview is there", lambda: "$300.00" in seen.amounts() and seen.texts(".win"))
    assert seen.overflow() == []


def test_a_page_that_was_left_holds_no_connection(own: Progressives, seen: Screen, unique: str) -> None:
    """A browser keeps pages for its "back", and opens six connections to a house: the seventh page would wait."""
    for name in (f"{unique}-a", f"{unique}-b", f"{unique}-c"):
        own.open(name)
        seen.show(own.url(f"/display/{name}"))
        amounts_are(seen, "$50,000.00", "$5,000.00", "$200.00")
    metrics = own.url("/metrics")
    until("one feed is open", lambda: "roundlog_feeds_open 1.0" in own.house.client.get(metrics).text, 10)
    own.contribute(f"{unique}-b", 100_000)
    seen.driver.back()
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")
    until("it is live", lambda: seen.text("#pulse") == "Live" and not seen.stale)


def test_a_connection_that_breaks_is_shown_and_mends_itself(own: Progressives, seen: Screen, unique: str) -> None:
    own.open(unique)
    seen.show(own.url(f"/display/{unique}"))
    amounts_are(seen, "$50,000.00", "$5,000.00", "$200.00")
    until("it is live", lambda: seen.text("#pulse") == "Live" and seen.run("return moments.heard"))
    own.house.kill("progressive")
    until("it is shown", lambda: seen.stale)
    moments = seen.run("return moments")
    assert moments["stale"] - moments["broke"] < BROKEN_MS
    assert re.fullmatch(r"STALEAmounts as of \d\d:\d\d:\d\d, reconnecting", seen.text("#banner"))
    assert seen.amounts() == ["$50,000.00", "$5,000.00", "$200.00"]
    own.house.start("progressive")
    own.contribute(unique, 100_000)
    amounts_are(seen, "$50,110.00", "$5,045.00", "$233.33")
    until("it is live again", lambda: not seen.stale and seen.text("#pulse") == "Live")


@pytest.mark.parametrize("path", ["/display/{known}", "/display"])
def test_a_connection_that_falls_silent_is_shown(own: Progressives, seen: Screen, unique: str, path: str) -> None:
    own.open(unique)
    seen.show(own.url(path.format(known=unique)))
    until("it is live", lambda: seen.text("#pulse") == "Live" and seen.run("return moments.heard"))
    process = own.house.processes["progressive"]
    os.kill(process.pid, signal.SIGSTOP)
    try:
        until("it is shown", lambda: seen.stale)
        moments = seen.run("return moments")
        assert moments["stale"] - moments["heard"] < SILENT_MS
    finally:
        os.kill(process.pid, signal.SIGCONT)
    until("it is live again", lambda: not seen.stale)


def test_a_feed_that_is_stale_says_so_though_it_is_connected(own: Progressives, seen: Screen, unique: str) -> None:
    """The broker stands still: the service answers, and knows no news."""
    own.open(unique)
    seen.show(own.url(f"/display/{unique}"))
    until("it is live", lambda: seen.text("#pulse") == "Live" and seen.run("return moments.heard"))
    os.kill(own.house.kafka.pid, signal.SIGSTOP)
    try:
        until("it is shown", lambda: seen.stale)
        moments = seen.run("return moments")
        assert "broke" not in moments and moments["stale"] - moments["told"] < TOLD_MS
    finally:
        os.kill(own.house.kafka.pid, signal.SIGCONT)
    until("it is live again", lambda: not seen.stale)


def test_amounts_are_in_the_currency_of_the_house(
    own: Progressives, seen: Screen, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.open(unique)
    monkeypatch.setenv("ROUNDLOG_CURRENCY", "EUR")
    monkeypatch.setenv("ROUNDLOG_LOCALE", "de-DE")
    own.house.start("progressive-euro", service="progressive")
    try:
        seen.show(f"{own.house.url('progressive-euro')}/display/{unique}")
        amounts_are(seen, "50.000,00\N{NO-BREAK SPACE}€", "5.000,00\N{NO-BREAK SPACE}€", "200,00\N{NO-BREAK SPACE}€")
    finally:
        own.house.stop(["progressive-euro"])
