"""The author's view: figures, gaps, weak answers, explained searches, usage and keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from quire.api.dependencies import AdminCaller, LibraryDependency
from quire.api.errors import GUARDED, responses
from quire.api.routes.books import BookQuery
from quire.api.schemas.authors import (
    ExplainedList,
    ExplainedView,
    GapGroupList,
    GapGroupView,
    KeyList,
    KeyRequest,
    KeyView,
    NewKeyView,
    Overview,
    UsageDayView,
    UsageReport,
    WeakAnswerList,
    WeakAnswerView,
)
from quire.api.schemas.books import BookView
from quire.errors import NotFound

router = APIRouter(prefix="/admin", tags=["admin"])

READ = responses(*GUARDED, 404, 422)


@router.get("/overview", responses=READ)
async def overview(
    library: LibraryDependency, caller: AdminCaller, book_id: BookQuery = None
) -> Overview:
    """The books, and how often they were asked, answered and rated."""
    chosen = caller.book(book_id)
    if chosen is not None:
        await library.book(chosen)
    books = [book for book in await library.books() if caller.sees(book.id)]
    totals, figures = await library.authors.figures(chosen)
    return Overview(
        books=[BookView.of(book) for book in books],
        questions=totals.questions,
        answered=totals.answered,
        refused=totals.refused,
        sessions=figures.sessions,
        rated_up=figures.rated_up,
        rated_down=figures.rated_down,
    )


@router.get("/unanswered", responses=READ)
async def unanswered(
    library: LibraryDependency, caller: AdminCaller, book_id: BookQuery = None
) -> GapGroupList:
    """What readers ask and the book doesn't say, by the section that comes nearest."""
    book = await library.book(caller.book(book_id))
    groups = await library.authors.unanswered(book.id)
    return GapGroupList(groups=[GapGroupView.of(group) for group in groups])


@router.get("/low-confidence", responses=READ)
async def low_confidence(
    library: LibraryDependency, caller: AdminCaller, book_id: BookQuery = None
) -> WeakAnswerList:
    """Answers with low confidence, or with a thumb down."""
    book = await library.book(caller.book(book_id))
    weak = await library.authors.weak(book.id)
    return WeakAnswerList(questions=[WeakAnswerView.of(*item) for item in weak])


@router.get("/explain", responses=responses(*GUARDED, 404, 409, 422))
async def explain(
    library: LibraryDependency,
    caller: AdminCaller,
    q: Annotated[str, Query(min_length=3, max_length=2000)],
    book_id: BookQuery = None,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> ExplainedList:
    """How a question is searched: each candidate's place by meaning, by words and by both."""
    book = await library.book(caller.book(book_id))
    found = await library.authors.explain(book.id, q, limit=limit)
    return ExplainedList(query=q, results=[ExplainedView.of(item) for item in found])


@router.get("/usage", responses=READ)
async def usage(
    library: LibraryDependency,
    caller: AdminCaller,
    book_id: BookQuery = None,
    days: Annotated[int, Query(ge=1, le=366)] = 30,
) -> UsageReport:
    """Day by day: questions, how they ended, and how long answers took."""
    book = await library.book(caller.book(book_id))
    found = await library.authors.usage(book.id, days=days)
    return UsageReport(days=[UsageDayView.of(day) for day in found])


@router.get("/keys", responses=responses(*GUARDED))
async def keys(library: LibraryDependency, caller: AdminCaller) -> KeyList:
    """All keys, the newest first; never their text."""
    found = [key for key in await library.keys.all() if caller.administers(key)]
    return KeyList(keys=[KeyView.of(key) for key in found])


@router.post("/keys", status_code=201, responses=responses(*GUARDED, 404, 413, 422))
async def create_key(
    body: KeyRequest, library: LibraryDependency, caller: AdminCaller
) -> NewKeyView:
    """Make a key; its text is in this answer and nowhere else."""
    book_id = caller.book(body.book_id)
    if book_id is not None:
        await library.book(book_id)
    created = await library.keys.create(
        body.name,
        kind=body.kind,
        scopes=body.granted(),
        book_id=book_id,
        origins=body.origins,
    )
    return NewKeyView.of_created(created)


@router.delete("/keys/{key_id}", status_code=204, responses=READ)
async def revoke_key(
    key_id: Annotated[str, Path(max_length=40)], library: LibraryDependency, caller: AdminCaller
) -> Response:
    """End a key; it stops on every replica within a second."""
    known = [key.id for key in await library.keys.all() if caller.administers(key)]
    if key_id not in known:
        raise NotFound(f"there is no key '{key_id}'")
    await library.keys.revoke(key_id)
    return Response(status_code=204)
