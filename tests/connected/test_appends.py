"""Appends: many callers of one partition at once, each answered, each record there once and whole."""

import asyncio

from services.flow import DEAD_LETTERS
from services.runtime.kafka import Kafka
from services.runtime.provision import provision_topics
from tests.support import parts

CALLERS = 200


async def _append_at_once(servers: str, key: str) -> list[int]:
    """200 callers append two records each to one partition; the offsets at which theirs are found."""
    await provision_topics(servers)
    kafka = Kafka(servers)
    groups = [[(key, f"{number} first".encode()), (key, f"{number} second".encode())] for number in range(CALLERS)]
    try:
        start = (await kafka.ends([DEAD_LETTERS]))[DEAD_LETTERS, 0][1]
        ends = await asyncio.gather(*(kafka.append(DEAD_LETTERS, 0, [group]) for group in groups))
        stored = [item async for item in kafka.read(DEAD_LETTERS, 0, start, max(ends))]
    finally:
        await kafka.close()
    values = [item.value for item in stored if item.key == key]
    firsts = [values.index(group[0][1]) for group in groups]
    assert all(values[first + 1] == group[1][1] for first, group in zip(firsts, groups, strict=True)), "a group is torn"
    assert len(values) == 2 * CALLERS
    return firsts


def test_two_hundred_callers_of_one_partition_are_all_answered(kafka: parts.Broker, unique: str) -> None:
    firsts = asyncio.run(_append_at_once(kafka.bootstrap, unique))
    assert len(set(firsts)) == CALLERS
