"""OpenAI-compatible: `/v1/chat/completions` and `/v1/models`; a model is a book."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.sse import EventSourceResponse

from quire.api.dependencies import ChatCaller, LibraryDependency, Slot
from quire.api.errors import GUARDED, responses
from quire.api.openai import (
    BookModel,
    BookModelList,
    Completion,
    CompletionErrorResponse,
    CompletionRequest,
    OpenAIRoute,
    chunk_error,
    completion_chunks,
)
from quire.api.streaming import AnswerStream, while_connected
from quire.api.tracing import current_trace_id
from quire.wiring import Ask

router = APIRouter(prefix="/v1", tags=["openai"], route_class=OpenAIRoute)


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI entries for errors in OpenAI's shape."""
    return {status: {"model": CompletionErrorResponse} for status in sorted(statuses)}


STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `stream: true` as chunks.",
        "content": {
            "text/event-stream": {
                "schema": {"type": "object", "properties": {"data": {"type": "string"}}}
            }
        },
    }
}


@router.post(
    "/chat/completions",
    response_model=Completion,
    dependencies=[Slot],
    responses={**STREAM, **failures(*GUARDED, 404, 409, 422), **responses(413)},
)
async def completions(
    body: CompletionRequest, request: Request, library: LibraryDependency, caller: ChatCaller
) -> Completion | EventSourceResponse:
    """Ask a book as if it were a model; citations are `url_citation` annotations."""
    question, history = body.question()
    trace_id = current_trace_id()
    ask = Ask(
        text=question,
        history=history,
        book_id=caller.book(body.model),
        owner=caller.owner,
        trace_id=trace_id,
        key_id=caller.key_id,
        channel="openai",
    )
    if not body.stream:
        return Completion.of(await while_connected(request, library.ask(ask)))
    with_usage = bool(body.stream_options and body.stream_options.include_usage)
    return AnswerStream(
        completion_chunks(
            library.stream(ask), trace_id=trace_id, model=body.model, with_usage=with_usage
        ),
        failed=chunk_error,
        stopping=request.app.state.stopping,
        write_timeout=library.settings.write_timeout,
    )


@router.get("/models", responses=failures(*GUARDED))
async def models(library: LibraryDependency, caller: ChatCaller) -> BookModelList:
    """The books the caller can ask, as models."""
    found = [book for book in await library.books() if caller.sees(book.id)]
    return BookModelList(data=[BookModel.of(book) for book in found])
