"""Topics and tables, made where they are missing and checked where they are there: `python -m services.runtime.provision`."""

import asyncio
import contextlib
import sys
from pathlib import Path

import asyncpg
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import TopicAlreadyExistsError

from services.flow import DEAD_LETTERS, PARTITIONS, command_topics, logs
from services.runtime.settings import environment

COMMANDS_KEPT_MS = 90 * 24 * 3600 * 1000
"""Longer than the oldest backup: a restored processor reads its commands again from there."""


PROVISIONING_LOCK = 655011
"""Held in the database by whoever makes tables."""


class TopicWrong(Exception):
    """A topic is there with another number of partitions than the flow says."""


async def provision_topics(servers: str, replication: int = 1) -> list[str]:
    """Makes the topics that are missing; gives their names. Raises TopicWrong."""
    wanted = dict.fromkeys(logs(), (PARTITIONS, "-1"))
    wanted |= {name: (PARTITIONS, str(COMMANDS_KEPT_MS)) for name in command_topics()}
    wanted[DEAD_LETTERS] = (1, "-1")
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        there = set(await admin.list_topics())
        missing = [
            NewTopic(
                name, partitions, replication,
                topic_configs={
                    "retention.ms": kept,
                    "message.timestamp.type": "LogAppendTime",
                    "cleanup.policy": "delete",
                    "unclean.leader.election.enable": "false",
                },
            )
            for name, (partitions, kept) in wanted.items() if name not in there
        ]  # fmt: skip
        if missing:
            # Another instance may be faster.
            with contextlib.suppress(TopicAlreadyExistsError):
                await admin.create_topics(missing)
        described = await admin.describe_topics([name for name in wanted if name in there])
    finally:
        await admin.close()
    for topic in described:
        name, found = topic["topic"], len(topic["partitions"])
        if found != wanted[name][0]:
            raise TopicWrong(
                f"topic {name} has {found} partitions, the flow says {wanted[name][0]}; a key's partition must never change"
            )
    return [topic.name for topic in missing]


async def provision_tables(dsn: str) -> None:
    """Makes the tables of the runtime and of every service where they are missing."""
    services = Path(__file__).parent.parent
    connection = await asyncpg.connect(dsn)
    try:
        # Two instances may come here at once; CREATE TABLE IF NOT EXISTS alone would collide.
        await connection.execute("SELECT pg_advisory_lock($1)", PROVISIONING_LOCK)
        for path in sorted(services.glob("*/schema.sql")):
            await connection.execute(path.read_text())
    finally:
        await connection.close()


async def provision(servers: str, dsn: str) -> list[str]:
    """Topics and tables. Gives the names of the topics that were made."""
    made = await provision_topics(servers)
    await provision_tables(dsn)
    return made


def main() -> None:
    told = environment()
    try:
        made = asyncio.run(provision(told["ROUNDLOG_KAFKA"], told["ROUNDLOG_POSTGRES"]))
    except TopicWrong as error:
        sys.exit(str(error))
    except KeyError as error:
        sys.exit(f"the environment lacks {error.args[0]}")
    print(f"topics made: {', '.join(made) if made else 'none, all were there'}; tables are there")


if __name__ == "__main__":
    main()
