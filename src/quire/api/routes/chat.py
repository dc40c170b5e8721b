"""Questions and answers: `/chat` and `/chat/stream`."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from quire.api.dependencies import LibraryDependency
from quire.api.errors import body_of, responses
from quire.api.schemas import (
    ChatRequest,
    ChatResponse,
    SourceCitation,
    StreamChunk,
    StreamDone,
    StreamError,
    StreamSources,
    metadata_of,
)
from quire.api.tracing import current_trace_id
from quire.answering import AnswerDone, SentenceReady, SourcesReady
from quire.errors import DependencyError, QuireError
from quire.wiring import Ask, Library

router = APIRouter(tags=["chat"])
