"""Counting answers: at once for metrics and budgets, in groups for the database."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from quire.access.limits import Limits
from quire.access.usage import Entry, Outcome, Usage
from quire.errors import DependencyError, ModelBehaviourError, StorageUnavailable
from quire.models import Answer, utc_now
from quire.wiring.telemetry import Telemetry
from quire.wiring.values import Ask

FLUSH_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Account:
    """What is known of one question so far."""

    book_id: str = ""
    answer: Answer | None = None


class Accounts:
    """Keeps the last second of usage in memory, so that no answer waits for its own row."""

    def __init__(self, usage: Usage, limits: Limits, telemetry: Telemetry) -> None:
        self._usage = usage
        self._limits = limits
        self._telemetry = telemetry
        self._entries: list[Entry] = []
        self._writing = asyncio.Lock()
        self._flusher: asyncio.Task[None] | None = None
        self._write: asyncio.Task[None] | None = None
        self._spending: set[asyncio.Task[None]] = set()

    @contextmanager
    def counted(self, ask: Ask) -> Generator[Account]:
        """Counts the answer that is noted in the block, or the error that ends it.

        What the caller did wrong, and a caller who left, count as nothing.
        """
        account = Account()
        started = time.perf_counter()
        try:
            yield account
        except (DependencyError, ModelBehaviourError):
            self._note(ask, account, "error", time.perf_counter() - started, 0)
            raise
        if account.answer is not None:
            answer = account.answer
            outcome: Outcome = "answered" if answer.should_answer else "refused"
            self._note(ask, account, outcome, answer.elapsed_ms / 1000, answer.tokens_used)

    async def flush(self) -> None:
        """Write what is counted; called before it is read and at the end.

        What is being written already is waited for.
        """
        async with self._writing:
            entries, self._entries = self._entries, []
            if entries:
                try:
                    await self._usage.record(entries)
                except StorageUnavailable as error:
                    _log.warning("usage of %d answers is lost: %s", len(entries), error.message)

    async def close(self) -> None:
        """Write the rest."""
        if self._flusher is not None:
            self._flusher.cancel()
            await asyncio.gather(self._flusher, return_exceptions=True)
        await asyncio.gather(*self._spending, return_exceptions=True)
        await self.flush()

    def _note(
        self, ask: Ask, account: Account, outcome: Outcome, seconds: float, tokens: int
    ) -> None:
        if metrics := self._telemetry.metrics:
            metrics.answers.labels(outcome).inc()
            metrics.tokens.inc(tokens)
        if ask.key_id and tokens:
            task = asyncio.create_task(self._spend(ask.key_id, tokens))
            self._spending.add(task)
            task.add_done_callback(self._spending.discard)
        if not account.book_id:
            return
        self._entries.append(
            Entry(
                created_at=utc_now(),
                book_id=account.book_id,
                key_id=ask.key_id,
                channel=ask.channel,
                outcome=outcome,
                latency_ms=seconds * 1000,
                tokens=tokens,
            )
        )
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.create_task(self._flush_later(), name="usage")

    async def _spend(self, key_id: str, tokens: int) -> None:
        try:
            await self._limits.spend(key_id, tokens)
        except StorageUnavailable as error:
            _log.warning("%d tokens of a key are not counted: %s", tokens, error.message)

    async def _flush_later(self) -> None:
        await asyncio.sleep(FLUSH_S)
        self._write = asyncio.create_task(self.flush())
        await asyncio.shield(self._write)  # the end doesn't break off what is being written
