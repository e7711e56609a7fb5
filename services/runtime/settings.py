"""What a service is told by its environment, read once at its start."""

import math
import os
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from services.core.jackpots import SignerBand
from services.flow import PORTS
from services.runtime import journal, published
from services.runtime.local import LOCAL
from services.runtime.security import Security, SettingWrong, kafka_security, one_of, postgres_url

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PORT_MAX = 65_535
COUNT_MAX = 10**9
BROKERS_MAX = 32_767
"""What Kafka can count of them: a 16-bit number."""
CURRENCY = re.compile(r"[A-Z]{3}")
LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?")
"""A language, perhaps a script, perhaps a region: what every browser takes, whether it knows the language or not."""


@dataclass(frozen=True, slots=True)
class Copies:
    """How many brokers hold a record, and how many of them must have it before it counts as written."""

    all: int = 1
    written: int = 1


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a service finds its parts and is found itself."""

    service: str
    instance: str
    host: str
    port: int
    house: str
    """What the house is called on what is printed."""
    kafka: str
    kafka_security: Security
    copies: Copies
    postgres: str
    rules: Path
    paytables: Path
    """The folders with the Rules Submissions, and with the published paytables that they may name."""
    par_cache: Path
    """The folder in which best play is kept. It can be made again, so nothing is lost with it."""
    answer_seconds: float
    """How long a caller waits for the log's answer before it is told where to look."""
    feed_queue_max: int
    """How many deltas a slow reader of a feed may be behind before it is dropped."""
    connections_max: int
    """How many connections may be open at once; where all are taken the longest silent one makes room."""
    progressive_url: str
    """Where the progressive controller answers: the tables listen to it, and the payout desk takes its commands there."""
    signers: tuple[SignerBand, ...]
    """From which amount on how many different people sign for a hand pay before it is documented."""
    jwks: str | None
    """The path or URL of the public keys of the issuer of tokens; None where AUTH is off and nobody is asked."""
    issuer: str
    audience: str
    software_sha256: str | None
    configuration_sha256: str | None
    """What the service must be made of, to be ready; None where nobody says."""
    parameters_idle_ms: int | None
    """After how long without a contribution an approved change of parameters is in force; None: only by a win."""
    currency: str
    locale: str
    """The currency (ISO 4217) of the house, and the language (BCP 47) in whose manner its displays write amounts."""
    journal: str
    journal_commands: bool
    """In which form the service says what it does, and whether it says each step of each command."""

    def shown(self) -> str:
        """One line for the log, without secrets."""
        database = urlsplit(self.postgres)
        return (
            f"{self.service} ({self.instance}) on {self.host}:{self.port}, kafka {self.kafka}"
            f" ({self.kafka_security.protocol}),"
            f" postgres {database.hostname or 'socket'}{database.path}, rules {self.rules}"
        )


def settings_from(environment: dict[str, str], service: str, port: int) -> Settings:
    """The settings of a service. Raises SettingWrong."""
    host = environment.get("ROUNDLOG_HOST", "127.0.0.1")
    jwks = _jwks(environment, host)
    try:
        return Settings(
            service=service,
            instance=environment.get("ROUNDLOG_INSTANCE", f"{service}-{socket.gethostname()}"),
            host=host,
            port=_whole(environment, "ROUNDLOG_PORT", port, 1, PORT_MAX),
            house=environment.get("ROUNDLOG_HOUSE", "Demonstration house"),
            kafka=environment["ROUNDLOG_KAFKA"],
            kafka_security=kafka_security(environment),
            copies=copies(environment),
            postgres=postgres_url(environment),
            rules=Path(environment.get("ROUNDLOG_RULES", "deploy/rules")),
            paytables=Path(environment.get("ROUNDLOG_PAYTABLES", published.SHIPPED)),
            par_cache=par_folder(environment),
            answer_seconds=_seconds(environment, "ROUNDLOG_ANSWER_SECONDS", 5.0),
            feed_queue_max=_whole(environment, "ROUNDLOG_FEED_QUEUE_MAX", 1_000, 1, COUNT_MAX),
            connections_max=_whole(environment, "ROUNDLOG_CONNECTIONS_MAX", 4_000, 1, COUNT_MAX),
            progressive_url=environment.get("ROUNDLOG_PROGRESSIVE_URL", f"http://127.0.0.1:{PORTS['progressive']}"),
            jwks=jwks,
            issuer=environment.get("ROUNDLOG_ISSUER", "roundlog"),
            audience=environment.get("ROUNDLOG_AUDIENCE", "roundlog"),
            software_sha256=environment.get("ROUNDLOG_SOFTWARE_SHA256"),
            configuration_sha256=environment.get("ROUNDLOG_CONFIGURATION_SHA256"),
            signers=_signers(environment.get("ROUNDLOG_SIGNERS", "")),
            parameters_idle_ms=_idle_ms(environment),
            currency=_of_form(environment, "ROUNDLOG_CURRENCY", "USD", CURRENCY, "three capital letters, such as USD"),
            locale=_of_form(environment, "ROUNDLOG_LOCALE", "en-US", LOCALE, "a language tag, such as en-US"),
            journal=one_of(environment, "ROUNDLOG_LOG", journal.FORMS),
            journal_commands=one_of(environment, "ROUNDLOG_LOG_COMMANDS", ("off", "on")) == "on",
        )
    except KeyError as error:
        raise SettingWrong(f"the environment lacks {error.args[0]}") from None


