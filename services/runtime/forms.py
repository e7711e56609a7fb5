"""Commands as JSON: the forms that people fill in, checked before anything is asked of a log."""

import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from services.core import accounts, jackpots, rounds
from services.core.paytables import Odds
from services.wire.records import Asked

BODY_BYTES_MAX = 65_536
CENTS_MAX = 10**12
BIGINT_MAX = 2**63 - 1
"""The highest number that the database compares with."""
CARRIED_CENTS_MAX = 10**16
CARRIED_TEXT_MAX = 1_000
COMMAND_ID_MAX = 256
NAME_MAX = 100
TEXT_MAX = 200
SENTENCES_MAX = 10
ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"
COMMAND_ID_PATTERN = r"^[A-Za-z0-9._:=+-]{1,128}$"
"""Of the Idempotency-Key of a person's command."""
RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)")
KEY_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""Of the ids in a path: no dot, because a claim's id is divided by dots."""


class Malformed(Exception):
    """A request that is not of the form asked for; the sentence says what is wrong with which field."""

    def __init__(self, sentence: str) -> None:
        # It quotes what was sent, and half of a surrogate pair has no bytes to answer with.
        super().__init__(sentence.encode("utf-8", "backslashreplace").decode())


def _position(value: Any) -> Any:
    # A seat's number may come as a number; the log has one spelling.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def is_printed(text: str) -> bool:
    """Whether a text is what it looks like on paper: no control or invisible characters, no space at an end."""
    return bool(text) and text == text.strip() and text.isprintable()


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("not printable")
    return text


def _printed(text: str) -> str:
    if not is_printed(text):
        raise ValueError("not printable")
    return text


def _odds(text: str) -> str:
    return Odds.parse(text).text


_TAGGED: dict[str, Any] = {
    "key": Annotated[str, Field(pattern=KEY_PATTERN)],
    "id": Annotated[str, Field(pattern=ID_PATTERN)],
    "text": Annotated[str, Field(min_length=1, max_length=TEXT_MAX), AfterValidator(_printed)],
    "seat": Annotated[int, Field(ge=1, le=99)],
    "card": Annotated[str, Field(pattern=r"^[2-9TJQKA][cdhs]$")],
    "multiple": Annotated[int, Field(ge=1, le=99)],
    "count": Annotated[int, Field(ge=0, le=999)],
    "number": Annotated[int, Field(ge=1, le=10**9)],
    "cents": Annotated[int, Field(ge=1, le=CENTS_MAX)],
    "ppm": Annotated[int, Field(ge=0, le=10**6)],
    "position": Annotated[str, BeforeValidator(_position), Field(pattern=r"^([1-9][0-9]?|dealer)$")],
    "game": Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")],
    "wager": Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")],
    "hand": Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")],
    "level": Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")],
    "odds": Annotated[str, AfterValidator(_odds)],
}
_SAID = {
    "key": "letters, digits, dashes and underscores, at most 64",
    "id": "letters, digits, dots, dashes and underscores, at most 128",
    "text": "1 to 200 printable characters, without a space at either end",
    "seat": "a seat's number, from 1",
    "card": "a card such as As or Td: a rank of 23456789TJQKA and a suit of cdhs",
    "multiple": "a whole number, from 1",
    "count": "a whole number, from 0",
    "number": "a whole number, from 1",
    "cents": f"a whole number of cents, from 1 to {CENTS_MAX}",
    "ppm": "parts per million of the wager, from 0 to 1000000",
    "position": "a seat's number or dealer",
    "game": "a game's name such as mississippi_stud",
    "wager": "a wager's name such as ante",
    "hand": "a hand's name",
    "level": "a level's name such as meter",
    "odds": "odds such as 3 to 1",
}


def _said(hint: Any) -> str:
    """What a field takes, for people."""
    for part in typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,):
        if typing.get_origin(part) is Annotated and part.__metadata__[0] in _SAID:
            return _SAID[part.__metadata__[0]]
        if typing.get_origin(part) is tuple:
            return f"a list, each {_said(typing.get_args(part)[0])}"
        if isinstance(part, type) and issubclass(part, StrEnum):
            return " or ".join(part)
        if part is bool:
            return "true or false"
    return "another value"


