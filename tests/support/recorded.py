"""The recorded rounds as cases of a test, each marked with the paragraphs of the law under `law:` at its head."""

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ROUNDS = tuple(sorted((ROOT / "tests" / "rounds").glob("*.yaml")))


def head(path: Path) -> dict[str, Any]:
    """What a recorded round says of itself before its commands."""
    text, _, _ = path.read_text().partition("\ncommands:")
    read = yaml.safe_load(text)
    return dict(read)


def recorded() -> list[Any]:
    """A case for each round, named as its file."""
    return [
        pytest.param(
            path,
            id=path.stem,
            marks=pytest.mark.law(*head(path).get("law", ()), recorded=path.relative_to(ROOT).as_posix()),
        )
        for path in ROUNDS
    ]
