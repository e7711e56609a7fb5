"""How a command line finds the broker and the database, and what it says when one of them is away."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import asyncpg

from services.runtime.database import reason_of
from services.runtime.kafka import BrokerAway, Kafka
from services.runtime.local import LOCAL, ROOT
from services.runtime.published import SHIPPED
from services.runtime.security import broker_turns_away, database_turns_away, kafka_security, postgres_url

HOUSE = LOCAL / "data"


class Unreachable(Exception):
    """The broker or the database is away, or nobody said where it is; the sentence is for the person at the screen."""


def kafka_of(environment: dict[str, str]) -> Kafka:
    """The broker that the environment names, else that of the house on this machine. Raises Unreachable, SettingWrong."""
    told = environment.get("ROUNDLOG_KAFKA")
    if told:
        return Kafka(told, kafka_security(environment))
    properties = _text(HOUSE / "kafka" / "server.properties", "ROUNDLOG_KAFKA")
    found = re.search(r"^advertised\.listeners=PLAINTEXT://([^,\s]+)", properties, re.MULTILINE)
    if found is None:
        raise Unreachable("The house on this machine does not say where its broker is: set ROUNDLOG_KAFKA.")
    return Kafka(found.group(1))


def postgres_dsn(environment: dict[str, str]) -> str:
    """The database that the environment names, else that of the house on this machine. Raises Unreachable, SettingWrong."""
    if environment.get("ROUNDLOG_POSTGRES"):
        return postgres_url(environment)
    folder = HOUSE / "postgres"
    password = _text(folder / "password", "ROUNDLOG_POSTGRES")
    lines = _text(folder / "data" / "postmaster.pid", "ROUNDLOG_POSTGRES").splitlines()
    # The server's own file: its fourth line is the port.
    return f"postgresql://postgres:{quote(password)}@127.0.0.1:{lines[3]}/roundlog"


def rules_folder(environment: dict[str, str]) -> Path:
    """Where the submissions are."""
    return Path(environment.get("ROUNDLOG_RULES", ROOT / "deploy" / "rules"))


def paytables_folder(environment: dict[str, str]) -> Path:
    """Where the published paytables are."""
    return Path(environment.get("ROUNDLOG_PAYTABLES", SHIPPED))


def _text(path: Path, name: str) -> str:
    try:
        return path.read_text()
    except OSError:
        raise Unreachable(f"No house runs on this machine: start it with `make run`, or set {name}.") from None


@contextlib.contextmanager
def in_words(environment: dict[str, str]) -> Iterator[None]:
    """Failures of the broker and the database inside become Unreachable, a sentence each. Not for inside a loop."""
    try:
        yield
    except BrokerAway as error:
        kafka = kafka_of(environment)
        why = asyncio.run(broker_turns_away(kafka.servers, kafka.security))
        if why is not None:
            raise Unreachable(why) from None
        # What follows the colon is for programmers.
        raise Unreachable(f"Kafka cannot be reached: {str(error).partition(': ')[0]}.") from None
    except asyncpg.UndefinedTableError as error:
        raise Unreachable(f"The database has no tables yet ({error}): start the services once.") from None
    except asyncpg.PostgresError as error:
        raise Unreachable(database_turns_away(error) or f"PostgreSQL refused: {error}.") from None
    except (OSError, TimeoutError, asyncpg.InterfaceError) as error:
        why = database_turns_away(error) or f"PostgreSQL cannot be reached: {reason_of(error)}."
        raise Unreachable(why) from None


@contextlib.asynccontextmanager
async def database(dsn: str, schema: str | None = None) -> AsyncIterator[asyncpg.Pool]:
    """A pool on the database, or on one schema of it, closed at the end."""
    settings = {"search_path": schema} if schema is not None else None
    pool = await asyncpg.create_pool(dsn, min_size=1, max_size=4, timeout=5, server_settings=settings)
    try:
        yield pool
    finally:
        await pool.close()


def in_schema(dsn: str, schema: str) -> str:
    """The same database, seen through one schema."""
    return f"{dsn}{'&' if urlsplit(dsn).query else '?'}search_path={schema}"
