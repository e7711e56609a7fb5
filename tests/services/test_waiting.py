"""How long a caller waits for a broker that neither takes a record nor refuses it, as where too few copies are in step."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.core.accounts import OpenAccount
from services.flow import BY_NAME
from services.runtime.desk import Desk
from services.runtime.kafka import BrokerAway
from services.wire.records import Asked

ANSWER_SECONDS = 0.05
ASKED = Asked("command-1", "cage", b"hash", OpenAccount("ann"))


class Broker:
    """Takes its time until it is told what to say."""

    def __init__(self) -> None:
        self.saying = asyncio.Event()

    async def append(self, topic: str, partition: int, groups: Any) -> int:
        await self.saying.wait()
        raise BrokerAway("fewer copies than must have it")


class Outcomes:
    """Knows of no command, and is complete."""

    async def fetchrow(self, *_: Any) -> dict[str, Any]:
        return {"request_hash": None, "position": 0}


@pytest.mark.timeout(20)
async def test_a_caller_is_told_to_look_later_when_the_broker_says_nothing() -> None:
    broker, watch = (
        Broker(),
        SimpleNamespace(away=[], lost=asyncio.Event(), note=lambda name, answers: said.append(name)),
    )
    said: list[str] = []
    desk = Desk(BY_NAME["accounts"], cast(Any, broker), cast(Any, Outcomes()), cast(Any, watch), ANSWER_SECONDS)
    assert await desk.ask("ann", ASKED) is None, "202: the same key asks for its outcome"
    # What the broker says at last is for nobody, and no error is left lying about.
    broker.saying.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert said == []
