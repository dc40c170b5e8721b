"""Keeping the turns of this process alive, so that only those of dead ones are given up."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta

from sqlalchemy import update

from quire.database import Database
from quire.database.tables import ExchangeRow
from quire.errors import StorageUnavailable
from quire.models import utc_now

_log = logging.getLogger(__name__)


class TurnLeases:
    """Renews the leases of all open turns together, three times per lease.

    A process that dies renews nothing: its turns hold their sessions for one `length` at most.
    """

    def __init__(self, database: Database, length: timedelta) -> None:
        self._database = database
        self._length = length
        self._open: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    def expiry(self) -> datetime:
        """When a lease taken or renewed now runs out."""
        return utc_now() + self._length

    @property
    def open_turns(self) -> tuple[str, ...]:
        """Ids of the turns that are kept alive."""
        return tuple(self._open)

    def keep(self, turn_id: str) -> None:
        """Renew this turn until `drop`."""
        self._open.add(turn_id)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._renew(), name="turn leases")

    def drop(self, turn_id: str) -> None:
        """Renew this turn no more."""
        self._open.discard(turn_id)

    async def close(self) -> None:
        """Stop renewing."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _renew(self) -> None:
        pause = self._length.total_seconds() / 3
        await asyncio.sleep(pause)
        while self._open:
            try:
                async with self._database.transaction() as session:
                    await session.execute(
                        update(ExchangeRow)
                        .where(ExchangeRow.id.in_(self._open), ExchangeRow.status == "in_progress")
                        .values(lease_expires_at=self.expiry())
                    )
            except StorageUnavailable as error:
                _log.warning("turns can't be kept alive: %s", error.message)
            await asyncio.sleep(pause)
