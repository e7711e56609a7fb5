"""A round as it was played, from the records of all logs: sentences, sections, cards, claims."""

import dataclasses
import enum
import types
import typing
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from services.accounts.projection import entry_of as account_entry
from services.backoffice.api import for_script
from services.backoffice.archive import event_of
from services.backoffice.printing import round_as_text
from services.backoffice.projection import round_of, round_rows
from services.backoffice.reconstruction import Entry, RoundIncomplete, in_order, reconstruct
from services.backoffice.sentences import EventUnknown, section, sentence
from services.core import accounts, jackpots, rounds
from services.runtime.projecting import Fact
from services.wire.json import event_json
from services.wire.records import CONTRACTS
from tests.support.playing import play, written
from tests.support.worlds import MemoryWorld

ROUNDS = sorted((Path(__file__).parents[1] / "rounds").glob("*.yaml"))
ROYAL = next(path for path in ROUNDS if path.stem == "ms-bonus-after-the-royal")
ROUND = "table-m-1-1"


def facts_of(path: Path) -> list[Fact]:
    """The facts of a round played in memory, as the back office's projection would see them."""
    world = MemoryWorld()
    play(world, written(path, "m"), "m")
    facts = []
    for stream in ("rounds", "wagers", "jackpots", "accounts"):
        for key in world.house.keys(stream):
            state = rounds.INITIAL
            for record in world.house.records(stream, key):
                if stream == "rounds":
                    state = rounds.evolve(state, record.event)
                facts.append(Fact(stream, key, record, cast(Any, None), state))
    return facts


def entries_of(facts: list[Fact], round_id: str) -> list[Entry]:
    """The entries of a round, with the opening of the table and the ends of its holds, as the archive gives them."""
    holds = {hold_of(fact) for fact in facts if round_of(fact) == round_id} - {None}

    def belongs(fact: Fact) -> bool:
        opens = isinstance(fact.record.event, rounds.TableOpened)
        return opens or round_of(fact) == round_id or hold_of(fact) in holds

    return [entry_of(fact) for fact in facts if belongs(fact)]


def hold_of(fact: Fact) -> str | None:
    return getattr(fact.record.event, "hold_id", None) if fact.topic == "accounts" else None


def entry_of(fact: Fact) -> Entry:
    record = fact.record
    return Entry(fact.topic, fact.key, record.sequence, record.recorded_at_ms, record.actor, b"\1" * 32, record.event)


def first_round(facts: list[Fact]) -> str:
    return next(fact.record.event.round_id for fact in facts if isinstance(fact.record.event, rounds.RoundOpened))


@pytest.fixture(scope="module")
def royal() -> dict[str, Any]:
    return reconstruct(ROUND, entries_of(facts_of(ROYAL), ROUND))


@pytest.mark.law("639a.11(d)", "655a.11(j)", "683a.11(j)")
@pytest.mark.parametrize("path", ROUNDS, ids=lambda path: path.stem)
def test_every_recorded_round_can_be_told(path: Path) -> None:
    facts = facts_of(path)
    found = reconstruct(first_round(facts), entries_of(facts, first_round(facts)))
    assert all(step["text"] for step in found["steps"])
    assert all(row["section"] for seat in found["seats"] for row in seat["wagers"])
    assert found["state"] in ("closed", "void") and found["closed_ms"] >= found["opened_ms"]
    assert round_as_text(found).startswith(f"Round {found['round_id']}: ")


@pytest.mark.parametrize("path", ROUNDS, ids=lambda path: path.stem)
def test_every_event_comes_back_from_its_json(path: Path) -> None:
    for fact in facts_of(path):
        event = fact.record.event
        assert event_of(fact.topic, type(event).__name__, orjson.dumps(event_json(event)).decode()) == event


@pytest.mark.law("655a.11(j)")
def test_the_table_is_shown_as_it_was(royal: dict[str, Any]) -> None:
    assert royal["community"] == ["Th", "Jh", "Qh"]
    assert (royal["magic_card"], royal["lucky_position"], royal["game"]) == ("3c", "1", "mississippi_stud")
    third = next(seat for seat in royal["seats"] if seat["seat"] == 3)
    assert third["cards"] == ["Kh", "Ah"] and third["folded"] and third["player_id"] == "player-3"
    assert [(row["wager"], row["result"]) for row in third["wagers"]] == [
        ("ante", "lost"), ("street_3", "lost"), ("progressive", "won"), ("five_card_hand_bonus", "won"),
    ]  # fmt: skip


