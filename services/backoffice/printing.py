"""What the command line finds, as text for a terminal: plain and aligned."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from services.backoffice.sentences import cards
from services.core.games import GAMES
from services.core.money import dollars
from services.core.names import words
from services.runtime.comparing import Comparison
from services.runtime.verifying import Verdict


def verdict_line(verdict: Verdict) -> str:
    """One log in one line."""
    found = len(verdict.contradictions)
    held = "holds" if not found else f"{found} contradictions"
    return (
        f"{verdict.stream:<10}{verdict.records:>10,} records  {verdict.keys:>7,} keys"
        f"  {verdict.duplicates:>7,} duplicates  {verdict.archived:>10,} in the archive  {held}"
    )


def comparison_lines(comparison: Comparison) -> str:
    """One table in one line, and a line for each difference that is named."""
    head = f"{comparison.table:<24}{comparison.equal:>10,} rows equal"
    if not comparison.different:
        return head
    lines = [f"{head}  {comparison.different:,} differ", *(f"  {line}" for line in comparison.named)]
    if comparison.different > len(comparison.named):
        lines.append(f"  and {comparison.different - len(comparison.named):,} more")
    return "\n".join(lines)


def table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows with their columns aligned; those in `right` to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def round_as_text(found: dict[str, Any]) -> str:
    """The JSON of a reconstruction as it is read at a terminal."""
    parts = [
        _head(found),
        _cards(found),
        *(_seat(seat, found["claims"]) for seat in found["seats"]),
        _claims(found["claims"]),
        _log(found["steps"]),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def at(at_ms: int | None, form: str = "%Y-%m-%d %H:%M:%S UTC") -> str:
    """A moment as it is read at a terminal."""
    return "not yet" if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).strftime(form)


def _head(found: dict[str, Any]) -> list[str]:
    return [
        f"Round {found['round_id']}: {GAMES[found['game']].title}, {found['state']}",
        f"  table   {found['table_id']}",
        f"  rules   {found['rules']}, SHA-256 {found['rules_sha256']}",
        f"  opened  {at(found['opened_ms'])}",
        f"  closed  {at(found['closed_ms'])}",
    ]


def _cards(found: dict[str, Any]) -> list[str]:
    shown = [
        ("community", cards(found["community"])),
        ("dealer", cards(found["dealer"])),
        ("Six Card Bonus", cards(found["six_card_bonus"])),
        ("All-Six", cards([found["all_six_card"]] if found["all_six_card"] else [])),
        ("Magic Card", cards([found["magic_card"]] if found["magic_card"] else [])),
        ("lucky position", found["lucky_position"] or ""),
    ]
    rows = [(f"  {name}", value) for name, value in shown if value]
    return ["Cards", *table(rows)] if rows else []


def _seat(seat: dict[str, Any], claims: list[dict[str, Any]]) -> list[str]:
    amounts = {claim["claim_id"]: claim["amount_cents"] for claim in claims}
    said = [f"Seat {seat['seat']}", seat["player_id"] or "", cards(seat["cards"])]
    said += [word for word in ("folded", "forfeited") if seat[word]]
    lines = ["  ".join(part for part in said if part)]
    rows = [("  wager", "hand", "stake", "result", "odds", "won", "returned", "paid from", "section")]
    for row in seat["wagers"]:
        won = row["won_cents"] if row["won_cents"] is not None else amounts.get(row["claim_id"])
        on = " (dealer's hand)" if row["on"] == "dealer" else ""
        rows.append((
            f"  {words(row['wager'])}{on}", words(row["hand"] or ""), dollars(row["stake_cents"]), row["result"],
            row["odds"] or "", "" if not won else dollars(won),
            dollars(row["returned_cents"]) if row["returned_cents"] else "", words(row["source"] or ""),
            row["section"] or "",
        ))  # fmt: skip
    if seat["wagers"]:
        lines += table(rows, frozenset({2, 5, 6}))
    for bonus in seat["envy"]:
        lines.append(
            f"  Envy Bonus {dollars(bonus['amount_cents'])} for the {words(bonus['hand'])} of seat"
            f" {bonus['holder_seat']}, {bonus['state']}"
        )
    return lines


def _claims(claims: list[dict[str, Any]]) -> list[str]:
    if not claims:
        return []
    rows = [("  claim", "hand", "amount", "from", "state", "slip")]
    for claim in claims:
        slip = "" if claim["slip_number"] is None else str(claim["slip_number"])
        amount = dollars(claim["amount_cents"])
        rows.append((
            f"  {claim['claim_id']}", words(claim["hand"]), amount, words(claim["source"]), claim["state"], slip
        ))  # fmt: skip
    return ["Claims", *table(rows, frozenset({2, 5}))]


def _log(steps: list[dict[str, Any]]) -> list[str]:
    rows = [
        (
            f"  {at(step['at_ms'], '%H:%M:%S')}", step["stream"], str(step["sequence"]), step["actor"],
            f"{step['event']}: {step['text']}" + (f"  [{step['section']}]" if step["section"] else ""),
        )
        for step in steps
    ]  # fmt: skip
    return ["The logs, step by step", *table(rows, frozenset({2}))] if rows else []


def plain(text: str) -> str:
    """A text without what would steer a terminal: others wrote parts of what is shown."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(
        sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in text
    )
