"""Best play: published figures to the unit, a plain model on few cards, and the settlement of the tables themselves."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from services.core.cards import DECK
from services.core.games import GAMES
from services.core.games.game import Area, Faces
from services.core.hands import ace_king_or_better, met, strength
from services.core.names import Result
from services.core.paytables import Line, Odds, Paytable, first_met
from services.core.rules import Submission
from services.par import streets
from services.par.classes import classes, require_exact
from services.par.main_game import figures, main_sheet
from services.par.play import AGAINST, Ending, Play, came_to, net_cents

DEALS = 19_933_230_517_200
SEED = 58_655
# Kernels are compiled first, which on a busy machine takes its time.
pytestmark = pytest.mark.timeout(600)


def test_mississippi_stud_is_what_is_published(mississippi: Submission, mississippi_plays: tuple[Play, Play]) -> None:
    # The Wizard of Odds: 4.91 % of the ante, 3.59 antes, an element of risk of 1.37 %.
    main = main_sheet(mississippi, mississippi_plays)
    assert main.deals == 1_326 * 50 * 49 * 48
    assert round(main.at_minimum.edge * 100, 2) == Fraction("4.91")
    assert round(main.at_minimum.average_wager, 2) == Fraction("3.59")
    assert round(main.at_minimum.element_of_risk * 100, 2) == Fraction("1.37")
    # A royal flush is never folded away: every street of it is worth a wager.
    assert main.lines[0].paid == main.lines[0].dealt == Fraction(4, 2_598_960)


def test_caribbean_stud_is_what_is_published(caribbean: Submission, caribbean_plays: tuple[Play, Play]) -> None:
    # The Wizard of Odds' return table: deals of 19,933,230,517,200, and the loss of all of them, 1,041,372,912,372.
    play, _ = caribbean_plays
    main = main_sheet(caribbean, caribbean_plays)
    ways: dict[str | None, int] = {}
    for ending in play.endings:
        key = "fold" if ending.folded_at else ending.against
        ways[key] = ways.get(key, 0) + ending.ways
    assert ways.pop("higher") == sum(
        (16_759_740, 156_929_720, 2_832_435_800, 16_624_475_280, 21_856_990_280, 43_805_516_100, 234_242_908_320,
         488_012_139_360, 2_343_248_003_808)
    )  # fmt: skip
    assert ways == {
        "not_qualified": 4_532_514_033_720, "equal": 321_623_100, "fold": 9_523_005_974_460, "lower": 2_726_592_727_512,
    }  # fmt: skip
    assert play.deals == DEALS and main.at_minimum.edge == Fraction(1_041_372_912_372, DEALS)
    paid = {line.hand: line.paid * DEALS for line in main.lines if line.table == "bet_table"}
    assert (
        paid["royal_flush"] == 16_759_740 and paid["two_pair"] == 488_012_139_360 and paid["any"] == 2_343_248_003_808
    )
    assert round(main.at_minimum.average_wager, 2) == Fraction("2.04")
    assert round(main.at_minimum.element_of_risk * 100, 2) == Fraction("2.56")
    # The published standard deviation is 2.24 antes.
    assert Fraction("2.235") ** 2 < main.at_minimum.variance < Fraction("2.245") ** 2


def plain(submission: Submission, own: tuple[str, str], ante_cents: int) -> Fraction:
    """What best play adds in cents with two own cards: decision by decision, as one would write it down."""
    table, rest = submission.main_tables["main"], [card for card in DECK if card not in own]
    multiples, limit = submission.multiples, submission.aggregate_limit_cents
    stakes = streets.stakes(multiples)

    def net(cards: tuple[str, ...], staked: int) -> int:
        line, stake = first_met(table, cards), staked * ante_cents
        if line is None:
            return -stake
        return min(line.odds.won_cents(stake) or 0, limit) + line.odds.returned_cents(stake) - stake

    third: dict[tuple[str, str], dict[int, Fraction]] = {}
    for one, two in combinations(rest, 2):
        ends = dict.fromkeys(stakes[3], 0)
        for river in rest:
            if river not in (one, two):
                for staked in ends:
                    ends[staked] += net((*own, one, two, river), staked)
        third[one, two] = third[two, one] = {
            staked: max(Fraction(-staked * ante_cents), *(Fraction(ends[staked + more], 48) for more in multiples))
            for staked in stakes[2]
        }
    second: dict[int, Fraction] = dict.fromkeys(stakes[1], Fraction(0))
    for one in rest:
        for staked in stakes[1]:
            worth = [sum(third[one, two][staked + more] for two in rest if two != one) / 49 for more in multiples]
            second[staked] += max(Fraction(-staked * ante_cents), *worth) / 50
    return max(Fraction(-ante_cents), *(second[1 + more] for more in multiples))


@pytest.mark.parametrize(
    ("own", "ante_cents", "limit_cents"),
    [(("6s", "6d"), 500, 5_000_000), (("Tc", "Jc"), 500, 5_000_000), (("Tc", "Jc"), 50_000, 1_000_000)],
)
def test_best_play_of_two_cards_is_that_of_a_plain_model(
    mississippi: Submission, own: tuple[str, str], ante_cents: int, limit_cents: int
) -> None:
    held = replace(mississippi, multiples=(1, 3), aggregate_limit_cents=limit_cents)
    names = classes().names
    size = streets.stakes(held.multiples)[-1][-1] + 1
    pays = [[[net_cents(held, ante_cents, Ending(staked, made, 0)) for made in names] for staked in range(size)]]
    ends, folds = streets.best_play(
        held.multiples, np.array([ante_cents]), np.array(pays), own=[(DECK.index(own[0]), DECK.index(own[1]))]
    )
    assert ends.sum() + folds.sum() == streets.ORDERS
    staked = np.arange(size)
    total = int((ends[0] * np.array(pays[0])).sum()) - int((folds[0] * staked).sum()) * ante_cents
    assert Fraction(total, streets.ORDERS) == plain(held, own, ante_cents)


@pytest.mark.parametrize("game", ["mississippi_stud", "cajun_stud", "caribbean_stud"])
def test_what_an_ending_comes_to_is_what_the_tables_settle(
    game: str, mississippi: Submission, cajun: Submission, caribbean: Submission
) -> None:
    held = next(each for each in (mississippi, cajun, caribbean) if each.game == game)
    # A low limit, so that it cuts; odds `for`, so that stakes stay.
    tables = {
        name: Paytable((Line("two_pair", Odds.parse("7 for 1")), *table.lines[-2:]), "test")
        for name, table in held.main_tables.items()
    }
    rules, deal = GAMES[game], random.Random(SEED)
    met_results: set[Result] = set()
    for submission in (replace(held, aggregate_limit_cents=1_500), replace(held, main_tables=tables)):
        for _ in range(3_000):
            cards = deal.sample(DECK, 10)
            own, dealer = tuple(cards[:5]), tuple(cards[5:])
            multiples = [deal.choice(submission.multiples) for _ in rules.streets]
            if rules.dealer_cards:
                faces = Faces({Area.OWN: own, Area.DEALER: dealer})
            else:
                faces = Faces({Area.OWN: own[:2], Area.COMMUNITY: own[2:]})
            won = returned = 0
            for wager, stake in zip(rules.main, [500, *(500 * multiple for multiple in multiples)], strict=True):
                outcome = rules.settle_main(submission, wager, faces)
                met_results.add(outcome.result)
                if outcome.result is Result.WON and outcome.line is not None:
                    won += outcome.line.odds.won_cents(stake) or 0
                    returned += outcome.line.odds.returned_cents(stake)
                elif outcome.result is not Result.LOST:
                    returned += stake
            ending = Ending(
                1 + sum(multiples), met(own), 1, against=stands(own, dealer) if rules.dealer_cards else None
            )
            assert came_to(submission, 500, ending) == (min(won, submission.aggregate_limit_cents), returned)
    assert {Result.WON, Result.LOST} < met_results


def stands(own: tuple[str, ...], dealer: tuple[str, ...]) -> str:
    if not ace_king_or_better(dealer):
        return AGAINST[0]
    if strength(own) == strength(dealer):
        return AGAINST[2]
    return AGAINST[1] if strength(own) > strength(dealer) else AGAINST[3]


def test_equal_hands_and_folds_are_settled() -> None:
    submission = Submission.__new__(Submission)
    assert came_to(submission, 500, Ending(3, frozenset({"any"}), 1, against="equal")) == (0, 1_500)
    assert came_to(submission, 500, Ending(4, frozenset(), 1, folded_at="street_5")) == (0, 0)


def test_the_limit_cuts_from_the_ante_that_arithmetic_says(
    mississippi: Submission,
    caribbean: Submission,
    mississippi_plays: tuple[Play, Play],
    caribbean_plays: tuple[Play, Play],
) -> None:
    # A royal flush at ten antes wins 5,000: $50,000 at $10, cut from $11. At 1 + 2 x 100 antes: $248.76, so $249.
    main = main_sheet(mississippi, mississippi_plays)
    assert (main.most_won_antes, main.cut_from_cents) == (5_000, 1_100)
    main = main_sheet(caribbean, caribbean_plays)
    assert (main.most_won_antes, main.cut_from_cents) == (201, 24_900)
    # At $500 a royal flush wins $50,000 instead of $100,500, and a straight flush $50,000 instead of $50,500: in antes
    # 101 and 1 less, the other hands are as before. 16,759,740 and 156,929,720 deals, as published.
    lost = Fraction(16_759_740 * 101 + 156_929_720 * 1, DEALS)
    assert main.unchanged.edge - main.at_minimum.edge == lost
    assert main.at_maximum.edge <= main.unchanged.edge


def test_a_limit_that_cuts_nothing_is_said(mississippi: Submission, mississippi_plays: tuple[Play, Play]) -> None:
    held = replace(mississippi, aggregate_limit_cents=5_000 * 50_000)
    assert main_sheet(held, mississippi_plays).cut_from_cents is None
    assert (
        main_sheet(replace(held, aggregate_limit_cents=5_000 * 50_000 - 1), mississippi_plays).cut_from_cents == 50_000
    )


def test_figures_of_a_play_by_hand(mississippi: Submission) -> None:
    # Of four deals: two folds of one ante, a push at five, a straight (4 to 1) at ten.
    play = Play(500, (
        Ending(1, frozenset(), 2, folded_at="street_3"),
        Ending(5, frozenset({"any", "pair", "pair_of_6s_to_10s"}), 1),
        Ending(10, frozenset({"any", "straight"}), 1),
    ))  # fmt: skip
    found = figures(mississippi, play, 500)
    assert found.edge == -Fraction(-1 - 1 + 0 + 40, 4)
    assert found.average_wager == Fraction(1 + 1 + 5 + 10, 4)
    assert found.variance == Fraction(1 + 1 + 0 + 1_600, 4) - Fraction(38, 4) ** 2
    assert found.element_of_risk == -Fraction(38, 17)


@pytest.mark.parametrize(("cents", "exact"), [(2**63 // 117_600, True), (2**63 // 117_600 + 1, False)])
def test_what_would_not_fit_is_not_counted(cents: int, exact: bool) -> None:
    pays = np.full((1, 11, len(classes().names)), -cents)
    if exact:
        require_exact(pays, streets.ORDERS)
    else:
        with pytest.raises(OverflowError, match="too large"):
            streets.best_play((1, 2, 3), np.array([1]), pays)
