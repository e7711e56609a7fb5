"""What a paragraph has people do is in the log, with who did it."""

import pytest

from services.core import jackpots, rounds
from services.wire.records import Record
from tests.support.playing import play, written
from tests.support.recorded import ROUNDS
from tests.support.worlds import MemoryWorld


def records(name: str, stream: str) -> list[Record]:
    """The one log of a stream after a recorded round was played."""
    world = MemoryWorld()
    play(world, written(next(path for path in ROUNDS if path.stem == name), "m"), "m")
    (key,) = world.house.keys(stream)
    return list(world.house.records(stream, key))


@pytest.mark.law("655a.11(i)(1)(iii)", "655a.11(i)(3)(ii)", "639a.11(c)(5)(iii)", "639a.11(c)(6)(ii)")
@pytest.mark.parametrize("name", ["ms-bonus-after-the-royal", "cs-not-qualified"])
def test_who_validated_a_payout_is_recorded_with_it(name: str) -> None:
    validated = [each for each in records(name, "jackpots") if isinstance(each.event, jackpots.PayoutValidated)]
    assert {(each.event.claim_id.rsplit(".", 1)[-1], each.actor) for each in validated} == {
        ("progressive", "floorperson"),
        ("five_card_hand_bonus", "floorperson"),
    }


@pytest.mark.law("655a.10(d)", "655a.10(e)", "655a.10(f)")
def test_what_was_counted_is_recorded_beside_what_must_be_left() -> None:
    # 52 - 3x2 - 3 - 4 for the Six Card Bonus = 39 must be left, and 40 are.
    events = [record.event for record in records("ms-void-misdealt", "rounds")]
    (counted,) = (event for event in events if isinstance(event, rounds.StubCounted))
    assert (counted.cards, counted.expected_cards, counted.misdealt) == (40, 39, True)


@pytest.mark.law("655a.11(b)", "655a.11(c)", "655a.11(h)")
def test_what_is_refused_changes_nothing_and_is_recorded_with_its_section() -> None:
    events = [record.event for record in records("ms-refusals-on-the-way", "rounds")]
    refused = {(event.command, event.section) for event in events if isinstance(event, rounds.Refused)}
    assert {("Bet", "655a.11(b)"), ("RevealCommunityCard", "655a.11(c)"), ("ShowHand", "655a.11(h)")} <= refused
    assert [event.card for event in events if isinstance(event, rounds.CommunityCardRevealed)] == ["2c", "3d", "9h"]
    assert [event.cards for event in events if isinstance(event, rounds.HandShown)] == [("Jc", "Jd")]
