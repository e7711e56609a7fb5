"""How long a caller waits, and for what: a broker that neither takes a record nor refuses it, rows that are being written."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.core.accounts import AccountOpened, OpenAccount
from services.flow import BY_NAME, PARTITIONS
from services.runtime.desk import Away, Desk
from services.runtime.kafka import BrokerAway, Stored, partition_of
from services.runtime.processing import Processing
from services.runtime.projecting import Fact
from services.runtime.stepping import Input
from services.wire.records import Asked, Cause, Record

ANSWER_SECONDS = 0.05
ASKED = Asked("command-1", "cage", b"hash", OpenAccount("ann"))


class Broker:
    """Takes its time until it is told what to say."""

    def __init__(self) -> None:
        self.saying = asyncio.Event()
        self.takes_after: float | None = None
        """Seconds, where it takes the record at last."""

    async def append(self, topic: str, partition: int, groups: Any) -> int:
        if self.takes_after is not None:
            await asyncio.sleep(self.takes_after)
            return 1
        await self.saying.wait()
        raise BrokerAway("fewer copies than must have it")


class Outcomes:
    """Knows of no command, and stands at its beginning. Another thing may happen while it is asked."""

    def __init__(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        self.meanwhile = meanwhile

    async def fetchrow(self, *_: Any) -> dict[str, Any]:
        self.meanwhile()
        return {"request_hash": None, "position": 0}


def something_told(desk: Desk) -> None:
    """The projection has written a record of somebody else, and tells of it."""
    partition = partition_of("ann", PARTITIONS)
    cause = Cause("account-commands", partition, 0)
    record = Record(1, b"", 1000, "command-0", "cage", cause, 0, 1, b"x", AccountOpened("bob"))
    desk.tell([Fact("accounts", "bob", record, Stored("accounts", partition, 0, 0, "bob", b""), None)])


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


def desk_on(outcomes: Outcomes, seconds: float = ANSWER_SECONDS) -> tuple[Desk, Broker]:
    broker = Broker()
    watch = SimpleNamespace(away=[], lost=asyncio.Event(), note=lambda name, answers: None)
    return Desk(BY_NAME["accounts"], cast(Any, broker), cast(Any, outcomes), cast(Any, watch), seconds), broker


@pytest.mark.timeout(20)
async def test_what_is_written_while_the_outcomes_are_asked_for_turns_nobody_away() -> None:
    outcomes = Outcomes()
    desk, _ = desk_on(outcomes)
    outcomes.meanwhile = lambda: something_told(desk)
    assert await desk.ask("ann", ASKED) is None, "it is appended, and not yet answered"


@pytest.mark.timeout(20)
async def test_outcomes_that_lack_what_was_told_before_turn_the_caller_away() -> None:
    desk, _ = desk_on(Outcomes())
    something_told(desk)
    with pytest.raises(Away):
        await desk.ask("ann", ASKED)


@pytest.mark.timeout(20)
async def test_a_caller_waits_no_longer_than_told_whatever_the_time_is_spent_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two seconds one goes into the append; what is left is waited for the answer."""
    desk, broker = desk_on(Outcomes(), 2.0)
    broker.takes_after = 1.0
    waits: list[float] = []
    wait = asyncio.wait

    async def noted(waiting: Any, *, timeout: float | None = None, **how: Any) -> Any:
        if timeout is not None:
            waits.append(timeout)
        return await wait(waiting, timeout=timeout, **how)

    monkeypatch.setattr(asyncio, "wait", noted)
    assert await desk.ask("ann", ASKED) is None
    appending, answering = waits
    assert appending <= 2.0 and answering <= 1.0


def test_what_waits_is_bounded_by_its_bytes_too() -> None:
    processing = Processing(cast(Any, SimpleNamespace(stream=BY_NAME["accounts"])), cast(Any, None), cast(Any, None))
    long = b"\0" * 1_000_000
    for offset in range(64):
        assert processing.take({0: []}).is_set(), f"{offset} records of a million bytes wait"
        processing.take({0: [Input(offset, 0, "ann", long)]})
    assert not processing.take({0: []}).is_set()
