"""What a service is told by its environment, read once at its start."""

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
from services.runtime.security import Security, SettingWrong, kafka_security, postgres_url

LOOPBACK = ("127.0.0.1", "localhost", "::1")
CURRENCY = re.compile(r"[A-Z]{3}")
LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


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
            port=int(environment.get("ROUNDLOG_PORT", str(port))),
            house=environment.get("ROUNDLOG_HOUSE", "Demonstration house"),
            kafka=environment["ROUNDLOG_KAFKA"],
            kafka_security=kafka_security(environment),
            copies=copies(environment),
            postgres=postgres_url(environment),
            rules=Path(environment.get("ROUNDLOG_RULES", "deploy/rules")),
            paytables=Path(environment.get("ROUNDLOG_PAYTABLES", published.SHIPPED)),
            par_cache=par_folder(environment),
            answer_seconds=float(environment.get("ROUNDLOG_ANSWER_SECONDS", "5")),
            feed_queue_max=int(environment.get("ROUNDLOG_FEED_QUEUE_MAX", "1000")),
            progressive_url=environment.get("ROUNDLOG_PROGRESSIVE_URL", f"http://127.0.0.1:{PORTS['progressive']}"),
            jwks=jwks,
            issuer=environment.get("ROUNDLOG_ISSUER", "roundlog"),
            audience=environment.get("ROUNDLOG_AUDIENCE", "roundlog"),
            software_sha256=environment.get("ROUNDLOG_SOFTWARE_SHA256"),
            configuration_sha256=environment.get("ROUNDLOG_CONFIGURATION_SHA256"),
            signers=_signers(environment.get("ROUNDLOG_SIGNERS", "")),
            parameters_idle_ms=_idle_ms(environment.get("ROUNDLOG_PARAMETERS_IDLE_SECONDS", "")),
            currency=_of_form(environment, "ROUNDLOG_CURRENCY", "USD", CURRENCY, "three capital letters, such as USD"),
            locale=_of_form(environment, "ROUNDLOG_LOCALE", "en-US", LOCALE, "a language tag, such as en-US"),
            journal=_one_of(environment, "ROUNDLOG_LOG", journal.FORMS),
            journal_commands=_one_of(environment, "ROUNDLOG_LOG_COMMANDS", ("off", "on")) == "on",
        )
    except KeyError as error:
        raise SettingWrong(f"the environment lacks {error.args[0]}") from None
    except ValueError as error:
        raise SettingWrong(f"a setting is not a number: {error}") from None


def copies(environment: dict[str, str]) -> Copies:
    """What topics are made with, and must have at least. Raises SettingWrong."""
    names = ("ROUNDLOG_REPLICATION", "ROUNDLOG_MIN_ISR")
    said = [environment.get(name, "1") for name in names]
    for name, text in zip(names, said, strict=True):
        if not (text.isascii() and text.isdigit() and int(text) > 0):
            raise SettingWrong(f"{name}={text}: it is a number of brokers, from 1 on")
    every, written = map(int, said)
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
        if not (cents.isdigit() and people.isdigit() and int(people) > 0):
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


def _one_of(environment: dict[str, str], name: str, words: tuple[str, ...]) -> str:
    """One of some words, the first unless told."""
    said = environment.get(name, words[0])
    if said not in words:
        raise SettingWrong(f"{name}={said}: it is {' or '.join(words)}")
    return said


def _idle_ms(text: str) -> int | None:
    return int(text) * 1000 if text else None


def environment() -> dict[str, str]:
    """The process's environment, as it is now."""
    return dict(os.environ)
