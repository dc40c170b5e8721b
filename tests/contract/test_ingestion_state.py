"""Books, records and jobs: the same promises on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from quire.database import Database, upgrade
from quire.errors import Conflict, NotFound
from quire.ingestion.jobs import MAX_ATTEMPTS, Jobs
from quire.ingestion.progress import Progress, Report
from quire.ingestion.state import IngestionRecord, IngestionState, LeaseLost
from tests.postgres import database_url


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    store = Database(database_url(request.param, tmp_path))
    await upgrade(store)
    yield store
    await store.close()


@pytest.fixture
def state(database: Database) -> IngestionState:
    return IngestionState(database, collection_name="quire")


@pytest.fixture
def jobs(database: Database) -> Jobs:
    return Jobs(database)


def record(name: str, *ids: str) -> IngestionRecord:
    return IngestionRecord(
        book_id="book",
        source_file=name,
        file_hash="f" * 64,
        size=10,
        mtime_ns=20,
        chunk_ids=ids,
        module="ros2",
        chapter=1,
        lesson=2,
        identity="lesson",
        settings_hash="s" * 64,
        embedder="hash",
    )


async def begin(state: IngestionState, writer: str = "w", book_id: str = "book") -> None:
    await state.begin(book_id, title="Book", root="/book", embedder="hash", writer=writer)


async def test_an_unknown_book_has_no_state(state: IngestionState):
    assert await state.load("book") is None
    assert await state.book_ids() == []


async def test_records_come_back_and_sum_up(state: IngestionState):
    await begin(state)
    pages = [record("a.md", "1", "2"), record("b.md", "3")]
    await state.record("book", pages)
    loaded = await state.load("book")
    assert loaded is not None
    assert loaded.records == {page.source_file: page for page in pages}
    assert loaded.total_chunks == 3
    assert (loaded.title, loaded.root, loaded.collection_name) == ("Book", "/book", "quire")


async def test_recording_replaces_and_forgets_in_one_transaction(state: IngestionState):
    await begin(state)
    await state.record("book", [record("a.md", "1"), record("b.md", "2")])
    await state.record("book", [record("c.md", "1")], forget=["a.md"])
    await state.record("book", [record("b.md", "2", "3")])
    loaded = await state.load("book")
    assert loaded is not None
    assert {name: page.chunk_ids for name, page in loaded.records.items()} == {
        "b.md": ("2", "3"),
        "c.md": ("1",),
    }


async def test_a_thousand_records_fit_into_one_transaction(state: IngestionState):
    await begin(state)
    await state.record("book", [record(f"{n}.md", str(n)) for n in range(1200)])
    await state.record("book", [], forget=[f"{n}.md" for n in range(1199)])
    loaded = await state.load("book")
    assert loaded is not None
    assert list(loaded.records) == ["1199.md"]


async def test_a_book_is_settled_only_by_its_last_writer(state: IngestionState):
    await begin(state, "first")
    assert not (await state.load("book")).settled  # pyright: ignore[reportOptionalMemberAccess]
    await state.disturb("book", writer="stale")
    assert not await state.settle("book", writer="first", full=False)
    await begin(state, "second")
    assert await state.settle("book", writer="second", full=True)
    loaded = await state.load("book")
    assert loaded is not None
    assert loaded.settled
    assert loaded.last_full_ingest is not None
    assert loaded.last_incremental_update is None


async def test_a_failing_guard_undoes_the_recording(state: IngestionState):
    await begin(state)

    async def refuse(session: object) -> None:
        raise LeaseLost("no")

    with pytest.raises(LeaseLost):
        await state.record("book", [record("a.md", "1")], guard=refuse)
    assert (await state.load("book")).records == {}  # pyright: ignore[reportOptionalMemberAccess]


async def test_replacing_all_touches_only_the_named_books(state: IngestionState):
    await begin(state)
    await begin(state, book_id="other")
    await state.record("book", [record("a.md", "1")])
    await state.record("other", [replace(record("a.md", "2"), book_id="other")])
    await state.replace_all({"book": [record("z.md", "9")]}, embedder="new")
    book, other = await state.load("book"), await state.load("other")
    assert book is not None
    assert other is not None
    assert (list(book.records), book.embedder) == (["z.md"], "new")
    assert (list(other.records), other.embedder) == (["a.md"], "hash")


async def test_forgetting_a_book_takes_its_records(state: IngestionState):
    await begin(state)
    await state.record("book", [record("a.md", "1")])
    await state.forget("book")
    assert await state.load("book") is None


async def test_a_job_is_queued_with_everything_unset(jobs: Jobs):
    job = await jobs.create("book", root="/book", mode="full", owner="ann")
    assert (job.status, job.mode, job.attempts) == ("queued", "full", 0)
    assert (job.started_at, job.completed_at, job.duration_seconds) == (None, None, None)
    assert await jobs.get(job.job_id) == job
    assert await jobs.find(book_id="book") == [job]
    with pytest.raises(NotFound):
        await jobs.get(job.job_id + 1)


async def test_one_active_job_per_book_even_under_a_race(jobs: Jobs):
    tries = await asyncio.gather(
        *(jobs.create("book", root="/") for _ in range(8)), return_exceptions=True
    )
    refused = [result for result in tries if isinstance(result, Conflict)]
    assert len(refused) == 7
    [job] = await jobs.find(active=True)
    assert {error.details["job_id"] for error in refused} == {job.job_id}
    await jobs.create("other", root="/")


async def test_no_job_beside_a_recreate(jobs: Jobs):
    one = await jobs.create("one", root="/")
    with pytest.raises(Conflict):
        await jobs.create("two", root="/", mode="recreate")
    await jobs.cancel(one.job_id)
    await jobs.create("two", root="/", mode="recreate")
    with pytest.raises(Conflict):
        await jobs.create("one", root="/")


async def test_an_idempotency_key_belongs_to_its_owner(jobs: Jobs):
    first = await jobs.create("book", root="/", owner="ann", idempotency_key="k")
    again = await jobs.create("book", root="/", owner="ann", idempotency_key="k")
    assert again.job_id == first.job_id
    with pytest.raises(Conflict):
        await jobs.create("book", root="/", owner="bob", idempotency_key="k")


async def test_a_job_is_claimed_once(jobs: Jobs):
    job = await jobs.create("book", root="/")
    claims = await asyncio.gather(*(jobs.claim(job.job_id) for _ in range(5)))
    assert sum(lease is not None for lease in claims) == 1
    assert (await jobs.get(job.job_id)).status == "running"
    assert await jobs.unclaimed() == []


async def test_a_silent_worker_loses_its_job_and_can_record_nothing_more(
    database: Database, state: IngestionState
):
    jobs = Jobs(database, lease=timedelta(seconds=0.1))
    job = await jobs.create("book", root="/")
    paused = await jobs.claim(job.job_id)
    assert paused is not None
    await begin(state)
    await state.record("book", [record("a.md", "1")], guard=jobs.guard(paused))
    await asyncio.sleep(0.15)
    assert await jobs.unclaimed() == [job.job_id]
    newer = await jobs.claim(job.job_id)
    assert newer is not None
    assert newer.fence > paused.fence
    with pytest.raises(LeaseLost):
        await state.record("book", [record("a.md", "old")], guard=jobs.guard(paused))
    with pytest.raises(LeaseLost):
        await jobs.renew(paused)
    with pytest.raises(LeaseLost):
        await jobs.finish(paused, Report())
    await state.record("book", [record("a.md", "new")], guard=jobs.guard(newer))
    loaded = await state.load("book")
    assert loaded is not None
    assert loaded.records["a.md"].chunk_ids == ("new",)


async def test_renewing_stores_progress_and_brings_the_wish_to_cancel(jobs: Jobs):
    job = await jobs.create("book", root="/")
    lease = await jobs.claim(job.job_id)
    assert lease is not None
    assert not await jobs.renew(lease, Progress(1, 2, 3, 4, 5, 6.0, None))
    assert (await jobs.get(job.job_id)).progress["files_total"] == 2
    assert (await jobs.cancel(job.job_id)).status == "running"
    assert await jobs.renew(lease)
    await jobs.cancelled(lease)
    ended = await jobs.get(job.job_id)
    assert (ended.status, ended.completed_at is not None) == ("cancelled", True)


async def test_a_job_whose_workers_keep_dying_is_given_up_with_a_reason(database: Database):
    jobs = Jobs(database, lease=timedelta(seconds=-1))
    job = await jobs.create("book", root="/")
    for _ in range(MAX_ATTEMPTS):
        assert await jobs.claim(job.job_id) is not None
    assert await jobs.claim(job.job_id) is None
    ended = await jobs.get(job.job_id)
    assert ended.status == "failed"
    assert ended.error_message == "gave up after 5 attempts: its worker died"


async def test_a_cancelled_job_whose_worker_died_ends_as_cancelled(database: Database):
    jobs = Jobs(database, lease=timedelta(seconds=-1))
    job = await jobs.create("book", root="/")
    await jobs.claim(job.job_id)
    await jobs.cancel(job.job_id)
    assert await jobs.claim(job.job_id) is None
    assert (await jobs.get(job.job_id)).status == "cancelled"


async def test_an_ended_job_stays_as_it_is(jobs: Jobs):
    job = await jobs.create("book", root="/")
    lease = await jobs.claim(job.job_id)
    assert lease is not None
    await jobs.finish(lease, Report(files_discovered=1, files_processed=1))
    assert (await jobs.cancel(job.job_id)).status == "completed"
    assert await jobs.claim(job.job_id, abandoned=True) is None
    await jobs.create("book", root="/")
