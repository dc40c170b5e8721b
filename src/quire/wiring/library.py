"""The object a program holds: books, search and answers over opened resources."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quire.errors import Forbidden, InvalidRequest, InvalidSetting, NotFound, QuireError
from quire.models import (
    Answer,
    AnswerMode,
    Chunk,
    Filters,
    IngestionMode,
    Message,
    Retrieval,
)
from quire.settings import Settings, load_settings

if TYPE_CHECKING:
    from quire.answering import Answerer, AnswerEvent, Question
    from quire.answering.dialogue import Dialogue
    from quire.conversations import Conversations
    from quire.database import Database
    from quire.embedding.port import Embedder
    from quire.index.port import Index
    from quire.ingestion.ingester import Ingester
    from quire.ingestion.jobs import IngestionJob, Jobs
    from quire.ingestion.plan import Plan
    from quire.ingestion.progress import ProgressCallback, Report
    from quire.ingestion.runner import JobRunner, Work
    from quire.ingestion.state import BookState, Guard, IngestionState
    from quire.retrieval import Searcher

LOCAL_OWNER = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question as callers put it; the library finds the book and checks the filters."""

    text: str
    book_id: str | None = None
    session_id: str | None = None
    remember: bool = False
    """Store the turn in a session, a new one if `session_id` is None."""
    history: Sequence[Message] = ()
    """Earlier turns, when the caller keeps them instead of a session."""
    mode: AnswerMode = "general"
    selected_text: str | None = None
    top_k: int = 5
    score_threshold: float | None = None
    filters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    owner: str = LOCAL_OWNER
    trace_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BookSummary:
    """A book that was ingested."""

    id: str
    title: str
    base_url: str | None
    pages: int
    chunks: int
    last_ingested_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """Whether one resource answers, and how fast."""

    up: bool
    latency_ms: float
    message: str | None = None


