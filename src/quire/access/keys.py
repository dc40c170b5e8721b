"""API keys: made once, shown once, kept as digests, looked up by their public prefix."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from sqlalchemy import or_, select, update

from quire.database import Database
from quire.database.tables import ApiKeyRow
from quire.errors import InvalidRequest, NotFound, Unauthorized
from quire.models import utc_now

KeyKind = Literal["secret", "publishable"]
Scope = Literal["chat", "search", "ingest", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
PUBLISHABLE_SCOPES: frozenset[Scope] = frozenset({"chat", "search"})

CACHE_S = 0.8
"""How long an answer about a key is trusted: a revoked key works no longer than a second."""

_CACHED = 10_000
_NEVER = float("-inf")
_USED_EVERY = timedelta(minutes=1)
_SHAPE = re.compile(r"^(?P<prefix>[sp]k_[0-9a-f]{12})_[A-Za-z0-9_-]{43}$")
_MARK: dict[KeyKind, str] = {"secret": "sk", "publishable": "pk"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """What a key may do; the key itself is not in here."""

    id: str
    name: str
    prefix: str
    kind: KeyKind
    scopes: frozenset[Scope]
    book_id: str | None
    """The only book it reaches; None means all."""
    origins: tuple[str, ...]
    """The sites a publishable key works from."""
    created_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class CreatedKey:
    """A new key with its text, which can't be shown again."""

    key: ApiKey
    text: str


class Keys:
    """The store of keys. Its digests are worthless without the pepper."""

    def __init__(
        self,
        database: Database,
        pepper: Callable[[], bytes],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._pepper = pepper
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, ApiKey | None]] = OrderedDict()
        self._origins: tuple[float, frozenset[str]] = (_NEVER, frozenset())
        self._lookups: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._looking = asyncio.Lock()

    async def create(
        self,
        name: str,
        *,
        kind: KeyKind = "secret",
        scopes: Iterable[Scope] = ("chat", "search"),
        book_id: str | None = None,
        origins: Iterable[str] = (),
    ) -> CreatedKey:
        """Make a key of 256 random bits; a publishable one needs a book and its sites."""
        granted = frozenset(scopes)
        sites = tuple(dict.fromkeys(origin_of(origin) for origin in origins))
        _check(name, kind, granted, book_id, sites)
        prefix = f"{_MARK[kind]}_{secrets.token_hex(6)}"
        text = f"{prefix}_{secrets.token_urlsafe(32)}"
        row = ApiKeyRow(
            id=str(uuid.uuid4()),
            name=name.strip(),
            prefix=prefix,
            digest=self._digest(text),
            kind=kind,
            scopes=sorted(granted),
            book_id=book_id,
            origins=list(sites),
            created_at=utc_now(),
            revoked_at=None,
            last_used_at=None,
        )
        async with self._database.transaction() as session:
            session.add(row)
        return CreatedKey(_key(row), text)

    async def all(self) -> list[ApiKey]:
        """Every key, the newest first, revoked ones too."""
        query = select(ApiKeyRow).order_by(ApiKeyRow.created_at.desc(), ApiKeyRow.id)
        async with self._database.transaction(read_only=True) as session:
            return [_key(row) for row in await session.scalars(query)]

    async def revoke(self, name: str) -> ApiKey:
        """End the key with this id or prefix; a second time changes nothing."""
        async with self._database.transaction() as session:
            row = await session.scalar(
                select(ApiKeyRow).where(or_(ApiKeyRow.id == name, ApiKeyRow.prefix == name))
            )
            if row is None:
                raise NotFound(f"there is no key '{name}'")
            row.revoked_at = row.revoked_at or utc_now()
            revoked = _key(row)
        self._known.clear()
        self._origins = (_NEVER, frozenset())
        return revoked

    async def authenticate(self, text: str) -> ApiKey:
        """The key behind this text; `Unauthorized` if there is none or it was revoked."""
        shape = _SHAPE.match(text)
        if shape is None:
            raise Unauthorized("this is not a key of this server")
        key = await self._known_key(shape["prefix"], self._digest(text))
        if key is None:
            raise Unauthorized("the key is unknown or was revoked")
        return key

    async def origins(self) -> frozenset[str]:
        """The sites of all publishable keys that are in force."""
        if self._clock() < self._origins[0]:
            return self._origins[1]
        async with self._looking:  # one look for all who wait
            if self._clock() < self._origins[0]:
                return self._origins[1]
            query = select(ApiKeyRow.origins).where(
                ApiKeyRow.kind == "publishable", ApiKeyRow.revoked_at.is_(None)
            )
            async with self._database.transaction(read_only=True) as session:
                rows = await session.scalars(query)
                origins = frozenset(origin for row in rows for origin in row)
            self._origins = (self._clock() + CACHE_S, origins)
        return origins

    async def _known_key(self, prefix: str, digest: str) -> ApiKey | None:
        known = self._recall(digest)
        if known is None:
            async with self._lookups.setdefault(digest, asyncio.Lock()):
                known = self._recall(digest)
                if known is None:
                    known = self._remember(digest, await self._find(prefix, digest))
        return known[1]

    async def _find(self, prefix: str, digest: str) -> ApiKey | None:
        query = select(ApiKeyRow).where(ApiKeyRow.prefix == prefix, ApiKeyRow.revoked_at.is_(None))
        async with self._database.transaction(read_only=True) as session:
            rows = list(await session.scalars(query))
        row = next((row for row in rows if hmac.compare_digest(row.digest, digest)), None)
        if row is None:
            return None
        if row.last_used_at is None or utc_now() - row.last_used_at > _USED_EVERY:
            async with self._database.transaction() as session:
                await session.execute(
                    update(ApiKeyRow).where(ApiKeyRow.id == row.id).values(last_used_at=utc_now())
                )
        return _key(row)

    def _digest(self, text: str) -> str:
        return hmac.new(self._pepper(), text.encode(), hashlib.sha256).hexdigest()

    def _recall(self, digest: str) -> tuple[float, ApiKey | None] | None:
        known = self._known.get(digest)
        return known if known is not None and self._clock() < known[0] else None

    def _remember(self, digest: str, key: ApiKey | None) -> tuple[float, ApiKey | None]:
        self._known[digest] = (self._clock() + CACHE_S, key)
        self._known.move_to_end(digest)
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return self._known[digest]


