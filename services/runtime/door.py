"""The door of a service: whoever comes in says who they are, by a token, and is let in where their role allows it.

Open to everybody are health, documentation, and what displays show. With AUTH=off nobody is asked; then every page
says so. Which role a command needs is asked where the command is read.
"""

import asyncio
import html
import re
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.core.people import Role, why_not_read
from services.runtime.forms import NAME_MAX, Malformed, is_printed
from services.runtime.tokens import Person, Tokens, TokenWrong

COOKIE = "roundlog"
SIGN_IN = "/signin"
OPEN = re.compile(r"/(healthz|readyz|heartbeat|metrics|docs(/.*)?|redoc|openapi\.json|favicon\.ico)")
TOKEN_BYTES_MAX = 8_192
SIGN_IN_SECONDS = 10.0
UNNAMED = "unnamed"
PASTE = "Paste the token that you were given."
NOTICE = (
    '<p style="position:fixed;inset:auto 0 0 0;margin:0;padding:2px 8px;font:12px sans-serif;text-align:center;'
    'background:#7a1f1f;color:#fff;z-index:9999;pointer-events:none">'
    "AUTH=off: nobody is asked who they are. For trials on this machine only.</p></body>"
)
FORM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
body{{font:16px/1.5 sans-serif;max-width:34em;margin:12vh auto;padding:0 1em;color:#1d2430;background:#f5f3ee}}
textarea{{width:100%;box-sizing:border-box;font:13px monospace}}button{{font:inherit;padding:.4em 1.2em}}
</style></head><body><h1>Roundlog</h1><p>{why}</p><form method="post" action="{action}">
<label>Your token<br><textarea name="token" rows="6" required autofocus spellcheck="false"></textarea></label>
<input type="hidden" name="next" value="{next}"><p><button>Sign in</button></p></form></body></html>"""


class Shut(Exception):
    """Somebody is not let in: the HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Door:
    """Stands before an application, and puts into `state.person` who has come in; None where what is
    asked for is open to everybody. Where nobody is asked for a token, whoever comes in has every role."""

    def __init__(self, app: ASGIApp, service: str, tokens: Tokens | None, open_reads: re.Pattern[str] | None) -> None:
        self._app, self._service, self._tokens, self._open_reads = app, service, tokens, open_reads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            if scope["path"] == SIGN_IN and self._tokens is not None:
                await (await self._sign_in(scope, receive))(scope, receive, send)
                return
            scope.setdefault("state", {})["person"] = await self._person(scope, headers)
        except Shut as shut:
            await _answer(shut, scope, headers)(scope, receive, send)
            return
        except Malformed as error:
            await JSONResponse({"malformed": str(error)}, 422)(scope, receive, send)
            return
        await self._app(scope, receive, send if self._tokens is not None else _with_notice(send))

    async def _person(self, scope: Scope, headers: Headers) -> Person | None:
        if self._tokens is None:
            return Person(_actor(headers), frozenset(Role))
        path, reads = scope["path"], scope["method"] in ("GET", "HEAD")
        if OPEN.fullmatch(path) or (reads and self._open_reads is not None and self._open_reads.fullmatch(path)):
            return None
        token = token_of(headers)
        if token is None:
            raise Shut(401, "Say who you are: send a token as `Authorization: Bearer TOKEN`.")
        try:
            person = await self._tokens.person(token)
        except TokenWrong as error:
            raise Shut(401, str(error)) from None
        if not reads and "authorization" not in headers and not is_json(headers):
            raise Shut(403, "Signed in by a page, a command is sent as `Content-Type: application/json`.")
        if reads and (reason := why_not_read(person.name, person.roles, self._service)) is not None:
            raise Shut(403, reason)
        return person

    async def _sign_in(self, scope: Scope, receive: Receive) -> Response:
        """A page where a token is pasted; it is then kept in a cookie that only this host is sent. Who comes to the page
        has signed out."""
        if scope["method"] != "POST":
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            form = _form(PASTE, _here(query.get("next", ["/"])[0]))
            form.delete_cookie(COOKIE, httponly=True, samesite="strict")
            return form
        body = b""
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                while len(body) <= TOKEN_BYTES_MAX:
                    message = await receive()
                    body += message.get("body", b"")
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            return _form("What was sent did not come to its end.", "/", 408)
        fields = parse_qs(body.decode("utf-8", "replace"))
        token, after = fields.get("token", [""])[0].strip(), _here(fields.get("next", ["/"])[0])
        assert self._tokens is not None
        try:
            await self._tokens.person(token)
        except TokenWrong as error:
            return _form(str(error), after, 401)
        answer = RedirectResponse(after, 303)
        answer.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=scope.get("scheme") == "https")
        return answer


def _here(after: str) -> str:
    """Where a sign-in leads: a path of this host, and nowhere else."""
    return after if re.fullmatch(r"/(?!/)[^\\]*", after) else "/"


def token_of(headers: Headers) -> str | None:
    """The token that comes with a request: in its header, or in the cookie of the sign-in page."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token:
        return token.strip()
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return None if morsel is None else morsel.value


def is_json(headers: Headers) -> bool:
    """Whether a request's body says that it is JSON: a form of another page cannot say so."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _actor(headers: Headers) -> str:
    """Who acts where tokens are off. Raises Malformed."""
    # Headers are bytes; the name is evidence, so it is read as it was written.
    try:
        actor = headers.get("x-actor", UNNAMED).encode("latin-1").decode()
    except UnicodeDecodeError:
        raise Malformed("X-Actor must be UTF-8.") from None
    if len(actor) > NAME_MAX or not is_printed(actor):
        raise Malformed(f"X-Actor must be 1 to {NAME_MAX} printable characters.")
    return actor


def _answer(shut: Shut, scope: Scope, headers: Headers) -> Response:
    if "text/html" in headers.get("accept", ""):
        query = scope.get("query_string", b"").decode("latin-1")
        why = PASTE if token_of(headers) is None else str(shut)
        return _form(why, scope["path"] + (f"?{query}" if query else ""), shut.status)
    name = "unauthorized" if shut.status == 401 else "forbidden"
    said = {"WWW-Authenticate": "Bearer"} if shut.status == 401 else None
    return JSONResponse({name: str(shut)}, shut.status, said)


def _form(why: str, after: str, status: int = 200) -> Response:
    page = FORM.format(why=html.escape(why), action=SIGN_IN, next=html.escape(after))
    return HTMLResponse(page, status, {"Cache-Control": "no-store"})


def _with_notice(send: Send) -> Send:
    """Sends on, and writes under every page that nobody is asked who they are."""
    held: list[Message] = []

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if kind.startswith("text/html"):
                held.append(message)
                return
        elif held:
            start: Any = held.pop()
            body = message.get("body", b"").replace(b"</body>", NOTICE.encode(), 1)
            headers = MutableHeaders(raw=start["headers"])
            if "content-length" in headers and not message.get("more_body"):
                headers["content-length"] = str(len(body))
            await send(start)
            message = {**message, "body": body}
        await send(message)

    return sent
