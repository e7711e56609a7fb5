"""Every event as a sentence that a floorperson understands, and the section of the rules behind it."""

from collections.abc import Iterable
from typing import Any

from services.core import accounts, jackpots, rounds, wagers
from services.core.games import GAMES
from services.core.money import MICROCENTS_PER_CENT, dollars
from services.core.names import Card, GameName, On, Source, words
from services.core.refusal import passed_over

SUITS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
SOURCES = {
    Source.TABLE_INVENTORY: "from the table inventory",
    Source.GAME_ACCOUNT: "to the game account",
    Source.HAND_PAY: "by hand pay",
}


class EventUnknown(Exception):
    """An event that this version has no sentence for; a newer writer is at work."""


def sentence(event: Any) -> str:
    """What an event of any log says, without its name. Raises EventUnknown."""
    for said in (_betting(event), _play(event), _wagers(event), _claims(event), _meters(event), _accounts(event)):
        if said is not None:
            return said
    raise EventUnknown(f"there is no sentence for the event {type(event).__name__}: a newer writer is at work")


def section(event: Any, game: GameName | None) -> str | None:
    """The section behind an event, the game's own where the event names none; None where no rule is behind it."""
    named = getattr(event, "section", None)
    if named or game is None:
        return named or None
    sections, streets = GAMES[game].sections, GAMES[game].streets
    match event:
        case rounds.HandsDealt():
            return sections.deal
        case rounds.StubCounted():
            return sections.count_stub
        case rounds.BetPlaced(wager=wager):
            return next((street.decide_section for street in streets if street.wager == wager), None)
        case rounds.MagicCardDrawn() | rounds.LuckyPositionDrawn():
            return sections.extras
        case rounds.HandShown() | rounds.HandReplaced():
            return sections.show
        case rounds.WagersForfeited():
            return sections.forfeit
        case rounds.RoundClosed():
            return sections.close
        case jackpots.EnvyBonusDue():
            return sections.envy
        case _:
            return None


# Words --------------------------------------------------------------------------------------------------


def cards(names: Iterable[Card]) -> str:
    """`As` and `Td` as A♠ 10♦."""
    return " ".join(name[:-1].replace("T", "10") + SUITS[name[-1]] for name in names)


def _wager(name: str, on: On = On.PLAYER) -> str:
    return words(name) + (" on the dealer's hand" if on is On.DEALER else "")


def _seats(seats: Iterable[int]) -> str:
    listed = [str(seat) for seat in seats]
    if not listed:
        return "no seat"
    named = listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    return f"{'seat' if len(listed) == 1 else 'seats'} {named}"


