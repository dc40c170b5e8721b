"""What the service does by itself: idle conversations are archived, old ones are deleted."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from quire.access.usage import Usage
from quire.conversations import Conversations
from quire.errors import StorageUnavailable
from quire.models import utc_now

EVERY_S = 300.0

_log = logging.getLogger(__name__)


class Housekeeping:
    """Safe to run in every process at once: each step is one statement that repeats harmlessly."""

    def __init__(
        self, conversations: Conversations, usage: Usage, *, retention_days: int, every: float
    ) -> None:
        self._conversations = conversations
        self._usage = usage
        self._retention = timedelta(days=retention_days) if retention_days else None
        self._every = every

    async def run(self) -> None:
        """Tidy now and then, until cancelled."""
        while True:
            try:
                await self.tidy()
            except StorageUnavailable as error:
                _log.warning("can't tidy up: %s", error.message)
            await asyncio.sleep(self._every)

    async def tidy(self) -> None:
        """Archive and delete what is due."""
        archived = await self._conversations.archive_idle()
        deleted = 0
        if self._retention is not None:
            deleted = await self._conversations.delete_older_than(self._retention)
            await self._usage.forget(utc_now() - self._retention)
        if archived or deleted:
            _log.info("conversations: %d archived, %d deleted", archived, deleted)
