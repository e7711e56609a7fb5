"""Mississippi Stud, 58 Pa. Code chapter 655a: two own cards, three community cards, three street wagers."""

from services.core.games.game import (
    FIVE_CARD_HAND_BONUS,
    PROGRESSIVE,
    Area,
    Game,
    OptionalWager,
    Sections,
    Street,
    by_one_table,
)
from services.core.hands import THREE_CARD_HANDS
from services.core.names import On

MISSISSIPPI_STUD = Game(
    name="mississippi_stud",
    title="Mississippi Stud",
    own_cards=2,
    community_cards=3,
    dealer_cards=0,
    streets=(
        Street("street_3", decide_section="655a.11(b)", reveal_section="655a.11(c)"),
        Street("street_4", decide_section="655a.11(d)", reveal_section="655a.11(e)"),
        Street("street_5", decide_section="655a.11(f)", reveal_section="655a.11(g)"),
    ),
    settle_main=by_one_table(lost="655a.11(h)(1)", pushed="655a.11(h)(2)", won="655a.11(h)(3)"),
    optional=(
        OptionalWager(
            PROGRESSIVE,
            sees={On.PLAYER: (Area.OWN, Area.COMMUNITY)},
            won_section="655a.11(i)(1)(iv)",
            lost_section="655a.11(i)(1)",
            validate_section="655a.11(i)(1)(iii)",
            document_section="655a.11(i)(1)(iv)",
        ),
        OptionalWager(
            "three_card_bonus",
            sees={On.PLAYER: (Area.COMMUNITY,)},
            won_section="655a.11(i)(2)(i)",
            lost_section="655a.11(i)(2)(ii)",
            hands=THREE_CARD_HANDS,
        ),
        OptionalWager(
            FIVE_CARD_HAND_BONUS,
            sees={On.PLAYER: (Area.OWN, Area.COMMUNITY)},
            won_section="655a.11(i)(3)(iii)",
            lost_section="655a.11(i)(3)",
            from_account=True,
            validate_section="655a.11(i)(3)(ii)",
            document_section="655a.11(i)(3)(iii)",
        ),
        OptionalWager(
            "six_card_bonus",
            sees={On.PLAYER: (Area.OWN, Area.SIX_CARD_BONUS)},
            won_section="655a.11(i)(4)(i)",
            lost_section="655a.11(i)(4)(ii)",
            extra_area=Area.SIX_CARD_BONUS,
            extra_cards=4,
        ),
    ),
    sections=Sections(
        deal="655a.10(b)",
        count_stub="655a.10(d)",
        stub_is_right="655a.10(e)",
        stub_is_wrong="655a.10(f)",
        show="655a.11(h)",
        close="655a.11(j)",
        irregularity="655a.13",
        extras="655a.11(i)(3)(iii)",
        envy="655a.11(i)(1)(v)",
        forfeit="655a.11(a)(3)",
    ),
)
