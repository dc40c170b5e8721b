"""Opening a library: every resource of the settings, in order, closed in reverse."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quire.access import Gate, Keys, Limits, Usage
from quire.access.pepper import given_pepper, pepper_file
from quire.answering import Answerer
from quire.answering import Limits as TurnLimits
from quire.answering.dialogue import Dialogue
from quire.answering.introduction import IntroducedRetriever
from quire.answering.order import far_definition, reading_order
from quire.answering.support import ReaderSupport
from quire.conversations.review import Review
from quire.conversations.sql import SqlConversations
from quire.database import Database, upgrade
from quire.errors import InvalidSetting
from quire.ingestion.ingester import Ingester
from quire.ingestion.jobs import IngestionJob, Jobs
from quire.ingestion.queue import JobQueue
from quire.ingestion.runner import JobRunner, Work
from quire.ingestion.state import IngestionState
from quire.retrieval import Order, Searcher
from quire.settings import Settings
from quire.wiring.accounts import Accounts
from quire.wiring.adapters import open_embedder, open_index, open_model, open_reader
from quire.wiring.authors import AuthorsView
from quire.wiring.housekeeping import EVERY_S, Housekeeping
from quire.wiring.library import Library
from quire.wiring.selections import Selections
from quire.wiring.shelf import Shelf
from quire.wiring.telemetry import ObservedRetriever, Telemetry

if TYPE_CHECKING:
    from quire.ingestion.progress import ProgressCallback, Report
    from quire.ingestion.state import Guard


async def open_library(
    settings: Settings, resources: AsyncExitStack, *, serving: bool = False
) -> Library:
    """A library over resources that `resources` will close."""
    make_home(settings)
    telemetry = Telemetry(spans=settings.telemetry == "on")
    index = await open_index(settings, serving=serving)
    resources.push_async_callback(index.close)
    database = await open_database(settings, resources)
    embedder = open_embedder(settings)
    resources.push_async_callback(embedder.close)
    state = IngestionState(database, collection_name=settings.qdrant_collection_name)
    reader = open_reader(settings)
    if reader:
        resources.push_async_callback(reader.close)
    searcher = Searcher(
        index,
        embedder,
        policy=settings.confidence_policy,
        reader=reader,
        order=Order(reading_order, far_definition),
    )
    shelf = Shelf(state, index)
    model = open_model(settings, embedder, reader)
    resources.push_async_callback(model.close)
    observed = ObservedRetriever(searcher, telemetry, source=settings.qdrant_collection_name)
    answerer = Answerer(
        retriever=IntroducedRetriever(observed, shelf.front),
        model=model,
        model_name=model.name,
        embedder=embedder,
        reader=reader,
        support=ReaderSupport(reader) if reader else None,
        limits=turn_limits(settings),
    )
    conversations = open_conversations(settings, database)
    resources.push_async_callback(conversations.close)
    limits = open_limits(settings)
    resources.push_async_callback(limits.close)
    usage = Usage(database)
    accounts = Accounts(usage, limits, telemetry)
    resources.push_async_callback(accounts.close)
    keys = open_keys(settings, database)
    ingester = Ingester(state=state, index=index, embedder=embedder)
    jobs = Jobs(database)
    work = work_of(ingester, telemetry)
    runner = JobRunner(jobs, work)
    resources.push_async_callback(runner.close)
    queue = await open_queue(settings, database, jobs, resources)
    return Library(
        settings,
        database=database,
        index=index,
        embedder=embedder,
        state=state,
        shelf=shelf,
        ingester=ingester,
        jobs=jobs,
        runner=runner,
        queue=queue,
        work=work,
        searcher=searcher,
        selections=Selections(shelf, searcher),
        answerer=answerer,
        model=model,
        reader=reader,
        conversations=conversations,
        dialogue=Dialogue(answerer, conversations),
        accounts=accounts,
        authors=AuthorsView(
            review=Review(database),
            usage=usage,
            accounts=accounts,
            searcher=searcher,
            embedder=embedder,
        ),
        keys=keys,
        limits=limits,
        gate=Gate(keys, limits, enabled=settings.auth == "on"),
        housekeeping=Housekeeping(
            conversations, usage, retention_days=settings.retention_days, every=EVERY_S
        ),
        telemetry=telemetry,
    )


def turn_limits(settings: Settings) -> TurnLimits:
    """What a turn may take: two calls of the model, one for the tool and one for the draft."""
    limits = TurnLimits()
    return replace(limits, turn_seconds=max(limits.turn_seconds, 2 * settings.model_timeout))


async def open_database(settings: Settings, resources: AsyncExitStack) -> Database:
    """The database with its schema up to date; enough for keys, sessions and jobs."""
    make_home(settings)
    database = Database(settings.database_address)
    resources.push_async_callback(database.close)
    await upgrade(database)
    return database


def open_conversations(settings: Settings, database: Database) -> SqlConversations:
    """The conversations, with personal data taken out where the settings say so."""
    if settings.redact == "on":
        from quire.conversations.redacting import RedactingConversations

        return RedactingConversations(database, max_turns=settings.max_turns)
    return SqlConversations(database, max_turns=settings.max_turns)


def open_keys(settings: Settings, database: Database) -> Keys:
    """The keys; their pepper is looked for when the first key is made or checked."""

    def pepper() -> bytes:
        if settings.key_pepper is not None:
            return given_pepper(settings.key_pepper.get_secret_value())
        if database.dialect == "postgresql":
            raise InvalidSetting(
                "QUIRE_KEY_PEPPER: must be set when DATABASE_URL is: every replica needs the same"
            )
        return pepper_file(settings.home / "pepper")

    kept: list[bytes] = []

    def kept_pepper() -> bytes:
        if not kept:
            kept.append(pepper())
        return kept[0]

    return Keys(database, kept_pepper)


def open_limits(settings: Settings) -> Limits:
    """The limits, in this process or in the Redis of `REDIS_URL`."""
    url = settings.redis_url
    return Limits(
        url.get_secret_value() if url else None,
        per_key=settings.rate_limit,
        per_visitor=settings.visitor_limit,
        tokens_per_day=settings.token_budget,
    )


async def open_queue(
    settings: Settings, database: Database, jobs: Jobs, resources: AsyncExitStack
) -> JobQueue | None:
    """The queue that workers take jobs from; None when this process works on them itself.

    Workers need both a database and an index that several processes can open.
    """
    if database.dialect != "postgresql" or settings.qdrant_url is None:
        return None
    queue = JobQueue(database, jobs)
    await queue.open()
    resources.push_async_callback(queue.close)
    return queue


def work_of(ingester: Ingester, telemetry: Telemetry) -> Work:
    """What a worker does with an ingestion job."""

    async def work(job: IngestionJob, progress: ProgressCallback, guard: Guard) -> Report:
        from quire.books import load_book

        book = load_book(Path(job.root), book_id=job.book_id)
        report = await ingester.run(book, mode=job.mode, progress=progress, guard=guard)
        if metrics := telemetry.metrics:
            metrics.chunks.labels("created").inc(report.chunks_created)
            metrics.chunks.labels("deleted").inc(report.chunks_deleted)
            metrics.chunks.labels("embedded").inc(report.embedded)
        return report

    return work


def make_home(settings: Settings) -> None:
    """Create the data folder; one clear line when that is not possible."""
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidSetting(
            f"QUIRE_HOME: can't use {settings.home}: {error.strerror or error}"
        ) from error
