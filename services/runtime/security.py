"""How a client and its broker, or its database, know each other: TLS, names, passwords; and why one was turned away.

Secrets come from files, or from the environment where there is nothing better; what is logged names settings only.
"""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import asyncpg
from aiokafka.conn import create_conn
from aiokafka.errors import (
    AuthenticationFailedError,
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
SSLMODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
ASK_SECONDS = 5.0


class SettingWrong(Exception):
    """A setting is missing or malformed; the sentence says which and what it must be."""


class TurnedAway(Exception):
    """The broker or the database answers, and will not have this client; the sentence names the setting."""


@dataclass(frozen=True, slots=True)
class Security:
    """How clients reach the brokers. As Kafka's own clients have it: protocol, authority, certificate, SASL."""

    protocol: str = "PLAINTEXT"
    tls: ssl.SSLContext | None = None
    mechanism: str | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def words(self) -> dict[str, Any]:
        """The arguments that every client of aiokafka takes."""
        said: dict[str, Any] = {"security_protocol": self.protocol, "ssl_context": self.tls}
        if self.mechanism is not None:
            said |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.user,
                "sasl_plain_password": self.password,
            }
        return said


OPEN = Security()
"""Nobody is asked, nothing is encrypted: for a broker on the same machine or in a network of its own."""


def kafka_security(environment: Mapping[str, str]) -> Security:
    """What the environment says of the brokers' security. Raises SettingWrong."""
    protocol = one_of(environment, "ROUNDLOG_KAFKA_PROTOCOL", PROTOCOLS)
    for name, part in (
        ("CA", "SSL"), ("CERTIFICATE", "SSL"), ("KEY", "SSL"),
        ("MECHANISM", "SASL"), ("USER", "SASL"), ("PASSWORD", "SASL"), ("PASSWORD_FILE", "SASL"),
    ):  # fmt: skip
        if f"ROUNDLOG_KAFKA_{name}" in environment and part not in protocol:
            # Whoever sets one means to be safe; to go on without would be worse than to stop.
            raise SettingWrong(
                f"ROUNDLOG_KAFKA_{name} is set, and ROUNDLOG_KAFKA_PROTOCOL={protocol} does not use it:"
                f" it takes {' or '.join(word for word in PROTOCOLS if part in word)}"
            )
    tls = _tls(environment) if "SSL" in protocol else None
    if "SASL" not in protocol:
        return Security(protocol, tls)
    mechanism = one_of(environment, "ROUNDLOG_KAFKA_MECHANISM", MECHANISMS)
    if mechanism == "PLAIN" and tls is None:
        raise SettingWrong(
            "ROUNDLOG_KAFKA_MECHANISM=PLAIN sends the password as it is: it takes ROUNDLOG_KAFKA_PROTOCOL=SASL_SSL"
        )
    user, password = environment.get("ROUNDLOG_KAFKA_USER"), secret(environment, "ROUNDLOG_KAFKA_PASSWORD")
    if not user or not password:
        raise SettingWrong(
            f"ROUNDLOG_KAFKA_PROTOCOL={protocol} takes ROUNDLOG_KAFKA_USER, and ROUNDLOG_KAFKA_PASSWORD_FILE with the password"
        )
    return Security(protocol, tls, mechanism, user, password)


def _tls(environment: Mapping[str, str]) -> ssl.SSLContext:
    authority = _readable(environment, "ROUNDLOG_KAFKA_CA")
    certificate = _readable(environment, "ROUNDLOG_KAFKA_CERTIFICATE")
    key = _readable(environment, "ROUNDLOG_KAFKA_KEY")
    if (certificate is None) != (key is None):
        raise SettingWrong("ROUNDLOG_KAFKA_CERTIFICATE and ROUNDLOG_KAFKA_KEY go together: both are set, or none")
    try:
        context = ssl.create_default_context(cafile=authority)
    except ssl.SSLError as error:
        raise SettingWrong(f"ROUNDLOG_KAFKA_CA={authority}: no certificate in PEM is in it ({error.reason})") from None
    if certificate is not None:
        try:
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise SettingWrong(
                f"ROUNDLOG_KAFKA_CERTIFICATE={certificate}, ROUNDLOG_KAFKA_KEY={key}: they must be PEM, and belong"
                f" together ({error.reason})"
            ) from None
    return context


