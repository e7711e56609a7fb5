"""The bare loop that the services are compared with: the same step on the same bytes, neither Faust nor PostgreSQL.

`python -m tests.bench.bare STREAM SERVERS RECORDS` begins at the ends of the input; ends when it has written so many.
"""

import asyncio
import sys
from collections.abc import Sequence

from aiokafka import AIOKafkaConsumer, TopicPartition

from services.flow import PARTITIONS
from services.runtime.kafka import Kafka, partition_of
from services.runtime.stepping import Input, Outcome, PartitionMemory, Stepper
from tests.bench.harness import BARE_COMMANDS, BARE_LOG
from tests.bench.material import BOOK, PROCESSORS, Entry

BATCH_MAX = 5_000
"""What a service takes at a time, too."""


async def loop(stream: str, servers: str, records: int) -> None:
    """Consume, step, produce, await the acknowledgements; again."""
    stepper = Stepper(PROCESSORS[stream], BOOK)
    kafka = Kafka(servers)
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False)
    await consumer.start()
    try:
        places = [TopicPartition(stepper.stream.input, number) for number in range(PARTITIONS)]
        consumer.assign(places)
        positions = await consumer.end_offsets(places)
        for place, position in positions.items():
            consumer.seek(place, position)
        memories = {place: PartitionMemory(place.partition, positions[place], 0, 0) for place in places}
        print("ready", flush=True)
        while records > 0:
            outcomes: list[tuple[int, Outcome]] = []
            for place, items in (await consumer.getmany(timeout_ms=200, max_records=BATCH_MAX)).items():
                inputs = [Input(item.offset, item.timestamp, item.key.decode(), item.value) for item in items]
                outcomes.append((place.partition, stepper.step(memories[place], inputs)))
            await asyncio.gather(*(_write(kafka, partition, outcome) for partition, outcome in outcomes))
            for _, outcome in outcomes:
                assert outcome.stopped is None, outcome.stopped
                records -= outcome.records
    finally:
        await consumer.stop()
        await kafka.close()


async def _write(kafka: Kafka, partition: int, outcome: Outcome) -> None:
    if outcome.groups:
        await kafka.append(BARE_LOG, partition, outcome.groups)
    by_place: dict[int, list[Sequence[Entry]]] = {}
    for sent in outcome.sent:
        by_place.setdefault(partition_of(sent.key, PARTITIONS), []).append([(sent.key, sent.value)])
    await asyncio.gather(*(kafka.append(BARE_COMMANDS, number, groups) for number, groups in by_place.items()))


if __name__ == "__main__":
    asyncio.run(loop(sys.argv[1], sys.argv[2], int(sys.argv[3])))
