"""RULES.md: the law paragraph by paragraph, what is done about each, and the tests that hold it."""

import difflib
import itertools
from collections.abc import Iterable
from pathlib import Path

from tests.law.answers import Answer, Answers
from tests.law.citing import ROOT, Held
from tests.law.paragraphs import WORDS, Section

PAGE = ROOT / "RULES.md"
_WORDS_MAX = 24
_DIFFERENCES_MAX = 20
_HEAD = """\
# The law, and what Roundlog does about it

One row for each paragraph of 58 Pa. Code §§ 639a.11, 655a.10, 655a.11 and 683a.11. This page is written by `make rules`
from the Code's words ([tests/law/words](tests/law/words)), from what we say we do
([tests/law/answers.yaml](tests/law/answers.yaml)) and from the marks on the tests. A paragraph without a row, a row
that no test holds, and a page that is not the present one fail `make test`.

Roundlog **decides**: it works out what the paragraph asks. **Records**: what people did is in the log. **Refuses**: what
the paragraph forbids does not get into the log. **Leaves to people**: no software can do it, or nothing does.
*By* names the field of a Rules Submission ([deploy/rules](deploy/rules)) that decides, where the Code leaves it open.
"""
_SILENT = """
## Where the Code is silent

What no paragraph that we have read decides: the sections on payout odds that our copies lack, and points on which the
Code's words are open. Nothing here is a constant of the program unless the row says so.

| point | Roundlog | held by |
| --- | --- | --- |
"""


def page(sections: Iterable[Section], answers: Answers, held: Iterable[Held]) -> str:
    """The whole page."""
    held = tuple(held)
    parts = [_HEAD]
    for section in sections:
        parts.append(
            f"\n## § {section.number} {section.title}\n\n"
            f"The whole words: [{section.number}.txt]({WORDS.relative_to(ROOT)}/{section.number}.txt).\n\n"
            "| paragraph | its words | Roundlog | held by |\n| --- | --- | --- | --- |\n"
        )
        for paragraph in section.paragraphs:
            citation = paragraph.citation
            parts.append(_row(citation, _begun(paragraph.words), answers.paragraphs.get(citation), held))
            if citation in section.cut:
                lacking = ((each, row) for each, row in answers.lacking.items() if each.startswith(f"{citation}("))
                parts.extend(_row(each, "*Our copy lacks it.*", row, held) for each, row in lacking)
    parts.append(_SILENT)
    parts.extend(f"| {point} | {_said(row)} | {_links(point, held)} |\n" for point, row in answers.silent.items())
    return "".join(parts)


def _row(citation: str, words: str, answer: Answer | None, held: Iterable[Held]) -> str:
    said = "" if answer is None else _said(answer)
    return f"| {citation} | {words} | {said} | {_links(citation, held)} |\n"


def _begun(words: str) -> str:
    """The words, or their beginning where there are many."""
    first = words.split()
    return words if len(first) <= _WORDS_MAX else f"{' '.join(first[:_WORDS_MAX])} …"


def _said(answer: Answer) -> str:
    does = ", ".join(f"**{each}**" for each in answer.does)
    by = f" *By* {', '.join(f'`{each}`' for each in answer.settings)}." if answer.settings else ""
    return f"{does}: {' '.join(answer.how.split())}{by}"


def _links(citation: str, held: Iterable[Held]) -> str:
    """Recorded rounds and tests, each by its name, as links that no change of another line breaks."""
    links = []
    for test in held:
        if citation in test.citations:
            file, _, name = test.place.partition("::")
            links.append(f"[{name.replace('::', '.') or Path(file).stem}]({file})")
    return "<br>".join(links) or "–"


def differences(present: str, wanted: str) -> tuple[str, ...]:
    """The first lines in which a page is not as it should be: `-` is there, `+` should be."""
    lines = difflib.unified_diff(present.splitlines(), wanted.splitlines(), n=0, lineterm="")
    changed = (line for line in lines if not line.startswith(("---", "+++", "@@")))
    return tuple(itertools.islice(changed, _DIFFERENCES_MAX))
