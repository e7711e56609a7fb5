"""How players decide. These are habits of simulated players: whatever they do, the tables must hold.

Mississippi Stud: the strategy published by Michael Shackleford at wizardofodds.com. High cards (jack to ace) count two
points, middle cards (6 to 10) one, low cards (2 to 5) none; the first line that fits decides.

3rd Street, two cards: 3x with any pair; 1x with two points; 1x with 6-5 suited; else fold.
4th Street, three cards: 3x with a pair of 6s or better, a royal flush draw, a straight flush draw without a gap from
5-6-7 up, with one gap and a high card, or with two gaps and two high cards; 1x with any other three suited cards, a low
pair, three points, a straight draw without a gap from 4-5-6 up, or with one gap and two middle cards; else fold.
5th Street, four cards: 3x with a pair of 6s or better, four to a flush, or four to an outside straight, 8 high or
better; 1x with any other straight draw, a low pair, four points, or three middle cards after a 3x wager; else fold.

Cajun Stud: the same lines, borrowed because its three Raise Wagers come at the same three moments. Nobody published
them for this game as far as is known here, and nothing is claimed for them.

Caribbean Stud Poker: bet with ace-king-jack-8-3 or better, else fold, whatever the dealer shows: a simple rule that
Michael Shackleford compares with others at wizardofodds.com.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from services.core.cards import rank_value
from services.core.games.cajun_stud import CAJUN_STUD
from services.core.games.caribbean_stud import CARIBBEAN_STUD
from services.core.games.mississippi_stud import MISSISSIPPI_STUD
from services.core.hands import strength
from services.core.names import Card, GameName, Multiple

SIX, TEN, JACK, ACE = 6, 10, 11, 14
BET_WAGER: Multiple = 2
"""Two times the ante, the only multiple. 639a.11(b)"""
_LEAST_TO_BET = strength(("As", "Kd", "Jc", "8h", "3s"))

Strategy = Callable[[Sequence[Card], Sequence[Card], Sequence[Multiple]], Multiple]
"""From the player's own cards, those face up on the layout, and the multiples of the streets so far: the multiple of
the next wager, or 0 to fold."""


def three_streets(own: Sequence[Card], face_up: Sequence[Card], multiples: Sequence[Multiple]) -> Multiple:
    """The strategy for two own and three community cards. Raises ValueError where no decision is due."""
    cards = (*own, *face_up)
    ranks = sorted(rank_value(card) for card in cards)
    suited = len({card[1] for card in cards}) == 1
    match len(cards):
        case 2:
            return _third_street(ranks, suited)
        case 3:
            return _fourth_street(ranks, suited)
        case 4:
            return _fifth_street(ranks, suited, 3 in multiples)
        case count:
            raise ValueError(f"No decision is due with {count} cards.")


def against_the_dealer(own: Sequence[Card], _: Sequence[Card], __: Sequence[Multiple]) -> Multiple:
    """The strategy for five own cards against the dealer's five."""
    return BET_WAGER if strength(own) >= _LEAST_TO_BET else 0


STRATEGIES: dict[GameName, Strategy] = {
    MISSISSIPPI_STUD.name: three_streets,
    CARIBBEAN_STUD.name: against_the_dealer,
    CAJUN_STUD.name: three_streets,
}


def _third_street(ranks: list[int], suited: bool) -> Multiple:
    if ranks[0] == ranks[1]:
        return 3
    return 1 if _points(ranks) >= 2 or (suited and ranks == [5, 6]) else 0


def _fourth_street(ranks: list[int], suited: bool) -> Multiple:
    if _made(ranks):
        return 3
    # An ace below a 2 is no draw here: one end of such a straight is closed, and the published lines count it high.
    gaps = ranks[-1] - ranks[0] - 2 if len(set(ranks)) == 3 else None
    high = sum(rank >= JACK for rank in ranks)
    if suited and gaps is not None:
        royal = ranks[0] >= TEN
        open_ended = gaps == 0 and ranks[0] >= 5
        return 3 if royal or open_ended or (gaps == 1 and high >= 1) or (gaps == 2 and high >= 2) else 1
    middle = sum(SIX <= rank <= TEN for rank in ranks)
    worth = _points(ranks) >= 3 or (gaps == 0 and ranks[0] >= 4) or (gaps == 1 and middle >= 2)
    return 1 if worth or len(set(ranks)) < 3 else 0


def _fifth_street(ranks: list[int], suited: bool, raised_three_times: bool) -> Multiple:
    distinct = len(set(ranks)) == 4
    straight_draw = distinct and (ranks[-1] - ranks[0] <= 4 or _ace_low(ranks)[-1] <= 5)
    outside = distinct and ranks[-1] - ranks[0] == 3 and 8 <= ranks[-1] < ACE
    if _made(ranks) or suited or outside:
        return 3
    middle = sum(SIX <= rank <= TEN for rank in ranks)
    worth = straight_draw or _points(ranks) >= 4 or (middle >= 3 and raised_three_times)
    return 1 if worth or not distinct else 0


def _points(ranks: Sequence[int]) -> int:
    return sum(2 if rank >= JACK else 1 if rank >= SIX else 0 for rank in ranks)


def _made(ranks: Sequence[int]) -> bool:
    """A pair of 6s or better, two pair and three-of-a-kind of any rank among it."""
    counts = Counter(ranks)
    repeated = [rank for rank, count in counts.items() if count >= 2]
    return len(repeated) >= 2 or any(rank >= SIX or counts[rank] >= 3 for rank in repeated)


def _ace_low(ranks: Sequence[int]) -> list[int]:
    return sorted(1 if rank == ACE else rank for rank in ranks)
