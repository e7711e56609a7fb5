"""Loads the published paytables of a folder, and says for each problem in which file and line it is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from services.core import published_documents
from services.core.names import GameName
from services.core.published import PaytableBook
from services.core.submission_documents import RulesInvalid
from services.runtime.local import ROOT
from services.runtime.yaml_files import RulesUnreadable, YamlFile

T = TypeVar("T")
SHIPPED = ROOT / "deploy" / "paytables"
"""Where they are unless a house says otherwise."""
_SOURCES = "sources.yaml"


def load_paytables(folder: Path = SHIPPED) -> PaytableBook:
    """Every `*.yaml` of the folder: `sources.yaml` with the names of the sources, and a file for each game.

    Raises RulesUnreadable with the problems of all files at once, also where two files are of one game.
    """
    names = _read(YamlFile.read(folder / _SOURCES, "The list of sources"), published_documents.sources)
    problems: list[str] = []
    books: list[PaytableBook] = []
    stated_by: dict[GameName, Path] = {}
    for path in sorted(folder.glob("*.yaml")):
        if path.name == _SOURCES:
            continue
        try:
            file = YamlFile.read(path, "A file of paytables")
            book = _read(file, lambda document: published_documents.paytables(document, names))
        except RulesUnreadable as unreadable:
            problems.extend(unreadable.problems)
            continue
        books.append(book)
        game = str(file.document["game"])
        first = stated_by.setdefault(game, path)
        if first is not path:
            problems.append(f"{path}:{file.line('game')}: The paytables of '{game}' are in {first.name} already.")
    if problems:
        raise RulesUnreadable(tuple(problems))
    return PaytableBook(
        tuple(table for book in books for table in book.tables), tuple(law for book in books for law in book.laws)
    )


def _read(file: YamlFile, reader: Callable[[Mapping[str, object]], T]) -> T:
    try:
        read = reader(file.document)
    except RulesInvalid as invalid:
        raise RulesUnreadable((*file.repeated, *map(file.told, invalid.problems))) from invalid
    if file.repeated:
        raise RulesUnreadable(file.repeated)
    return read
