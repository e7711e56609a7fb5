"""An issuer of tokens for a house on one machine: a key of its own, and tokens for the people of the house.

`python -m services.runtime.issuing FOLDER [TABLES]` makes them for docker compose. A real house has an issuer already,
and the services are told where its public keys are.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import OKPAlgorithm

from services.core.people import Role

ISSUER = AUDIENCE = "roundlog"
KEY_ID = "house"
LIFETIME_SECONDS = 7 * 24 * 3600
TABLES_UNLESS_TOLD = 64

PEOPLE: Mapping[str, tuple[Role, ...]] = {
    "dealer": (Role.DEALER,),
    "floorperson": (Role.FLOORPERSON,),
    "manager": (Role.MANAGER,),
    "second-manager": (Role.MANAGER,),
    "cage": (Role.CAGE,),
    "auditor": (Role.AUDITOR,),
    "terminal": (Role.TERMINAL,),
    "display": (Role.DISPLAY,),
}
"""One of each role; of managers two, because a second one approves."""


def key_in(folder: Path) -> Ed25519PrivateKey:
    """The signing key of the folder, made where there is none; its public half is in `jwks.json` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "key.pem"
    if path.exists():
        key = load_pem_private_key(path.read_bytes(), None)
        assert isinstance(key, Ed25519PrivateKey), f"{path} is no Ed25519 key"
    else:
        key = Ed25519PrivateKey.generate()
        _write_privately(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())
    public: dict[str, Any] = {**OKPAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": KEY_ID, "use": "sig"}
    (folder / "jwks.json").write_text(json.dumps({"keys": [public]}, indent=2) + "\n")
    return key


def token(key: Ed25519PrivateKey, name: str, roles: tuple[Role, ...], at_s: int, seconds: int) -> str:
    """A token for somebody, valid from `at_s` for so many seconds."""
    claims = {"sub": name, "roles": [role.value for role in roles], "iss": ISSUER, "aud": AUDIENCE}
    return jwt.encode({**claims, "iat": at_s, "exp": at_s + seconds}, key, "EdDSA", {"kid": KEY_ID})


def issue(folder: Path, tables: int) -> None:
    """Writes a token for everybody of PEOPLE, and for a dealer of each table, into files by their names."""
    key, now = key_in(folder), int(time.time())
    people = {**PEOPLE, **{f"dealer-table-{number}": (Role.DEALER,) for number in range(1, tables + 1)}}
    for name, roles in people.items():
        _write_privately(folder / name, token(key, name, roles, now, LIFETIME_SECONDS))


def _write_privately(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


if __name__ == "__main__":
    issue(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else TABLES_UNLESS_TOLD)
