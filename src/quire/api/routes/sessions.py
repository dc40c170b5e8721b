"""Conversations of the caller: list, read, rename, erase, rate."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from quire.api.dependencies import ChatCaller, LibraryDependency
from quire.api.errors import GUARDED, responses
from quire.api.schemas.fields import UUID_PATTERN
from quire.api.schemas.sessions import (
    ConversationThread,
    FeedbackRequest,
    RenameRequest,
    ThreadList,
    ThreadOverview,
)

router = APIRouter(tags=["sessions"])

READ = responses(*GUARDED, 404, 422)
WRITTEN = responses(*GUARDED, 404, 413, 422)
SessionPath = Annotated[str, Path(pattern=UUID_PATTERN)]


@router.get("/sessions", responses=READ)
async def sessions(
    library: LibraryDependency,
    caller: ChatCaller,
    book_id: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
) -> ThreadList:
    """The caller's threads, the last active one first.

    Visitors of a publishable key who send no `X-Visitor-Id` have no list: they read a thread
    by its id.
    """
    if caller.is_anonymous:
        return ThreadList(sessions=[])
    found = await library.conversations.threads(
        caller.owner, book_id=caller.book(book_id), limit=limit, offset=offset
    )
    return ThreadList(sessions=[ThreadOverview.of(thread) for thread in found])


@router.get("/sessions/{session_id}", responses=READ)
async def session(
    session_id: SessionPath, library: LibraryDependency, caller: ChatCaller
) -> ConversationThread:
    """A thread with its last 50 messages; another caller's is not found."""
    return ConversationThread.of_thread(
        await library.conversations.thread(caller.owner, session_id)
    )


@router.patch("/sessions/{session_id}", status_code=204, responses=WRITTEN)
async def rename(
    session_id: SessionPath,
    body: RenameRequest,
    library: LibraryDependency,
    caller: ChatCaller,
) -> Response:
    """Give a thread a title."""
    await library.conversations.rename(caller.owner, session_id, body.title)
    return Response(status_code=204)


@router.delete("/sessions/{session_id}", status_code=204, responses=READ)
async def erase(
    session_id: SessionPath, library: LibraryDependency, caller: ChatCaller
) -> Response:
    """Erase a thread with everything that belongs to it."""
    await library.conversations.delete(caller.owner, session_id)
    return Response(status_code=204)


@router.post("/feedback", status_code=204, responses=WRITTEN)
async def feedback(
    body: FeedbackRequest, library: LibraryDependency, caller: ChatCaller
) -> Response:
    """Rate an answer; a second rating replaces the first."""
    await library.rate(
        caller.owner,
        body.session_id,
        exchange_id=body.exchange_id,
        trace_id=body.trace_id,
        rating=1 if body.rating == "up" else -1,
        comment=body.reason,
    )
    return Response(status_code=204)
