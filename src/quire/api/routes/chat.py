"""Questions and answers: `/chat`, `/chat/stream` and `/chat/run`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from fastapi.sse import EventSourceResponse

from quire.access import Caller
from quire.api.dependencies import ChatCaller, LibraryDependency, Slot
from quire.api.documentation import events
from quire.api.errors import GUARDED, responses
from quire.api.events import AI_SDK_HEADERS, ai_sdk_error, ai_sdk_parts, quire_error, quire_events
from quire.api.schemas.chat import ChatRequest, ChatResponse
from quire.api.schemas.run import RunRequest, RunResponse
from quire.api.streaming import AnswerStream, while_connected
from quire.api.tracing import current_trace_id
from quire.errors import Conflict
from quire.wiring import Ask, Library

router = APIRouter(tags=["chat"], dependencies=[Slot])

ERRORS = responses(*GUARDED, 404, 409, 413, 422)
EVENTS = events(
    "The answer as server-sent events: `chunk` for each sentence, `sources`, then `done`; or "
    "`error`, always the last one. A comment comes every 15 seconds in between."
)
BOTH = events("The answer; with `stream: true` as the events of `/chat/stream`.")

Format = Annotated[
    Literal["quire", "ai-sdk"] | None,
    Query(description="Wording of a stream: ours, or the AI SDK's UI message stream."),
]
LastEventId = Annotated[
    str | None,
    Header(description="Answers are not kept for resuming: a request with this header gets 409."),
]


@router.post("/chat", response_model=ChatResponse, responses={**BOTH, **ERRORS})
async def chat(
    body: ChatRequest,
    request: Request,
    library: LibraryDependency,
    caller: ChatCaller,
    format: Format = None,
    last_event_id: LastEventId = None,
) -> ChatResponse | EventSourceResponse:
    """Ask a question; every sentence of the answer is cited, or the answer is a refusal.

    With `stream: true` the answer comes as the events of `/chat/stream`.
    """
    ask = asked(body, caller)
    if body.stream:
        return streamed(request, library, ask, format, last_event_id)
    return ChatResponse.of(await while_connected(request, library.ask(ask)))


@router.post("/chat/run", response_model=RunResponse, responses={**BOTH, **ERRORS})
async def chat_run(
    body: RunRequest,
    request: Request,
    library: LibraryDependency,
    caller: ChatCaller,
    format: Format = None,
    last_event_id: LastEventId = None,
) -> RunResponse | EventSourceResponse:
    """The same question and answer in the older shape, with its narrower limits."""
    ask = Ask(
        text=body.message,
        book_id=caller.book(body.book_id),
        session_id=body.session_id,
        remember=True,
        top_k=body.top_k,
        score_threshold=body.similarity_threshold,
        owner=caller.owner,
        trace_id=current_trace_id(),
        key_id=caller.key_id,
        channel="chat",
    )
    if body.stream:
        return streamed(request, library, ask, format, last_event_id)
    return RunResponse.of(await while_connected(request, library.ask(ask)))


@router.post(
    "/chat/stream",
    response_class=StreamingResponse,
    response_model=None,
    responses={**EVENTS, **ERRORS},
)
async def chat_stream(
    body: ChatRequest,
    request: Request,
    library: LibraryDependency,
    caller: ChatCaller,
    format: Format = None,
    last_event_id: LastEventId = None,
) -> EventSourceResponse:
    """The same answer sentence by sentence: events `chunk`, `sources`, `done` or `error`."""
    return streamed(request, library, asked(body, caller), format, last_event_id)


def asked(body: ChatRequest, caller: Caller) -> Ask:
    """The library's question for a request."""
    return Ask(
        text=body.query,
        book_id=caller.book(body.book_id),
        session_id=body.session_id,
        remember=True,
        mode=body.mode,
        selected_text=body.selected_text,
        selection=body.selection.claim() if body.selection else None,
        top_k=body.top_k,
        score_threshold=body.score_threshold,
        filters=body.filters or {},
        owner=caller.owner,
        trace_id=current_trace_id(),
        key_id=caller.key_id,
        channel="chat",
    )


def streamed(
    request: Request,
    library: Library,
    ask: Ask,
    format: str | None,
    last_event_id: str | None,
) -> EventSourceResponse:
    """The answer as a stream, in the wording the client asked for."""
    if last_event_id:
        raise Conflict("answers are not kept for resuming; ask again without Last-Event-ID")
    answer = library.stream(ask)
    ai_sdk = format == "ai-sdk" or (format is None and accepts_ai_sdk(request))
    return AnswerStream(
        ai_sdk_parts(answer) if ai_sdk else quire_events(answer),
        failed=ai_sdk_error if ai_sdk else quire_error,
        headers=AI_SDK_HEADERS if ai_sdk else None,
        stopping=request.app.state.stopping,
        write_timeout=library.settings.write_timeout,
    )


def accepts_ai_sdk(request: Request) -> bool:
    """Whether the client asks for the AI SDK's wording: `text/event-stream;format=ai-sdk`."""
    return "format=ai-sdk" in request.headers.get("accept", "").replace(" ", "").lower()
