"""Tokens on a real house: who is let in, who may ask for what, and whose name is in the log."""

import base64
import json
import time
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from services.core.people import Role
from services.runtime.issuing import AUDIENCE, ISSUER, KEY_ID, key_in, token
from tests.support.audit import audited
from tests.support.house import House

OPEN_TABLE = {"command": "OpenTable", "game": "cajun_stud", "seats": 6, "rules": "demo-cajun-stud"}


def said_by(house: House, name: str) -> str:
    assert house.tokens is not None
    return (house.tokens / name).read_text()


def ask(house: House, bearer: str | None, path: str, body: dict[str, object]) -> tuple[int, dict[str, object]]:
    headers = {"Idempotency-Key": f"people-{time.monotonic_ns()}"}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer}"
    answer = house.client.post(house.at(path), json=body, headers=headers)
    return answer.status_code, answer.json()


def test_without_a_token_only_health_documentation_and_displays_are_open(house: House) -> None:
    shut = {
        "tables": ("/tables", "/tables/people-1", "/tables/people-1/events", "/commands/any"),
        "wagers": ("/rounds/people-1-1",),
        "progressive": ("/progressives/people-meter/claims", "/progressives/people-meter/envy"),
        "accounts": ("/accounts/ann", "/accounts/ann/entries"),
    }
    for service, paths in shut.items():
        for path in paths:
            answer = house.client.get(house.url(service) + path)
            assert answer.status_code == 401, path
            assert "Authorization: Bearer" in answer.json()["unauthorized"]
            assert answer.headers["www-authenticate"] == "Bearer"
        for path in ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json"):
            assert house.client.get(house.url(service) + path).status_code == 200, path
    progressive = house.url("progressive")
    assert house.client.get(f"{progressive}/progressives").status_code == 200
    assert house.client.get(f"{progressive}/display/people-meter").status_code == 200


def test_x_actor_says_nothing_where_tokens_do(house: House) -> None:
    answer = house.client.post(
        house.at("/tables/people-2/commands"), json=OPEN_TABLE, headers={"X-Actor": "floorperson"}
    )
    assert answer.status_code == 401


def test_a_browser_is_shown_where_to_sign_in_and_stays_signed_in(house: House) -> None:
    tables = f"{house.url('tables')}/tables"
    shown = house.client.get(tables, headers={"Accept": "text/html"})
    assert shown.status_code == 401
    assert '<form method="post" action="/signin">' in shown.text
    assert "Paste the token that you were given." in shown.text
    wrong = house.client.post(f"{house.url('tables')}/signin", data={"token": "nobody", "next": "/tables"})
    assert wrong.status_code == 401 and "The token is not taken" in wrong.text
    fields = {"token": said_by(house, "auditor"), "next": "/tables"}
    signed = house.client.post(f"{house.url('tables')}/signin", data=fields)
    assert signed.status_code == 303 and signed.headers["location"] == "/tables"
    cookie = signed.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    house.client.cookies.clear()
    kept = {"Cookie": cookie.split(";")[0]}
    assert house.client.get(tables, headers=kept).status_code == 200
    # Who comes to the page where one signs in has signed out.
    left = house.client.get(f"{house.url('tables')}/signin", params={"next": "/tables"}, headers=kept)
    assert 'value="/tables"' in left.text and 'roundlog="";' in left.headers["set-cookie"]
    assert "Max-Age=0" in left.headers["set-cookie"]
    # Another page's form may send the cookie along, but no JSON.
    form = {**kept, "Content-Type": "text/plain"}
    sent = house.client.post(house.at("/tables/people-0/commands"), content=b'{"command": "OpenRound"}', headers=form)
    assert sent.status_code == 403 and "application/json" in sent.json()["forbidden"]


@pytest.mark.parametrize("after", ["//elsewhere.example/", "https://elsewhere.example/", "/\\elsewhere.example"])
def test_a_sign_in_leads_nowhere_else(house: House, after: str) -> None:
    fields = {"token": said_by(house, "auditor"), "next": after}
    signed = house.client.post(f"{house.url('tables')}/signin", data=fields)
    house.client.cookies.clear()
    assert signed.headers["location"] == "/"
    assert 'name="next" value="/"' in house.client.get(f"{house.url('tables')}/signin", params={"next": after}).text


def test_the_log_records_whose_token_it_was(house: House) -> None:
    status, _ = ask(house, said_by(house, "floorperson"), "/tables/people-3/commands", OPEN_TABLE)
    assert status == 200
    (record,) = audited(house.kafka.bootstrap).records["rounds"]["people-3"]
    assert record.actor == "floorperson"


