"""What a service is made of, as hashes: its software and its configuration. It does not work where they are not the
ones that it was told to expect.

That a controller proves its software and its configuration before it works, and names them, is the rule of New York
(9 CRR 5321.18(b)(3)(iv)). The log is proved where it is read: see `runtime/projecting.py`.
"""

import hashlib

from services.core.rules import RuleBook
from services.runtime.local import ROOT
from services.runtime.settings import Settings

PARTS = ("services/**/*.py", "services/**/*.sql", "services/**/*.html", "proto/**/*.proto")


def software_sha256() -> str:
    """Of every file that the services are made of, with its name."""
    whole = hashlib.sha256()
    for path in sorted(path for pattern in PARTS for path in ROOT.glob(pattern)):
        whole.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def configuration_sha256(book: RuleBook, settings: Settings) -> str:
    """Of the submissions that are held, and of the settings that decide something."""
    whole = hashlib.sha256()
    for sha256 in sorted(held.sha256 for held in book.submissions):
        whole.update(sha256)
    decides = (settings.jwks, settings.issuer, settings.audience, settings.signers, settings.parameters_idle_ms)
    whole.update(repr(decides).encode())
    return whole.hexdigest()


def unexpected(found: dict[str, str], settings: Settings) -> list[str]:
    """What differs from what the service was told to expect, a sentence each."""
    told = {"software": settings.software_sha256, "configuration": settings.configuration_sha256}
    return [
        f"the {name} is {found[name]}, and {expected} was expected"
        for name, expected in told.items()
        if expected is not None and found[name] != expected
    ]