def postgres_url(environment: Mapping[str, str]) -> str:
    """The database's URL, with the password of the file where one is named. Raises SettingWrong, KeyError."""
    url = environment["ROUNDLOG_POSTGRES"]
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    mode = query.get("sslmode", ["prefer"])[-1]
    if mode not in SSLMODES:
        raise SettingWrong(f"ROUNDLOG_POSTGRES has sslmode={mode}: it is one of {', '.join(SSLMODES)}")
    for name in ("sslrootcert", "sslcert", "sslkey"):
        for path in query.get(name, ()):
            _must_be_readable(f"ROUNDLOG_POSTGRES has {name}={path}", path)
    password = secret(environment, "ROUNDLOG_POSTGRES_PASSWORD")
    if password is None:
        return url
    if parts.password is not None:
        raise SettingWrong(
            "ROUNDLOG_POSTGRES has a password and ROUNDLOG_POSTGRES_PASSWORD_FILE too: take it out of the URL"
        )
    if parts.username is None:
        raise SettingWrong("ROUNDLOG_POSTGRES has no user for the password: write postgresql://user@host:port/name")
    before, _, after = parts.netloc.rpartition("@")
    return parts._replace(netloc=f"{before}:{quote(password, safe='')}@{after}").geturl()


def secret(environment: Mapping[str, str], name: str) -> str | None:
    """A secret, from the file that NAME_FILE names or from NAME itself; None where neither is set. Raises SettingWrong."""
    if f"{name}_FILE" not in environment:
        return environment.get(name)
    if name in environment:
        raise SettingWrong(f"{name} and {name}_FILE are both set: keep the file")
    path = environment[f"{name}_FILE"]
    _must_be_readable(f"{name}_FILE={path}", path)
    said = Path(path).read_text().rstrip("\r\n")
    if not said:
        raise SettingWrong(f"{name}_FILE={path}: the file is empty")
    return said


def one_of(environment: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One of some words, the first unless told. Raises SettingWrong."""
    said = environment.get(name, words[0])
    if said not in words:
        allowed = " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}"
        raise SettingWrong(f"{name}={said}: it is {allowed}")
    return said


def _readable(environment: Mapping[str, str], name: str) -> str | None:
    path = environment.get(name)
    if path is not None:
        _must_be_readable(f"{name}={path}", path)
    return path


def _must_be_readable(said: str, path: str) -> None:
    try:
        Path(path).open("rb").close()
    except OSError as error:
        raise SettingWrong(f"{said}: the file cannot be read ({error.strerror})") from None


# Why one was turned away -----------------------------------------------------------------------------------


async def broker_turns_away(servers: str, security: Security) -> str | None:
    """Why the brokers will not have this client, in a sentence that names the setting.

    None where one of them lets it in, or none says more than that it is away: that may pass.
    """
    why: str | None = None
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            async with asyncio.timeout(ASK_SECONDS):
                connection = await create_conn(host, int(port), request_timeout_ms=4000, **security.words())
            connection.close()
            return None
        except (KafkaError, OSError, TimeoutError, ValueError) as error:
            why = _in_words(server.strip(), security, error) or why
    return why


def _in_words(server: str, security: Security, error: Exception) -> str | None:
    who = f"The broker {server}"
    if isinstance(error, ssl.SSLCertVerificationError):
        if "match" in error.verify_message.lower():
            return f"{who} shows a certificate for another name: ROUNDLOG_KAFKA must name it as its certificate does."
        return (
            f"{who} shows a certificate that is not trusted ({error.verify_message}): ROUNDLOG_KAFKA_CA must name the"
            " file of the authority that signed it."
        )
    if isinstance(error, ssl.SSLError):
        return (
            f"{who} does not speak TLS as this client does ({error.reason}): look at ROUNDLOG_KAFKA_PROTOCOL, which is"
            f" {security.protocol}, and at ROUNDLOG_KAFKA_CERTIFICATE."
        )
    if isinstance(error, UnsupportedSaslMechanismError | IllegalSaslStateError):
        return (
            f"{who} does not take {security.mechanism}: look at ROUNDLOG_KAFKA_MECHANISM and at ROUNDLOG_KAFKA_PROTOCOL,"
            f" which is {security.protocol}."
        )
    if isinstance(error, SaslAuthenticationFailed | AuthenticationFailedError):
        return (
            f"{who} refuses the user {security.user}: ROUNDLOG_KAFKA_USER, ROUNDLOG_KAFKA_PASSWORD_FILE or"
            " ROUNDLOG_KAFKA_MECHANISM is not what it knows."
        )
    return None


def database_turns_away(error: BaseException) -> str | None:
    """Why the database will not have this client, in a sentence that names the setting; None where it may only be away."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"PostgreSQL shows a certificate that is not trusted ({error.verify_message}): sslrootcert in ROUNDLOG_POSTGRES"
            " must name the file of the authority that signed it, and the host must be as the certificate has it."
        )
    if isinstance(error, asyncpg.InvalidAuthorizationSpecificationError):
        return (
            f"PostgreSQL refuses this client ({error}): look at the user and sslmode in ROUNDLOG_POSTGRES, and at the"
            " password there or in ROUNDLOG_POSTGRES_PASSWORD_FILE."
        )
    if isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error):
        return "PostgreSQL speaks no TLS, and sslmode in ROUNDLOG_POSTGRES asks for it."
    return None
