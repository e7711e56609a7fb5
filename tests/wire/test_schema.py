"""The contract only grows: what schema.txt promises is there, what is there is promised, and the rules that judge it bite."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.recorded import ROOT
from tests.wire.past import BUF, PASTS
from tests.wire.schema import committed, present


def test_nothing_that_was_promised_is_changed_or_taken_away() -> None:
    missing = sorted(set(committed()) - set(present()))
    assert not missing, "a reader of the log relies on these lines; put them back and add new ones beside them"


def test_everything_that_is_there_is_promised() -> None:
    new = sorted(set(present()) - set(committed()))
    assert not new, "new in the schema: promise it with `.venv/bin/python -m tests.wire.schema`"


def test_a_number_is_used_once() -> None:
    for kind in {line.split()[0] for line in committed()}:
        numbers = [line.split()[2] for line in committed() if line.split()[0] == kind]
        assert len(numbers) == len(set(numbers)), f"{kind} has a number twice: one of them was reused"


# The rules ---------------------------------------------------------------------------------------------

PROTO = "proto/roundlog/{0}/v1/{0}.proto"
BREACHES = {
    "a field is gone": ("accounts", "  string player_id = 1;\n", ""),
    "a field has another number": ("accounts", "string reference = 2;", "string reference = 7;"),
    "a field has another type": ("accounts", "int64 amount_cents = 1;", "string amount_cents = 1;"),
    "a field has another name": ("accounts", "int64 amount_cents = 1;", "int64 amount = 1;"),
    "a field is repeated": ("accounts", "int64 amount_cents = 1;", "repeated int64 amount_cents = 1;"),
    "an event leaves its oneof": ("accounts", "  oneof event {\n    AccountOpened account_opened = 16;",
                                  "  AccountOpened account_opened = 16;\n  oneof event {"),
    "a message has another name": ("accounts", "message WinningsTakenBack {", "message WinningsReturned {"),
    "a package has another name": ("accounts", "package roundlog.accounts.v1;", "package roundlog.accounts.v2;"),
    "an enum value is gone": ("rounds", "  ON_DEALER = 2;\n", ""),
    "an enum value has another name": ("rounds", "ON_DEALER = 2;", "ON_HOUSE = 2;"),
}  # fmt: skip
LAPSES = {
    "zero means something": ("rounds", "ON_UNSPECIFIED = 0;", "ON_NOBODY = 0;"),
    "an enum value without its prefix": ("rounds", "ON_DEALER = 2;", "DEALER = 2;"),
    "a field in camel case": ("accounts", "string reference = 2;", "string theReference = 2;"),
    "an event without a sentence": ("accounts", "// Money came in.\n", "\n"),
    "a package beside its folder": ("accounts", "package roundlog.accounts.v1;", "package roundlog.ledger.v1;"),
    "a package without a version": ("accounts", "package roundlog.accounts.v1;", "package roundlog.accounts;"),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the schemas, to be spoilt."""
    shutil.copytree(ROOT / "proto", tmp_path / "proto", ignore=shutil.ignore_patterns("*_pb2.py*", "__pycache__"))
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    return tmp_path


def buf(folder: Path, *words: str | Path) -> str:
    """What buf finds fault with."""
    return subprocess.run([BUF, *words], cwd=folder, capture_output=True, text=True).stdout


def spoil(folder: Path, package: str, old: str, new: str) -> None:
    path = folder / PROTO.format(package)
    text = path.read_text()
    assert old in text, f"{path} has no {old!r} any more: spoil something else"
    path.write_text(text.replace(old, new))


def breaks(folder: Path, past: Path) -> str:
    return buf(folder, "breaking", "--against", past / "schema.binpb")


def test_the_schemas_break_nothing_and_are_well_written(copy: Path) -> None:
    assert not buf(copy, "lint")
    for past in PASTS:
        assert not breaks(copy, past.folder)


@pytest.mark.parametrize(("package", "old", "new"), BREACHES.values(), ids=BREACHES)
def test_a_breach_is_found(copy: Path, package: str, old: str, new: str) -> None:
    spoil(copy, package, old, new)
    assert breaks(copy, PASTS[-1].folder)


def test_what_was_reserved_stays_reserved(copy: Path, tmp_path: Path) -> None:
    spoil(copy, "accounts", "message Deposited {", 'message Deposited {\n  reserved 9;\n  reserved "note";')
    assert not buf(copy, "build", "--as-file-descriptor-set", "--output", tmp_path / "schema.binpb")
    assert not breaks(copy, tmp_path)
    spoil(copy, "accounts", '\n  reserved 9;\n  reserved "note";', "")
    assert breaks(copy, tmp_path).count("reserved") == 2


@pytest.mark.parametrize(("package", "old", "new"), LAPSES.values(), ids=LAPSES)
def test_a_lapse_is_found(copy: Path, package: str, old: str, new: str) -> None:
    spoil(copy, package, old, new)
    assert buf(copy, "lint")