class Library:
    """Everything Quire can do, over resources that are opened and closed together.

    async with Library.open(settings) as library: ...
    """

    def __init__(
        self,
        settings: Settings,
        *,
        database: Database,
        index: Index,
        embedder: Embedder,
        state: IngestionState,
        ingester: Ingester,
        jobs: Jobs,
        runner: JobRunner,
        searcher: Searcher,
        answerer: Answerer,
        conversations: Conversations,
        dialogue: Dialogue,
    ) -> None:
        self.settings = settings
        self.database = database
        self.index = index
        self.embedder = embedder
        self.state = state
        self.ingester = ingester
        self.jobs = jobs
        self.runner = runner
        self.searcher = searcher
        self.answerer = answerer
        self.conversations = conversations
        self.dialogue = dialogue

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings | None = None) -> AsyncIterator[Library]:
        """Open every resource of the settings; all are closed at the end, whatever happens."""
        from quire.answering import Answerer
        from quire.answering.dialogue import Dialogue
        from quire.conversations.sql import SqlConversations
        from quire.database import Database, upgrade
        from quire.ingestion.ingester import Ingester
        from quire.ingestion.jobs import Jobs
        from quire.ingestion.runner import JobRunner
        from quire.ingestion.state import IngestionState
        from quire.retrieval import Searcher
        from quire.wiring.adapters import open_embedder, open_index, open_model

        settings = settings or load_settings()
        make_home(settings)
        async with AsyncExitStack() as resources:
            index = await open_index(settings)
            resources.push_async_callback(index.close)
            database = Database(settings.database_address)
            resources.push_async_callback(database.close)
            await upgrade(database)
            embedder = open_embedder(settings)
            resources.push_async_callback(embedder.close)
            state = IngestionState(database, collection_name=settings.qdrant_collection_name)
            searcher = Searcher(index, embedder, policy=settings.confidence_policy)
            model, model_name = open_model(settings, embedder)
            answerer = Answerer(
                retriever=searcher, model=model, model_name=model_name, embedder=embedder
            )
            conversations = SqlConversations(database, max_turns=settings.max_turns)
            resources.push_async_callback(conversations.close)
            ingester = Ingester(state=state, index=index, embedder=embedder)
            jobs = Jobs(database)
            runner = JobRunner(jobs, work_of(ingester))
            resources.push_async_callback(runner.close)
            yield cls(
                settings,
                database=database,
                index=index,
                embedder=embedder,
                state=state,
                ingester=ingester,
                jobs=jobs,
                runner=runner,
                searcher=searcher,
                answerer=answerer,
                conversations=conversations,
                dialogue=Dialogue(answerer, conversations),
            )

    # books

    async def books(self) -> list[BookSummary]:
        """All books, in id order."""
        states = [await self.state.load(book_id) for book_id in await self.state.book_ids()]
        return [summary_of(state) for state in states if state is not None]

    async def book(self, book_id: str | None = None) -> BookSummary:
        """The book with this id; the only one when no id is given."""
        ids = await self.state.book_ids()
        if book_id is None:
            if len(ids) != 1:
                raise InvalidRequest(
                    f"book_id: say which book; there are {', '.join(ids)}"
                    if ids
                    else "there is no book yet; add one with: quire ingest PATH",
                    field="book_id",
                    books=ids,
                )
            book_id = ids[0]
        return summary_of(await self._load(book_id))

    async def book_state(self, book_id: str | None = None) -> BookState:
        """What was ingested of a book, file by file; the only book when no id is given."""
        return await self._load((await self.book(book_id)).id)

    async def _load(self, book_id: str) -> BookState:
        state = await self.state.load(book_id)
        if state is None:
            raise NotFound(f"there is no book '{book_id}'", details={"book_id": book_id})
        return state

    async def plan(
        self, path: Path, *, book_id: str | None = None, mode: IngestionMode = "incremental"
    ) -> Plan:
        """What `ingest` would do; changes nothing."""
        from quire.books import load_book

        return await self.ingester.plan(load_book(path, book_id=book_id), mode=mode)

    async def ingest(
        self,
        path: Path,
        *,
        book_id: str | None = None,
        mode: IngestionMode = "incremental",
        progress: ProgressCallback | None = None,
    ) -> IngestionJob:
        """Bring the index in line with a folder of pages; returns the finished job.

        A job that a crash left unfinished is finished first.
        """
        from quire.books import load_book

        book = load_book(path, book_id=book_id)
        if self.settings.qdrant_url is None:
            # the embedded store is ours alone: nobody else can be at work on an active job
            await self.runner.start()
            for job in await self.jobs.find(book_id=book.id, active=True):
                await self.runner.wait(job.job_id)
        job = await self.runner.submit(
            book.id, root=str(book.root), mode=mode, owner=LOCAL_OWNER, progress=progress
        )
        return await self.runner.wait(job.job_id)

    async def submit(
        self,
        path: str,
        *,
        book_id: str | None = None,
        mode: IngestionMode = "incremental",
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
    ) -> IngestionJob:
        """Start a job in the background, for a folder below one of `QUIRE_INGEST_ROOTS`."""
        from quire.books import load_book

        book = load_book(below(path, self.settings.ingest_roots), book_id=book_id)
        return await self.runner.submit(
            book.id,
            root=str(book.root),
            mode=mode,
            owner=owner,
            idempotency_key=idempotency_key,
        )

    # search

    async def search(
        self,
        text: str,
        *,
        book_id: str,
        filters: Mapping[str, Any] | Filters | None = None,
        top_k: int = 5,
        score_threshold: float = 0.0,
    ) -> Retrieval:
        """The passages nearest to a text, best first."""
        from quire.retrieval import parse_filters

        checked = filters if isinstance(filters, Filters) else parse_filters(filters)
        return await self.searcher.retrieve(
            book_id, text, top_k=top_k, score_threshold=score_threshold, filters=checked
        )

    async def document(self, book_id: str, parent_doc_id: str) -> list[Chunk]:
        """All chunks of a page in order."""
        chunks = await self.searcher.document(book_id, parent_doc_id)
        if not chunks:
            raise NotFound(f"there is no document '{parent_doc_id}'")
        return chunks

    async def context(
        self, book_id: str, chunk_id: str, *, before: int = 0, after: int = 0
    ) -> list[Chunk]:
        """A chunk with its neighbours along the chain, in order."""
        chunks = await self.searcher.context(book_id, chunk_id, before=before, after=after)
        if not chunks:
            raise NotFound(f"there is no chunk '{chunk_id}'")
        return chunks

    # answers

    async def ask(self, ask: Ask) -> Answer:
        """A cited answer, or the refusal."""
        question = await self._question(ask)
        if ask.remember or ask.session_id:
            return await self.dialogue.answer(question, ask.owner)
        return await self.answerer.answer(question, ask.history)

    async def stream(self, ask: Ask) -> AsyncGenerator[AnswerEvent]:
        """The same answer as events, each sentence as soon as it is verified."""
        question = await self._question(ask)
        if ask.remember or ask.session_id:
            events = self.dialogue.stream(question, ask.owner)
        else:
            events = self.answerer.stream(question, ask.history)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _question(self, ask: Ask) -> Question:
        from quire.answering import Question
        from quire.retrieval import parse_filters

        filters = parse_filters(ask.filters)
        book = await self.book(ask.book_id)
        return Question(
            text=ask.text,
            book_id=book.id,
            book_title=book.title,
            base_url=book.base_url,
            mode=ask.mode,
            selected_text=ask.selected_text,
            top_k=ask.top_k,
            score_threshold=ask.score_threshold,
            filters=filters,
            session_id=ask.session_id,
            trace_id=ask.trace_id,
        )

    async def rate(
        self,
        owner: str,
        session_id: str,
        *,
        exchange_id: str | None = None,
        trace_id: str | None = None,
        rating: Literal[-1, 1],
        comment: str | None = None,
    ) -> None:
        """Store what a reader thought of one answer of a session."""
        for exchange in await self.conversations.exchanges(owner, session_id):
            if exchange.id == exchange_id or (trace_id and exchange.trace_id == trace_id):
                await self.conversations.give_feedback(owner, exchange.id, rating, comment=comment)
                return
        raise NotFound("there is no such answer in this session")

    # operation

    async def warm(self) -> None:
        """Load what the first question would otherwise wait for."""
        await self.embedder.embed_query("warm")

    async def health(self) -> dict[str, PartHealth]:
        """Each resource's sign of life."""
        return {
            "index": await timed(self.index.embedder()),
            "database": await timed(self.database.ping()),
            "embedder": await timed(self.embedder.embed_query("health")),
        }


