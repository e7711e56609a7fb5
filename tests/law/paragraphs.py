"""The Code's words, cut into paragraphs: one for each citation such as `655a.11(i)(1)(iv)`."""

import re
from dataclasses import dataclass
from pathlib import Path

WORDS = Path(__file__).with_name("words")
"""The sections as they were published, each with the lines that say where its words come from."""

_TITLE = re.compile(r"(?:Section|§) (?P<number>\d+a\.\d+)\.? (?:- )?(?P<title>.+?)\.?")
_MARKED = re.compile(r"\((?P<label>[a-zA-Z]+|\d+)\) (?P<words>.+)")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LABELS: tuple[tuple[str, ...], ...] = (
    tuple(_LETTERS),
    tuple(map(str, range(1, 30))),
    _ROMAN,
    tuple(_LETTERS.upper()),
)
"""How the Code numbers its paragraphs, from the outermost in."""
_NOTES = ("The provisions of this", "This section cited in", "Authority", "Source", "Cross References")
"""How the lines behind a section begin, which are its history and no rule."""


class WordsUnread(Exception):
    """A line of the Code is neither a paragraph nor a note: nothing of the law is passed over."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; what stands below it has paragraphs of its own."""

    citation: str
    words: str

    @property
    def announces(self) -> bool:
        """Whether other paragraphs must follow below it."""
        return self.words.endswith(":")


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `cut` are the paragraphs that announce others which our copy does not have."""

    number: str
    title: str
    paragraphs: tuple[Paragraph, ...]
    cut: tuple[str, ...]


def section(text: str) -> Section:
    """The section that a text holds. Raises WordsUnread."""
    title: re.Match[str] | None = None
    path: tuple[str, ...] = ()
    found: list[Paragraph] = []
    for number, line in enumerate(text.splitlines(), start=1):
        marked = _MARKED.fullmatch(line.strip())
        if marked is not None and title is not None:
            path = _path(path, marked["label"], bool(found and found[-1].announces))
            if not path:
                raise WordsUnread(f"Line {number}: '({marked['label']})' follows no paragraph that it could follow.")
            found.append(Paragraph(title["number"] + "".join(f"({label})" for label in path), marked["words"]))
        elif not found:
            title = _TITLE.fullmatch(line.strip()) or title
        elif line.strip() and not line.startswith(_NOTES):
            raise WordsUnread(f"Line {number} is neither a paragraph nor a note: {line}")
    if title is None or not found:
        raise WordsUnread("No title such as 'Section 655a.11 - ...', or no paragraph behind it.")
    citations = [paragraph.citation for paragraph in found]
    cut = tuple(
        paragraph.citation
        for paragraph in found
        if paragraph.announces and not any(other.startswith(paragraph.citation + "(") for other in citations)
    )
    return Section(title["number"], title["title"], tuple(found), cut)


def _path(before: tuple[str, ...], label: str, announced: bool) -> tuple[str, ...]:
    """Where a label stands: below the paragraph before, where that announces others, or next to one above; else ()."""
    if (announced or not before) and label == _LABELS[len(before)][0]:
        return (*before, label)
    for depth in reversed(range(len(before))):
        labels = _LABELS[depth]
        if label == labels[labels.index(before[depth]) + 1]:
            return (*before[:depth], label)
    return ()


def sections() -> tuple[Section, ...]:
    """Every section whose words are held here, by number."""
    return tuple(section(path.read_text()) for path in sorted(WORDS.glob("*.txt")))