def _microcents(value: int) -> str:
    return dollars(value // MICROCENTS_PER_CENT)


def _finely(microcents: int) -> str:
    """With the fraction of a cent that a meter counts: $0.38125."""
    cents, fraction = divmod(microcents, MICROCENTS_PER_CENT)
    return (dollars(cents) + f"{fraction:06d}".rstrip("0")) if fraction else dollars(cents)


# What happened at the table -------------------------------------------------------------------------------


def _betting(event: Any) -> str | None:
    match event:
        case rounds.TableOpened(game, seats, rules, progressive_id):
            linked = f", linked to {progressive_id}" if progressive_id else ""
            return f"The table deals {GAMES[game].title} at {seats} seats under {rules}{linked}."
        case rounds.TableClosed():
            return "No more rounds until it is opened again."
        case rounds.RoundOpened(_, rules):
            return f"Betting is open, under {rules}."
        case rounds.WagerRequested(_, seat, wager, hand, cents, player_id, account_id):
            return f"Seat {seat}, {player_id}: {dollars(cents)} on {_wager(wager, hand)}, from {account_id}."
        case rounds.WagerPlaced(_, seat, wager, hand, cents, player_id):
            who = f"Seat {seat}, {player_id}" if player_id else f"Seat {seat}"
            return f"{who}: {dollars(cents)} on {_wager(wager, hand)}."
        case rounds.WagerConfirmed(_, seat, wager, hand):
            return f"Seat {seat}: the account holds the stake of {_wager(wager, hand)}."
        case rounds.WagerDeclined(_, seat, wager, hand, _, reason):
            return f"Seat {seat}: {_wager(wager, hand)} does not stand. {reason}"
        case rounds.WagerWithdrawn(_, seat, wager, hand):
            return f"Seat {seat} takes {_wager(wager, hand)} back."
        case rounds.BettingClosed(_, lit):
            return f"No more bets. The progressive lights are on at {_seats(lit)}." if lit else "No more bets."
        case rounds.BetPlaced(_, seat, wager, multiple, cents):
            return f"Seat {seat}: {dollars(cents)} on {_wager(wager)}, {multiple} times the ante."
        case rounds.HandFolded(_, seat, cards_stay):
            stay = " The cards stay: an optional wager lives." if cards_stay else ""
            return f"Seat {seat} folds.{stay}"
        case rounds.WagersForfeited(_, seat, reason):
            return f"Seat {seat} forfeits every wager: {reason}"
        case rounds.Refused(command, reason) | jackpots.Refused(command, reason) | accounts.Refused(command, reason):
            return f"{command}: {reason}"
        case rounds.Skipped() | jackpots.Skipped() | accounts.Skipped() | wagers.Skipped():
            return f"{event.command}: {passed_over(event.reason, event.skipped_by)}"
        case _:
            return None


def _play(event: Any) -> str | None:
    match event:
        case rounds.HandsDealt(_, seats, stub_cards, dealer_card):
            shows = f" The dealer shows {cards([dealer_card])}." if dealer_card else ""
            return f"Cards to {_seats(seats)}; {stub_cards} are left.{shows}"
        case rounds.StubCounted(_, counted, expected, misdealt):
            found = "as it must be" if counted == expected else f"where {expected} were expected"
            return f"{counted} cards, {found}.{' The hands were misdealt.' if misdealt else ''}"
        case rounds.CommunityCardRevealed(_, card):
            return f"{cards([card])} is face up."
        case rounds.DealerHandRevealed(_, shown):
            return f"The dealer turns over {cards(shown)}."
        case rounds.MagicCardDrawn(_, card):
            return f"The Magic Card is {cards([card])}."
        case rounds.LuckyPositionDrawn(_, position):
            return f"The lucky position is {'the dealer' if position == 'dealer' else f'seat {position}'}."
        case rounds.SixCardBonusRevealed(_, shown):
            return f"The Six Card Bonus cards are {cards(shown)}."
        case rounds.AllSixCardRevealed(_, card):
            return f"The All-Six card is {cards([card])}."
        case rounds.HandShown(_, seat, shown):
            return f"Seat {seat} shows {cards(shown)}."
        case rounds.HandReplaced(_, seat, shown, reason, keyed_by):
            return f"The hand of seat {seat} had been keyed wrongly: {keyed_by} keys {cards(shown)}. {reason}"
        case rounds.PayoutAwaited(_, claim_id, documents):
            until = "validated and documented" if documents else "validated"
            return f"The round stays open until {claim_id} is {until}."
        case rounds.PayoutValidated(_, claim_id):
            return f"The table knows that {claim_id} is validated."
        case rounds.PayoutDocumented(_, claim_id):
            return f"The table knows that {claim_id} is documented."
        case rounds.DocumentVoided(_, claim_id):
            return f"The table knows that {claim_id} has no document any more."
        case rounds.PayoutRejected(_, claim_id):
            return f"The table knows that {claim_id} is not paid."
        case rounds.RoundVoided(_, reason, _, deck_removed):
            deck = " The deck is removed." if deck_removed else ""
            return f"{reason} Every wager is returned.{deck}"
        case rounds.RoundClosed():
            return "The round is over; its cards are in the discard rack."
        case _:
            return None


# What the wagers came to ------------------------------------------------------------------------------------


def _wagers(event: Any) -> str | None:
    match event:
        case wagers.RoundStarted(_, game, rules):
            return f"Wagers are settled by {GAMES[game].title} under {rules}."
        case wagers.HoldRequested(_, seat, wager, _, cents, _, account_id):
            return f"{account_id} is asked to hold {dollars(cents)} for {_wager(wager)} of seat {seat}."
        case wagers.HoldReturned(_, seat, wager, _, account_id):
            return f"{account_id} is told to release the stake of {_wager(wager)} of seat {seat}."
        case wagers.ContributionDue(_, progressive_id, cents, count):
            return f"{dollars(cents)} of {count} progressive wagers count towards {progressive_id}."
        case wagers.ContributionReversed(_, progressive_id):
            return f"The contribution to {progressive_id} is taken back."
        case wagers.WagerSettled():
            return _settled(event)
        case wagers.EnvyBonusWon(_, _, holder, recipients, hand, cents):
            return f"The {words(hand)} of seat {holder} brings {dollars(cents)} each to {_seats(recipients)}."
        case wagers.WagerReversed(_, seat, wager, on):
            return f"Seat {seat}: what {_wager(wager, on)} had come to does not stand; the hand had been keyed wrongly."
        case wagers.EnvyBonusReversed(_, _, holder):
            return f"The hand of seat {holder} had been keyed wrongly: it brings nobody an Envy Bonus."
        case wagers.RoundFinished(_, void):
            return "Nothing more is settled: the round is void." if void else "Every wager is settled."
        case _:
            return None


def _settled(event: wagers.WagerSettled) -> str:
    said = f"Seat {event.seat}: {_wager(event.wager, event.on)}"
    if event.stake_cents:
        said += f", {dollars(event.stake_cents)}"
    said += f", {event.result.value}"
    if event.hand is not None:
        said += f" with {words(event.hand)}"
    if event.odds is not None:
        said += f" at {event.odds}"
    if event.won_cents:
        said += f": {dollars(event.won_cents)}"
    if event.source is not None:
        said += f" {SOURCES[event.source]}"
    if event.returned_cents:
        said += f"; {dollars(event.returned_cents)} of the stake goes back"
    return f"{said}."


# Meters and claims ----------------------------------------------------------------------------------------


def _claims(event: Any) -> str | None:
    match event:
        case jackpots.PayoutClaimed():
            paid = f"{dollars(event.amount_cents)} {SOURCES[event.source]}"
            won = f"{words(event.hand)} on {_wager(event.wager, event.on)}"
            return f"Seat {event.seat}: {won} waits for a floorperson: {paid}."
        case jackpots.PayoutValidated(claim_id, _, validated_by):
            return f"{validated_by or 'A floorperson'} validated {claim_id}."
        case jackpots.PayoutSigned(claim_id, signed_by):
            return f"{signed_by} signed for {claim_id} too."
        case jackpots.PayoutDocumented(claim_id, _, document, slip_number):
            return f"{claim_id} is documented by {document}; slip number {slip_number}."
        case jackpots.SlipVoided(claim_id, slip_number, reason):
            return f"Slip {slip_number} of {claim_id} is void: {reason}"
        case jackpots.PayoutRejected(claim_id, _, cents, reason):
            return f"{claim_id}, {dollars(cents)}, is not paid: {reason}"
        case jackpots.PayoutTakenBack(claim_id=claim_id, state=state, amount_cents=cents):
            return f"{claim_id}, {dollars(cents)}, was not won: the hand had been keyed wrongly. It was {state.value}."
        case jackpots.PayoutPaid(seat=seat, wager=wager, amount_cents=cents, source=source):
            return f"Seat {seat} was paid {dollars(cents)} for {_wager(wager)}, {SOURCES[source]}."
        case jackpots.EnvyBonusDue(_, _, holder, recipient, hand, cents):
            return f"Seat {recipient} is due {dollars(cents)} for the {words(hand)} of seat {holder}."
        case jackpots.EnvyBonusPaid(_, holder, recipient, cents):
            return f"Seat {recipient} was paid its Envy Bonus of {dollars(cents)} for the hand of seat {holder}."
        case jackpots.EnvyBonusTakenBack(_, holder, recipient, cents, paid):
            back = " and must be got back" if paid else ""
            return f"The Envy Bonus of {dollars(cents)} to seat {recipient} for seat {holder} was not earned{back}."
        case _:
            return None


def _meters(event: Any) -> str | None:
    match event:
        case jackpots.ProgressiveOpened(rules, _, levels):
            named = ", ".join(f"{level.name} at {_microcents(level.base_microcents)}" for level in levels)
            return f"Open under {rules}: {named}."
        case jackpots.ContributionAccepted(_, _, wager_cents, levels):
            gained = sum(part.shown_microcents + part.hidden_microcents + part.overflow_microcents for part in levels)
            return f"{dollars(wager_cents)} of progressive wagers raise the levels by {_finely(gained)}."
        case jackpots.ContributionTakenBack():
            return "The levels lose again what the round had added."
        case jackpots.LevelHit(_, _, seat, name, percent, cents, value):
            share = f"{percent} % of {words(name)}, {dollars(cents)}"
            return f"Seat {seat} wins {share}. It goes on from {_microcents(value)}."
        case jackpots.LevelRestored(claim_id, _, name, cents, value):
            return f"{words(name)} regains {dollars(cents)} of {claim_id}. It goes on from {_microcents(value)}."
        case jackpots.TransferAccepted(transfer_from, levels):
            return f"What {transfer_from} held is taken over: {_moved(levels)}."
        case jackpots.TransferDeclined(transfer_from, reason):
            return f"What {transfer_from} offered is not taken over. {reason}"
        case jackpots.ProgressiveClosing(transfer_to, levels):
            return f"The progressive ends. It offers {transfer_to} what it holds: {_moved(levels)}."
        case jackpots.ProgressiveClosed(transfer_to):
            return f"The progressive is closed; {transfer_to} has what it held."
        case jackpots.ClosingGivenUp(transfer_to, reason):
            return f"The progressive goes on: {transfer_to} does not take over what it holds. {reason}"
        case jackpots.CommandForwarded(transfer_to):
            return f"What was asked of this progressive is asked of {transfer_to}."
        case _:
            return _parameters(event)


def _moved(levels: Iterable[jackpots.LevelMoved]) -> str:
    parts = [(each.name, each.shown_microcents + each.hidden_microcents + each.overflow_microcents) for each in levels]
    return ", ".join(f"{words(name)} {_finely(microcents)}" for name, microcents in parts)


def _parameters(event: Any) -> str | None:
    match event:
        case jackpots.ParametersProposed(change, name, before, after, reason, proposed_by):
            return f"Change {change}: {proposed_by} proposes for {words(name)} {_changed(before, after)}. {reason}"
        case jackpots.ParametersApproved(change, name, approved_by):
            return f"Change {change} of {words(name)} is approved by {approved_by}, and waits for its moment."
        case jackpots.ParametersDropped(change, name, reason):
            return f"Change {change} of {words(name)} is dropped: {reason}"
        case jackpots.ParametersChanged(change, name, before, after):
            return f"Change {change} is in force. {words(name)} goes by {_changed(before, after)}."
        case _:
            return None


def _changed(before: jackpots.LevelTerms, after: jackpots.LevelTerms) -> str:
    """What differs, as `limit $300,000.00 instead of $250,000.00`."""
    said = (
        ("reset", _microcents(before.reset_microcents), _microcents(after.reset_microcents)),
        ("limit", _microcents(before.limit_microcents), _microcents(after.limit_microcents)),
        ("rate", f"{before.rate_ppm} ppm", f"{after.rate_ppm} ppm"),
        ("hidden rate", f"{before.hidden_rate_ppm} ppm", f"{after.hidden_rate_ppm} ppm"),
    )
    return ", ".join(f"{name} {new} instead of {old}" for name, old, new in said if old != new)


# Accounts -------------------------------------------------------------------------------------------------


def _accounts(event: Any) -> str | None:
    match event:
        case accounts.AccountOpened(player_id):
            return f"The account of {player_id} is open."
        case accounts.Deposited(cents, reference):
            return f"{dollars(cents)} came in: {reference}."
        case accounts.Withdrawn(cents, reference):
            return f"{dollars(cents)} went out: {reference}."
        case accounts.HoldPlaced(_, cents):
            return f"{dollars(cents)} are set aside for the wager."
        case accounts.HoldDeclined(_, cents, reason=reason):
            return f"{dollars(cents)} could not be set aside: {reason}"
        case accounts.HoldPosted(_, cents):
            return f"The stake of {dollars(cents)} left the account."
        case accounts.HoldReleased(_, cents):
            return f"The stake of {dollars(cents)} is available again."
        case accounts.WinningsCredited(cents, _, seat, wager):
            return f"{dollars(cents)} were credited for {_wager(wager)} of seat {seat}."
        case accounts.StakeReturned(cents, _, seat, wager):
            return f"The stake of {dollars(cents)} on {_wager(wager)} of seat {seat} came back."
        case accounts.WinningsTakenBack(cents, owed, _, seat, wager):
            rest = f"; {dollars(owed)} more is owed, the player has it already" if owed else ""
            return f"{dollars(cents)} of {_wager(wager)} of seat {seat} were taken back{rest}."
        case _:
            return None
