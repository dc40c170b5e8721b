"""The wire of OpenAI's chat completions, as far as a book can speak it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.sse import format_sse_event
from pydantic import BaseModel, ConfigDict, Field

from quire.answering import AnswerDone, AnswerEvent, SentenceReady
from quire.api.errors import classify
from quire.api.schemas.chat import ChatResponse
from quire.errors import InvalidRequest, QuireError
from quire.models import Answer, Message
from quire.wiring import BookSummary

_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class TextPart(BaseModel):
    """A part of a message."""

    type: Literal["text"]
    text: str = Field(max_length=10_000)


class CompletionMessage(BaseModel):
    """A message; those of the system are accepted and have no effect on what the book says."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]

    @property
    def text(self) -> str:
        """The words of all parts."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    """What a stream holds beside the text."""

    include_usage: bool | None = False


class CompletionRequest(BaseModel):
    """A chat completion; settings of a language model are accepted and have no effect."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "model": "physical-ai",
                    "messages": [{"role": "user", "content": "How do ROS 2 nodes communicate?"}],
                }
            ]
        },
    )

    model: str = Field(min_length=1, max_length=200, description="The book's id.")
    messages: list[CompletionMessage] = Field(min_length=1, max_length=200)
    stream: bool | None = False
    stream_options: StreamOptions | None = None

    def question(self) -> tuple[str, list[Message]]:
        """The last message, and those before it."""
        spoken = [message for message in self.messages if message.role in ("user", "assistant")]
        if not spoken or spoken[-1].role != "user" or not spoken[-1].text.strip():
            raise InvalidRequest("messages: the last one must be the user's", field="messages")
        history = [
            Message(role="user" if message.role == "user" else "assistant", content=message.text)
            for message in spoken[:-1]
        ]
        return spoken[-1].text, history


class UrlCitation(BaseModel):
    """A source; the offsets count characters of the answer."""

    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(BaseModel):
    """A citation of a passage of the answer."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class CompletionAnswer(BaseModel):
    """The assistant's message."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None
    annotations: list[Annotation]


class CompletionChoice(BaseModel):
    """The one answer."""

    index: int = 0
    message: CompletionAnswer
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class CompletionUsage(BaseModel):
    """Tokens of the language model, all counted as the prompt's; 0 without one."""

    prompt_tokens: int
    completion_tokens: int = 0
    total_tokens: int


class Completion(BaseModel):
    """A chat completion; `quire` is the whole answer with quotes, offsets and confidence."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    quire: ChatResponse

    @classmethod
    def of(cls, answer: Answer) -> Completion:
        """The wire form of an answer."""
        message = CompletionAnswer(content=answer.text, annotations=annotations_of(answer))
        return cls(
            id=completion_id(answer.trace_id),
            created=int(answer.created_at.timestamp()),
            model=answer.book_id,
            choices=[CompletionChoice(message=message)],
            usage=usage_of(answer),
            quire=ChatResponse.of(answer),
        )


class BookModel(BaseModel):
    """A book, as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "quire"

    @classmethod
    def of(cls, book: BookSummary) -> BookModel:
        """The wire form of a book."""
        moment = book.last_ingested_at
        return cls(id=book.id, created=int(moment.timestamp()) if moment else 0)


class BookModelList(BaseModel):
    """All books, as models."""

    object: Literal["list"] = "list"
    data: list[BookModel]


class CompletionError(BaseModel):
    """What went wrong."""

    message: str
    type: str
    param: str | None
    code: str


class CompletionErrorResponse(BaseModel):
    """An error in OpenAI's shape."""

    error: CompletionError


def error_response(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Any] | None,
    headers: Mapping[str, str] | None,
) -> JSONResponse:
    """An error as OpenAI's clients expect it."""
    body = CompletionErrorResponse(error=_error(status, code, message, details or {}))
    return JSONResponse(body.model_dump(), status_code=status, headers=dict(headers or {}))


class OpenAIRoute(APIRoute):
    """A route whose errors are worded as OpenAI's."""

    error_shape = staticmethod(error_response)


async def completion_chunks(
    events: AsyncGenerator[AnswerEvent], *, trace_id: str, model: str, with_usage: bool
) -> AsyncGenerator[bytes]:
    """An answer as chunks of a completion; citations come with the last one."""
    head = {
        "id": completion_id(trace_id),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": model,
    }
    begun = False
    async with aclosing(events):
        async for event in events:
            if not begun:
                begun = True
                yield _chunk(head, {"role": "assistant", "content": ""})
            match event:
                case SentenceReady():
                    yield _chunk(head, {"content": event.text})
                case AnswerDone():
                    found = [note.model_dump() for note in annotations_of(event.answer)]
                    whole = ChatResponse.of(event.answer).model_dump(mode="json")
                    yield _chunk(head, {"annotations": found}, finish="stop", quire=whole)
                    if with_usage:
                        usage = usage_of(event.answer).model_dump()
                        yield _data({**head, "choices": [], "usage": usage})
                    yield format_sse_event(data_str="[DONE]")
                case _:
                    pass


def chunk_error(error: QuireError) -> bytes:
    """An error after the first chunk."""
    status, code = classify(error)
    body = CompletionErrorResponse(error=_error(status, code, error.message, error.details))
    return _data(body.model_dump()) + format_sse_event(data_str="[DONE]")


def annotations_of(answer: Answer) -> list[Annotation]:
    """Each sentence's citations, with where the sentence stands in the answer."""
    cited = {citation.number: citation for citation in answer.citations}
    found: list[Annotation] = []
    position = 0
    for sentence in answer.sentences:
        start = answer.text.find(sentence.text, position)
        if start < 0:
            continue
        position = start + len(sentence.text)
        for number in sentence.citations:
            citation = cited[number]
            place = UrlCitation(
                url=citation.source_url,
                title=citation.page_title,
                start_index=start,
                end_index=position,
            )
            found.append(Annotation(url_citation=place))
    return found


def usage_of(answer: Answer) -> CompletionUsage:
    """What the answer cost."""
    return CompletionUsage(prompt_tokens=answer.tokens_used, total_tokens=answer.tokens_used)


def completion_id(trace_id: str | None) -> str:
    """The completion's id: it finds the answer in the log."""
    return f"chatcmpl-{trace_id}"


def _error(status: int, code: str, message: str, details: Mapping[str, Any]) -> CompletionError:
    kind = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
    fields = details.get("fields") or [{"field": details.get("field")}]
    return CompletionError(message=message, type=kind, param=fields[0]["field"], code=code)


def _chunk(
    head: Mapping[str, Any], delta: dict[str, Any], *, finish: str | None = None, **more: Any
) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({**head, "choices": [choice], **more})


def _data(value: Mapping[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(value, ensure_ascii=False))
