"""The connection to a Qdrant server: deadline, retries, and its errors in our words."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

from quire.errors import ConfigurationError, IndexUnavailable, MissingExtra, QuireError

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

T = TypeVar("T")

ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.1
PASSING: Final = frozenset((408, 425, 429, 500, 502, 503, 504))
"""HTTP statuses that may be gone at the next attempt."""


class CollectionMissing(QuireError):
    """The collection isn't there (any more); the caller looks the alias up again."""


class Connection:
    """Runs calls that may be repeated; every one ends within `timeout` seconds.

    After a failure the next call simply tries again, so a server that comes back is used
    without a restart.
    """

    def __init__(self, client: AsyncQdrantClient, *, timeout: float) -> None:
        self.client = client
        self._timeout = timeout

    async def call(self, doing: str, request: Callable[[], Awaitable[T]]) -> T:
        """The result, or `IndexUnavailable` within the deadline.

        Raises `CollectionMissing` on 404 and `ConfigurationError` when the key is refused.
        """
        try:
            async with asyncio.timeout(self._timeout):
                return await self._attempts(doing, request)
        except TimeoutError as error:
            raise IndexUnavailable(
                f"Qdrant did not {doing} within {self._timeout:g} s; check QDRANT_URL"
            ) from error

    async def close(self) -> None:
        """Let go of the sockets."""
        await self.client.close()

    async def _attempts(self, doing: str, request: Callable[[], Awaitable[T]]) -> T:
        import grpc.aio
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException

        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await request()
            except (ApiException, QdrantException, grpc.aio.AioRpcError, ValueError) as error:
                failure, passing = translate(error, doing)
                if not passing or attempt == ATTEMPTS:
                    raise failure from error
            await asyncio.sleep(FIRST_PAUSE * 3 ** (attempt - 1) * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable: the last attempt returns or raises")


def open_client(
    url: str, *, api_key: str | None, timeout: float, grpc_port: int | None = None
) -> AsyncQdrantClient:
    """A client for the server at this address, over gRPC if a port is given; nothing is sent."""
    try:
        from qdrant_client import AsyncQdrantClient
    except ModuleNotFoundError as error:
        raise MissingExtra("an index on a Qdrant server (QDRANT_URL)", "qdrant") from error

    try:
        return AsyncQdrantClient(
            url=url,
            api_key=api_key,
            timeout=max(1, round(timeout)),
            prefer_grpc=grpc_port is not None,
            grpc_port=grpc_port or 6334,
            check_compatibility=False,
        )
    except ValueError as error:
        raise ConfigurationError(f"QDRANT_URL={url!r}: {error}") from error


def translate(error: Exception, doing: str) -> tuple[QuireError, bool]:
    """Our error for the client's, and whether another attempt makes sense."""
    import grpc
    import grpc.aio
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    reason = str(error).partition("\n")[0] or type(error).__name__
    unavailable = IndexUnavailable(f"Qdrant did not {doing}: {reason}")
    if isinstance(error, UnexpectedResponse):
        if error.status_code in (401, 403):
            return _refused(), False
        if error.status_code == 404:
            return CollectionMissing(reason), False
        return unavailable, error.status_code in PASSING
    if isinstance(error, grpc.aio.AioRpcError):
        code = error.code()
        if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
            return _refused(), False
        if code is grpc.StatusCode.NOT_FOUND:
            return CollectionMissing(error.details() or reason), False
        details = error.details() or code.name
        passing = code in (
            grpc.StatusCode.UNAVAILABLE,
            grpc.StatusCode.DEADLINE_EXCEEDED,
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            grpc.StatusCode.ABORTED,
            grpc.StatusCode.INTERNAL,
        )
        return IndexUnavailable(f"Qdrant did not {doing}: {details}"), passing
    if isinstance(error, ResponseHandlingException):
        cause = str(error.source) or type(error.source).__name__
        message = cause.partition("\n")[0]
        return IndexUnavailable(f"Qdrant did not {doing}: {message}; check QDRANT_URL"), True
    if isinstance(error, ValueError) and "not found" in reason:
        return CollectionMissing(reason), False  # the client's in-memory mode
    return unavailable, isinstance(error, ResourceExhaustedResponse)


def _refused() -> ConfigurationError:
    return ConfigurationError("Qdrant refused the key: check QDRANT_API_KEY")
