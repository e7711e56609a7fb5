"""The contract only grows: what schema.txt promises is there, and what is there is promised."""

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
