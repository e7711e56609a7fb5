"""One level of a progressive, and the exact arithmetic by which it rises, is won and is taken back.

Everything counts in integer microcents. Nothing here rounds except a payment, which is cut to whole
cents; the fraction stays in the level.
"""

from typing import Any

from services.core.changing import frozen, replace
from services.core.money import MICROCENTS_PER_CENT, Cents, Microcents, Ppm, contribution_microcents, whole_cents


@frozen
class Meter:
    """What is shown, what is kept hidden for the next start, and what came in above the limit, in microcents."""

    value: Microcents
    hidden: Microcents
    overflow: Microcents

    def plus(self, other: "Meter") -> "Meter":
        """The sum, part by part."""
        return Meter(self.value + other.value, self.hidden + other.hidden, self.overflow + other.overflow)

    def less(self, other: "Meter") -> "Meter":
        """The difference, part by part."""
        return Meter(self.value - other.value, self.hidden - other.hidden, self.overflow - other.overflow)

    @property
    def total(self) -> Microcents:
        """All parts together."""
        return self.value + self.hidden + self.overflow


@frozen
class Share:
    """A share that was won: the amount locked for it, the meter after it, and what the house put in for it."""

    amount_cents: Cents
    after: Meter
    seeded: Microcents


@frozen
class TakenBack:
    """A contribution that is reversed: what leaves each part, and what the house puts in for it."""

    taken: Meter
    seeded: Microcents


@frozen
class Restored:
    """A share that is taken back: the meter after it, what came in above the limit by it, and what the house put in
    (negative where it gets back what it had put in for the win)."""

    after: Meter
    newly_above: Microcents
    seeded: Microcents


@frozen
class Terms:
    """The parameters of a level: as it was opened, or as they were changed since. `contribution_bound` is the most that a
    round may add, None where there is no such bound."""

    name: str
    base: Microcents
    reset: Microcents
    rate: Ppm
    hidden_rate: Ppm
    limit: Microcents
    contribution_bound: Microcents | None = None