def origin_of(text: str) -> str:
    """A site's address as browsers send it in `Origin`: scheme, host and port, nothing else."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidRequest(
            f"'{text}' is not a site such as https://docs.example.org", field="origins"
        )
    default = {"http": 80, "https": 443}[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port and port != default else "")


def _check(
    name: str,
    kind: KeyKind,
    scopes: frozenset[Scope],
    book_id: str | None,
    origins: tuple[str, ...],
) -> None:
    if not 1 <= len(name.strip()) <= 200:
        raise InvalidRequest("a key's name has 1 to 200 characters", field="name")
    if not scopes:
        raise InvalidRequest("a key needs at least one scope", field="scopes")
    if kind == "secret":
        if origins:
            raise InvalidRequest("only publishable keys are bound to sites", field="origins")
        return
    if book_id is None:
        raise InvalidRequest("a publishable key is bound to one book", field="book_id")
    if not origins:
        raise InvalidRequest("a publishable key is bound to at least one site", field="origins")
    if beyond := scopes - PUBLISHABLE_SCOPES:
        raise InvalidRequest(
            f"a publishable key can't have the scope {', '.join(sorted(beyond))}", field="scopes"
        )


def _key(row: ApiKeyRow) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        kind="publishable" if row.kind == "publishable" else "secret",
        scopes=frozenset(scope for scope in SCOPES if scope in row.scopes),
        book_id=row.book_id,
        origins=tuple(row.origins),
        created_at=row.created_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
    )
