"""The extractive model: an agents `Model` that needs no language model, no key and no network."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agents import (
    Model,
    ModelResponse,
    ModelSettings,
    ModelTracing,
    Tool,
    TResponseInputItem,
    Usage,
)
from agents.agent_output import AgentOutputSchemaBase
from agents.handoffs import Handoff
from agents.items import TResponseOutputItem, TResponseStreamEvent
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from openai.types.responses.response_prompt_param import ResponsePromptParam

from quire.answering.draft import Segment
from quire.answering.extraction import Extractor
from quire.answering.parts import two_parts
from quire.answering.ports import Excerpt
from quire.answering.tool import TOOL_NAME
from quire.embedding.port import Embedder
from quire.reading import Reader

MODEL_NAME = "extractive"
_PART_ANSWERED = -2.7
"""The reader's least log-odds that a passage answers a part: where a whole question is refused."""


class ExtractiveModel(Model):
    """First calls the tool with the question, then drafts from the tool's output.

    A question that asks two things is searched for as a whole, which decides the refusal, and
    then part by part. It goes through the same loop, contract and verification as any language
    model.
    """

    own_code = True

    def __init__(self, *, embedder: Embedder | None = None, reader: Reader | None = None) -> None:
        self._extractor = Extractor(embedder=embedder, reader=reader)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff[Any, Any]],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> ModelResponse:
        """A tool call if nothing was retrieved yet, else the draft."""
        output = await self._reply(_items(input))
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[Handoff[Any, Any]],
        tracing: ModelTracing,
        *,
        previous_response_id: str | None,
        conversation_id: str | None,
        prompt: ResponsePromptParam | None,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The same reply as events."""
        response = _response([])
        yield ResponseCreatedEvent(response=response, sequence_number=0, type="response.created")
        output = await self._reply(_items(input))
        yield ResponseOutputItemAddedEvent(
            item=output, output_index=0, sequence_number=1, type="response.output_item.added"
        )
        if isinstance(output, ResponseOutputMessage):
            yield ResponseTextDeltaEvent(
                content_index=0,
                delta=cast("ResponseOutputText", output.content[0]).text,
                item_id=output.id,
                logprobs=[],
                output_index=0,
                sequence_number=2,
                type="response.output_text.delta",
            )
        yield ResponseOutputItemDoneEvent(
            item=output, output_index=0, sequence_number=3, type="response.output_item.done"
        )
        yield ResponseCompletedEvent(
            response=_response([output]), sequence_number=4, type="response.completed"
        )

    async def _reply(self, items: list[dict[str, Any]]) -> TResponseOutputItem:
        question, found = _question(items), _found(items)
        parts = two_parts(question) or ()
        if len(found) < 1 + len(parts):
            query = parts[len(found) - 1].query if found else question
            return ResponseFunctionToolCall(
                arguments=json.dumps({"query": query}, ensure_ascii=False),
                call_id=f"call_{len(items)}",
                name=TOOL_NAME,
                type="function_call",
            )
        return ResponseOutputMessage(
            id=f"message_{len(items)}",
            content=[
                ResponseOutputText(
                    annotations=[], text=await self._drafted(found), type="output_text"
                )
            ],
            role="assistant",
            status="completed",
            type="message",
        )

    async def _drafted(self, found: list[_Found]) -> str:
        """What answers each part, or the whole question where it has no parts."""
        whole, *parts = found
        said: dict[Segment, None] = {}
        unanswered: list[int] = []
        for number, part in enumerate(parts, start=1):
            extract = await self._extractor.extract(part.query, part.best(len(whole.excerpts)))
            if extract.segments and (extract.answerable or 0.0) >= _PART_ANSWERED:
                said |= dict.fromkeys(extract.segments)
            else:
                unanswered.append(number)
        if said:
            return _draft(said, unanswered)
        return _draft((await self._extractor.extract(whole.query, whole.excerpts)).segments)


@dataclass(frozen=True, slots=True)
class _Found:
    """What one call of the tool searched for, and what it found."""

    query: str
    excerpts: list[Excerpt]

    def best(self, number: int) -> list[Excerpt]:
        """So many of the most relevant ones."""
        return sorted(self.excerpts, key=lambda each: -each.score)[:number]


def _draft(segments: Iterable[Segment], unanswered: Sequence[int] = ()) -> str:
    entries: list[dict[str, Any]] = [
        {"text": segment.text, "passages": list(segment.passages)}
        | ({"highlight": segment.highlight} if segment.highlight else {})
        for segment in segments
    ]
    rest = {"unanswered": unanswered} if unanswered else {}
    return json.dumps({"segments": entries, **rest}, ensure_ascii=False)


def _items(input: str | list[TResponseInputItem]) -> list[dict[str, Any]]:
    if isinstance(input, str):
        return [{"role": "user", "content": input}]
    return cast("list[dict[str, Any]]", input)


def _question(items: list[dict[str, Any]]) -> str:
    for item in reversed(items):
        if item.get("role") == "user" and isinstance(item.get("content"), str):
            return str(item["content"])
    return ""


def _found(items: list[dict[str, Any]]) -> list[_Found]:
    """What the calls so far found, in order."""
    calls: list[_Found] = []
    for item in items:
        if item.get("type") == "function_call_output":
            found = cast("dict[str, Any]", json.loads(str(item["output"])))
            excerpts = [
                Excerpt(
                    number=result["rank"],
                    text=result["chunk_text"],
                    title=result["page_title"],
                    heading=result["section_heading"] or "",
                    score=result["similarity_score"],
                    opening=result.get("opening", ""),
                )
                for result in found.get("results", [])
            ]
            calls.append(_Found(found["query"], excerpts))
    return calls


def _response(output: list[TResponseOutputItem]) -> Response:
    return Response(
        id="extractive",
        created_at=time.time(),
        model=MODEL_NAME,
        object="response",
        output=output,
        parallel_tool_calls=False,
        tool_choice="auto",
        tools=[],
    )
