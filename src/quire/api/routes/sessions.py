"""Conversations of the caller: list, read, rename, erase, rate."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from quire.api.dependencies import LibraryDependency, OwnerDependency
from quire.api.errors import responses
from quire.api.schemas import (
    UUID_PATTERN,
    ConversationThread,
    FeedbackRequest,
    RenameRequest,
    ThreadList,
    ThreadOverview,
)

router = APIRouter(tags=["sessions"])

ERRORS = responses(404, 422, 500, 503)
SessionPath = Annotated[str, Path(pattern=UUID_PATTERN)]


@router.get("/sessions", responses=ERRORS)
async def sessions(
    library: LibraryDependency,
    owner: OwnerDependency,
    book_id: Annotated[str | None, Query()] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> ThreadList:
    """The caller's threads, the last active one first."""
    found = await library.conversations.threads(owner, book_id=book_id, limit=limit, offset=offset)
    return ThreadList(sessions=[ThreadOverview.of(thread) for thread in found])


@router.get("/sessions/{session_id}", responses=ERRORS)
async def session(
    session_id: SessionPath, library: LibraryDependency, owner: OwnerDependency
) -> ConversationThread:
    """A thread with its last 50 messages; another caller's is not found."""
    return ConversationThread.of_thread(await library.conversations.thread(owner, session_id))


@router.patch("/sessions/{session_id}", status_code=204, responses=ERRORS)
async def rename(
    session_id: SessionPath,
    body: RenameRequest,
    library: LibraryDependency,
    owner: OwnerDependency,
) -> Response:
    """Give a thread a title."""
    await library.conversations.rename(owner, session_id, body.title)
    return Response(status_code=204)


@router.delete("/sessions/{session_id}", status_code=204, responses=ERRORS)
async def erase(
    session_id: SessionPath, library: LibraryDependency, owner: OwnerDependency
) -> Response:
    """Erase a thread with everything that belongs to it."""
    await library.conversations.delete(owner, session_id)
    return Response(status_code=204)


@router.post("/feedback", status_code=204, responses=ERRORS)
async def feedback(
    body: FeedbackRequest, library: LibraryDependency, owner: OwnerDependency
) -> Response:
    """Rate an answer; a second rating replaces the first."""
    await library.rate(
        owner,
        body.session_id,
        exchange_id=body.exchange_id,
        trace_id=body.trace_id,
        rating=1 if body.rating == "up" else -1,
        comment=body.reason,
    )
    return Response(status_code=204)
