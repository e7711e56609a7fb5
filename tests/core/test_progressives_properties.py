"""Two linked progressives under random play of everything that may be asked of them: contributions, voids, wins, payouts
and what puts them right, parameters, and closing. After every record nothing is made and nothing is lost.

The oracle counts in whole fractions of cents, in the words of the rules, and judges each command where it arrives.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from services.core import jackpots, refusal
from services.core.jackpots import INITIAL, State, decide, evolve, following, view
from services.core.names import Source
from services.core.payouts import ClaimState
from services.core.rules import LevelRules, RuleBook
from tests.support.told import ASKING, CENT, balanced, claim, submission

NAMES = ("mega", "minor")
TABLES = {"table-1": "a", "table-2": "a", "table-3": "b"}
OTHER = {"a": "b", "b": "a"}
EACH = tuple(OTHER)
NOTHING = (Fraction(0), Fraction(0), Fraction(0))

Parts = tuple[Fraction, Fraction, Fraction]
"""Of what is shown, hidden and above the limit."""


def levels(chance: Random) -> tuple[LevelRules, ...]:
    """Two levels, each with a limit that is met often or never."""
    rules = []
    for name in NAMES:
        reset = chance.randint(0, 1_500)
        base = reset + chance.choice([0, chance.randint(1, 300)])
        limit = base + chance.choice([chance.randint(1, 80), 1_000_000])
        rules.append(LevelRules(name, base, reset, chance.randint(0, 450_000), chance.randint(0, 50_000), limit))
    return tuple(rules)


@dataclass
class Pot:
    """One level as the rules describe it, in cents as fractions."""

    shown: Fraction
    house: Fraction
    reset: int
    limit: int
    rate: int
    hidden_rate: int
    hidden: Fraction = Fraction(0)
    above: Fraction = Fraction(0)
    contributed: Fraction = Fraction(0)
    came: Fraction = Fraction(0)
    went: Fraction = Fraction(0)
    won: int = 0
    paid: int = 0
    hits: int = 0

    @property
    def parts(self) -> Parts:
        return self.shown, self.hidden, self.above

    def gain(self, cents: int) -> Parts:
        gained, hidden = Fraction(cents * self.rate, CENT), Fraction(cents * self.hidden_rate, CENT)
        shown = min(gained, max(Fraction(0), self.limit - self.shown))
        return shown, hidden, gained - shown

    def add(self, parts: Parts) -> None:
        self.shown += parts[0]
        self.hidden += parts[1]
        self.above += parts[2]

    def void(self, parts: Parts) -> None:
        """Each part leaves where it is; what is not there any more leaves what is shown."""
        hidden, above = min(self.hidden, parts[1]), min(self.above, parts[2])
        self.add((hidden + above - sum(parts), -hidden, -above))
        self.contributed -= sum(parts)
        self.made_good()

    def made_good(self) -> Fraction:
        lacking = max(Fraction(0), self.reset - self.shown)
        self.shown += lacking
        self.house += lacking
        return lacking

    def win(self, percent: int) -> tuple[int, Parts, Fraction]:
        """What is won, what each part lost by it, and what the house put in."""
        before = self.parts
        won = int(self.shown * percent / 100)
        if percent == 100:
            start = self.reset + self.hidden + self.above + self.shown - won
            put_in = Fraction(self.reset)
            self.house += put_in
            self.shown, self.hidden = min(start, Fraction(self.limit)), Fraction(0)
            self.above = start - self.shown
        else:
            self.shown -= won
            put_in = self.made_good()
        self.won += won
        self.hits += 1
        shown, hidden, above = (was - now for was, now in zip(before, self.parts, strict=True))
        return won, (shown, hidden, above), put_in

    def undo(self, won: int, lost: Parts, put_in: Fraction) -> None:
        """The winner's money comes back and the house's goes; each part regains what it lost."""
        all_of_it = sum(self.parts) + won - put_in
        self.hidden += lost[1]
        self.above = max(Fraction(0), self.above + lost[2])
        self.shown = all_of_it - self.hidden - self.above
        self.house -= put_in
        over = max(Fraction(0), self.shown - self.limit)
        self.add((-over, Fraction(0), over))
        self.made_good()
        self.won -= won
        self.hits -= 1


@dataclass
class Payout:
    """A claim: of which level, how much, how far; and what a win of all or some of the level took from it."""

    level: str | None
    amount: int
    round_id: str
    lost: Parts = NOTHING
    put_in: Fraction = Fraction(0)
    step: ClaimState = ClaimState.HIT
    slip: int | None = None


@dataclass
class Waiting:
    """A change of parameters."""

    number: int
    terms: dict[str, int]
    idle_ms: int | None
    approved: bool = False


@dataclass
class Model:
    """One progressive: its pots, what waits, and whether it ends."""

    pots: dict[str, Pot]
    last: dict[str, tuple[str, dict[str, Parts]]] = field(default_factory=dict)
    last_at_ms: int = 0
    claims: dict[str, Payout] = field(default_factory=dict)
    paid: dict[str, Payout] = field(default_factory=dict)
    due: list[tuple[str, int, int]] = field(default_factory=list)
    envied: list[tuple[str, int, int]] = field(default_factory=list)
    waiting: dict[str, Waiting] = field(default_factory=dict)
    proposals: int = 0
    slips: int = 0
    ends: bool = False
    closed: bool = False
    offered: dict[str, Parts] = field(default_factory=dict)

    def possible(self, name: str, terms: dict[str, int]) -> bool:
        rates = terms["rate"] + terms["hidden_rate"]
        rates += sum(pot.rate + pot.hidden_rate for other, pot in self.pots.items() if other != name)
        return terms["reset"] <= terms["limit"] and rates <= CENT

    def fits(self, name: str, terms: dict[str, int]) -> bool:
        pot = self.pots[name]
        return self.possible(name, terms) and (terms["limit"] == pot.limit or terms["limit"] > pot.shown)

    def change(self, name: str, now_fits: bool) -> None:
        change = self.waiting.pop(name)
        if now_fits:
            for parameter, value in change.terms.items():
                setattr(self.pots[name], parameter, value)

    def after_idle(self, now_ms: int) -> None:
        for name, change in sorted(self.waiting.items(), key=lambda each: each[1].number):
            if change.approved and change.idle_ms is not None and now_ms - self.last_at_ms >= change.idle_ms:
                self.change(name, self.fits(name, change.terms))
                self.pots[name].made_good()

    # Each command, where it arrives at a progressive that takes it ----------------------------------------

    def contribute(self, command: jackpots.Contribute, now_ms: int) -> None:
        if command.table_id in self.last and self.last[command.table_id][0] == command.round_id:
            return
        self.after_idle(now_ms)
        gains = {name: pot.gain(command.wager_cents) for name, pot in self.pots.items()}
        for name, gain in gains.items():
            self.pots[name].add(gain)
            self.pots[name].contributed += sum(gain)
        self.last[command.table_id] = (command.round_id, gains)
        self.last_at_ms = now_ms

    def reverse(self, command: jackpots.ReverseContribution) -> None:
        if self.last.get(command.table_id, ("", {}))[0] == command.round_id:
            for name, parts in self.last.pop(command.table_id)[1].items():
                self.pots[name].void(parts)

    def claim(self, command: jackpots.ClaimPayout) -> None:
        if command.amount_cents is not None:
            self.claims[command.claim_id] = Payout(None, command.amount_cents, command.round_id)
            return
        percent, _, name = command.odds.partition("% of ")
        if percent == "100" and name in self.waiting and self.waiting[name].approved:
            self.change(name, self.possible(name, self.waiting[name].terms))
        won, lost, put_in = self.pots[name].win(int(percent))
        self.claims[command.claim_id] = Payout(name, won, command.round_id, lost, put_in)

    def undo(self, payout: Payout) -> None:
        if payout.level is not None:
            self.pots[payout.level].undo(payout.amount, payout.lost, payout.put_in)
            if payout.step is ClaimState.PAID:
                self.pots[payout.level].paid -= payout.amount

    def take_back(self, claim_id: str) -> None:
        payout = self.claims.pop(claim_id, None) or self.paid.pop(claim_id, None)
        if payout is not None:
            self.undo(payout)

    def accept(self, command: jackpots.AcceptTransfer, source: "Model") -> None:
        for name, (shown, hidden, above) in source.offered.items():
            pot = self.pots[name]
            fits = min(shown, max(Fraction(0), pot.limit - pot.shown))
            pot.add((fits, hidden, above + shown - fits))
            pot.came += shown + hidden + above
        for each in command.contributions:
            self.last.setdefault(each.table_id, source.last[each.table_id])

    def complete(self) -> None:
        for name, pot in self.pots.items():
            pot.went += sum(self.offered[name])
            pot.house -= sum(pot.parts) - sum(self.offered[name])
            pot.shown, pot.hidden, pot.above = NOTHING
        self.closed = True
        self.waiting.clear()


class Link:
    """Tables at two progressives, floorpersons, and an office that changes parameters and closes one into the other."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        a, b = levels(chance), levels(chance)
        rules = {"a": submission("a", "mississippi_stud", *a), "b": submission("b", "mississippi_stud", *b)}
        self.book = RuleBook(tuple(rules.values()))
        self.states: dict[str, State] = dict.fromkeys(EACH, INITIAL)
        self.models = {
            name: Model(
                {
                    each.name: Pot(
                        Fraction(each.base_cents), Fraction(each.base_cents), each.reset_cents, each.limit_cents,
                        each.rate_ppm, each.hidden_rate_ppm,
                    )
                    for each in of_rules
                }
            )
            for name, of_rules in (("a", a), ("b", b))
        }  # fmt: skip
        self.now_ms = ASKING.at_ms
        self.rounds = dict.fromkeys(TABLES, 1)
        self.sent: deque[tuple[str, Any]] = deque()
        self.claimed = 0
        self.lifetimes: dict[tuple[str, str], int] = {}
        for name in EACH:
            self.tell(name, jackpots.OpenProgressive(name))

    def tell(self, name: str, command: Any, actor: str = "omar") -> tuple[Any, ...] | None:
        """The events of a command; None where it was refused."""
        asking = replace(ASKING, key=name, actor=actor, at_ms=self.now_ms, book=self.book)
        try:
            events = decide(self.states[name], command, asking)
        except refusal.Refused:
            return None
        for event in events:
            self.states[name] = evolve(self.states[name], event)
            balanced(self.states[name])
            self.sent += [(each.key, each.command) for each in following(name, event) if each.stream == "jackpots"]
        return events

    def processor(self, name: str, command: Any) -> None:
        """What a processor asks, told to the model too unless it is handed on."""
        model = self.models[name]
        known = isinstance(command, jackpots.TakeBackPayout) and command.claim_id in model.paid
        events = self.tell(name, command)
        if model.ends and known:
            # A level that is gone regains nothing by itself, and that is said.
            level = model.paid[command.claim_id].level
            assert (events is None) == (level is not None)
            if level is None:
                model.take_back(command.claim_id)
            return
        assert events is not None, "what a processor asks is not refused"
        if model.ends and not isinstance(command, jackpots.AcceptTransfer | jackpots.CompleteClosing):
            if isinstance(command, jackpots.TakeBackEnvy) and self.envy_of(model, command):
                self.take_back_envy(model, command, events)
                return
            (handed_on,) = events
            assert isinstance(handed_on, jackpots.CommandForwarded) and handed_on.command == command
            return
        match command:
            case jackpots.Contribute():
                model.contribute(command, self.now_ms)
            case jackpots.ReverseContribution():
                model.reverse(command)
            case jackpots.ClaimPayout(claim_id):
                model.claim(command)
                assert events[-1].amount_cents == model.claims[claim_id].amount
            case jackpots.TakeBackPayout(claim_id):
                model.take_back(claim_id)
            case jackpots.AwardEnvy(_, round_id, holder, recipients):
                model.due += [(round_id, holder, seat) for seat in recipients]
            case jackpots.TakeBackEnvy():
                self.take_back_envy(model, command, events)
            case jackpots.AcceptTransfer(transfer_from):
                assert isinstance(events[0], jackpots.TransferDeclined) == model.ends
                if not model.ends:
                    model.accept(command, self.models[transfer_from])
            case jackpots.CompleteClosing(_, declined):
                if declined is None:
                    model.complete()
                else:
                    model.ends = False

    @staticmethod
    def envy_of(model: Model, command: jackpots.TakeBackEnvy) -> set[tuple[str, int, int]]:
        return {each for each in (*model.due, *model.envied) if each[:2] == (command.round_id, command.holder_seat)}

    def take_back_envy(self, model: Model, command: jackpots.TakeBackEnvy, events: tuple[Any, ...]) -> None:
        wrong = self.envy_of(model, command)
        assert {(e.round_id, e.holder_seat, e.recipient_seat) for e in events} == wrong
        assert {e.recipient_seat for e in events if e.paid} == {each[2] for each in wrong if each in model.envied}
        model.due = [each for each in model.due if each not in wrong]
        model.envied = [each for each in model.envied if each not in wrong]

    # Tables -----------------------------------------------------------------------------------------------

    def round_of(self, table: str) -> str:
        return f"{table}-{self.rounds[table]}"

    def wager(self) -> None:
        table = self.chance.choice(list(TABLES))
        self.rounds[table] += 1
        command = jackpots.Contribute(table, self.round_of(table), self.chance.randint(1, 600), 1)
        self.processor(TABLES[table], command)

    def void(self) -> None:
        table = self.chance.choice(list(TABLES))
        self.processor(TABLES[table], jackpots.ReverseContribution(table, self.round_of(table)))

    def win(self) -> None:
        table = self.chance.choice(list(TABLES))
        self.claimed += 1
        fixed = self.chance.choice([None, None, 5_000])
        percent = self.chance.choice([100, self.chance.randint(1, 99)])
        odds = "50 for 1" if fixed else f"{percent}% of {self.chance.choice(NAMES)}"
        source = Source.TABLE_INVENTORY if fixed else Source.HAND_PAY
        won = claim(odds, fixed, seat=self.claimed, source=source, round_id=self.round_of(table))
        self.processor(TABLES[table], won)

    def keyed_wrongly(self) -> None:
        """A claim of a table's last round, wherever it is and however far it has come, was not won."""
        known = [
            (table, claim_id)
            for table in TABLES
            for model in self.models.values()
            for claim_id, payout in (*model.claims.items(), *model.paid.items())
            if payout.round_id == self.round_of(table)
        ]
        if known:
            table, claim_id = self.chance.choice(known)
            self.processor(TABLES[table], jackpots.TakeBackPayout(claim_id, table, self.round_of(table)))

    def envy(self) -> None:
        table, holder = self.chance.choice(list(TABLES)), self.chance.randint(1, 2)
        round_id = self.round_of(table)
        if any(each[0] == round_id for model in self.models.values() for each in (*model.due, *model.envied)):
            self.processor(TABLES[table], jackpots.TakeBackEnvy(table, round_id, holder))
        else:
            self.processor(TABLES[table], jackpots.AwardEnvy(table, round_id, holder, (5, 6), "royal_flush", 9))

    # People -----------------------------------------------------------------------------------------------

    def payout(self) -> None:
        """The next step of a payout that waits, or back."""
        waiting = [(name, claim_id) for name, model in self.models.items() for claim_id in model.claims]
        if not waiting:
            return
        name, claim_id = self.chance.choice(waiting)
        model = self.models[name]
        payout = model.claims[claim_id]
        match self.chance.choice(["void", "reject", *["on"] * 8]):
            case "void":
                events = self.tell(name, jackpots.VoidSlip(claim_id, "torn"))
                assert (events is not None) == (payout.slip is not None)
                if events is not None:
                    payout.step, payout.slip = ClaimState.VALIDATED, None
            case "reject":
                events = self.tell(name, jackpots.RejectPayout(claim_id, "no"))
                assert (events is not None) == (payout.step is not ClaimState.DOCUMENTED)
                if events is not None:
                    model.undo(model.claims.pop(claim_id))
            case _:
                self.next_step(name, claim_id, payout)

    def next_step(self, name: str, claim_id: str, payout: Payout) -> None:
        model = self.models[name]
        if payout.step is ClaimState.HIT:
            assert self.tell(name, jackpots.ValidatePayout(claim_id)) is not None
            payout.step = ClaimState.VALIDATED
        elif payout.step is ClaimState.VALIDATED and payout.level is not None:
            documented = self.tell(name, jackpots.DocumentPayout(claim_id, "slip"))
            model.slips += 1
            assert documented is not None and documented[0].slip_number == model.slips
            payout.step, payout.slip = ClaimState.DOCUMENTED, model.slips
        else:
            assert self.tell(name, jackpots.PayPayout(claim_id)) is not None
            payout.step = ClaimState.PAID
            model.paid[claim_id] = model.claims.pop(claim_id)
            if payout.level is not None:
                model.pots[payout.level].paid += payout.amount

    def pay_envy(self) -> None:
        due = [(name, each) for name, model in self.models.items() for each in model.due]
        if due:
            name, (round_id, _, seat) = self.chance.choice(due)
            model = self.models[name]
            assert self.tell(name, jackpots.PayEnvy(round_id, seat)) is not None
            now = [each for each in model.due if (each[0], each[2]) == (round_id, seat)]
            model.due = [each for each in model.due if each not in now]
            model.envied += now

    def propose(self) -> None:
        name, level = self.chance.choice(EACH), self.chance.choice(NAMES)
        model, pot = self.models[name], self.models[name].pots[level]
        terms = {each: getattr(pot, each) for each in ("reset", "limit", "rate", "hidden_rate")}
        parameter = self.chance.choice(list(terms))
        near = int(pot.shown) + self.chance.randint(-5, 60)
        value = self.chance.randint(0, 600_000) if "rate" in parameter else max(1, near)
        changed = {**terms, parameter: value}
        command = jackpots.ChangeParameters(
            level,
            "why",
            idle_after_ms=self.chance.choice([None, 50]),
            **{f"{parameter}_{'ppm' if 'rate' in parameter else 'cents'}": value},
        )
        events = self.tell(name, command, "ruth")
        may = not model.ends and level not in model.waiting and changed != terms and model.fits(level, changed)
        assert (events is not None) == may
        if may:
            model.proposals += 1
            model.waiting[level] = Waiting(model.proposals, changed, command.idle_after_ms)

    def approve_or_drop(self) -> None:
        waiting = [(name, level) for name, model in self.models.items() for level in model.waiting]
        if not waiting:
            return
        name, level = self.chance.choice(waiting)
        model = self.models[name]
        change = model.waiting[level]
        actor = self.chance.choice(["ruth", "vera", "vera", None])
        if actor is None:
            assert self.tell(name, jackpots.DropParameters(change.number, "no")) is not None
            del model.waiting[level]
            return
        events = self.tell(name, jackpots.ApproveParameters(change.number), actor)
        assert (events is not None) == (actor != "ruth" and not change.approved and not model.ends)
        if events is not None:
            change.approved = True
            model.after_idle(self.now_ms)

    def time_passes(self) -> None:
        self.now_ms += self.chance.randint(1, 60)

    def close(self) -> None:
        name = self.chance.choice(EACH)
        model, to = self.models[name], OTHER[name]
        # What the API knows of the other may be old: it says that it is open, whatever has become of it.
        events = self.tell(name, jackpots.CloseProgressive(to, to, to.encode()))
        assert (events is not None) == (not model.ends and not model.claims and not model.due)
        if events is not None:
            model.ends = True
            model.offered = {each: (pot.shown - pot.reset, pot.hidden, pot.above) for each, pot in model.pots.items()}

    def deliver(self) -> None:
        """Some of what they sent each other arrives, in order."""
        for _ in range(min(self.chance.randint(1, 4), len(self.sent))):
            self.processor(*self.sent.popleft())

    # What holds always ------------------------------------------------------------------------------------

    def as_the_rules_say(self) -> None:
        for name, model in self.models.items():
            shown = {level["name"]: level for level in view(name, self.states[name])["levels"]}
            for level, pot in model.pots.items():
                found = shown[level]
                figures = ("value", "hidden", "overflow", "contributed", "seeded", "transferred_in", "transferred_out")
                there = [Fraction(found[f"{figure}_microcents"], CENT) for figure in figures]
                assert there == [*pot.parts, pot.contributed, pot.house, pot.came, pot.went], level
                assert (found["hits"], found["paid_cents"]) == (pot.hits, pot.paid)
                assert found["pending_cents"] == pot.won - pot.paid
                parameters = [found[each] for each in ("reset_cents", "limit_cents", "rate_ppm", "hidden_rate_ppm")]
                assert parameters == [pot.reset, pot.limit, pot.rate, pot.hidden_rate]
                if not model.closed:
                    assert pot.reset <= pot.shown <= pot.limit
                lifetime = found["overflow_lifetime_microcents"]
                assert lifetime >= max(self.lifetimes.get((name, level), 0), found["overflow_microcents"])
                self.lifetimes[name, level] = lifetime
            waiting = {each["claim_id"]: each["state"] for each in view(name, self.states[name])["claims"]}
            assert waiting == {claim_id: payout.step for claim_id, payout in model.claims.items()}

    def nothing_is_between_two_progressives_but_what_was_sent(self) -> None:
        """All that players put in is at one of the two, was won, or went back; an offer is counted once."""
        moved = {"out": Fraction(0), "in": Fraction(0)}
        for model in self.models.values():
            for pot in model.pots.values():
                moved["out"] += pot.went
                moved["in"] += pot.came
        answers = [each for _, each in self.sent if isinstance(each, jackpots.CompleteClosing) and not each.declined]
        arriving = sum(
            (sum(parts) for each in answers for parts in self.models[OTHER[each.transfer_to]].offered.values()),
            Fraction(0),
        )
        assert moved["out"] + arriving == moved["in"]


PLAYS = {
    Link.wager: 6, Link.void: 2, Link.win: 4, Link.keyed_wrongly: 2, Link.envy: 1, Link.payout: 12, Link.pay_envy: 3,
    Link.propose: 3, Link.approve_or_drop: 3, Link.time_passes: 2, Link.close: 1, Link.deliver: 3,
}  # fmt: skip
"""What may happen next, and how often of all."""


@pytest.mark.law("605a.7 and 605a.8, transfer and adjustment of meters")
@pytest.mark.parametrize("seed", range(40))
def test_every_microcent_is_where_the_rules_say(seed: int) -> None:
    chance = Random(seed)
    link = Link(chance)
    for play in chance.choices(list(PLAYS), list(PLAYS.values()), k=200):
        play(link)
        link.as_the_rules_say()
        link.nothing_is_between_two_progressives_but_what_was_sent()
