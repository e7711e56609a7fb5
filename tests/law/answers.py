"""What the product does about each paragraph of the law, as `answers.yaml` says, and what is wrong with that."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.law.citing import Held
from tests.law.paragraphs import Section

ANSWERS = Path(__file__).with_name("answers.yaml")
SUBMISSIONS = Path(__file__).parents[2] / "deploy" / "rules"
HELD_BY_TESTS = ("decides", "records", "refuses")
LEFT = "leaves to people"


@dataclass(frozen=True, slots=True)
class Answer:
    """What is done about one paragraph. `settings` are fields of a Rules Submission that decide."""

    does: tuple[str, ...]
    how: str
    settings: tuple[str, ...] = ()

    @property
    def needs_a_test(self) -> bool:
        """Whether a test must hold the product to it."""
        return any(each in HELD_BY_TESTS for each in self.does)


@dataclass(frozen=True, slots=True)
class Answers:
    """By citation: for the paragraphs that we have, those that our copy lacks, and the points on which none speaks."""

    paragraphs: Mapping[str, Answer]
    lacking: Mapping[str, Answer]
    silent: Mapping[str, Answer]

    @property
    def citable(self) -> frozenset[str]:
        """All that a test may be marked with."""
        return frozenset((*self.paragraphs, *self.lacking, *self.silent))


def read(document: Any) -> Answers:
    """The answers that a document has."""
    return Answers(*(_answers(document.get(part) or {}) for part in ("paragraphs", "lacking", "silent")))


def _answers(rows: Mapping[str, Any]) -> Mapping[str, Answer]:
    return {
        citation: Answer(tuple(row["does"]), row["how"].strip(), tuple(row.get("settings", ())))
        for citation, row in rows.items()
    }


def held_here() -> Answers:
    """The answers of the project."""
    return read(yaml.safe_load(ANSWERS.read_text()))


def settings_of(document: Any, path: str = "") -> frozenset[str]:
    """Every field of a Rules Submission as a path of names, whatever its place in a list: `progressive.levels.name`."""
    if isinstance(document, dict):
        below = [settings_of(value, f"{path}.{name}" if path else name) for name, value in document.items()]
        return frozenset([path] if path else []).union(*below)
    if isinstance(document, list):
        return frozenset([path]).union(*(settings_of(value, path) for value in document))
    return frozenset([path])


def submitted() -> frozenset[str]:
    """The fields that the submissions of the demonstration house have."""
    return frozenset().union(*(settings_of(yaml.safe_load(path.read_text())) for path in SUBMISSIONS.glob("*.yaml")))


def gaps(
    sections: Iterable[Section], answers: Answers, held: Iterable[Held], submitted: frozenset[str]
) -> tuple[str, ...]:
    """All that keeps the law from being answered: a sentence for each; none where every paragraph has its row and tests."""
    sections, held = tuple(sections), tuple(held)
    paragraphs = [paragraph.citation for section in sections for paragraph in section.paragraphs]
    cut = [citation for section in sections for citation in section.cut]
    rows = {**answers.paragraphs, **answers.lacking, **answers.silent}
    marked = {citation for test in held for citation in test.citations}
    return (
        *(f"{each} has no row in answers.yaml." for each in paragraphs if each not in answers.paragraphs),
        *(
            f"{each} has a row, and the Code has no such paragraph."
            for each in answers.paragraphs
            if each not in paragraphs
        ),
        *(
            f"{each} announces items that our copy lacks, and no row under 'lacking' answers for them."
            for each in cut
            if not any(lacking.startswith(f"{each}(") for lacking in answers.lacking)
        ),
        *(
            f"{each} stands under 'lacking', and nothing is cut there."
            for each in answers.lacking
            if not any(each.startswith(f"{parent}(") for parent in cut)
        ),
        *(
            f"{citation} does '{does}', which is none of {', '.join((*HELD_BY_TESTS, LEFT))}."
            for citation, row in rows.items()
            for does in row.does
            if does not in (*HELD_BY_TESTS, LEFT)
        ),
        *(f"{citation} says nothing of what is done." for citation, row in rows.items() if not row.does or not row.how),
        *(
            f"{citation} names the setting '{setting}', which no submission in deploy/rules has."
            for citation, row in rows.items()
            for setting in row.settings
            if setting not in submitted
        ),
        *(
            f"{citation} {' and '.join(row.does)}, and no test is marked with it."
            for citation, row in rows.items()
            if row.needs_a_test and citation not in marked
        ),
        *(
            f"{test.place} is marked with {citation}, which is no paragraph here."
            for test in held
            for citation in test.citations
            if citation not in answers.citable
        ),
    )