def copies(environment: dict[str, str]) -> Copies:
    """What topics are made with, and must have at least. Raises SettingWrong."""
    every, written = (
        _whole(environment, name, 1, 1, BROKERS_MAX) for name in ("ROUNDLOG_REPLICATION", "ROUNDLOG_MIN_ISR")
    )
    if written > every:
        raise SettingWrong(
            f"ROUNDLOG_MIN_ISR={written} is more than ROUNDLOG_REPLICATION={every}: nothing could ever be written"
        )
    return Copies(every, written)


def par_folder(environment: dict[str, str]) -> Path:
    """Where best play is kept, also for who has no other setting."""
    return Path(environment.get("ROUNDLOG_PAR_CACHE", LOCAL / "par"))


def _jwks(environment: dict[str, str], host: str) -> str | None:
    auth = environment.get("AUTH", "on")
    if auth == "off":
        if host not in LOOPBACK:
            raise SettingWrong(
                f"AUTH=off on {host}: nobody would be asked who they are. Without tokens a service listens on loopback"
                f" only ({', '.join(LOOPBACK)}); give it an issuer's keys by ROUNDLOG_JWKS instead"
            )
        return None
    if auth != "on":
        raise SettingWrong(f"AUTH={auth}: it is on, or off for trials on one machine")
    if "ROUNDLOG_JWKS" not in environment:
        raise SettingWrong(
            "the environment lacks ROUNDLOG_JWKS, the path or URL of the public keys of the issuer of tokens; for a"
            " trial on this machine without tokens, set AUTH=off"
        )
    return environment["ROUNDLOG_JWKS"]


def _signers(text: str) -> tuple[SignerBand, ...]:
    """`120000:2,1000000:3` as two people from $1,200 on and three from $10,000 on."""
    bands = []
    for band in filter(None, text.split(",")):
        cents, _, people = band.partition(":")
        if not (cents.isdecimal() and people.isdecimal() and int(people) > 0):
            raise SettingWrong(
                f"ROUNDLOG_SIGNERS={text}: write CENTS:PEOPLE, with commas between them, such as 120000:2,1000000:3"
            )
        bands.append(SignerBand(int(cents), int(people)))
    return tuple(sorted(bands, key=lambda band: (band.from_cents, band.people)))


def _of_form(environment: dict[str, str], name: str, unless_told: str, form: re.Pattern[str], words: str) -> str:
    said = environment.get(name, unless_told)
    if not form.fullmatch(said):
        raise SettingWrong(f"{name}={said}: it must be {words}")
    return said


def _idle_ms(environment: dict[str, str]) -> int | None:
    """None where it is not told; in no time at all every link would be idle, and no change would wait for its moment."""
    name = "ROUNDLOG_PARAMETERS_IDLE_SECONDS"
    return _whole(environment, name, 0, 1, COUNT_MAX) * 1000 if environment.get(name) else None


def _whole(environment: dict[str, str], name: str, unless_told: int, least: int, most: int) -> int:
    said = environment.get(name, str(unless_told))
    if not said.isdecimal() or not least <= int(said) <= most:
        raise SettingWrong(f"{name}={said}: it must be a whole number from {least} to {most}")
    return int(said)


def _seconds(environment: dict[str, str], name: str, unless_told: float) -> float:
    said = environment.get(name, str(unless_told))
    try:
        seconds = float(said)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= COUNT_MAX:
        raise SettingWrong(f"{name}={said}: it must be a number of seconds above 0, at most {COUNT_MAX}")
    return seconds


def environment() -> dict[str, str]:
    """The process's environment, as it is now."""
    return dict(os.environ)
