"""What is ours in Faust's consumer: how fetched records are handed over while partitions change hands, and when it crashes."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.runtime import vital
from services.runtime.joining import Membership, _Consumer
from services.runtime.vital import start_vital, stop_vital


class Consumer(_Consumer):
    """As far as draining needs it: gives what is told, and is active or not."""

    consumer_stopped_errors = ()

    def __init__(self, fetched: list[tuple[dict[str, list[int]], bool]]) -> None:
        self.left = fetched
        self.taken: list[dict[str, list[int]]] = []
        self.fetcher = SimpleNamespace(should_stop=False)
        self.app = SimpleNamespace(membership=self, should_stop=False)
        self.suspend_flow = asyncio.Event()

    @property
    def should_stop(self) -> bool:
        return not self.left

    async def _wait_next_records(self, timeout: float) -> Any:
        fetched, self.flow_active = self.left.pop(0)
        return fetched, None

    async def perform_seek(self) -> None:
        raise AssertionError("the partition may be gone")

    async def wait_first(self, *waiting: Any, **_: Any) -> None:
        for each in waiting:
            each.close()

    def take(self, fetched: dict[str, list[int]]) -> asyncio.Event:
        self.taken.append(fetched)
        return asyncio.Event()


async def test_what_was_fetched_while_partitions_change_hands_is_left_out() -> None:
    consumer = Consumer([({"a": [1]}, True), ({"a": [2]}, False), ({"a": [2]}, True)])
    await consumer._drain_messages(consumer.fetcher)
    assert consumer.taken == [{"a": [1]}, {"a": [2]}]


async def test_a_crash_within_faust_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would go on as a member of its group, and read nothing more."""
    ended: list[str] = []
    monkeypatch.setattr(vital, "end_process", ended.append)
    crashed = asyncio.Event()
    joined = SimpleNamespace(_app=SimpleNamespace(_crashed=crashed, crash_reason=OSError("gone")), _input="rounds")
    task = start_vital(Membership._until_crashed(cast(Any, joined)), "wagers-joining")
    await asyncio.sleep(0)
    assert not task.done()
    crashed.set()
    await asyncio.wait_for(asyncio.shield(task), 5)
    await asyncio.sleep(0)
    assert len(ended) == 1 and ended[0].startswith("wagers-joining ended by itself")
    await stop_vital(task)