def summary_of(state: BookState) -> BookSummary:
    """What callers see of a book's state."""
    moments = [m for m in (state.last_full_ingest, state.last_incremental_update) if m]
    return BookSummary(
        id=state.book_id,
        title=state.title,
        base_url=base_url_of(state),
        pages=len(state.records),
        chunks=state.total_chunks,
        last_ingested_at=max(moments, default=None),
    )


def base_url_of(state: BookState) -> str | None:
    """Where the book is published, as its folder says now; None when it can't be read."""
    from quire.books import load_book

    try:
        return load_book(Path(state.root), book_id=state.book_id).base_url
    except QuireError:
        return None


def below(path: str, roots: Sequence[Path]) -> Path:
    """The folder, if it lies below one of the roots once links are resolved."""
    if "\0" not in path:
        folder = Path(path).resolve()
        if any(folder.is_relative_to(root.resolve()) for root in roots):
            return folder
    raise Forbidden("path: is not below a folder of QUIRE_INGEST_ROOTS", details={"field": "path"})


def work_of(ingester: Ingester) -> Work:
    """What a worker does with an ingestion job."""

    async def work(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        from quire.books import load_book

        book = load_book(Path(job.root), book_id=job.book_id)
        return await ingester.run(book, mode=job.mode, progress=progress, guard=guard)

    return work


def make_home(settings: Settings) -> None:
    """Create the data folder; one clear line when that is not possible."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(
            f"QUIRE_HOME: can't use {settings.home}: {error.strerror or error}"
        ) from error


async def timed(check: Awaitable[object]) -> PartHealth:
    """How long a check took, or why it failed."""
    start = time.perf_counter()
    try:
        await check
    except QuireError as error:
        elapsed = (time.perf_counter() - start) * 1000
        return PartHealth(up=False, latency_ms=elapsed, message=error.message)
    return PartHealth(up=True, latency_ms=(time.perf_counter() - start) * 1000)
