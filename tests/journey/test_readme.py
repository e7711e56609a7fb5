"""What the README tells a newcomer to type, typed, and what it shows, compared with what comes."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from services.flow import PORTS
from tests.support.house import House

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BY_HAND = README.split("\n## Play by hand\n")[1].split("\n## ")[0]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FUNCTION = re.compile(r"^\w+\(\) \{.*$", re.MULTILINE)
PATIENCE_SECONDS = 15.0
NAMES = {str(port): name for name, port in PORTS.items()}


@dataclass(frozen=True)
class Step:
    """A block to type, and the answer that the README shows below it."""

    typed: str
    kind: str
    shown: str

    @property
    def may_be_repeated(self) -> bool:
        """One line that changes nothing where it comes too early: a read, or a command that is refused then."""
        return len(self.typed.splitlines()) == 1


def steps() -> Iterator[Step]:
    typed = None
    for kind, body in BLOCK.findall(BY_HAND):
        if kind == "sh":
            assert typed is None or FUNCTION.match(typed), f"no answer is shown for:\n{typed}"
            typed = body
        elif typed is not None:
            yield Step(typed, kind, body)
            typed = None


def type_in(house: House, typed: str) -> list[str]:
    """The lines that come when it is typed into a shell that knows the README's functions."""
    functions = "\n".join(FUNCTION.findall(BY_HAND))
    script = re.sub(r"\b(800\d)/", lambda found: f"{house.ports[NAMES[found[1]]]}/", f"{functions}\n{typed}")
    script = script.replace(".local/data/tokens", str(house.tokens))
    # Another proxy than none would be asked for this machine's own address.
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60, env={"NO_PROXY": "*"})
    assert not done.stderr, done.stderr
    return done.stdout.strip().splitlines()


def holds(shown: Any, answer: Any) -> bool:
    """Whether an answer is the one shown, fields left out."""
    match shown, answer:
        case dict(), dict():
            return all(name in answer and holds(value, answer[name]) for name, value in shown.items())
        case list(), list():
            return len(shown) == len(answer) and all(map(holds, shown, answer))
        case _:
            return bool(shown == answer)


def wrong(step: Step, lines: list[str]) -> str | None:
    """What is wrong with the lines that came, None where nothing is."""
    if step.kind == "text":
        return None if lines == step.shown.splitlines() else "\n".join(lines)
    said = [json.loads(line) for line in lines]
    for each in said[:-1]:
        if "events" not in each:
            return f"before the last line: {each}"
    return None if holds(json.loads(step.shown), said[-1]) else f"{said[-1]}"


def test_every_round_of_the_readme_comes_out_as_it_says(house: House) -> None:
    played = list(steps())
    assert len(played) > 15
    for step in played:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := wrong(step, type_in(house, step.typed))) is not None:
            assert step.may_be_repeated and time.monotonic() < deadline, (
                f"typed:\n{step.typed}\nshown:\n{step.shown}\ncame:\n{found}"
            )
            time.sleep(0.3)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))))
def test_what_the_readme_makes_can_be_made(target: str) -> None:
    assert f".PHONY: {target}\n" in (ROOT / "Makefile").read_text()


def test_the_readme_has_a_row_for_every_setting_and_only_one() -> None:
    runtime = ROOT / "services" / "runtime"
    text = "".join((runtime / name).read_text() for name in ("settings.py", "security.py"))
    read = set(re.findall(r'"(ROUNDLOG_[A-Z_0-9]+|AUTH)"', text))
    read |= {f"{name}_FILE" for name in re.findall(r'secret\(environment, "(ROUNDLOG_[A-Z_]+)"\)', text)}
    assert {"AUTH", "ROUNDLOG_KAFKA_CA", "ROUNDLOG_POSTGRES_PASSWORD_FILE"} <= read
    first_cells = re.findall(r"^\| ([^|]+) \|", README.split("\n## Settings\n")[1].split("\n## ")[0], re.MULTILINE)
    named = [name for cell in first_cells for name in re.findall(r"`([A-Z_0-9]+)`", cell)]
    assert not read - set(named), "a setting without a row"
    assert len(named) == len(set(named))


def test_the_readme_names_every_command_and_path() -> None:
    for word in re.findall(r"`(services/[\w./]+|tests/[\w./]+|deploy/[\w./]+)`", README):
        assert (ROOT / word).exists(), word
