"""The index on a Qdrant server or cluster: one collection for all books, behind an alias.

`quire` is an alias of `quire@3`. A process looks the alias up once and then names the
collection itself, together with the embedder that its metadata tell: a query can't meet a
collection of another embedder. When a rebuild (by whichever process) has dropped the
collection, the server says 404, and the alias is looked up again.

The tenant key `book_id` is part of every filter; its index is tenant-optimised and each book
has its own graph (`m=0`, `payload_m=16`). IDF is over the book with a server that knows the
search parameter `idf` (Qdrant 1.19); one that doesn't takes the IDF of the whole collection.
It must keep collection metadata too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from quire.errors import ConfigurationError, Conflict, InvalidRequest
from quire.index import messages
from quire.index.connection import CollectionMissing, Connection, open_client
from quire.index.finds import C, Choose, Question, search_and_choose
from quire.index.payload import (
    BM25,
    DENSE,
    INDEXED,
    SCHEMA_VERSION,
    TENANT,
    is_point_id,
    to_chunk,
)
from quire.index.port import Candidates, EmbedderInfo, Hit, Index, Point, SparseVector
from quire.models import Chunk, Filters

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

T = TypeVar("T")

BATCH: Final = 128
"""Points in one request."""
MOST_BOOKS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection by its own name, with what its metadata say."""

    name: str
    embedder: EmbedderInfo
    schema: int


