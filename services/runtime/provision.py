"""Topics and tables, made where they are missing and checked where they are there: `python -m services.runtime.provision`."""

import asyncio
import re
import sys
from pathlib import Path
from typing import Any

import asyncpg
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import InvalidReplicationFactorError, KafkaConnectionError, TopicAlreadyExistsError, for_code

from services.flow import DEAD_LETTERS, PARTITIONS, command_topics, logs
from services.runtime.kafka import BrokerAway
from services.runtime.security import (
    OPEN,
    Security,
    SettingWrong,
    TurnedAway,
    broker_turns_away,
    database_turns_away,
    kafka_security,
    postgres_url,
)
from services.runtime.settings import Copies, copies, environment

COMMANDS_KEPT_MS = 90 * 24 * 3600 * 1000
"""Longer than the oldest backup: a restored processor reads its commands again from there."""

MIN_ISR = "min.insync.replicas"

SERVICES = Path(__file__).parent.parent
MADE = re.compile(r"^CREATE (?:TABLE|INDEX) IF NOT EXISTS (\w+)", re.MULTILINE)
"""What a schema makes, by name."""
ALL_THERE = "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest($1::text[]) AS name"
PROVISIONING_LOCK = 655011
"""Held in the database by whoever makes tables, and shared by whoever looks whether they are there."""

ONE = Copies()


class TopicWrong(Exception):
    """A topic is there with other partitions or fewer copies than it must have."""


async def provision_topics(servers: str, security: Security = OPEN, kept: Copies = ONE) -> list[str]:
    """Makes the topics that are missing; gives their names. Raises TopicWrong, TurnedAway, BrokerAway."""
    wanted = dict.fromkeys(logs(), (PARTITIONS, "-1"))
    wanted |= {name: (PARTITIONS, str(COMMANDS_KEPT_MS)) for name in command_topics()}
    wanted[DEAD_LETTERS] = (1, "-1")
    admin = AIOKafkaAdminClient(bootstrap_servers=servers, **security.words())
    try:
        await admin.start()
    except KafkaConnectionError:
        why = await broker_turns_away(servers, security)
        if why is not None:
            raise TurnedAway(why) from None
        raise BrokerAway(
            f"no broker of {servers} answers as {security.protocol}; one that is there may speak another"
            " ROUNDLOG_KAFKA_PROTOCOL"
        ) from None
    try:
        there = set(await admin.list_topics())
        missing = [
            NewTopic(
                name, partitions, kept.all,
                topic_configs={
                    "retention.ms": retention,
                    "message.timestamp.type": "LogAppendTime",
                    "cleanup.policy": "delete",
                    "unclean.leader.election.enable": "false",
                    MIN_ISR: str(kept.written),
                },
            )
            for name, (partitions, retention) in wanted.items() if name not in there
        ]  # fmt: skip
        if missing:
            _made(await admin.create_topics(missing), kept)
        held = [name for name in wanted if name in there]
        described = await admin.describe_topics(held)
        insync = await _min_isr(admin, held)
    finally:
        await admin.close()
    for topic in described:
        name, parts = topic["topic"], topic["partitions"]
        if len(parts) != wanted[name][0]:
            raise TopicWrong(
                f"topic {name} has {len(parts)} partitions, the flow says {wanted[name][0]}; a key's partition must never change"
            )
        fewest = min(len(part["replicas"]) for part in parts)
        if fewest < kept.all:
            raise TopicWrong(
                f"topic {name} has {fewest} copies, ROUNDLOG_REPLICATION says {kept.all}; give it more by"
                " kafka-reassign-partitions.sh, or set what it has"
            )
        if insync[name] < kept.written:
            raise TopicWrong(
                f"topic {name} has {MIN_ISR}={insync[name]}, ROUNDLOG_MIN_ISR says {kept.written}; set it by"
                " kafka-configs.sh, or set what it has"
            )
    return [topic.name for topic in missing]


def _made(answer: Any, kept: Copies) -> None:
    """Looks whether the topics were made: the client does not say so by itself."""
    for name, code, *message in answer.topic_errors:
        if code == InvalidReplicationFactorError.errno:
            raise BrokerAway(
                f"fewer than {kept.all} brokers answer, and ROUNDLOG_REPLICATION={kept.all} asks for as many"
            )
        # Another instance may be faster.
        if code not in (0, TopicAlreadyExistsError.errno):
            raise for_code(code)(f"topic {name} could not be made: {message}")


async def _min_isr(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, int]:
    """`min.insync.replicas` of each topic."""
    if not names:
        return {}
    asked = [ConfigResource(ConfigResourceType.TOPIC, name, {MIN_ISR: None}) for name in names]
    found = {}
    for answer in await admin.describe_configs(asked):
        for code, message, _, name, entries in answer.resources:
            if code:
                raise for_code(code)(message)
            found[name] = int(entries[0][1])
    return found


async def provision_tables(dsn: str) -> None:
    """Makes the tables of the runtime and of every service where they are missing. Raises TurnedAway."""
    schemas = [path.read_text() for path in sorted(SERVICES.glob("*/schema.sql"))]
    names = [name for schema in schemas for name in MADE.findall(schema)]
    try:
        connection = await asyncpg.connect(dsn)
    except (asyncpg.PostgresError, OSError) as error:
        why = database_turns_away(error)
        if why is not None:
            raise TurnedAway(why) from None
        raise
    try:
        # Whoever rebuilds the tables holds the lock alone.
        await connection.execute("SELECT pg_advisory_lock_shared($1)", PROVISIONING_LOCK)
        # To make an index that is there already waits for all who write, and has all who come after them wait.
        if await connection.fetchval(ALL_THERE, names):
            return
        await connection.execute("SELECT pg_advisory_unlock_shared($1)", PROVISIONING_LOCK)
        # Two instances may come here at once; CREATE TABLE IF NOT EXISTS alone would collide.
        await connection.execute("SELECT pg_advisory_lock($1)", PROVISIONING_LOCK)
        for schema in schemas:
            await connection.execute(schema)
    finally:
        await connection.close()


async def provision(servers: str, dsn: str, security: Security = OPEN, kept: Copies = ONE) -> list[str]:
    """Topics and tables. Gives the names of the topics that were made."""
    made = await provision_topics(servers, security, kept)
    await provision_tables(dsn)
    return made


def main() -> None:
    told = environment()
    try:
        made = asyncio.run(provision(told["ROUNDLOG_KAFKA"], postgres_url(told), kafka_security(told), copies(told)))
    except (TopicWrong, TurnedAway, BrokerAway, SettingWrong) as error:
        sys.exit(str(error))
    except KeyError as error:
        sys.exit(f"the environment lacks {error.args[0]}")
    print(f"topics made: {', '.join(made) if made else 'none, all were there'}; tables are there")


if __name__ == "__main__":
    main()
