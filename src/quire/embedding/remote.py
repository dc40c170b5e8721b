"""What the embedding services have in common: batches, retries, bounded concurrency."""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from quire.errors import ConfigurationError, EmbedderUnavailable, MissingExtra

if TYPE_CHECKING:
    import httpx

RETRIED = {408, 409, 429, 500, 502, 503, 504, 529}
SPLIT = {400, 413, 422}
"""Statuses that may be one text's fault: the batch is halved to find it."""


class RemoteEmbedder(ABC):
    """Embeds over HTTP; subclasses know one service's wire format.

    Args:
        base_url: Where the service listens.
        key: The secret, sent as a bearer token.
        name: Identifies the vector space; recorded in the index.
        dimension: Length of a vector; an answer of another length is refused.
        max_tokens: How much of a text the service sees.
        batch_size: Most texts per request.
        concurrency: Most requests at a time.
        attempts: Tries per request, the first one counted.
        timeout: Seconds for one try.
    """

    def __init__(
        self,
        *,
        base_url: str,
        key: str,
        name: str,
        dimension: int,
        max_tokens: int,
        batch_size: int,
        concurrency: int = 4,
        attempts: int = 5,
        timeout: float = 30.0,
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.tokens_used = 0
        """What the service has counted so far: the cost."""
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._batch_size = batch_size
        self._slots = asyncio.Semaphore(concurrency)
        self._attempts = attempts
        self._timeout = timeout
        self._client: httpx.AsyncClient | None = None

    @abstractmethod
    def _body(self, texts: Sequence[str], *, query: bool) -> tuple[str, dict[str, Any]]:
        """Path and JSON body of a request."""

    @abstractmethod
    def _parse(self, answer: Mapping[str, Any]) -> tuple[list[list[float]], int]:
        """Vectors in input order and the tokens that were counted."""

    def count_tokens(self, text: str) -> int:
        """A careful estimate; the services' tokenizers are not at hand offline."""
        return max(len(text) // 4, int(len(text.split()) * 1.3))

    async def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One L2-normalised row per text, in input order; batches go out concurrently."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        starts = range(0, len(texts), self._batch_size)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._embed(texts[i : i + self._batch_size], query=False))
                    for i in starts
                ]
        except ExceptionGroup as failed:
            # the first failure cancelled the other batches: it alone matters
            raise failed.exceptions[0] from None
        return np.concatenate([task.result() for task in tasks])

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The L2-normalised vector of a question."""
        return (await self._embed([text], query=True))[0]

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def _embed(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        # an empty input is an error to the services and means nothing to us
        path, body = self._body([text.strip() or "-" for text in texts], query=query)
        response = await self._post(path, body)
        if response.status_code in SPLIT and len(texts) > 1:
            middle = len(texts) // 2
            halves = (texts[:middle], texts[middle:])
            return np.concatenate([await self._embed(half, query=query) for half in halves])
        if response.status_code in (401, 403):
            raise ConfigurationError(
                f"{self.name}: the embedding service refused the key ({response.status_code})"
            )
        if response.status_code != 200:
            raise EmbedderUnavailable(
                f"{self.name}: the embedding service answered {response.status_code}"
            )
        try:
            vectors, tokens = self._parse(response.json())
            matrix = np.asarray(vectors, dtype=np.float32)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(f"{self.name}: unreadable answer") from error
        if matrix.shape != (len(texts), self.dimension):
            raise EmbedderUnavailable(
                f"{self.name}: expected {len(texts)} vectors of {self.dimension}, "
                f"got {'×'.join(map(str, matrix.shape))}"
            )
        self.tokens_used += tokens
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        return matrix / np.maximum(norms, 1e-12)

    async def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        """Send with retries; the last answer is returned whatever its status."""
        client = self._open()
        import httpx

        last: httpx.Response | None = None
        for attempt in range(self._attempts):
            if attempt:
                await asyncio.sleep(_pause(attempt, last))
            try:
                async with self._slots:
                    last = await client.post(path, json=body)
            except httpx.HTTPError as error:
                last = None
                if attempt == self._attempts - 1:
                    raise EmbedderUnavailable(
                        f"{self.name}: the embedding service doesn't answer "
                        f"({type(error).__name__})"
                    ) from error
                continue
            if last.status_code not in RETRIED:
                return last
        assert last is not None
        return last

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            try:
                import httpx
            except ModuleNotFoundError as error:
                raise MissingExtra(f"the embedder {self.name}", self.name.split("/")[0]) from error
            self._client = httpx.AsyncClient(
                base_url=self._base_url,
                timeout=self._timeout,
                headers={"Authorization": f"Bearer {self._key}"},
            )
        return self._client


def _pause(attempt: int, last: httpx.Response | None) -> float:
    """Seconds to wait: what the service asked for, else exponential with jitter."""
    if last is not None:
        asked = last.headers.get("retry-after", "")
        try:
            return min(60.0, max(0.0, float(asked)))
        except ValueError:
            pass
    return min(20.0, 0.5 * 2**attempt) * random.uniform(0.5, 1.0)