@frozen
class Level:
    """One level now: its terms, its contents, and its tallies since it opened.

    `wagered_cents` are the wagers behind what was contributed; both are net of reversals. `seeded` is all that the
    house put in and did not get back, `hits` every share won and not taken back. After every event, exactly:
    value + hidden + overflow + won + transferred out = seeded + contributed + transferred in.
    """

    terms: Terms
    meter: Meter
    contributed: Microcents
    seeded: Microcents
    overflow_lifetime: Microcents = 0
    won_cents: Cents = 0
    paid_cents: Cents = 0
    hits: int = 0
    wagered_cents: Cents = 0
    transferred_in: Microcents = 0
    transferred_out: Microcents = 0

    @property
    def name(self) -> str:
        return self.terms.name

    def gain(self, wager_cents: Cents) -> Meter:
        """What wagers add. The shown part stops at the limit and the rest is overflow; hidden has no limit."""
        gain = contribution_microcents(wager_cents, self.terms.rate)
        shown = min(gain, max(0, self.terms.limit - self.meter.value))
        return Meter(shown, contribution_microcents(wager_cents, self.terms.hidden_rate), gain - shown)

    def take_back(self, recorded: Meter) -> TakenBack:
        """The reversal of a recorded contribution.

        Each recorded part leaves the part that it went to. What is no longer there, because the level was won
        in between, leaves the value; and what the value cannot give above its reset, the house puts in.
        """
        overflow = min(self.meter.overflow, recorded.overflow)
        hidden = min(self.meter.hidden, recorded.hidden)
        value = recorded.total - overflow - hidden
        return TakenBack(Meter(value, hidden, overflow), max(0, self.terms.reset - (self.meter.value - value)))

    def share(self, percent: int) -> Share:
        """The share that a hand wins, in whole cents of the value.

        At 100 % the level starts again from reset, hidden, overflow and the fraction of a cent, up to the
        limit. A smaller share lowers the value only, and the house brings it up to its reset where needed.
        """
        meter = self.meter
        amount_cents = whole_cents(meter.value * percent // 100)
        left = meter.value - amount_cents * MICROCENTS_PER_CENT
        if percent == 100:
            start = self.terms.reset + meter.hidden + meter.overflow + left
            value = min(start, self.terms.limit)
            return Share(amount_cents, Meter(value, 0, start - value), self.terms.reset)
        seeded = max(0, self.terms.reset - left)
        return Share(amount_cents, Meter(left + seeded, meter.hidden, meter.overflow), seeded)

    def give_back(self, fell: Meter, seeded: Microcents) -> Restored:
        """The reversal of a recorded share, by which each part fell as recorded and the house put `seeded` in.

        Each part regains what it lost. What was shown in the meantime stays above the reset and below the limit, as
        always: what is above goes to the overflow, and what is lacking the house puts in.
        """
        hidden = self.meter.hidden + fell.hidden
        overflow = max(0, self.meter.overflow + fell.overflow)
        value = self.meter.total + fell.total - hidden - overflow
        above = max(0, value - self.terms.limit)
        lacking = max(0, self.terms.reset - value)
        return Restored(Meter(value - above + lacking, hidden, overflow + above), above, lacking - seeded)

    def leaving(self) -> Meter:
        """What another level gets when this one is closed: all but the reset, which the house takes back."""
        return Meter(self.meter.value - self.terms.reset, self.meter.hidden, self.meter.overflow)

    def arriving(self, moved: Meter) -> Meter:
        """What a closed level adds to the parts of this one: above the limit it is overflow."""
        shown = min(moved.value, max(0, self.terms.limit - self.meter.value))
        return Meter(shown, moved.hidden, moved.overflow + moved.value - shown)

    def gained(self, wager_cents: Cents, shown: Microcents, hidden: Microcents, overflow: Microcents) -> "Level":
        """After a contribution of wagers to the three parts."""
        # Made in one piece: most records of a log are contributions, and a replay goes through all of them.
        return Level(
            self.terms,
            Meter(self.meter.value + shown, self.meter.hidden + hidden, self.meter.overflow + overflow),
            self.contributed + shown + hidden + overflow,
            self.seeded,
            self.overflow_lifetime + overflow,
            self.won_cents,
            self.paid_cents,
            self.hits,
            self.wagered_cents + wager_cents,
            self.transferred_in,
            self.transferred_out,
        )

    def reversed(self, wager_cents: Cents, back: TakenBack) -> "Level":
        """After the reversal of a contribution."""
        left = self.meter.less(back.taken).plus(Meter(back.seeded, 0, 0))
        return replace(
            self._holding(left),
            contributed=self.contributed - back.taken.total,
            seeded=self.seeded + back.seeded,
            wagered_cents=self.wagered_cents - wager_cents,
        )

    def won(self, share: Share) -> "Level":
        """After a share of it was won and locked."""
        return replace(
            self._holding(share.after),
            seeded=self.seeded + share.seeded,
            won_cents=self.won_cents + share.amount_cents,
            hits=self.hits + 1,
        )

    def restored(self, amount_cents: Cents, back: Restored) -> "Level":
        """After a share of it that was won is taken back."""
        return replace(
            self,
            meter=back.after,
            seeded=self.seeded + back.seeded,
            overflow_lifetime=self.overflow_lifetime + back.newly_above,
            won_cents=self.won_cents - amount_cents,
            hits=self.hits - 1,
        )

    def paid(self, amount_cents: Cents) -> "Level":
        """After a share that was locked is paid."""
        return replace(self, paid_cents=self.paid_cents + amount_cents)

    def under(self, terms: Terms, seeded: Microcents) -> "Level":
        """After its parameters changed; `seeded` is what the house put in to bring it up to a higher reset."""
        meter = self.meter.plus(Meter(seeded, 0, 0))
        return replace(self, terms=terms, meter=meter, seeded=self.seeded + seeded)

    def moved_in(self, arrived: Meter) -> "Level":
        """After what another level had was added to it."""
        held = self._holding(self.meter.plus(arrived))
        return replace(held, transferred_in=self.transferred_in + arrived.total)

    def moved_out(self, moved: Meter) -> "Level":
        """After it was closed: `moved` is with another level, and the house has the rest back."""
        rest = self.meter.total - moved.total
        return replace(
            self,
            meter=Meter(0, 0, 0),
            seeded=self.seeded - rest,
            transferred_out=self.transferred_out + moved.total,
        )

    def _holding(self, meter: Meter) -> "Level":
        # Overflow that a win puts back above the limit was counted when it first came in.
        newly_above = max(0, meter.overflow - self.meter.overflow)
        return replace(self, meter=meter, overflow_lifetime=self.overflow_lifetime + newly_above)

    @property
    def imbalance(self) -> Microcents:
        """What the level holds and what has left it, less all that came in. Anything but 0 is a defect."""
        there = self.meter.total + self.won_cents * MICROCENTS_PER_CENT + self.transferred_out
        return there - self.seeded - self.contributed - self.transferred_in

    def view(self) -> dict[str, Any]:
        """The level as readers see it. `pending_cents` is won and not paid yet."""
        return {
            "name": self.name,
            "value_cents": whole_cents(self.meter.value),
            "value_microcents": self.meter.value,
            "hidden_microcents": self.meter.hidden,
            "overflow_microcents": self.meter.overflow,
            "overflow_lifetime_microcents": self.overflow_lifetime,
            "contributed_microcents": self.contributed,
            "wagered_cents": self.wagered_cents,
            "seeded_microcents": self.seeded,
            "transferred_in_microcents": self.transferred_in,
            "transferred_out_microcents": self.transferred_out,
            "paid_cents": self.paid_cents,
            "pending_cents": self.won_cents - self.paid_cents,
            "hits": self.hits,
            "base_cents": whole_cents(self.terms.base),
            "reset_cents": whole_cents(self.terms.reset),
            "limit_cents": whole_cents(self.terms.limit),
            "rate_ppm": self.terms.rate,
            "hidden_rate_ppm": self.terms.hidden_rate,
            "contribution_bound_cents": (
                None if self.terms.contribution_bound is None else whole_cents(self.terms.contribution_bound)
            ),
        }
