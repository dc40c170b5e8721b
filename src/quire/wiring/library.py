"""The object a program holds: books, search and answers over opened resources."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from quire.errors import Forbidden, NotFound, QuireError
from quire.models import Answer, Chunk, Filters, IngestionMode, Retrieval
from quire.settings import Settings, load_settings
from quire.wiring.values import LOCAL_OWNER, Ask, BookSummary, PageSummary, PartHealth

if TYPE_CHECKING:
    from quire.access import Gate, Keys, Limits
    from quire.answering import Answerer, AnswerEvent, Question
    from quire.answering.dialogue import Dialogue
    from quire.conversations import Conversations
    from quire.database import Database
    from quire.embedding.port import Embedder
    from quire.index.port import Index
    from quire.ingestion.ingester import Ingester
    from quire.ingestion.jobs import IngestionJob, Jobs
    from quire.ingestion.plan import Plan
    from quire.ingestion.progress import ProgressCallback
    from quire.ingestion.queue import JobQueue
    from quire.ingestion.runner import JobRunner, Work
    from quire.ingestion.state import BookState, IngestionState
    from quire.reading import Reader
    from quire.retrieval import Searcher
    from quire.wiring.accounts import Accounts
    from quire.wiring.adapters import ModelSource
    from quire.wiring.authors import AuthorsView
    from quire.wiring.housekeeping import Housekeeping
    from quire.wiring.selections import Selections
    from quire.wiring.shelf import Shelf
    from quire.wiring.telemetry import Telemetry


HEALTH_TIMEOUT_S = 5.0


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
        shelf: Shelf,
        ingester: Ingester,
        jobs: Jobs,
        runner: JobRunner,
        queue: JobQueue | None,
        work: Work,
        searcher: Searcher,
        selections: Selections,
        answerer: Answerer,
        model: ModelSource,
        reader: Reader | None,
        conversations: Conversations,
        dialogue: Dialogue,
        accounts: Accounts,
        authors: AuthorsView,
        keys: Keys,
        limits: Limits,
        gate: Gate,
        housekeeping: Housekeeping,
        telemetry: Telemetry,
    ) -> None:
        self.settings = settings
        self.database = database
        self.index = index
        self.embedder = embedder
        self.state = state
        self.shelf = shelf
        self.ingester = ingester
        self.jobs = jobs
        self.runner = runner
        self.queue = queue
        self.work = work
        self.searcher = searcher
        self.selections = selections
        self.answerer = answerer
        self.model = model
        self.reader = reader
        self.conversations = conversations
        self.dialogue = dialogue
        self.accounts = accounts
        self.authors = authors
        self.keys = keys
        self.limits = limits
        self.gate = gate
        self.housekeeping = housekeeping
        self.telemetry = telemetry

    @classmethod
    @asynccontextmanager
    async def open(
        cls, settings: Settings | None = None, *, serving: bool = False
    ) -> AsyncGenerator[Library]:
        """Open every resource of the settings; all are closed at the end, whatever happens.

        `serving` is for a program whose event loop must not stop: what would hold it up has a
        process of its own.
        """
        from quire.wiring.opening import open_library

        async with AsyncExitStack() as resources:
            yield await open_library(settings or load_settings(), resources, serving=serving)

    # books

    async def books(self) -> list[BookSummary]:
        """All books, in id order."""
        return await self.shelf.books()

    async def book(self, book_id: str | None = None) -> BookSummary:
        """The book with this id; the only one when no id is given."""
        return await self.shelf.book(book_id)

    async def pages(self, book_id: str | None = None) -> list[PageSummary]:
        """The book's pages in order."""
        return await self.shelf.pages(await self.book(book_id))

    async def book_state(self, book_id: str | None = None) -> BookState:
        """What was ingested of a book, file by file; the only book when no id is given."""
        book = await self.book(book_id)
        state = await self.state.load(book.id)
        if state is None:
            raise NotFound(f"there is no book '{book.id}'", details={"book_id": book.id})
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
        done = await self.runner.wait(job.job_id)
        self.shelf.forget()
        return done

    async def submit(
        self,
        path: str | None,
        *,
        book_id: str | None = None,
        mode: IngestionMode = "incremental",
        owner: str = LOCAL_OWNER,
        idempotency_key: str | None = None,
        own_pages_only: bool = False,
    ) -> IngestionJob:
        """Start a job in the background, here or in a worker.

        For a folder below one of `QUIRE_INGEST_ROOTS`, or (without a path) for the folder
        a known book came from. `own_pages_only` refuses a folder that has pages of another
        book in it.
        """
        from quire.books import load_book

        if path is None:
            known = await self.book(book_id)
            book_id, root = known.id, Path(known.root)
        else:
            root = below(path, self.settings.ingest_roots)
        book = await asyncio.to_thread(load_book, root, book_id=book_id)
        if own_pages_only:
            refuse_pages_of(await self.books(), other_than=book.id, root=book.root)
        return await (self.queue or self.runner).submit(
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
        with self.accounts.counted(ask) as account, self._span(ask):
            question = await self._question(ask)
            account.book_id = question.book_id
            if ask.remember or ask.session_id:
                account.answer = await self.dialogue.answer(question, ask.owner)
            else:
                account.answer = await self.answerer.answer(question, ask.history)
            return account.answer

    async def stream(self, ask: Ask) -> AsyncGenerator[AnswerEvent]:
        """The same answer as events, each sentence as soon as it is verified."""
        from quire.answering import AnswerDone

        with self.accounts.counted(ask) as account:
            question = await self._question(ask)
            account.book_id = question.book_id
            if ask.remember or ask.session_id:
                events = self.dialogue.stream(question, ask.owner)
            else:
                events = self.answerer.stream(question, ask.history)
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, AnswerDone):
                        account.answer = event.answer
                    yield event

    def _span(self, ask: Ask) -> AbstractContextManager[None]:
        return self.telemetry.span(
            f"chat {self.model.name}",
            operation_name="chat",
            request_model=self.model.name,
            conversation_id=ask.session_id,
        )

    async def _question(self, ask: Ask) -> Question:
        from quire.answering import Question
        from quire.retrieval import parse_filters

        filters = parse_filters(ask.filters)
        book = await self.book(ask.book_id)
        source = None
        if ask.selection is not None and ask.selected_text is not None:
            source = await self.selections.verify(book, ask.selected_text, ask.selection)
        return Question(
            text=ask.text,
            book_id=book.id,
            book_title=book.title,
            base_url=book.base_url,
            mode=ask.mode,
            selected_text=ask.selected_text,
            selection_source=source,
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
        for exchange in reversed(await self.conversations.exchanges(owner, session_id)):
            if exchange.id == exchange_id or (trace_id and exchange.trace_id == trace_id):
                await self.conversations.give_feedback(owner, exchange.id, rating, comment=comment)
                return
        raise NotFound("there is no such answer in this session")

    # operation

    async def warm(self) -> None:
        """Load what a search would otherwise wait for."""
        await self.embedder.embed_query("warm")

    async def prepare(self) -> None:
        """Load what the first answer would otherwise wait for: slower, so not before `warm`."""
        from quire.reading import Readable

        await asyncio.to_thread(self.model)
        if self.reader:
            await self.reader.read("warm", [Readable("warm")])

    async def health(self) -> dict[str, PartHealth]:
        """Each resource's sign of life."""
        parts: dict[str, Awaitable[object]] = {
            "index": self.index.ping(),
            "database": self.database.ping(),
            "embedder": self.embedder.embed_query("health"),
        }
        if self.settings.redis_url is not None:
            parts["limits"] = self.limits.check()
        states = await asyncio.gather(*(timed(check) for check in parts.values()))
        return dict(zip(parts, states, strict=True))


def below(path: str, roots: Sequence[Path]) -> Path:
    """The folder, if it lies below one of the roots once links are resolved."""
    if "\0" not in path:
        folder = Path(path).resolve()
        if any(folder.is_relative_to(root.resolve()) for root in roots):
            return folder
    raise Forbidden("path: is not below a folder of QUIRE_INGEST_ROOTS", details={"field": "path"})


def refuse_pages_of(books: Sequence[BookSummary], *, other_than: str, root: Path) -> None:
    """Raise if the folder holds, or lies in, the folder of another book."""
    for book in books:
        known = Path(book.root).resolve()
        if book.id != other_than and (root.is_relative_to(known) or known.is_relative_to(root)):
            raise Forbidden(
                "path: has pages of a book this key can't see", details={"field": "path"}
            )


async def timed(check: Awaitable[object]) -> PartHealth:
    """How long a check took, or why it failed."""
    start = time.perf_counter()
    message: str | None = None
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_S):
            await check
    except QuireError as error:
        message = error.message
    except TimeoutError:
        message = f"no answer within {HEALTH_TIMEOUT_S:g} s"
    elapsed = (time.perf_counter() - start) * 1000
    return PartHealth(up=message is None, latency_ms=elapsed, message=message)
