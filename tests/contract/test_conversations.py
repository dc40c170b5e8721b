"""Conversations: the same promises on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import random
import sys
import uuid
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from quire.conversations import Conversations, Outcome, Session, Turn, turn
from quire.conversations.sql import SqlConversations
from quire.database import Database, upgrade
from quire.database.tables import ExchangeRow, FeedbackRow, ThreadRow
from quire.errors import Conflict, InvalidRequest, NotFound
from quire.models import utc_now
from tests.postgres import database_url


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    store = Database(database_url(request.param, tmp_path))
    await upgrade(store)
    yield store
    await store.close()


@pytest.fixture
async def talks(database: Database) -> AsyncIterator[SqlConversations]:
    store = SqlConversations(database, max_turns=50)
    yield store
    await store.close()


async def exchange(
    talks: Conversations, session: Session, question: str, **outcome: object
) -> Turn:
    current = await talks.begin_turn(session, question)
    values = {"response": f"about {question}", **outcome}
    await talks.complete_turn(current, Outcome(**values))  # pyright: ignore[reportArgumentType]
    return current


async def age(database: Database, session: Session, by: timedelta) -> None:
    async with database.transaction() as transaction:
        await transaction.execute(
            update(ThreadRow)
            .where(ThreadRow.thread_id == session.id)
            .values(updated_at=utc_now() - by)
        )


async def test_the_port_is_implemented(talks: SqlConversations):
    port: Conversations = talks
    assert port is talks


async def test_a_session_is_begun_and_resumed(talks: SqlConversations):
    first = await talks.open("ann", "book")
    again = await talks.open("ann", "book", session_id=first.id)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.id == first.id
    assert uuid.UUID(first.id).version == 4


async def test_a_client_may_bring_the_id_and_two_may_race_for_it(talks: SqlConversations):
    wanted = str(uuid.uuid4())
    both = await asyncio.gather(*(talks.open("ann", "book", session_id=wanted) for _ in range(2)))
    assert {session.id for session in both} == {wanted}
    assert sorted(session.is_new for session in both) == [False, True]


async def test_another_owner_or_book_finds_nothing(talks: SqlConversations):
    session = await talks.open("ann", "book")
    current = await exchange(talks, session, "one")
    for owner, book in (("bob", "book"), ("ann", "other")):
        with pytest.raises(NotFound):
            await talks.open(owner, book, session_id=session.id)
        with pytest.raises(NotFound):
            await talks.thread(owner, session.id, book_id=book)
        with pytest.raises(NotFound):
            await talks.delete(owner, session.id, book_id=book)
    with pytest.raises(NotFound):
        await talks.exchanges("bob", session.id)
    with pytest.raises(NotFound):
        await talks.rename("bob", session.id, "mine")
    with pytest.raises(NotFound):
        await talks.give_feedback("bob", current.id, 1)
    assert await talks.threads("bob") == []


async def test_an_id_that_is_no_uuid_is_refused(talks: SqlConversations):
    with pytest.raises(InvalidRequest):
        await talks.open("ann", "book", session_id="../../etc/passwd")


async def test_the_history_holds_whole_turns_only(talks: SqlConversations):
    session = await talks.open("ann", "book")
    await exchange(talks, session, "one", confidence=0.8)
    aborted = await talks.begin_turn(session, "never answered")
    await talks.abort_turn(aborted)
    await exchange(talks, session, "two")
    current = await talks.begin_turn(session, "three")
    assert [message.content for message in current.history] == [
        "one",
        "about one",
        "two",
        "about two",
    ]
    assert [message.role for message in current.history] == ["user", "assistant"] * 2
    assert current.history[1].confidence == 0.8
    assert list(current.history) == await talks.history(session)
    assert (current.sequence, current.completed) == (4, 2)


async def test_the_history_is_cut_at_50_messages(talks: SqlConversations):
    session = await talks.open("ann", "book")
    for number in range(27):
        await exchange(talks, session, str(number))
    history = await talks.history(session)
    assert len(history) == 50
    assert history[0].content == "2"
    assert (await talks.thread("ann", session.id)).messages == tuple(history)


async def test_a_stored_exchange_has_all_of_seed_000(talks: SqlConversations):
    session = await talks.open("ann", "book")
    current = await talks.begin_turn(
        session, "why?", mode="selected_text", selected_text="because", trace_id="t0"
    )
    outcome = Outcome(
        response="because [1]",
        sources=({"number": 1, "quote": "because"},),
        chunks_retrieved=3,
        latency_ms=12.5,
        confidence=0.91,
    )
    stored = await talks.complete_turn(current, outcome)
    assert [stored] == await talks.exchanges("ann", session.id)
    assert (stored.query, stored.response) == ("why?", "because [1]")
    assert (stored.mode, stored.selected_text) == ("selected_text", "because")
    assert stored.sources == [{"number": 1, "quote": "because"}]
    assert (stored.chunks_retrieved, stored.latency_ms) == (3, 12.5)
    assert (stored.confidence, stored.trace_id, stored.status) == (0.91, "t0", "complete")
    assert stored.created_at.utcoffset() == timedelta(0)


async def test_twenty_concurrent_turns_give_a_serial_history(talks: SqlConversations):
    session = await talks.open("ann", "book")
    seen: list[tuple[int, int]] = []

    async def ask(number: int) -> None:
        async with turn(talks, session, f"question {number}") as current:
            seen.append((current.sequence, len(current.history)))
            await asyncio.sleep(random.random() * 0.01)
            await talks.complete_turn(current, Outcome(response=f"answer {number}"))

    await asyncio.gather(*(ask(number) for number in range(20)))
    assert seen == [(number + 1, 2 * number) for number in range(20)]
    history = await talks.history(session)
    for question, answer in zip(history[::2], history[1::2], strict=True):
        assert answer.content == question.content.replace("question", "answer")


_WORKER = """
import asyncio, sys
from quire.conversations import Outcome, turn
from quire.conversations.sql import SqlConversations
from quire.database import Database

