"""Bounded work: what is over the limit is turned away at once, with when to come back."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from quire.errors import Overloaded


class Slots:
    """Counts the answers and searches in progress."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.taken = 0

    @contextmanager
    def one(self) -> Generator[None]:
        """Hold a slot for the length of the block; `Overloaded` when none is free."""
        if self.taken >= self._limit:
            raise Overloaded(
                f"{self._limit} requests are in progress; try again in a moment", retry_after=1
            )
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
