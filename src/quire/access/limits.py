"""How often a key may ask: a moving window, shared by all processes that share a Redis."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quire.access.keys import ApiKey
from quire.errors import InvalidSetting, MissingExtra, RateLimited, StorageUnavailable

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from limits.aio.strategies import RateLimiter
    from limits.limits import RateLimitItem

WINDOW_S = 60
DAY_S = 86_400
TIMEOUT_S = 5.0
"""How long a Redis may take to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is left of one limit, for the response's headers."""

    name: str
    limit: int
    window: int
    """In seconds."""
    remaining: int
    reset: int
    """Seconds until more is left."""


class Limits:
    """Counts requests and tokens per key, and requests per visitor of a publishable key.

    Without a Redis address each process counts for itself. `StorageUnavailable` when the
    Redis doesn't answer: a limit that can't be counted is not waived.
    """

    def __init__(
        self,
        redis_url: str | None = None,
        *,
        per_key: int = 100,
        per_visitor: int = 20,
        tokens_per_day: int = 0,
    ) -> None:
        """Requests are per 60 s; `tokens_per_day` of 0 means no budget."""
        from limits.aio.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter
        from limits.limits import RateLimitItemPerSecond

        self._storage = _storage(redis_url)
        self._moving: RateLimiter = MovingWindowRateLimiter(self._storage)
        self._fixed: RateLimiter = FixedWindowRateLimiter(self._storage)
        self._key = RateLimitItemPerSecond(per_key, WINDOW_S, namespace="quire-key")
        self._visitor = RateLimitItemPerSecond(per_visitor, WINDOW_S, namespace="quire-visitor")
        self._tokens = (
            RateLimitItemPerSecond(tokens_per_day, DAY_S, namespace="quire-tokens")
            if tokens_per_day
            else None
        )

    async def admit(self, key: ApiKey, visitor: str) -> list[Allowance]:
        """Count one request; `RateLimited` (with what is left of each limit) when it is too many.

        `visitor` matters for publishable keys alone.
        """
        async with _translated():
            allowances = [await self._hit("default", self._key, key.id)]
            if key.kind == "publishable":
                allowances.append(await self._hit("visitor", self._visitor, key.id, visitor))
            if self._tokens is not None:
                left = await self._stats("tokens", self._fixed, self._tokens, key.id)
                if left.remaining <= 0:
                    raise _limited(left)
                allowances.append(left)
        return allowances

    async def spend(self, key_id: str, tokens: int) -> None:
        """Count tokens against the key's daily budget, after they were used."""
        if self._tokens is not None and tokens > 0:
            async with _translated():
                await self._fixed.hit(self._tokens, key_id, cost=tokens)

    async def check(self) -> None:
        """Ask the store for a sign of life."""
        async with _translated():
            if not await self._storage.check():
                raise StorageUnavailable("the store of the limits (REDIS_URL) doesn't answer")

    async def close(self) -> None:
        """Let go of the connections."""
        bridge = getattr(self._storage, "bridge", None)
        if bridge is not None:
            await bridge.storage.aclose()

    async def _hit(self, name: str, item: RateLimitItem, *who: str) -> Allowance:
        passed = await self._moving.hit(item, *who)
        left = await self._stats(name, self._moving, item, *who)
        if not passed:
            raise _limited(left)
        return left

    async def _stats(
        self, name: str, limiter: RateLimiter, item: RateLimitItem, *who: str
    ) -> Allowance:
        stats = await limiter.get_window_stats(item, *who)
        return Allowance(
            name=name,
            limit=item.amount,
            window=item.get_expiry(),
            remaining=max(0, stats.remaining),
            reset=max(1, round(stats.reset_time - time.time() + 0.5)),
        )


def _limited(left: Allowance) -> RateLimited:
    unit = "tokens a day" if left.name == "tokens" else f"requests in {left.window} s"
    error = RateLimited(
        f"over the limit of {left.limit} {unit}; try again in {left.reset} s",
        retry_after=left.reset,
        limit=left.limit,
        window=left.window,
        policy=left.name,
    )
    return error


def _storage(redis_url: str | None) -> Storage:
    if redis_url is None:
        from limits.aio.storage import MemoryStorage

        return MemoryStorage()
    from limits.aio.storage import RedisStorage
    from limits.errors import ConfigurationError

    if not redis_url.startswith(("redis://", "rediss://", "unix://")):
        raise InvalidSetting("REDIS_URL: is not an address such as redis://host:6379/0")
    address = f"async+redis+{redis_url}" if redis_url.startswith("unix:") else f"async+{redis_url}"
    try:
        return RedisStorage(
            address,
            wrap_exceptions=True,
            implementation="redispy",
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
        )
    except ConfigurationError as error:
        raise MissingExtra("REDIS_URL", "redis") from error
    except ValueError as error:
        raise InvalidSetting("REDIS_URL: is not an address such as redis://host:6379/0") from error


@asynccontextmanager
async def _translated() -> AsyncGenerator[None]:
    from limits.errors import StorageError

    try:
        yield
    except StorageError as error:
        raise StorageUnavailable(
            "the store of the limits (REDIS_URL) doesn't answer; try again later"
        ) from error
