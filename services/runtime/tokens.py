"""Who asks: signed tokens (JWT), checked against the public keys of their issuer (JWKS).

A token has `sub` (who: it is what the log records), `roles`, `iss`, `aud`, `iat` and `exp`.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt

from services.core.people import Role
from services.runtime.forms import NAME_MAX, is_printed

ALGORITHMS = ["EdDSA", "ES256", "RS256"]
LEEWAY_SECONDS = 5
KEYS_KEPT_SECONDS = 300
REQUIRED = ["sub", "iss", "aud", "exp"]


class TokenWrong(Exception):
    """A token that is not taken; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who asks, and what they are in the house."""

    name: str
    roles: frozenset[Role]


class Tokens:
    """Reads tokens. `keys` is the path or the URL of the issuer's JWKS."""

    def __init__(self, keys: str, issuer: str, audience: str) -> None:
        self._issuer, self._audience = issuer, audience
        self._remote = jwt.PyJWKClient(keys, lifespan=KEYS_KEPT_SECONDS) if "://" in keys else None
        self._file = None if self._remote is not None else Path(keys)
        self._held: jwt.PyJWKSet | None = None

    async def person(self, token: str) -> Person:
        """Whose token it is. Raises TokenWrong."""
        try:
            key = await self._key(token)
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._issuer,
                audience=self._audience,
                leeway=LEEWAY_SECONDS,
                options={"require": REQUIRED},
            )
        except jwt.ExpiredSignatureError:
            raise TokenWrong("The token has expired. Get a new one.") from None
        except jwt.PyJWKClientConnectionError as error:
            raise TokenWrong(f"The keys of the issuer cannot be read: {error}.") from None
        except (jwt.PyJWTError, OSError, ValueError) as error:
            raise TokenWrong(f"The token is not taken: {error}.") from None
        return _person(claims)

    async def _key(self, token: str) -> Any:
        if self._remote is not None:
            # It may ask the issuer, and must not keep the others waiting meanwhile.
            return await asyncio.to_thread(self._remote.get_signing_key_from_jwt, token)
        assert self._file is not None
        wanted = jwt.get_unverified_header(token).get("kid")
        for _ in range(2):
            if self._held is None:
                self._held = jwt.PyJWKSet.from_dict(json.loads(self._file.read_text()))
            found = next((key for key in self._held.keys if key.key_id == wanted), None)
            if found is not None:
                return found
            self._held = None  # the issuer may have a new key
        raise TokenWrong("The token is signed with a key that its issuer does not show.")


def _person(claims: dict[str, Any]) -> Person:
    name, roles = claims["sub"], claims.get("roles")
    if not isinstance(name, str) or len(name) > NAME_MAX or not is_printed(name):
        raise TokenWrong(f"The token's sub must be 1 to {NAME_MAX} printable characters.")
    known = {role.value for role in Role}
    if not isinstance(roles, list) or not roles or not all(isinstance(role, str) and role in known for role in roles):
        raise TokenWrong(f"The token's roles must be a list of {', '.join(sorted(known))}.")
    return Person(name, frozenset(Role(role) for role in roles))