class ServerIndex:
    """The port on a Qdrant server; open it with `ServerIndex.open`.

    A write returns when the server has it in its log and has applied it (`wait=true`), so
    `commit` has nothing left to do.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str = "quire",
        *,
        timeout: float = 10.0,
        shard_number: int | None = None,
        replication_factor: int | None = None,
    ) -> None:
        """Use this client; `close` closes it."""
        self._connection = Connection(client, timeout=timeout)
        self._client = client
        self._alias = collection
        self._shard_number = shard_number
        self._replication_factor = replication_factor
        self._current: Collection | None = None
        self._rebuild_of: ServerIndex | None = None
        self._owns_client = True

    @classmethod
    def open(
        cls,
        url: str,
        collection: str = "quire",
        *,
        api_key: str | None = None,
        grpc_port: int | None = None,
        timeout: float = 10.0,
        shard_number: int | None = None,
        replication_factor: int | None = None,
    ) -> Self:
        """An index at this address; the server is asked when the index is first used.

        With `grpc_port` points are written and searched by gRPC. Shards and replicas are those
        of collections that are created; they don't change one that is there. Raises
        `MissingExtra` without `qdrant-client`.
        """
        client = open_client(url, api_key=api_key, timeout=timeout, grpc_port=grpc_port)
        return cls(
            client,
            collection,
            timeout=timeout,
            shard_number=shard_number,
            replication_factor=replication_factor,
        )

    async def embedder(self) -> EmbedderInfo | None:
        """What the metadata of the collection behind the alias say.

        Asked once: a search that meets another collection by then is refused.
        """
        current = await self._found()
        return None if current is None else current.embedder

    async def ping(self) -> None:
        """Look the collection up again; whether there is one doesn't matter."""
        await self._look_up()

    async def prepare(self, embedder: EmbedderInfo) -> None:
        """Create the first collection and its alias, or check that the current one fits."""
        if self._rebuild_of is None:
            self._current = await self._look_up()
        if self._current is None:
            collection = await self._create(embedder)
            await self._point_alias(collection)
            self._current = collection
        current = await self._collection()
        current.embedder.check(embedder)
        if current.schema != SCHEMA_VERSION:
            raise ConfigurationError(
                f"the index was written with schema {current.schema}, this version reads "
                f"{SCHEMA_VERSION}; rebuild with: quire ingest PATH --mode recreate"
            )

    async def books(self) -> list[str]:
        """The ids of the books that have chunks, in order."""
        found = await self._read(
            "list the books",
            lambda name: self._client.facet(name, TENANT, limit=MOST_BOOKS, exact=True),
        )
        return [] if found is None else sorted(str(hit.value) for hit in found.hits)

    async def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace by chunk id, a batch at a time."""
        embedder = (await self._collection()).embedder
        for point in points:
            if not is_point_id(point.chunk.id):
                raise InvalidRequest(f"chunk id {point.chunk.id!r} is not a UUID", field="id")
            embedder.check_vector(point.dense)
        for start in range(0, len(points), BATCH):
            rows = [messages.row(point) for point in points[start : start + BATCH]]
            await self._write("store chunks", self._upsert(rows), embedder)

    async def update_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Replace payloads; the filter leaves unknown ids and other books' points alone."""
        if await self._found() is None:
            return
        for start in range(0, len(chunks), BATCH):
            operations = [
                messages.replacement(chunk)
                for chunk in chunks[start : start + BATCH]
                if is_point_id(chunk.id)
            ]
            await self._write("update chunks", self._update(operations))

    async def delete(self, book_id: str, ids: Sequence[str]) -> None:
        """Remove these chunks of this book."""
        known = [point_id for point_id in ids if is_point_id(point_id)]
        if known and await self._found() is not None:
            await self._write("delete chunks", self._delete(messages.id_filter(book_id, known)))

    async def delete_book(self, book_id: str) -> None:
        """Remove every chunk of this book."""
        if await self._found() is not None:
            await self._write("delete a book", self._delete(messages.book_filter(book_id)))

    async def fetch(self, book_id: str, ids: Sequence[str]) -> list[Chunk]:
        """The chunks with these ids, in the order asked."""
        records = await self._retrieve(book_id, ids, with_vectors=False)
        return [to_chunk(str(record.id), record.payload or {}) for record in records]

    async def fetch_points(self, book_id: str, ids: Sequence[str]) -> list[Point]:
        """Like `fetch`, with the vectors."""
        records = await self._retrieve(book_id, ids, with_vectors=True)
        return [messages.point(record) for record in records]

    async def scroll(
        self,
        book_id: str,
        filters: Filters = Filters(),
        *,
        after: str | None = None,
        limit: int = 256,
    ) -> tuple[list[Chunk], str | None]:
        """A page of chunks in id order, and the cursor for the next page."""
        if after is not None and not is_point_id(after):
            raise InvalidRequest("the cursor is not one that a page returned", field="after")
        found = await self._read(
            "list chunks",
            lambda name: self._client.scroll(
                name,
                messages.book_filter(book_id, filters),
                limit=limit,
                offset=after,
                with_payload=True,
            ),
        )
        if found is None:
            return [], None
        records, following = found
        chunks = [to_chunk(str(record.id), record.payload or {}) for record in records]
        return chunks, None if following is None else str(following)

    async def count(self, book_id: str, filters: Filters = Filters()) -> int:
        """Exactly how many chunks of this book match."""
        found = await self._read(
            "count chunks",
            lambda name: self._client.count(
                name, messages.book_filter(book_id, filters), exact=True
            ),
        )
        return 0 if found is None else found.count

    async def search(
        self,
        book_id: str,
        *,
        dense: NDArray[np.float32] | None,
        bm25: SparseVector | None,
        filters: Filters = Filters(),
        limit: int,
        with_vectors: bool = False,
    ) -> Candidates:
        """Both searches in one request; raises `EmbedderMismatch` on a wrong length."""
        if (current := await self._found()) is None:
            return Candidates((), ())
        if dense is not None:
            current.embedder.check_vector(dense)
        requests = messages.queries(book_id, dense, bm25, filters, limit, with_vectors=with_vectors)
        if not requests:
            return Candidates((), ())
        found = await self._read(
            "search",
            lambda name: self._client.query_batch_points(name, requests),
            embedder=current.embedder if dense is not None else None,
        )
        lists = [messages.hits(response.points) for response in found or ()]
        dense_hits = lists.pop(0) if dense is not None and lists else ()
        return Candidates(dense_hits, lists.pop(0) if lists else ())

    async def find(
        self,
        book_id: str,
        question: Question,
        *,
        filters: Filters = Filters(),
        limit: int,
        choose: Choose[C],
    ) -> tuple[C, tuple[Hit, ...]]:
        """Both searches in one request, ranked here."""
        return await search_and_choose(
            self, book_id, question, filters=filters, limit=limit, choose=choose
        )

    async def commit(self) -> None:
        """Nothing to do: each write waited for the server."""

    async def begin_rebuild(self, embedder: EmbedderInfo) -> Index:
        """A new empty collection that the alias doesn't name yet."""
        rebuilt = ServerIndex(
            self._client,
            self._alias,
            shard_number=self._shard_number,
            replication_factor=self._replication_factor,
        )
        rebuilt._connection = self._connection
        rebuilt._current = await self._create(embedder)
        rebuilt._rebuild_of = self
        rebuilt._owns_client = False
        return rebuilt

    async def finish_rebuild(self, rebuilt: Index) -> None:
        """Switch the alias, then drop every older collection."""
        if not isinstance(rebuilt, ServerIndex) or rebuilt._rebuild_of is not self:
            raise Conflict("this is not a rebuild of this index, or it is finished already")
        collection = await rebuilt._collection()
        await self._point_alias(collection)
        self._current = collection
        rebuilt._rebuild_of = rebuilt._current = None
        number = self._number(collection.name)
        for name in await self._names():
            if self._number(name) < number:
                await self._drop(name)

    async def close(self) -> None:
        """Close the client; a rebuild that didn't finish is dropped instead."""
        if self._owns_client:
            await self._connection.close()
        elif self._rebuild_of is not None and self._current is not None:
            name, self._current = self._current.name, None
            await self._drop(name)

    # which collection

    async def _found(self) -> Collection | None:
        if self._current is None and self._rebuild_of is None:
            self._current = await self._look_up()
        return self._current

    async def _collection(self) -> Collection:
        if (current := await self._found()) is None:
            raise Conflict("the index has no collection yet: call prepare() before writing")
        return current

    async def _look_up(self) -> Collection | None:
        aliases = await self._connection.call("list aliases", self._client.get_aliases)
        name = next(
            (a.collection_name for a in aliases.aliases if a.alias_name == self._alias), None
        )
        if name is None:
            return None
        info = await self._connection.call("answer", lambda: self._client.get_collection(name))
        try:
            stored = (info.config.metadata or {})["quire"]
            embedder = EmbedderInfo(stored["embedder"], stored["dimension"])
            return Collection(name, embedder, stored["schema"])
        except (KeyError, TypeError) as error:
            raise ConfigurationError(
                f"the collection {name} on QDRANT_URL has no metadata of ours; "
                "set QDRANT_COLLECTION_NAME to another name, or use a newer Qdrant"
            ) from error

    async def _read(
        self,
        doing: str,
        request: Callable[[str], Awaitable[T]],
        *,
        embedder: EmbedderInfo | None = None,
    ) -> T | None:
        """The answer of the current collection; None when there is no collection.

        With an embedder, a collection of another one is refused.
        """
        for attempt in (1, 2):
            if (current := await self._found()) is None:
                return None
            if embedder is not None:
                current.embedder.check(embedder)
            try:
                return await self._connection.call(doing, lambda c=current: request(c.name))
            except CollectionMissing:
                if attempt == 2 or self._rebuild_of is not None:
                    raise
                self._current = None
        return None

    async def _write(
        self,
        doing: str,
        request: Callable[[str], Awaitable[Any]],
        embedder: EmbedderInfo | None = None,
    ) -> None:
        await self._collection()
        await self._read(doing, request, embedder=embedder)

    # requests

    def _upsert(self, rows: list[models.PointStruct]) -> Callable[[str], Awaitable[Any]]:
        return lambda name: self._client.upsert(name, rows, wait=True)

    def _update(
        self, operations: list[models.OverwritePayloadOperation]
    ) -> Callable[[str], Awaitable[Any]]:
        return lambda name: self._client.batch_update_points(name, operations, wait=True)

    def _delete(self, chosen: models.Filter) -> Callable[[str], Awaitable[Any]]:
        from qdrant_client import models

        selector = models.FilterSelector(filter=chosen)
        return lambda name: self._client.delete(name, selector, wait=True)

    async def _retrieve(
        self, book_id: str, ids: Sequence[str], *, with_vectors: bool
    ) -> list[models.Record]:
        """The book's points among these, in this order."""
        known = [point_id for point_id in ids if is_point_id(point_id)]
        if not known:
            return []
        found = await self._read(
            "fetch chunks",
            lambda name: self._client.retrieve(
                name, known, with_payload=True, with_vectors=with_vectors
            ),
        )
        own = {
            str(record.id): record
            for record in found or ()
            if (record.payload or {}).get(TENANT) == book_id
        }
        return [own[point_id] for point_id in known if point_id in own]

    async def _create(self, embedder: EmbedderInfo) -> Collection:
        from qdrant_client import models

        numbers = [self._number(name) for name in await self._names()]
        name = f"{self._alias}@{max(numbers, default=0) + 1}"
        stored = {
            "embedder": embedder.name,
            "dimension": embedder.dimension,
            "schema": SCHEMA_VERSION,
        }
        await self._connection.call(
            "create a collection",
            lambda: self._client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=embedder.dimension, distance=models.Distance.COSINE
                    )
                },
                sparse_vectors_config={
                    BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
                hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                shard_number=self._shard_number,
                replication_factor=self._replication_factor,
                metadata={"quire": stored},
            ),
        )
        for field, kind in INDEXED.items():
            await self._connection.call(
                "create an index",
                lambda field=field, kind=kind: self._client.create_payload_index(
                    name, field, messages.field_index(field, kind), wait=True
                ),
            )
        return Collection(name, embedder, SCHEMA_VERSION)

    async def _point_alias(self, collection: Collection) -> None:
        from qdrant_client import models

        remove = models.DeleteAliasOperation(
            delete_alias=models.DeleteAlias(alias_name=self._alias)
        )
        create = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=collection.name, alias_name=self._alias)
        )
        await self._connection.call(
            "switch the alias", lambda: self._client.update_collection_aliases([remove, create])
        )

    async def _drop(self, name: str) -> None:
        await self._connection.call(
            "drop a collection", lambda: self._client.delete_collection(name)
        )

    async def _names(self) -> list[str]:
        """Our collections, old and new."""
        listed = await self._connection.call("list collections", self._client.get_collections)
        names = [collection.name for collection in listed.collections]
        return [name for name in names if self._number(name)]

    def _number(self, name: str) -> int:
        prefix, _, number = name.rpartition("@")
        return int(number) if prefix == self._alias and number.isdecimal() else 0