def test_claims_and_envy_stand_with_the_round(royal: dict[str, Any]) -> None:
    claims = {claim["wager"]: claim for claim in royal["claims"]}
    assert (claims["progressive"]["amount_cents"], claims["progressive"]["state"]) == (1000038, "paid")
    fourth = next(seat for seat in royal["seats"] if seat["seat"] == 4)
    assert fourth["envy"] == [{"holder_seat": 3, "hand": "royal_flush", "amount_cents": 100000, "state": "paid"}]


def test_the_steps_are_in_order_and_in_words(royal: dict[str, Any]) -> None:
    said = [(step["stream"], step["event"]) for step in royal["steps"]]
    assert said[0] == ("rounds", "RoundOpened") and ("accounts", "HoldPosted") in said
    assert said.index(("accounts", "HoldPlaced")) < said.index(("rounds", "WagerConfirmed"))
    shown = next(step for step in royal["steps"] if step["event"] == "HandShown" and "seat 3" in step["text"].lower())
    assert shown["text"] == "Seat 3 shows K♥ A♥." and shown["section"].startswith("655a.11(h)")
    refused = next(step for step in royal["steps"] if step["refused"])
    assert "CloseRound" in refused["text"] and "floorperson" in refused["text"]


def test_the_row_of_a_round_adds_up_what_was_won() -> None:
    rows = round_rows(facts_of(ROYAL))
    assert rows[ROUND].state == "closed"
    assert rows[ROUND].won_cents == 1000038 + 50000
    assert rows[ROUND].opened_ms is not None and rows[ROUND].closed_ms is not None


def test_a_log_is_never_read_backwards_when_the_clock_was_put_back() -> None:
    def entry(stream: str, sequence: int, at_ms: int) -> Entry:
        return Entry(stream, "table-1", sequence, at_ms, "dealer", b"", rounds.RoundClosed("table-1-1"))

    given = [entry("rounds", 2, 50), entry("wagers", 1, 100), entry("rounds", 1, 100)]
    assert [(each.stream, each.sequence) for each in in_order(given)] == [("rounds", 1), ("rounds", 2), ("wagers", 1)]


def test_a_round_without_its_beginning_is_not_told() -> None:
    entries = entries_of(facts_of(ROYAL), ROUND)
    with pytest.raises(RoundIncomplete, match="its game is not known"):
        reconstruct(ROUND, [entry for entry in entries if not isinstance(entry.event, rounds.TableOpened)])
    with pytest.raises(RoundIncomplete, match="opening of round"):
        reconstruct(ROUND, [entry for entry in entries if not isinstance(entry.event, rounds.RoundOpened)])


def test_an_event_without_a_sentence_is_an_error() -> None:
    class HandBurnt:
        pass

    with pytest.raises(EventUnknown, match="HandBurnt"):
        sentence(HandBurnt())


def test_every_event_of_every_log_has_a_sentence() -> None:
    for contract in CONTRACTS.values():
        for kind in contract.event_types:
            assert sentence(_sample(kind)).strip(), kind.__name__


