"""What a table decides on each command: events, or a refusal."""

from typing import assert_never

from services.core.asking import Asking
from services.core.games import GAMES
from services.core.games.game import Area
from services.core.refusal import Refused
from services.core.rounds import betting, play, showing
from services.core.rounds.checks import round_in_progress
from services.core.rounds.commands import (
    Bet,
    CloseBetting,
    CloseRound,
    CloseTable,
    Command,
    ConfirmWager,
    CountStub,
    DealHands,
    DeclineWager,
    DrawLuckyPosition,
    DrawMagicCard,
    Fold,
    ForfeitWagers,
    OpenRound,
    OpenTable,
    PlaceWager,
    ReleasePayout,
    ReplaceHand,
    RevealAllSixCard,
    RevealCommunityCard,
    RevealDealerHand,
    RevealSixCardBonus,
    ShowHand,
    VoidRound,
    WithdrawWager,
)
from services.core.rounds.events import (
    DocumentVoided,
    Event,
    PayoutDocumented,
    PayoutRejected,
    PayoutValidated,
    RoundClosed,
    RoundOpened,
    RoundVoided,
    TableClosed,
    TableOpened,
)
from services.core.rounds.table import (
    Phase,
    State,
    Table,
    game_of,
    next_to_show,
)
from services.core.rules import Submission


def decide(state: State, command: Command, asking: Asking) -> tuple[Event, ...]:
    """The events that follow from a command; none where it changes nothing.

    Raises Refused where the rules do not allow it, RulesMissing where the round's submission is not held.
    """
    match command:
        case OpenTable():
            return _open_table(state, command, asking)
        case OpenRound():
            return _open_round(state, asking)
        case PlaceWager():
            return betting.place(state, command, asking)
        case WithdrawWager():
            return betting.withdraw(state, command)
        case CloseBetting():
            return betting.close(state)
        case ConfirmWager() | DeclineWager():
            return betting.answer(state, command)
        case DealHands(dealer_card):
            return play.deal(state, dealer_card)
        case CountStub():
            return play.count_stub(state, command)
        case Bet():
            return play.bet(state, command, asking)
        case Fold():
            return play.fold(state, command)
        case RevealCommunityCard(card):
            return play.reveal_community(state, card)
        case RevealDealerHand(cards):
            return play.reveal_dealer(state, cards)
        case DrawMagicCard(card):
            return play.draw_magic_card(state, card, asking)
        case DrawLuckyPosition(position):
            return play.draw_lucky_position(state, position, asking)
        case RevealSixCardBonus(cards):
            return play.reveal_extra(state, Area.SIX_CARD_BONUS, cards)
        case RevealAllSixCard(card):
            return play.reveal_extra(state, Area.ALL_SIX, (card,))
        case ForfeitWagers():
            return play.forfeit(state, command)
        case ShowHand():
            return showing.show(state, command, asking)
        case ReplaceHand():
            return showing.replace_hand(state, command, asking)
        case ReleasePayout():
            return _release(state, command)
        case VoidRound(reason):
            return _void(state, reason)
        case CloseRound():
            return _close_round(state)
        case CloseTable():
            return _close_table(state)
        case _:
            assert_never(command)


def _open_table(state: Table, command: OpenTable, asking: Asking) -> tuple[Event, ...]:
    if state.game is not None:
        raise Refused("This table is open already: close it first to open it under other rules.")
    if command.game not in GAMES:
        raise Refused(f"No table deals '{command.game}' here: choose one of {', '.join(GAMES)}.")
    rules = asking.book.in_force(command.rules, asking.at_ms)
    if rules is None or rules.game != command.game:
        title = GAMES[command.game].title
        raise Refused(f"No submission '{command.rules}' for {title} is in force: name one that is.")
    if not 1 <= command.seats <= rules.seats:
        raise Refused(f"A table cannot have {command.seats} seats under {rules.id}: it has 1 to {rules.seats}.")
    if not rules.needs_progressive and command.progressive_id is not None:
        raise Refused(f"{rules.id} offers no wager on a progressive: leave {command.progressive_id} out.")
    if rules.needs_progressive:
        if command.progressive_id is None:
            raise Refused(f"{rules.id} offers wagers on a progressive: name the progressive of this table.")
        if command.progressive_rules != rules.id:
            raise Refused(
                f"The progressive {command.progressive_id} is not open under {rules.id}: "
                "open it first, or name another."
            )
        if command.progressive_sha256 is not None and command.progressive_sha256 != rules.sha256:
            runs_under = asking.book.by_sha256(command.progressive_sha256)
            if _other_levels(rules, runs_under):
                raise Refused(
                    f"The progressive {command.progressive_id} runs under an earlier {rules.id}, with other levels than "
                    f"{', '.join(rules.levels)}: name one that was opened since {rules.in_force_from}."
                )
    return (TableOpened(command.game, command.seats, rules.id, command.progressive_id, rules.sha256),)


