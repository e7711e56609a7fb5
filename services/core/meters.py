"""One level of a progressive, and the exact arithmetic by which it rises, is won and is taken back.

Everything counts in integer microcents. Nothing here rounds except a payment, which is cut to whole
cents; the fraction stays in the level.
"""

from dataclasses import dataclass, replace
from typing import Any

from services.core.money import MICROCENTS_PER_CENT, Cents, Microcents, Ppm, contribution_microcents, whole_cents


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Share:
    """A share that was won: the amount locked for it, the meter after it, and what the house put in for it."""

    amount_cents: Cents
    after: Meter
    seeded: Microcents


@dataclass(frozen=True, slots=True)
class TakenBack:
    """A contribution that is reversed: what leaves each part, and what the house puts in for it."""

    taken: Meter
    seeded: Microcents


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of a level, as it was opened."""

    name: str
    base: Microcents
    reset: Microcents
    rate: Ppm
    hidden_rate: Ppm
    limit: Microcents


@dataclass(frozen=True, slots=True)
class Level:
    """One level now: its terms, its contents, and its tallies since it opened.

    `contributed` is net of reversals, `seeded` all that the house put in, `hits` every share won. After
    every event, exactly: value + hidden + overflow + won = seeded + contributed.
    """

    terms: Terms
    meter: Meter
    contributed: Microcents
    seeded: Microcents
    overflow_lifetime: Microcents = 0
    won_cents: Cents = 0
    paid_cents: Cents = 0
    hits: int = 0

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

    def gained(self, shown: Microcents, hidden: Microcents, overflow: Microcents) -> "Level":
        """After a contribution to the three parts."""
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
        )

    def reversed(self, back: TakenBack) -> "Level":
        """After the reversal of a contribution."""
        left = self.meter.less(back.taken).plus(Meter(back.seeded, 0, 0))
        return replace(
            self._holding(left), contributed=self.contributed - back.taken.total, seeded=self.seeded + back.seeded
        )

    def won(self, share: Share) -> "Level":
        """After a share of it was won and locked."""
        return replace(
            self._holding(share.after),
            seeded=self.seeded + share.seeded,
            won_cents=self.won_cents + share.amount_cents,
            hits=self.hits + 1,
        )

    def paid(self, amount_cents: Cents) -> "Level":
        """After a share that was locked is paid."""
        return replace(self, paid_cents=self.paid_cents + amount_cents)

    def _holding(self, meter: Meter) -> "Level":
        # Overflow that a win puts back above the limit was counted when it first came in.
        newly_above = max(0, meter.overflow - self.meter.overflow)
        return replace(self, meter=meter, overflow_lifetime=self.overflow_lifetime + newly_above)

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
            "seeded_microcents": self.seeded,
            "paid_cents": self.paid_cents,
            "pending_cents": self.won_cents - self.paid_cents,
            "hits": self.hits,
            "base_cents": whole_cents(self.terms.base),
            "reset_cents": whole_cents(self.terms.reset),
            "limit_cents": whole_cents(self.terms.limit),
            "rate_ppm": self.terms.rate,
            "hidden_rate_ppm": self.terms.hidden_rate,
        }
