"""What a service may answer, as its OpenAPI document says it: every status that the door, the forms, the log and a broker
or database that is away may give, for each path, whoever wrote the path."""

import re
from typing import Any

from services.runtime.forms import COMMAND_ID_PATTERN, ID_PATTERN, KEY_PATTERN

HEALTH = "health"
_IDS = {
    **dict.fromkeys(("key", "table_id", "progressive_id", "account_id"), KEY_PATTERN),
    "round_id": ID_PATTERN,
    "command_id": COMMAND_ID_PATTERN,
}
"""The forms of the ids in paths and queries."""
_METHODS = ("get", "post", "put", "delete", "patch")


def _sentences(**names: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": names, "required": list(names)}


_TEXT = {"type": "string"}
_MALFORMED = _sentences(malformed=_TEXT)
_REFUSED = _sentences(
    refused=_TEXT, section={"anyOf": [_TEXT, {"type": "null"}]}, sequence={"type": "integer", "minimum": 1}
)
_CARRIED_OUT = _sentences(
    sequence={"type": "integer", "minimum": 1},
    events={"type": "array", "items": {"type": "object", "properties": {"event": _TEXT}, "required": ["event"]}},
)
_LOOK = _sentences(look=_TEXT, detail=_TEXT)
_AWAY = _sentences(away={"type": "array", "items": _TEXT}, detail=_TEXT)


def _said(description: str, schema: dict[str, Any], page: bool = False) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if page:
        content["text/html"] = {"schema": _TEXT}
    return {"description": description, "content": content}


_SHUT = {
    "401": _said("Nobody was named, or by a token that does not hold", _sentences(unauthorized=_TEXT), page=True),
    "403": _said("This is not for somebody of these roles", _sentences(forbidden=_TEXT), page=True),
}
_AWAY_503 = {"503": _said("The broker or the database is away; try again", _AWAY)}
_WRONG = {"422": _said("What was sent is not of its form", _MALFORMED)}
_OUTCOME = {
    "200": _said("It was carried out: what the log says", _CARRIED_OUT),
    "409": _said("The rules refuse it, and the log says so", _REFUSED),
}
_COMMAND = _OUTCOME | {
    "202": _said("The log has not answered yet; look there", _LOOK),
    "408": _said("The body did not come in time", _MALFORMED),
    "413": _said("The body is too long", _MALFORMED),
}
_NOT_THERE = {"404": _said("There is no such thing", _sentences(detail=_TEXT))}
_UNKNOWN = {"404": _said("The log has not answered such a command", _sentences(unknown=_TEXT))}


def described(document: dict[str, Any], open_reads: re.Pattern[str] | None) -> dict[str, Any]:
    """The document with everything that its paths may answer. `open_reads` are those that ask nobody who they are."""
    for path, operations in document.get("paths", {}).items():
        for method, operation in operations.items():
            if method in _METHODS and HEALTH not in operation.get("tags", ()):
                _describe(path, method, operation, open_reads)
    parts = document.setdefault("components", {})
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
    # FastAPI's own form of a 422, which is not ours.
    for name in ("HTTPValidationError", "ValidationError"):
        parts.get("schemas", {}).pop(name, None)
    return document


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "Of one intention: the same command with the same key is carried out once. The payout desk needs one.",
    "schema": {"type": "string", "pattern": COMMAND_ID_PATTERN},
}


def _describe(path: str, method: str, operation: dict[str, Any], open_reads: re.Pattern[str] | None) -> None:
    for parameter in operation.get("parameters", ()):
        form = _IDS.get(parameter["name"])
        if form is not None:
            kinds = parameter["schema"].get("anyOf", [parameter["schema"]])
            kinds[0]["pattern"] = form
        if parameter["name"] == "as_of":
            kinds = parameter["schema"].get("anyOf", [parameter["schema"]])
            kinds[0]["format"] = "date-time"
    if method == "post":
        operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
    responses = operation.setdefault("responses", {})
    responses.pop("422", None)
    responses.update(_AWAY_503)
    if method == "post":
        responses.update(_COMMAND)
    if path == "/commands/{command_id}":
        responses.update(_OUTCOME | _UNKNOWN)
    elif "{" in path:
        responses.setdefault("404", _NOT_THERE["404"])
    if operation.get("parameters") or method == "post":
        responses.update(_WRONG)
    if method != "get" or open_reads is None or not open_reads.fullmatch(path):
        responses.update(_SHUT)
        operation["security"] = [{"token": []}]
