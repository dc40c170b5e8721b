"""An answer as server-sent events, in our own words and in those of the AI SDK."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi.sse import format_sse_event

from quire.answering import AnswerDone, AnswerEvent, SentenceReady, SourcesReady
from quire.api.errors import classify
from quire.api.schemas.chat import (
    ChatResponse,
    SourceCitation,
    StreamChunk,
    StreamDone,
    StreamError,
    StreamSources,
    metadata_of,
)
from quire.api.tracing import current_trace_id
from quire.errors import DependencyError, QuireError
from quire.models import Answer, Citation

AI_SDK_HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}


async def quire_events(events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[bytes]:
    """Events `chunk`, `sources` and `done`, numbered from 1."""
    number = 0
    async with aclosing(events):
        async for event in events:
            number += 1
            message = _message(event)
            yield format_sse_event(
                data_str=message.model_dump_json(), event=message.type, id=str(number)
            )


def quire_error(error: QuireError) -> bytes:
    """The event `error`."""
    message = StreamError(
        error_code=classify(error)[1],
        message=error.message,
        trace_id=current_trace_id(),
        retryable=isinstance(error, DependencyError),
    )
    return format_sse_event(data_str=message.model_dump_json(), event="error")


def _message(event: AnswerEvent) -> StreamChunk | StreamSources | StreamDone:
    match event:
        case SentenceReady():
            return StreamChunk(content=event.text, citations=[c.number for c in event.citations])
        case SourcesReady():
            return StreamSources(sources=[SourceCitation.of(c) for c in event.citations])
        case AnswerDone():
            return StreamDone(
                metadata=metadata_of(event.answer), response=ChatResponse.of(event.answer)
            )


async def ai_sdk_parts(events: AsyncGenerator[AnswerEvent]) -> AsyncGenerator[bytes]:
    """Parts of the AI SDK's UI message stream, version 1."""
    begun = False
    async with aclosing(events):
        async for event in events:
            if not begun:
                begun = True
                yield _part(type="start", messageId=current_trace_id())
                yield _part(type="start-step")
                yield _part(type="text-start", id="answer")
            match event:
                case SentenceReady():
                    yield _part(type="text-delta", id="answer", delta=event.text)
                case SourcesReady():
                    yield _part(type="text-end", id="answer")
                    for citation in event.citations:
                        yield _cited(citation)
                case AnswerDone():
                    yield _confidence(event.answer)
                    yield _part(type="finish-step")
                    yield _part(type="finish", finishReason="stop")
                    yield format_sse_event(data_str="[DONE]")


def ai_sdk_error(error: QuireError) -> bytes:
    """The part `error`, and the end."""
    return _part(type="error", errorText=error.message) + format_sse_event(data_str="[DONE]")


def _cited(citation: Citation) -> bytes:
    number = str(citation.number)
    data = SourceCitation.of(citation).model_dump(mode="json")
    part = _part(type="data-citation", id=number, data=data)
    if citation.source_url == "selected_text":
        return part
    title = citation.page_title
    return _part(type="source-url", sourceId=number, url=citation.source_url, title=title) + part


def _confidence(answer: Answer) -> bytes:
    return _part(
        type="data-confidence",
        data={
            "confidence": round(answer.confidence.probability, 6),
            "confidence_level": answer.confidence.level,
            "should_answer": answer.should_answer,
            "refusal_reason": answer.refusal_reason,
            "session_id": answer.session_id,
        },
    )


def _part(**values: Any) -> bytes:
    return format_sse_event(data_str=json.dumps(values, ensure_ascii=False))
