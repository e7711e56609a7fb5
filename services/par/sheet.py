"""A par sheet put together: the figures of every wager, what they assume, and what is implausible about them."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from services.core.games import GAMES
from services.core.games.game import LUCKY_POSITION, MAGIC_CARD
from services.core.money import dollars
from services.core.names import WagerName
from services.core.rules import LevelRules, Submission
from services.par.exact import decimal, fraction, root
from services.par.main_game import MainSheet, PlayFigures, chance_folded, main_sheet
from services.par.plausible import implausible
from services.par.play import EQUAL, HIGHER, LOWER, NOT_QUALIFIED, Play
from services.par.wagers import WagerSheet, wager_sheets


@dataclass(frozen=True, slots=True)
class Sheet:
    """The par sheet of one submission. `main` is None as long as best play is not computed."""

    submission: Submission
    title: str
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    main: MainSheet | None
    wagers: tuple[WagerSheet, ...]
    folded: tuple[tuple[WagerName, Fraction], ...]
    """Of the wagers that are lost with a fold: the chance that best play folds a hand which meets a line of theirs."""


def par_sheet(submission: Submission, plays: tuple[Play, Play] | None = None) -> Sheet:
    """The sheet of a submission, with the main game where its best play is there."""
    main = None if plays is None else main_sheet(submission, plays)
    wagers = wager_sheets(submission)
    return Sheet(
        submission=submission,
        title=GAMES[submission.game].title,
        assumptions=_assumptions(submission, wagers),
        warnings=implausible(submission, main),
        main=main,
        wagers=wagers,
        folded=() if plays is None else _folded(submission, wagers, plays[0]),
    )


def _folded(
    submission: Submission, wagers: tuple[WagerSheet, ...], play: Play
) -> tuple[tuple[WagerName, Fraction], ...]:
    tables = {wager: bonus.table for wager, bonus in submission.bonuses.items()}
    if submission.progressive is not None:
        tables["progressive"] = submission.progressive.table
    return tuple((sheet.wager, chance_folded(play, tables[sheet.wager])) for sheet in wagers if not sheet.outlives_fold)


def _assumptions(submission: Submission, wagers: tuple[WagerSheet, ...]) -> tuple[str, ...]:
    game = GAMES[submission.game]
    said = [
        "One deck of 52 cards, every order of it as likely as any other. A player knows the own cards and those face up.",
        "A return is what comes back of a unit wagered, the unit itself included; the house edge is one less the return.",
        "Best play makes the most of the main wagers alone; of decisions that are worth the same it makes the largest"
        " wager. Its figures are of one ante, the element of risk of all main wagers together.",
    ]
    if any(sheet.shared for sheet in wagers):
        said.append(
            "A share of a meter is cut to whole cents. Where nothing else is said, meters stand at their reset; the"
            " break-even of one level takes the other levels at their reset."
        )
    if any(sheet.depends_on_stake for sheet in wagers):
        said.append("A fixed sum is worth the most to who wagers least: the figures are of the lowest wager.")
    extras = {extra.wager for sheet in wagers for extra in sheet.extras}
    if MAGIC_CARD in extras:
        said.append("The Magic Card is one of 52 at random, whatever was dealt.")
    if LUCKY_POSITION in extras:
        dealer = " and the dealer's" if game.dealer_cards else ""
        said.append(f"The lucky position is one of the {submission.seats} seats{dealer} at random, taken or not.")
    if any(sheet.envy for sheet in wagers):
        envy = submission.progressive.envy if submission.progressive is not None else None
        folded = envy is not None and envy.folded_hand_qualifies
        said.append(
            "Envy Bonuses are beside the return: each other hand of the table is counted by itself, and as"
            + (" shown, folded or not." if folded else " not folded: a folded hand brings none.")
        )
    if not all(sheet.outlives_fold for sheet in wagers):
        said.append(
            "A wager that is lost with a fold is counted as if no hand that meets one of its lines were folded."
        )
    return tuple(said)


STANDS: Mapping[str, str] = {
    NOT_QUALIFIED: "bet, the dealer does not qualify",
    HIGHER: "bet, and higher than the dealer",
    EQUAL: "bet, and equal to the dealer",
    LOWER: "bet, and lower than the dealer",
}
"""How a round ends that was bet on against a dealer, in words."""


def limit_sentence(main: MainSheet) -> str:
    """From which ante on the aggregate limit cuts a hand, and what is the most that is won without it."""
    limit, most = dollars(main.limit_cents), f"{main.most_won_antes:,} antes"
    if main.cut_from_cents is None:
        return f"The aggregate limit of {limit} cuts no hand at any ante: the most won is {most}."
    cut_from = dollars(main.cut_from_cents)
    return (
        f"The aggregate limit of {limit} cuts hands from an ante of {cut_from} on: the most won without it is {most}."
    )


def sheet_document(sheet: Sheet) -> dict[str, Any]:
    """The sheet as JSON: every figure as the exact fraction `n/d` and as a decimal; amounts in cents."""
    submission = sheet.submission
    folded = dict(sheet.folded)
    return {
        "rules": submission.id,
        "title": sheet.title,
        "game": submission.game,
        "in_force_from": submission.in_force_from.isoformat(),
        "sha256": submission.sha256.hex(),
        "seats": submission.seats,
        "ante": {
            "minimum_cents": submission.ante.minimum_cents,
            "maximum_cents": submission.ante.maximum_cents,
            "step_cents": submission.ante.step_cents,
        },
        "multiples": list(submission.multiples),
        "assumptions": list(sheet.assumptions),
        "warnings": list(sheet.warnings),
        "main": None if sheet.main is None else _main_document(sheet.main),
        "wagers": [_wager_document(each, folded.get(each.wager)) for each in sheet.wagers],
    }


def _value(value: Fraction) -> dict[str, str]:
    return {"fraction": fraction(value), "decimal": decimal(value)}


def _if_known(value: Fraction | None) -> dict[str, str] | None:
    return None if value is None else _value(value)


def _main_document(main: MainSheet) -> dict[str, Any]:
    return {
        "wagers": list(main.wagers),
        "deals": main.deals,
        "lines": [
            {
                "table": line.table,
                "hand": line.hand,
                "odds": line.odds.text,
                "chance_dealt": _value(line.dealt),
                "chance_paid": _value(line.paid),
            }
            for line in main.lines
        ],
        "folds": [{"wager": wager, "chance": _value(chance)} for wager, chance in main.folds],
        "against_the_dealer": [
            {"stands": against, "said": STANDS[against], "chance": _value(chance)} for against, chance in main.stands
        ],
        "at_minimum_ante": _figures(main.at_minimum),
        "at_maximum_ante": _figures(main.at_maximum),
        "at_maximum_ante_played_as_at_minimum": _figures(main.unchanged),
        "aggregate_limit_cents": main.limit_cents,
        "most_won_antes": main.most_won_antes,
        "limit_cuts_from_ante_cents": main.cut_from_cents,
        "limit_said": limit_sentence(main),
    }


def _figures(figures: PlayFigures) -> dict[str, Any]:
    return {
        "ante_cents": figures.ante_cents,
        "return": _value(figures.returned),
        "house_edge": _value(figures.edge),
        "average_wager": _value(figures.average_wager),
        "element_of_risk": _value(figures.element_of_risk),
        "variance": _value(figures.variance),
        "standard_deviation": root(figures.variance),
    }


def _wager_document(sheet: WagerSheet, folded: Fraction | None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "wager": sheet.wager,
        "hands": [str(on) for on in sheet.hands],
        "cards": sheet.cards,
        "minimum_cents": sheet.minimum_cents,
        "maximum_cents": sheet.maximum_cents,
        "source": sheet.source,
        "lines": [
            {
                "hand": line.hand,
                "odds": line.odds.text,
                "chance": _value(line.chance),
                "return": _if_known(sheet.line_return(line)),
            }
            for line in sheet.lines
        ],
        "lost": _value(sheet.lost),
        "extras": [
            {
                "wager": extra.wager,
                "cents": extra.cents,
                "chance": _value(extra.chance),
                "return": _value(sheet.sum_return(extra)),
            }
            for extra in sheet.extras
        ],
        "fixed_return": _value(sheet.fixed),
        "return": _value(1 - sheet.edge),
        "house_edge": _value(sheet.edge),
        "variance": _value(sheet.variance),
        "standard_deviation": root(sheet.variance),
        "outlives_fold": sheet.outlives_fold,
        "paying_hands_folded": _if_known(folded),
    }
    if sheet.depends_on_stake:
        document["return_at_maximum_wager"] = _value(sheet.returned(sheet.at_reset, sheet.maximum_cents))
    if sheet.shared:
        document["meters"] = {
            "return_at_reset": _value(sheet.returned(sheet.at_reset)),
            "return_at_limit": _value(sheet.returned(sheet.at_limit)),
            "levels": [_level_document(sheet, level) for level in sheet.shared],
        }
    if sheet.fed:
        document["contribution"] = {
            "rate": _value(sheet.rate),
            "levels": [
                {"level": level.name, "rate_ppm": level.rate_ppm, "hidden_rate_ppm": level.hidden_rate_ppm}
                for level in sheet.fed
            ],
        }
    if sheet.envy:
        document["envy"] = {
            "bonuses": [
                {
                    "hand": each.hand,
                    "cents": each.cents,
                    "chance_of_each_other_hand": _value(each.chance),
                    "return": _value(sheet.sum_return(each)),
                }
                for each in sheet.envy
            ],
            "return_for_each_other_hand": _value(sheet.envy_return),
            "others": sheet.others,
            "return_with_envy_at_full_table": _value(sheet.with_envy),
        }
    return document


def _level_document(sheet: WagerSheet, level: LevelRules) -> dict[str, Any]:
    even = sheet.break_even(level)
    return {
        "level": level.name,
        "reset_cents": level.reset_cents,
        "limit_cents": level.limit_cents,
        "return_for_each_cent": _value(sheet.slope(level)),
        "return_for_each_1000_dollars": _value(sheet.slope(level) * 100_000),
        "break_even": None
        if even is None
        else {
            "cents": even.cents,
            "exact_cents": _value(even.exact_cents),
            "within_limit": even.cents <= level.limit_cents,
        },
    }
