"""The database at the edges: a pool, and what it looks like when the database does not answer."""

import asyncio

import asyncpg

DATABASE_AWAY = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.PostgresSystemError,
    asyncpg.InterfaceError,
    asyncpg.exceptions.InternalClientError,
    asyncpg.exceptions.IdleInTransactionSessionTimeoutError,
    asyncpg.exceptions.TransactionTimeoutError,
)
"""Raised by a call while the database is away, stopping, starting, full or busy. Worth another try. A commit whose
answer was lost may have been carried out. Any other error of the database is a defect of ours."""

IDLE_IN_TRANSACTION_MS, TRANSACTION_MS = 5_000, 15_000
"""After so long a transaction that waits for its client, or one that is not over, is ended by the database."""


def reason_of(error: BaseException) -> str:
    """What it says; a call that took too long says nothing by itself."""
    return str(error) or "no answer in time"


async def pool_of(dsn: str, connections_max: int = 8) -> asyncpg.Pool:
    """A pool that connects when it is first used, so that a service can start before its database."""
    # A process that is paused inside a transaction must not keep its rows from the one that takes over. One that is
    # paused half-way through a statement does not count as idle.
    settings = {
        "idle_in_transaction_session_timeout": f"{IDLE_IN_TRANSACTION_MS}",
        "transaction_timeout": f"{TRANSACTION_MS}",
    }
    return await asyncpg.create_pool(
        dsn, min_size=0, max_size=connections_max, command_timeout=10, timeout=3, server_settings=settings
    )


async def ping(pool: asyncpg.Pool, seconds: float) -> None:
    """Asks the database whether it is there. Raises one of DATABASE_AWAY when it does not answer in time."""
    await fetch_in_time(pool, seconds, "SELECT 1")


async def fetch_in_time(pool: asyncpg.Pool, seconds: float, statement: str, *arguments: object) -> list[asyncpg.Record]:
    """The rows of something small. Raises one of DATABASE_AWAY when the database does not answer in time."""
    async with pool.acquire(timeout=seconds) as connection:
        try:
            async with asyncio.timeout(seconds):
                rows: list[asyncpg.Record] = await connection.fetch(statement, *arguments)
                return rows
        except TimeoutError:
            # A connection that goes back in good order waits for the database, which may hang for ever.
            connection.terminate()
            raise
