"""Caribbean Stud Poker, 58 Pa. Code chapter 639a: five own cards against the dealer's five, one Bet Wager."""

from services.core.games.game import (
    ANTE,
    FIVE_CARD_HAND_BONUS,
    PROGRESSIVE,
    Area,
    Faces,
    Game,
    OptionalWager,
    Outcome,
    Sections,
    Street,
    by_line,
)
from services.core.hands import ace_king_or_better, strength
from services.core.names import On, Result, WagerName
from services.core.paytables import first_met
from services.core.rules import Submission


def _against_the_dealer(submission: Submission, wager: WagerName, faces: Faces) -> Outcome:
    """Ante and Bet against the dealer's hand, which plays from ace-king on. 639a.11(c)(3)"""
    own, dealer = faces.of((Area.OWN,)), faces.of((Area.DEALER,))
    if not ace_king_or_better(dealer):
        if wager != ANTE:
            return Outcome(Result.RETURNED, None, "639a.11(c)(3)(i)")
        won = "639a.11(c)(3)(i)"
    elif strength(own) < strength(dealer):
        return Outcome(Result.LOST, None, "639a.11(c)(3)(ii)(A)")
    elif strength(own) == strength(dealer):
        return Outcome(Result.RETURNED, None, "639a.11(c)(3)(ii)(C)")
    else:
        won = "639a.11(c)(3)(ii)(B)"
    line = first_met(submission.main_tables["ante_table" if wager == ANTE else "bet_table"], own)
    assert line is not None, "a submission whose table has no line for a winning hand is not read"
    return by_line(line, pushed=won, won=won)


CARIBBEAN_STUD = Game(
    name="caribbean_stud",
    title="Caribbean Stud Poker",
    own_cards=5,
    community_cards=0,
    dealer_cards=5,
    streets=(Street("bet", decide_section="639a.11(b)", reveal_section="639a.11(c)"),),
    settle_main=_against_the_dealer,
    main_tables=("ante_table", "bet_table"),
    optional=(
        OptionalWager(
            "caribbean_stud_bonus",
            sees={On.PLAYER: (Area.OWN,)},
            won_section="639a.11(c)(4)",
            lost_section="639a.11(c)(4)",
            outlives_fold=False,
        ),
        OptionalWager(
            PROGRESSIVE,
            sees={On.PLAYER: (Area.OWN,)},
            won_section="639a.11(c)(5)(iv)",
            lost_section="639a.11(c)(5)",
            outlives_fold=False,
            validate_section="639a.11(c)(5)(iii)",
            document_section="639a.11(c)(5)(iv)",
        ),
        OptionalWager(
            FIVE_CARD_HAND_BONUS,
            sees={On.PLAYER: (Area.OWN,), On.DEALER: (Area.DEALER,)},
            won_section="639a.11(c)(6)(iii)",
            lost_section="639a.11(c)(6)",
            from_account=True,
            validate_section="639a.11(c)(6)(ii)",
            document_section="639a.11(c)(6)(iii)",
        ),
    ),
    sections=Sections(
        deal="639a.10",
        count_stub="639a.10",
        stub_is_right="639a.10",
        stub_is_wrong="639a.10",
        show="639a.11(c)",
        close="639a.11(d)",
        irregularity="639a.13",
        extras="639a.11(c)(6)(iii)",
        envy="639a.11(c)(5)(v)",
    ),
)
