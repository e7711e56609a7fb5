"""What accounts show: each account as its log has it, and a row for each entry."""

from collections.abc import Sequence
from typing import Any

from services.core import accounts
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
        case accounts.AccountOpened() | accounts.HoldDeclined() | accounts.Refused():
            return None


async def apply(connection: Any, facts: Sequence[Fact]) -> None:
    """Writes a row for each entry."""
    rows = []
    for fact in facts:
        entry = entry_of(fact.record.event)
        if entry is not None:
            name, cents, reference = entry
            rows.append(
                (fact.key, fact.record.sequence, fact.record.recorded_at_ms, name, cents, reference,
                 fact.state.balance_cents, fact.state.held_cents)
            )  # fmt: skip
    if rows:
        await connection.executemany(
            "INSERT INTO accounts_entries"
            " (account_id, sequence, at_ms, entry, amount_cents, reference, balance_cents, held_cents)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            rows,
        )
