"""The way in: a request's credentials become a caller, or an error that says why not."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from quire.access.keys import ApiKey, Keys, Scope
from quire.access.limits import Allowance, Limits
from quire.errors import Forbidden, NotFound, Unauthorized

LOCAL_OWNER = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a request says of where it comes from."""

    key: str | None = None
    origin: str | None = None
    visitor: str | None = None
    """An id the reader's browser made up."""
    address: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: the holder of a key, or the user of this machine (`key` is None)."""

    key: ApiKey | None = None
    visitor: str | None = None
    allowances: tuple[Allowance, ...] = ()

    @property
    def owner(self) -> str:
        """Whose conversations the caller sees: its key's; with a publishable one, its visitor's."""
        if self.key is None:
            return LOCAL_OWNER
        if self.key.kind == "secret":
            return self.key.id
        return f"{self.key.id}/{self.visitor or 'anonymous'}"

    @property
    def is_anonymous(self) -> bool:
        """A publishable key's visitor without an id: sessions are known by their id alone."""
        return self.key is not None and self.key.kind == "publishable" and not self.visitor

    @property
    def key_id(self) -> str | None:
        """For counting usage."""
        return self.key.id if self.key else None

    def book(self, asked: str | None) -> str | None:
        """The book to use: the key's own; another one doesn't exist for this caller."""
        bound = self.key.book_id if self.key else None
        if bound is None or asked is None or asked == bound:
            return bound or asked
        raise NotFound(f"there is no book '{asked}'", details={"book_id": asked})

    def sees(self, book_id: str) -> bool:
        """Whether this book exists for the caller."""
        return self.key is None or self.key.book_id in (None, book_id)

    def administers(self, key: ApiKey) -> bool:
        """Whether the caller may see and revoke this key: one of its own book."""
        return self.key is None or self.key.book_id in (None, key.book_id)


class Gate:
    """Authenticates, checks site and scope, and counts the request."""

    def __init__(self, keys: Keys, limits: Limits, *, enabled: bool) -> None:
        self._keys = keys
        self._limits = limits
        self.enabled = enabled

    async def admit(self, credentials: Credentials, scope: Scope) -> Caller:
        """The caller, if it may do this now.

        Raises `Unauthorized`, `Forbidden` (wrong site or scope) or `RateLimited`.
        """
        if not self.enabled:
            return Caller()
        if credentials.key is None:
            raise Unauthorized("a key is needed: send it as 'Authorization: Bearer …'")
        key = await self._keys.authenticate(credentials.key)
        if key.kind == "publishable" and credentials.origin not in key.origins:
            raise Forbidden("this key works from its own sites only")
        if scope not in key.scopes and "admin" not in key.scopes:
            raise Forbidden(f"this key lacks the scope '{scope}'", details={"scope": scope})
        visitor = _visitor(credentials.visitor)
        allowances = await self._limits.admit(key, visitor or f"@{credentials.address}")
        return Caller(key=key, visitor=visitor, allowances=tuple(allowances))


def _visitor(given: str | None) -> str | None:
    """A short name for a visitor; what browsers send is hashed, never stored."""
    return hashlib.sha256(given.encode()).hexdigest()[:32] if given else None