async def main():
    store = Database(sys.argv[1])
    talks = SqlConversations(store)
    session = await talks.open("ann", "book", session_id=sys.argv[2])
    async def ask(number):
        async with turn(talks, session, f"question {number}") as current:
            await asyncio.sleep(0.005)
            await talks.complete_turn(current, Outcome(response=f"{len(current.history)}"))
    await asyncio.gather(*(ask(number) for number in range(5)))
    await talks.close()
    await store.close()

asyncio.run(main())
"""


async def test_turns_of_many_processes_are_serial_too(talks: SqlConversations, database: Database):
    session = await talks.open("ann", "book")
    url = database.url.render_as_string(hide_password=False)
    workers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", _WORKER, url, session.id)
        for _ in range(3)
    ]
    assert await asyncio.gather(*(worker.wait() for worker in workers)) == [0, 0, 0]
    stored = await talks.exchanges("ann", session.id)
    assert [exchange.sequence for exchange in stored] == list(range(1, 16))
    assert [exchange.response for exchange in stored] == [str(2 * n) for n in range(15)]


async def test_a_turn_left_by_a_dead_process_is_given_up(database: Database):
    dead = SqlConversations(database, lease=timedelta(seconds=0.2))
    session = await dead.open("ann", "book")
    lost = await dead.begin_turn(session, "lost")
    await dead._turns._leases.close()  # pyright: ignore[reportPrivateUsage] — as kill -9 would
    living = SqlConversations(database, patience=10)
    current = await living.begin_turn(session, "next")
    assert current.sequence == 2
    assert [item.status for item in await living.exchanges("ann", session.id)] == [
        "aborted",
        "in_progress",
    ]
    with pytest.raises(Conflict):
        await dead.complete_turn(lost, Outcome(response="too late"))
    await living.close()


async def test_a_slow_database_is_not_taken_for_another_turn(database: Database):
    talks = SqlConversations(database, patience=0)
    session = await talks.open("ann", "book")
    first = await talks.begin_turn(session, "first")
    with pytest.raises(Conflict, match="still being answered"):
        await talks.begin_turn(session, "second")
    await talks.complete_turn(first, Outcome(response="done"))
    assert (await talks.begin_turn(session, "third")).sequence == 2
    await talks.close()


async def test_a_slow_turn_is_not_given_up(database: Database):
    talks = SqlConversations(database, lease=timedelta(seconds=1), patience=4)
    session = await talks.open("ann", "book")
    slow = await talks.begin_turn(session, "slow")
    with pytest.raises(Conflict, match="still being answered"):
        await talks.begin_turn(session, "impatient")
    await talks.complete_turn(slow, Outcome(response="done"))
    assert [item.status for item in await talks.exchanges("ann", session.id)] == ["complete"]
    await talks.close()


async def test_leaving_a_turn_by_any_way_lets_go_of_the_session(talks: SqlConversations):
    session = await talks.open("ann", "book")

    async def fail() -> None:
        async with turn(talks, session, "broken"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    async def linger() -> None:
        async with turn(talks, session, "cancelled"):
            await asyncio.sleep(60)

    task = asyncio.create_task(linger())
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await exchange(talks, session, "fine")
    statuses = [item.status for item in await talks.exchanges("ann", session.id)]
    assert statuses == ["aborted", "aborted", "complete"]


async def test_closing_aborts_what_is_open(database: Database):
    talks = SqlConversations(database)
    session = await talks.open("ann", "book")
    await talks.begin_turn(session, "open")
    await talks.close()
    assert [item.status for item in await talks.exchanges("ann", session.id)] == ["aborted"]


async def test_a_conversation_ends_after_its_full_number_of_turns(database: Database):
    talks = SqlConversations(database, max_turns=2)
    session = await talks.open("ann", "book")
    await exchange(talks, session, "one")
    await exchange(talks, session, "two")
    with pytest.raises(Conflict, match="2 turns"):
        await talks.begin_turn(session, "three")
    await talks.close()


async def test_the_topic_summary_is_kept_from_the_fifth_exchange_on(talks: SqlConversations):
    session = await talks.open("ann", "book")
    summary = None
    for number in range(1, 6):
        current = await talks.begin_turn(session, str(number))
        assert current.wants_summary == (number == 5)
        await talks.complete_turn(
            current, Outcome(response="yes", topic_summary=f"{number} " + "word " * 60)
        )
        summary = (await talks.thread("ann", session.id)).topic_summary
        assert (summary is None) == (number < 5)
    assert summary is not None
    assert summary.startswith("5 ")
    assert len(summary) <= 200


async def test_no_thread_is_called_after_a_greeting(talks: SqlConversations) -> None:
    session = await talks.open("ann", "book")
    await exchange(talks, session, "Hello!")
    assert (await talks.threads("ann"))[0].title == "Hello!"
    await exchange(talks, session, "What is a node?", chunks_retrieved=5)
    await exchange(talks, session, "And a topic?", chunks_retrieved=5)
    assert (await talks.threads("ann"))[0].title == "What is a node?"


async def test_threads_are_listed_last_active_first_and_can_be_named(
    talks: SqlConversations, database: Database
):
    old = await talks.open("ann", "book", metadata={"tags": ["ros2"]})
    await exchange(talks, old, "What is\n a node?")
    new = await talks.open("ann", "other")
    await exchange(talks, new, "two")
    await age(database, old, timedelta(minutes=5))
    listed = await talks.threads("ann")
    assert [summary.id for summary in listed] == [new.id, old.id]
    assert listed[1].title == "What is a node?"
    assert listed[1].exchanges == 1
    assert [s.id for s in await talks.threads("ann", book_id="book")] == [old.id]
    assert [s.id for s in await talks.threads("ann", limit=1, offset=1)] == [old.id]
    await talks.rename("ann", old.id, "  Nodes ")
    thread = await talks.thread("ann", old.id)
    assert (thread.title, thread.metadata) == ("Nodes", {"tags": ["ros2"]})
    with pytest.raises(InvalidRequest):
        await talks.rename("ann", old.id, " ")


async def test_an_idle_thread_is_archived_and_can_be_resumed(
    talks: SqlConversations, database: Database
):
    session = await talks.open("ann", "book")
    await exchange(talks, session, "one")
    assert await talks.archive_idle() == 0
    await age(database, session, timedelta(minutes=61))
    assert await talks.archive_idle() == 1
    assert await talks.archive_idle() == 0
    assert (await talks.thread("ann", session.id)).archived_at is not None
    assert [s.id for s in await talks.threads("ann", archived=True)] == [session.id]
    assert await talks.threads("ann", archived=False) == []
    await exchange(talks, session, "two")
    thread = await talks.thread("ann", session.id)
    assert thread.archived_at is None
    assert len(thread.messages) == 4


async def rows(database: Database) -> list[int]:
    async with database.transaction(read_only=True) as transaction:
        return [
            await transaction.scalar(select(func.count()).select_from(table)) or 0
            for table in (ThreadRow, ExchangeRow, FeedbackRow)
        ]


async def test_erasing_leaves_nothing_behind(talks: SqlConversations, database: Database):
    for owner in ("ann", "ann", "anna", "bob"):
        session = await talks.open(owner, "book")
        current = await exchange(talks, session, "one")
        await talks.give_feedback(owner, current.id, -1, comment="no")
    assert await rows(database) == [4, 4, 4]
    await talks.delete("bob", session.id)
    assert await rows(database) == [3, 3, 3]
    assert await talks.erase_owner("ann") == 2
    assert len(await talks.threads("anna")) == 1
    assert await talks.erase_owner("anna") == 1
    assert await rows(database) == [0, 0, 0]


async def test_retention_deletes_what_is_old(talks: SqlConversations, database: Database):
    old, new = await talks.open("ann", "book"), await talks.open("ann", "book")
    await age(database, old, timedelta(days=31))
    assert await talks.delete_older_than(timedelta(days=30)) == 1
    assert [s.id for s in await talks.threads("ann")] == [new.id]


async def test_a_second_opinion_replaces_the_first(talks: SqlConversations, database: Database):
    session = await talks.open("ann", "book")
    current = await exchange(talks, session, "one")
    await talks.give_feedback("ann", current.id, 1)
    feedback = await talks.give_feedback("ann", current.id, -1, comment="wrong page")
    assert (feedback.rating, feedback.comment) == (-1, "wrong page")
    assert await rows(database) == [1, 1, 1]


async def test_a_thread_erased_during_a_turn_stays_erased(
    talks: SqlConversations, database: Database
):
    session = await talks.open("ann", "book")
    current = await talks.begin_turn(session, "one")
    await talks.delete("ann", session.id)
    with pytest.raises(Conflict):
        await talks.complete_turn(current, Outcome(response="late"))
    assert await rows(database) == [0, 0, 0]