def _open_round(state: Table, asking: Asking) -> tuple[Event, ...]:
    if state.game is None or state.rules is None:
        raise Refused("This table is closed: open it first.")
    if state.round is not None and not state.round.over:
        raise Refused(f"The round {state.round.round_id} is not over: close it or void it first.")
    rules = asking.book.in_force(state.rules, asking.at_ms)
    if rules is None or rules.game != state.game:
        raise Refused(
            f"The submission {state.rules} is not in force any more: close the table and open it under another."
        )
    misfit = _misfit(state, rules, asking)
    if misfit is not None:
        raise Refused(
            f"The submission {rules.id} in force since {rules.in_force_from} {misfit}: "
            "close the table and open it again."
        )
    every = rules.stub_count.every_rounds
    if not rules.stub_count.counting_shuffler and state.rounds_uncounted >= every:
        raise Refused(
            f"{state.rounds_uncounted} rounds were dealt without a count of the stub, "
            f"which is due every {every}: close the table and open it with an inspected deck.",
            GAMES[state.game].sections.count_stub,
        )
    return (RoundOpened(f"{asking.key}-{state.rounds_opened + 1}", rules.id, rules.sha256),)


def _misfit(state: Table, rules: Submission, asking: Asking) -> str | None:
    """Why a table does not fit a submission that came into force after it was opened; None where it does."""
    if rules.sha256 == state.rules_sha256:
        return None
    if rules.needs_progressive and state.progressive_id is None:
        return "offers wagers on a progressive, and this table has none"
    if state.seats > rules.seats:
        return f"allows {rules.seats} seats, and this table has {state.seats}"
    if state.rules_sha256 is not None and _other_levels(rules, asking.book.by_sha256(state.rules_sha256)):
        return f"has the levels {', '.join(rules.levels)}, which are not those of this table's progressive"
    return None


def _other_levels(rules: Submission, runs_under: Submission) -> bool:
    """Whether a table under `rules` asks for levels that a progressive under another submission does not have."""
    return rules.progressive is not None and set(rules.levels) != set(runs_under.levels)


def _release(state: Table, command: ReleasePayout) -> tuple[Event, ...]:
    """What `jackpots` says of an awaited payout; nothing where it is not awaited, or was said before."""
    if state.round is None or state.round.over:
        return ()
    round_ = state.round
    awaited = next((each for each in round_.awaited if each.claim_id == command.claim_id), None)
    if awaited is None:
        return ()
    keyed_by = round_.seated(awaited.seat).keyed_by
    if command.entered_by and keyed_by and command.entered_by != keyed_by:
        return ()  # of the hand as it was keyed at first: its claim was taken back
    if command.slip_void:
        return (DocumentVoided(round_.round_id, command.claim_id),) if awaited.documented else ()
    if command.rejected:
        return () if awaited.rejected else (PayoutRejected(round_.round_id, command.claim_id),)
    if command.documented:
        return () if awaited.documented else (PayoutDocumented(round_.round_id, command.claim_id),)
    return () if awaited.validated else (PayoutValidated(round_.round_id, command.claim_id),)


def _void(state: Table, reason: str) -> tuple[Event, ...]:
    round_ = round_in_progress(state)
    if round_.hand_shown:
        raise Refused("A hand is shown and settled already: the round cannot be void any more.")
    return (RoundVoided(round_.round_id, reason, None, deck_removed=False),)


def _close_round(state: Table) -> tuple[Event, ...]:
    """Every wager is settled, every payout released. 655a.11(i),(j)"""
    round_ = round_in_progress(state)
    game = game_of(round_)
    section = game.sections.close
    if round_.phase is Phase.BETTING:
        if any(seated.ante is not None for seated in round_.seats):
            raise Refused("Wagers are on the layout: play the round to its end, or void it.", section)
        return (RoundClosed(round_.round_id),)
    turn = next_to_show(round_)
    if turn is not None:
        raise Refused(f"Seat {turn} still has a wager: every wager is settled before the round is closed.", section)
    for awaited in round_.awaited:
        kind = game.optional_wager(awaited.wager)
        assert kind is not None, "a payout waits for a floorperson that no optional wager won"
        if awaited.released:
            continue
        if not awaited.validated:
            raise Refused(f"A floorperson must validate the payout {awaited.claim_id} first.", kind.validate_section)
        raise Refused(
            f"The cards stay until the documentation of the payout {awaited.claim_id} is complete.",
            kind.document_section,
        )
    return (RoundClosed(round_.round_id),)


def _close_table(state: Table) -> tuple[Event, ...]:
    if state.game is None:
        raise Refused("This table is closed already.")
    if state.round is not None and not state.round.over:
        raise Refused(f"The round {state.round.round_id} is not over: close it or void it first.")
    return (TableClosed(),)