def _form_type(hint: Any) -> Any:
    """The pydantic type of a field of a command."""
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return _TAGGED.get(hint.__metadata__[0], typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        inner = [part for part in typing.get_args(hint) if part is not type(None)]
        return _form_type(inner[0]) | None
    if origin is tuple:
        return Annotated[list[_form_type(typing.get_args(hint)[0])], Field(min_length=1, max_length=52)]  # type: ignore[misc]
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Literal[tuple(member.value for member in hint)]
    return hint


class Forms:
    """The forms of a set of commands. `stamped` names fields that the API fills in and nobody else may."""

    def __init__(self, commands: Any, stamped: Mapping[str, frozenset[str]] | None = None) -> None:
        self._stamped = stamped or {}
        self._commands: dict[str, type] = {command.__name__: command for command in typing.get_args(commands)}
        self._hints = {name: typing.get_type_hints(c, include_extras=True) for name, c in self._commands.items()}
        self._forms: dict[str, type[BaseModel]] = {name: self._form(name) for name in self._commands}
        members = tuple(self._forms.values())
        union: Any = Annotated[typing.Union[members], Field(discriminator="command")]  # type: ignore[valid-type]  # noqa: UP007
        self._any: TypeAdapter[Any] = TypeAdapter(union)

    def _form(self, name: str) -> type[BaseModel]:
        command = self._commands[name]
        known: dict[str, Any] = {"command": (Literal[name], ...)}
        for field in fields(command):
            if field.name in self._stamped.get(name, ()):
                continue
            default = ... if field.default is MISSING else field.default
            if isinstance(default, StrEnum):
                default = default.value
            known[field.name] = (_form_type(self._hints[name][field.name]), default)
        return create_model(name, __config__=ConfigDict(strict=True, extra="forbid"), __doc__=command.__doc__, **known)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of a request's body, for the documentation."""
        return self._any.json_schema(ref_template="#/components/schemas/{model}")

    def read(self, body: bytes) -> Any:
        """The command that a request's body holds. Raises Malformed."""
        document = read_document(body, '{"command": "OpenRound"}')
        name = document.get("command")
        if not isinstance(name, str) or name not in self._forms:
            known = ", ".join(sorted(self._forms))
            if "command" not in document:
                raise Malformed(f'The body has no "command". Known here: {known}.')
            raise Malformed(f"The command {json.dumps(name)[:80]} is not known here. Known: {known}.")
        try:
            form = self._forms[name].model_validate(document)
        except ValidationError as error:
            raise Malformed(self._sentence(name, error)) from None
        return self._command(name, form)

    def _command(self, name: str, form: BaseModel) -> Any:
        command, hints = self._commands[name], self._hints[name]
        values = {}
        for field_name in type(form).model_fields:
            if field_name == "command":
                continue
            value, hint = getattr(form, field_name), hints[field_name]
            if isinstance(value, list):
                value = tuple(value)
            elif isinstance(hint, type) and issubclass(hint, StrEnum):
                value = hint(value)
            values[field_name] = value
        return command(**values)

    def _sentence(self, name: str, error: ValidationError) -> str:
        """What is wrong with a form, a sentence each."""
        said = []
        takes = [field for field in self._forms[name].model_fields if field != "command"]
        for problem in error.errors(include_url=False, include_context=False):
            where = str(problem["loc"][0]) if problem["loc"] else "the body"
            known = ", ".join(takes) if takes else "nothing more"
            if problem["type"] == "invalid_key":
                said.append(f"{name} has a field whose name is no text; it takes {known}.")
            elif problem["type"] == "extra_forbidden":
                said.append(f"{name} has no field {where[:60]}; it takes {known}.")
            elif problem["type"] == "missing":
                said.append(f"{name} needs {where}: {_said(self._hints[name][where])}.")
            else:
                said.append(f"{where} must be {_said(self._hints[name].get(where, str))}.")
        return " ".join(list(dict.fromkeys(said))[:SENTENCES_MAX])


# Commands as they travel --------------------------------------------------------------------------------

_PEOPLES = frozenset(
    typing.get_args(rounds.PeopleCommand) + typing.get_args(jackpots.PeopleCommand)
    + typing.get_args(accounts.PeopleCommand)
)  # fmt: skip
# What processors ask for is made of what people asked for: sums of it, and the rules' own sentences.
_CARRIED = {
    **_TAGGED,
    "cents": Annotated[int, Field(ge=0, le=CARRIED_CENTS_MAX)],
}
_PLAIN = Annotated[str, Field(max_length=CARRIED_TEXT_MAX), AfterValidator(_one_line)]


def misfit(asked: Asked) -> str | None:
    """What a command that came by its topic is not: none of the forms in which people and processors ask. None where all
    is well. Anybody may write to that topic, and what no form would take must not reach a log."""
    if len(asked.command_id) > COMMAND_ID_MAX or not is_printed(asked.command_id):
        return f"its id is not 1 to {COMMAND_ID_MAX} printable characters"
    if len(asked.actor) > NAME_MAX or not is_printed(asked.actor):
        return f"its actor is not 1 to {NAME_MAX} printable characters"
    if len(asked.request_hash) not in (0, 32):
        return "the hash of its request is not of 32 bytes"
    kind: Any = type(asked.command)
    try:
        _validation(kind)(asked.command, from_attributes=True)
    except ValidationError as error:
        where = error.errors(include_url=False, include_context=False, include_input=False)[0]["loc"]
        return f"{'.'.join(map(str, where))} of {kind.__name__} is not of its form"
    return None


@cache
def _validation(kind: Any) -> Callable[..., Any]:
    # Every command passes here, and to look it up in the model costs twice what it does.
    return _carried(kind).__pydantic_validator__.validate_python


@cache
def _carried(kind: Any) -> type[BaseModel]:
    """The model of a command, or of a part of one, as it travels."""
    tagged = _TAGGED if kind in _PEOPLES else _CARRIED
    known: dict[str, Any] = {
        name: (_carried_type(hint, tagged), ...)
        for name, hint in typing.get_type_hints(kind, include_extras=True).items()
    }
    return create_model(kind.__name__, __config__=ConfigDict(strict=True, from_attributes=True), **known)


def _carried_type(hint: Any, tagged: Mapping[str, Any]) -> Any:
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return tagged.get(hint.__metadata__[0], typing.get_args(hint)[0])
    if origin in (typing.Union, types.UnionType):
        return _carried_type(typing.get_args(hint)[0], tagged) | None
    if origin is tuple:
        return tuple[_carried_type(typing.get_args(hint)[0], tagged), ...]  # type: ignore[misc]
    if is_dataclass(hint):
        return _carried(typing.cast(Any, hint))
    # Enums, truths and plain numbers are held to their form by the schema.
    return _PLAIN if hint is str else Any


def moment_ms(as_of: str | None) -> int | None:
    """Milliseconds since 1970 of an RFC 3339 time in a query. Raises Malformed."""
    if as_of is None:
        return None
    # A plus that is not percent-encoded in a query comes as a space.
    as_of = re.sub(r" (\d\d:\d\d)$", r"+\1", as_of)
    try:
        if RFC_3339.fullmatch(as_of) is None:
            raise ValueError
        moment = datetime.fromisoformat(as_of.upper())
    except ValueError:
        raise Malformed("as_of must be a time of RFC 3339 with its zone, such as 2026-11-29T20:00:00Z.") from None
    return round(moment.timestamp() * 1000)


def read_document(body: bytes, such_as: str) -> dict[str, Any]:
    """The JSON object that a body is, `such_as` one; no field of it stands twice. Raises Malformed."""
    if len(body) > BODY_BYTES_MAX:
        raise Malformed(f"The body is too long: at most {BODY_BYTES_MAX} bytes are read.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document: dict[str, Any] = {}
        for key, value in pairs:
            if key in document:
                raise Malformed(f"The field {key[:60]} stands twice in the body.")
            document[key] = value
        return document

    try:
        document = json.loads(body, object_pairs_hook=once)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"The body is not JSON: {error}.") from None
    except ValueError:
        # Python reads no whole number of thousands of digits.
        raise Malformed("The body has a number of too many digits.") from None
    if not isinstance(document, dict):
        raise Malformed(f"The body must be a JSON object such as {such_as}.")
    return document
