"""Questions and answers: `/chat` and `/chat/stream`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent, format_sse_event

from quire.answering import AnswerDone, SentenceReady, SourcesReady
from quire.api.dependencies import LibraryDependency, OwnerDependency
from quire.api.errors import classify, responses
from quire.api.schemas import (
    ChatRequest,
    ChatResponse,
    RunRequest,
    RunResponse,
    SourceCitation,
    StreamChunk,
    StreamDone,
    StreamError,
    StreamSources,
    metadata_of,
)
from quire.api.tracing import current_trace_id
from quire.errors import DependencyError, QuireError
from quire.wiring import Ask, Library

router = APIRouter(tags=["chat"])

StreamEvent = StreamChunk | StreamSources | StreamDone | StreamError
ERRORS = responses(404, 409, 413, 422, 500, 503)


@router.post("/chat", response_model=ChatResponse, responses=ERRORS)
async def chat(
    body: ChatRequest, library: LibraryDependency, owner: OwnerDependency
) -> ChatResponse | EventSourceResponse:
    """Ask a question; every sentence of the answer is cited, or the answer is a refusal.

    With `stream: true` the answer comes as the events of `/chat/stream`.
    """
    if body.stream:
        return streamed(library, asked(body, owner))
    return ChatResponse.of(await library.ask(asked(body, owner)))


@router.post("/chat/run", response_model=RunResponse, responses=ERRORS)
async def chat_run(
    body: RunRequest, library: LibraryDependency, owner: OwnerDependency
) -> RunResponse | EventSourceResponse:
    """The same question and answer in the older shape, with its narrower limits."""
    ask = Ask(
        text=body.message,
        book_id=body.book_id,
        session_id=body.session_id,
        remember=True,
        top_k=body.top_k,
        score_threshold=body.similarity_threshold,
        owner=owner,
        trace_id=current_trace_id(),
    )
    if body.stream:
        return streamed(library, ask)
    return RunResponse.of(await library.ask(ask))


@router.post("/chat/stream", response_class=EventSourceResponse, responses=ERRORS)
async def chat_stream(
    body: ChatRequest, library: LibraryDependency, owner: OwnerDependency
) -> AsyncIterator[ServerSentEvent]:
    """The same answer sentence by sentence: events `chunk`, `sources`, `done` or `error`."""
    number = 0
    async for event in events_of(library, asked(body, owner)):
        number += 1
        yield ServerSentEvent(data=event, event=event.type, id=str(number))


def asked(body: ChatRequest, owner: str) -> Ask:
    """The library's question for a request."""
    return Ask(
        text=body.query,
        book_id=body.book_id,
        session_id=body.session_id,
        remember=True,
        mode=body.mode,
        selected_text=body.selected_text,
        top_k=body.top_k,
        score_threshold=body.score_threshold,
        filters=body.filters or {},
        owner=owner,
        trace_id=current_trace_id(),
    )


def streamed(library: Library, ask: Ask) -> EventSourceResponse:
    """The events of an answer as a response of its own."""
    return EventSourceResponse(
        encoded(events_of(library, ask)),
        headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
    )


async def encoded(events: AsyncIterator[StreamEvent]) -> AsyncIterator[bytes]:
    """Events as bytes, numbered from 1."""
    number = 0
    async for event in events:
        number += 1
        yield format_sse_event(data_str=event.model_dump_json(), event=event.type, id=str(number))


async def events_of(library: Library, ask: Ask) -> AsyncIterator[StreamEvent]:
    """An answer as wire events; an error after the start is the last event."""
    try:
        async for event in library.stream(ask):
            match event:
                case SentenceReady():
                    yield StreamChunk(
                        content=event.text, citations=[c.number for c in event.citations]
                    )
                case SourcesReady():
                    yield StreamSources(sources=[SourceCitation.of(c) for c in event.citations])
                case AnswerDone():
                    yield StreamDone(
                        metadata=metadata_of(event.answer), response=ChatResponse.of(event.answer)
                    )
    except QuireError as error:
        _, code = classify(error)
        yield StreamError(
            error_code=code,
            message=error.message,
            trace_id=ask.trace_id,
            retryable=isinstance(error, DependencyError),
        )