def _sample(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return _sample(typing.get_args(hint)[0])
    if typing.get_origin(hint) is tuple:
        return (_sample(typing.get_args(hint)[0]),)
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        return cast(Any, hint)(**{field.name: _sample(hints[field.name]) for field in dataclasses.fields(hint)})
    if typing.get_origin(hint) is typing.Annotated:
        tag = typing.get_args(hint)[1]
        return {"card": "As", "game": "mississippi_stud"}.get(tag) or _sample(typing.get_args(hint)[0])
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return next(iter(hint))
    return {str: "word", int: 3, bool: True, bytes: b"\1"}[hint]


def test_a_section_is_the_event_s_own_before_the_game_s() -> None:
    assert section(rounds.RoundVoided("r-1", "why", "655a.13(a)", False), "mississippi_stud") == "655a.13(a)"
    assert section(jackpots.EnvyBonusPaid("r-1", 1, 2, 3), "mississippi_stud") is None
    assert section(rounds.RoundClosed("r-1"), None) is None


def test_json_in_a_page_cannot_end_its_script() -> None:
    text = for_script({"reason": "</script><!-- \u2028\u2029 &"})
    assert not set(text) & set("<>&\u2028\u2029")
    assert orjson.loads(text) == {"reason": "</script><!-- \u2028\u2029 &"}


def test_what_was_won_does_not_depend_on_which_log_is_read_first() -> None:
    assert round_rows(list(reversed(facts_of(ROYAL))))[ROUND].won_cents == 1050038


def recorded_round(name: str) -> Path:
    return next(path for path in ROUNDS if path.stem == name)


# Won by hand: four wagers of 500 each at 6, 100 and 1 to 1, 4,000 for the flush and 100,000 of the meter; the same four
# flushes, 2,500 and 200 to the account; two straight flushes and 100,000 of the meter; nothing of what is void.
@pytest.mark.parametrize(
    ("name", "won_cents"),
    [
        ("ms-replace-hand-royal-was-a-flush", 4 * 3_000 + 4 * 50_000 + 4 * 500 + 4_000 + 100_000),
        ("ms-replace-hand-bonus-to-an-account", 4 * 3_000 + 2_500 + 200),
        ("ms-reject-payout", 8 * 50_000 + 100_000),
        ("ms-void-misdealt", 0),
    ],
)
def test_what_a_round_won_is_without_what_was_taken_back_or_rejected(name: str, won_cents: int) -> None:
    facts = facts_of(recorded_round(name))
    for told in (facts, list(reversed(facts))):
        assert round_rows(told)[ROUND].won_cents == won_cents
    # Also where each record comes in a batch of its own: what a batch says is added up.
    assert sum(row.won_cents for fact in facts for row in round_rows([fact]).values()) == won_cents


def test_a_hand_that_was_keyed_again_is_told_with_what_was_wrong() -> None:
    facts = facts_of(recorded_round("ms-replace-hand-royal-was-a-flush"))
    found = reconstruct(ROUND, entries_of(facts, ROUND))
    seat_3 = next(seat for seat in found["seats"] if seat["seat"] == 3)
    assert seat_3["cards"] == ["Kh", "2h"]
    assert {row["wager"]: row["hand"] for row in seat_3["wagers"]}["progressive"] == "flush"
    told = {(step["event"], step["text"]) for step in found["steps"]}
    assert ("HandShown", "Seat 3 shows K♥ A♥.") in told
    replaced = "The hand of seat 3 had been keyed wrongly: floorperson keys K♥ 2♥. the two lay under the king"
    assert ("HandReplaced", replaced) in told
    names = [step["event"] for step in found["steps"]]
    assert names.count("EnvyBonusTakenBack") == 2 and names.count("WagerReversed") == 5
    assert names.count("LevelRestored") == names.count("PayoutTakenBack") == 1
    assert "K♥ 2♥" in round_as_text(found)


def test_signatures_void_slips_and_what_was_handed_on_belong_to_their_round() -> None:
    facts = facts_of(recorded_round("ms-reject-payout"))
    assert {round_of(fact) for fact in facts if isinstance(fact.record.event, jackpots.SlipVoided)} == {ROUND}
    facts = facts_of(recorded_round("ms-closed-during-a-round"))
    handed_on = {round_of(fact) for fact in facts if isinstance(fact.record.event, jackpots.CommandForwarded)}
    assert handed_on == {"table-m-1-2"}
    signed = jackpots.PayoutSigned(f"{ROUND}.2.progressive", "vera")
    assert round_of(dataclasses.replace(facts[0], topic="jackpots", record=cast(Any, _Carrying(signed)))) == ROUND


@dataclasses.dataclass
class _Carrying:
    event: Any


def test_an_account_shows_what_was_taken_back() -> None:
    back = accounts.WinningsTakenBack(200, 100, "table-1-1", 3, "magic_card")
    assert account_entry(back) == ("winnings taken back", -200, "table-1-1.3.magic_card")
