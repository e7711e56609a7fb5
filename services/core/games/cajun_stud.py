"""Cajun Stud, 58 Pa. Code chapter 683a: two own cards, three community cards, three Raise Wagers.

The numbered items of 683a.11(h) and (i) are missing from every copy at hand, so results cite the subsection alone.
"""

from services.core.games.game import Area, Game, OptionalWager, Sections, Street, by_one_table
from services.core.hands import LO_BALL_HANDS, POCKET_HANDS, THREE_CARD_HANDS
from services.core.names import On

_MAIN, _OPTIONAL = "683a.11(h)", "683a.11(i)"

CAJUN_STUD = Game(
    name="cajun_stud",
    title="Cajun Stud",
    own_cards=2,
    community_cards=3,
    dealer_cards=0,
    streets=(
        Street("raise_1", decide_section="683a.11(b)", reveal_section="683a.11(c)"),
        Street("raise_2", decide_section="683a.11(d)", reveal_section="683a.11(e)"),
        Street("raise_3", decide_section="683a.11(f)", reveal_section="683a.11(g)"),
    ),
    settle_main=by_one_table(lost=_MAIN, pushed=_MAIN, won=_MAIN),
    optional=(
        OptionalWager(
            "pocket_bonus",
            sees={On.PLAYER: (Area.OWN,)},
            won_section=_OPTIONAL,
            lost_section=_OPTIONAL,
            hands=POCKET_HANDS,
        ),
        OptionalWager(
            "board_bonus",
            sees={On.PLAYER: (Area.COMMUNITY,)},
            won_section=_OPTIONAL,
            lost_section=_OPTIONAL,
            hands=THREE_CARD_HANDS,
        ),
        OptionalWager(
            "lo_ball",
            sees={On.PLAYER: (Area.OWN, Area.COMMUNITY)},
            won_section=_OPTIONAL,
            lost_section=_OPTIONAL,
            hands=LO_BALL_HANDS,
        ),
        OptionalWager(
            "all_six_bonus",
            sees={On.PLAYER: (Area.OWN, Area.COMMUNITY, Area.ALL_SIX)},
            won_section=_OPTIONAL,
            lost_section=_OPTIONAL,
            extra_area=Area.ALL_SIX,
            extra_cards=1,
        ),
    ),
    sections=Sections(
        deal="683a.10",
        count_stub="683a.10",
        stub_is_right="683a.10",
        stub_is_wrong="683a.10",
        show="683a.11(h)",
        close="683a.11(j)",
        irregularity="683a.13",
    ),
)
