"""The extractive model: an agents `Model` that needs no language model, no key and no network."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
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
from quire.answering.ports import Excerpt
from quire.answering.tool import TOOL_NAME
from quire.embedding.port import Embedder
from quire.reading import Reader

MODEL_NAME = "extractive"


class ExtractiveModel(Model):
    """First calls the tool with the question, then drafts from the tool's output.

    It goes through the same loop, contract and verification as any language model.
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
        found = _tool_output(items)
        if found is None:
            return ResponseFunctionToolCall(
                arguments=json.dumps({"query": _question(items)}, ensure_ascii=False),
                call_id=f"call_{len(items)}",
                name=TOOL_NAME,
                type="function_call",
            )
        extract = await self._extractor.extract(*found)
        return ResponseOutputMessage(
            id=f"message_{len(items)}",
            content=[
                ResponseOutputText(
                    annotations=[], text=_draft(extract.segments), type="output_text"
                )
            ],
            role="assistant",
            status="completed",
            type="message",
        )


def _draft(segments: tuple[Segment, ...]) -> str:
    entries: list[dict[str, Any]] = [
        {"text": segment.text, "passages": list(segment.passages)}
        | ({"highlight": segment.highlight} if segment.highlight else {})
        for segment in segments
    ]
    return json.dumps({"segments": entries}, ensure_ascii=False)


def _items(input: str | list[TResponseInputItem]) -> list[dict[str, Any]]:
    if isinstance(input, str):
        return [{"role": "user", "content": input}]
    return cast("list[dict[str, Any]]", input)


def _question(items: list[dict[str, Any]]) -> str:
    for item in reversed(items):
        if item.get("role") == "user" and isinstance(item.get("content"), str):
            return str(item["content"])
    return ""


def _tool_output(items: list[dict[str, Any]]) -> tuple[str, list[Excerpt]] | None:
    """What was searched for and what was found by the last call; None before the first."""
    for item in reversed(items):
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
            return found["query"], excerpts
    return None


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