def test_a_role_asks_for_what_is_its_own(house: House) -> None:
    """A refusal of a role changes nothing: the floorperson opens the same table behind it."""
    path = "/tables/people-4/commands"
    for name, article in (
        ("dealer", "a dealer"),
        ("cage", "a cage"),
        ("terminal", "a terminal"),
        ("auditor", "an auditor"),
    ):
        status, body = ask(house, said_by(house, name), path, OPEN_TABLE)
        assert status == 403
        assert body["forbidden"] == f"{name} is {article}: OpenTable is for a floorperson or a manager."
    assert ask(house, said_by(house, "floorperson"), path, OPEN_TABLE)[0] == 200
    assert (
        house.client.get(
            house.url("accounts") + "/accounts/ann", headers={"Authorization": f"Bearer {said_by(house, 'dealer')}"}
        ).status_code
        == 403
    )


def forged(folder: Path) -> dict[str, str]:
    """Tokens that no house takes, by what is wrong with them."""
    key, now = key_in(folder), int(time.time())
    claims = {"sub": "mallory", "roles": ["manager"], "iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 600}
    head = {"kid": KEY_ID}

    def signed(**other: object) -> str:
        return jwt.encode({**claims, **other}, key, "EdDSA", head)

    other = Ed25519PrivateKey.generate()
    own_key = json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(other.public_key()))
    without_end = jwt.encode({name: value for name, value in claims.items() if name != "exp"}, key, "EdDSA", head)
    good = signed()
    return {
        "another's key": jwt.encode(claims, Ed25519PrivateKey.generate(), "EdDSA", head),
        "an unknown key": jwt.encode(claims, key, "EdDSA", {"kid": "other"}),
        "no signature": jwt.encode(claims, None, "none"),
        "the public key as a secret": jwt.encode(
            claims, json.loads((folder / "jwks.json").read_text())["keys"][0]["x"], "HS256", head
        ),
        "a changed body": ".".join((good.split(".")[0], signed(sub="bob").split(".")[1], good.split(".")[2])),
        "expired": token(key, "mallory", (Role.MANAGER,), now - 3600, 600),
        "without an end": without_end,
        "another issuer": signed(iss="elsewhere"),
        "for another": signed(aud="elsewhere"),
        "no roles": signed(roles=[]),
        "unknown roles": signed(roles=["owner"]),
        "roles as text": signed(roles="manager"),
        "no name": signed(sub=""),
        "a name of two lines": signed(sub="ann\nbob"),
        "nonsense": "a.b.c",
        "a head without an end": f"{base64.urlsafe_b64encode(b'[' * 20_000).decode()}.e30.e30",
        "not valid yet": signed(nbf=now + 500),
        "an end that is no number": signed(exp=[now + 500]),
        "a name that is no text": signed(sub=["mallory"]),
        "roles within roles": signed(roles=[["manager"]]),
        "a demand that is not known": jwt.encode(claims, key, "EdDSA", {"kid": KEY_ID, "crit": ["x"], "x": 1}),
        "a key of its own": jwt.encode(claims, other, "EdDSA", {"kid": KEY_ID, "jwk": own_key}),
    }


def test_a_token_that_is_not_the_issuers_is_not_taken(house: House) -> None:
    assert house.tokens is not None
    for wrong, bearer in forged(house.tokens).items():
        status, body = ask(house, bearer, "/tables/people-5/commands", OPEN_TABLE)
        assert status == 401, wrong
        assert body["unauthorized"], wrong
    manager = {"Authorization": f"Bearer {said_by(house, 'manager')}"}
    assert house.client.get(f"{house.url('tables')}/tables/people-5", headers=manager).status_code == 404


def test_two_people_are_two_names_whatever_their_roles(house: House) -> None:
    """Who proposed parameters does not approve them, under another role either."""
    assert house.tokens is not None
    meter = "/progressives/people-meter/commands"
    manager, second = said_by(house, "manager"), said_by(house, "second-manager")
    opened = {"command": "OpenProgressive", "rules": "demo-mississippi-stud"}
    assert ask(house, manager, meter, opened)[0] == 200
    proposed = {"command": "ChangeParameters", "level": "meter", "limit_cents": 30_000_000, "reason": "A bigger sign."}
    assert ask(house, manager, meter, proposed)[0] == 200
    both = token(key_in(house.tokens), "manager", (Role.MANAGER, Role.FLOORPERSON), int(time.time()), 600)
    for bearer in (manager, both):
        status, body = ask(house, bearer, meter, {"command": "ApproveParameters", "change": 1})
        assert status == 409
        assert body["refused"] == "Change 1 was proposed by manager: another person approves it. Ask a second person."
    assert ask(house, second, meter, {"command": "ApproveParameters", "change": 1})[0] == 200
