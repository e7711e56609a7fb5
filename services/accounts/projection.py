"""What accounts show: each account as its log has it, and a row for each entry."""

from collections.abc import Sequence
from typing import Any

from prometheus_client.core import Metric

from services.core import accounts
from services.runtime.metrics import Figures, gauge
from services.runtime.parts import Parts
from services.runtime.projecting import Fact, Log

ACCOUNTS = Log("accounts", accounts.INITIAL, accounts.State, accounts.evolve)


def entry_of(event: accounts.Event) -> tuple[str, int, str] | None:
    """The name, the cents and the reference of an entry; None where no money moved or was set aside."""
    match event:
        case accounts.Deposited(cents, reference):
            return "deposit", cents, reference
        case accounts.Withdrawn(cents, reference):
            return "withdrawal", -cents, reference
        case accounts.HoldPlaced():
            return "hold", event.amount_cents, event.hold_id
        case accounts.HoldReleased():
            return "hold released", event.amount_cents, event.hold_id
        case accounts.HoldPosted():
            return "wager", -event.amount_cents, event.hold_id
        case accounts.WinningsCredited():
            return "winnings", event.amount_cents, f"{event.round_id}.{event.seat}.{event.wager}"
        case accounts.StakeReturned():
            return "stake returned", event.amount_cents, f"{event.round_id}.{event.seat}.{event.wager}"
        case accounts.WinningsTakenBack():
            return "winnings taken back", -event.amount_cents, f"{event.round_id}.{event.seat}.{event.wager}"
        case accounts.AccountOpened() | accounts.HoldDeclined() | accounts.Refused() | accounts.Skipped():
            return None


def posted_cents(event: accounts.Event) -> int:
    """What an event adds to the account, or takes out of it; nothing where money is only set aside."""
    match event:
        case accounts.HoldPlaced() | accounts.HoldReleased():
            return 0
        case _:
            entry = entry_of(event)
            return 0 if entry is None else entry[1]


POST = """
INSERT INTO accounts_ledger AS l (account_id, posted_cents, balance_cents)
SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[])
ON CONFLICT (account_id) DO UPDATE SET posted_cents = l.posted_cents + excluded.posted_cents,
    balance_cents = excluded.balance_cents
"""
IMBALANCE = "SELECT coalesce(sum(abs(posted_cents - balance_cents)), 0)::bigint FROM accounts_ledger"


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Writes a row for each entry, and adds what moved to what was posted to the account."""
    rows = []
    posted: dict[str, int] = {}
    balances: dict[str, int] = {}
    for fact in facts:
        entry = entry_of(fact.record.event)
        if entry is not None:
            name, cents, reference = entry
            rows.append(
                (fact.key, fact.record.sequence, fact.record.recorded_at_ms, name, cents, reference,
                 fact.state.balance_cents, fact.state.held_cents)
            )  # fmt: skip
            posted[fact.key] = posted.get(fact.key, 0) + posted_cents(fact.record.event)
            balances[fact.key] = fact.state.balance_cents
    if rows:
        await connection.executemany(
            "INSERT INTO accounts_entries"
            " (account_id, sequence, at_ms, entry, amount_cents, reference, balance_cents, held_cents)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            rows,
        )
        # In one order for every instance, so that none waits for another in a circle.
        keys = sorted(posted)
        await connection.execute(POST, keys, [posted[key] for key in keys], [balances[key] for key in keys])


def figures(parts: Parts) -> Figures:
    """Whether the entries of every account add up to what is in it."""

    async def ask() -> Sequence[Metric]:
        return [
            gauge(
                "roundlog_account_imbalance_cents",
                "By how many cents the postings of accounts and their balances differ, all accounts together."
                " Anything but 0 is a defect.",
                await parts.pool.fetchval(IMBALANCE),
            )
        ]

    return ask
