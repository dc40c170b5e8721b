"""The agent runtime: one turn of the OpenAI Agents SDK, as a stream of drafted text.

The SDK is imported when the first turn runs: it is slow to import, and tracing stays off.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from quire.answering import prompt
from quire.answering.question import Limits
from quire.answering.tool import build_tool, stop_when_decided
from quire.answering.turn import Turn
from quire.errors import ModelBehaviourError
from quire.models import Message

if TYPE_CHECKING:
    from agents import Agent, Model, RunConfig, TResponseInputItem
    from agents.run import CallModelData, ModelInputData


@dataclass(frozen=True, slots=True)
class ResponseBegins:
    """The model starts over: text before this belongs to an earlier response."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A few more characters of the present response."""

    text: str


@dataclass(frozen=True, slots=True)
class DraftReady:
    """The model's last word; empty when the run stopped at the tool."""

    text: str


DraftPart = ResponseBegins | TextDelta | DraftReady


def build_types() -> None:
    """Have the SDK's types built, which would hold up the first answer and all beside it."""
    from openai.types import responses

    for model in (
        responses.Response,
        responses.ResponseCreatedEvent,
        responses.ResponseOutputItemAddedEvent,
        responses.ResponseTextDeltaEvent,
        responses.ResponseOutputItemDoneEvent,
        responses.ResponseCompletedEvent,
    ):
        model.model_rebuild()


class AgentRuntime:
    """Runs the tool loop for a turn, and once more without tools if the model misused it."""

    def __init__(self, model: Model, limits: Limits) -> None:
        self._model = model
        self._limits = limits
        self.own_code = bool(getattr(model, "own_code", False))
        """Our extractive model reads the tool's JSON itself and needs no prompt."""
        self.tokens_used = 0

    async def draft(
        self, turn: Turn, history: Sequence[Message], *, streaming: bool
    ) -> AsyncGenerator[DraftPart]:
        """Parts of the draft; always ends in `DraftReady`. Raises `QuireError`s.

        A model that answers without searching, loops on the tool, calls another one or says
        nothing is given the passages directly, once.
        """
        fence = prompt.Fence()
        misbehaviour: ModelBehaviourError | None = None
        text = ""
        try:
            async with aclosing(self._with_tool(turn, history, fence, streaming)) as parts:
                async for part in parts:
                    if isinstance(part, DraftReady):
                        text = part.text
                    elif turn.primary is not None:
                        yield part
        except ModelBehaviourError as error:
            misbehaviour = error
        if turn.failure is not None:
            raise turn.failure
        searched = turn.primary is not None
        await turn.ensure_primary()
        if turn.must_stop:
            yield DraftReady("")
            return
        if searched and text.strip() and misbehaviour is None:
            yield DraftReady(text)
            return
        if self.own_code:
            raise misbehaviour or ModelBehaviourError("the extractive model wrote no draft")
        yield ResponseBegins()
        text = ""
        async with aclosing(self._without_tool(turn, history, fence, streaming)) as parts:
            async for part in parts:
                if isinstance(part, DraftReady):
                    text = part.text
                else:
                    yield part
        if not text.strip():
            raise ModelBehaviourError("the model returned nothing")
        yield DraftReady(text)

    def _with_tool(
        self, turn: Turn, history: Sequence[Message], fence: prompt.Fence, streaming: bool
    ) -> AsyncGenerator[DraftPart]:
        from agents import Agent

        agent: Agent[Turn] = Agent(
            name="quire",
            instructions=None if self.own_code else self._instructions(turn, fence),
            tools=[build_tool()],
            model=self._model,
            model_settings=self._settings(tool_choice="required"),
            tool_use_behavior=stop_when_decided,
        )
        messages = [*prompt.conversation(history, self._limits)] if not self.own_code else []
        messages.append({"role": "user", "content": turn.standalone})
        return self._run(agent, messages, turn, fence, streaming)

    def _without_tool(
        self, turn: Turn, history: Sequence[Message], fence: prompt.Fence, streaming: bool
    ) -> AsyncGenerator[DraftPart]:
        from agents import Agent

        agent: Agent[Turn] = Agent(
            name="quire",
            instructions=self._instructions(turn, fence),
            model=self._model,
            model_settings=self._settings(tool_choice=None),
        )
        block = prompt.passages_block(turn.passages, fence)
        asked = f"{block}\n\nQuestion: {turn.asked}\n\nReply with the JSON segments."
        messages = [
            *prompt.conversation(history, self._limits),
            {"role": "user", "content": asked},
        ]
        return self._run(agent, messages, turn, fence, streaming)

    def _instructions(self, turn: Turn, fence: prompt.Fence) -> str:
        return prompt.instructions(turn.question.book_title, fence)

    def _settings(self, *, tool_choice: str | None) -> Any:
        from agents import ModelSettings

        return ModelSettings(
            temperature=0.0,
            max_tokens=self._limits.max_output_tokens,
            tool_choice=tool_choice,
            include_usage=True,
            store=False,
        )

    async def _run(
        self,
        agent: Agent[Turn],
        messages: list[dict[str, str]],
        turn: Turn,
        fence: prompt.Fence,
        streaming: bool,
    ) -> AsyncGenerator[DraftPart]:
        from agents import AgentsException, Runner

        config = self._config(fence)
        items = cast("list[TResponseInputItem]", messages)
        calls = self._limits.max_model_calls
        try:
            if not streaming:
                done = await Runner.run(
                    agent, items, context=turn, max_turns=calls, run_config=config
                )
                self.tokens_used += done.context_wrapper.usage.total_tokens
                yield DraftReady(_as_text(done.final_output))
                return
            result = Runner.run_streamed(
                agent, items, context=turn, max_turns=calls, run_config=config
            )
            try:
                async for event in result.stream_events():
                    if event.type != "raw_response_event":
                        continue
                    if event.data.type == "response.created":
                        yield ResponseBegins()
                    elif event.data.type == "response.output_text.delta":
                        yield TextDelta(event.data.delta)
            finally:
                self.tokens_used += result.context_wrapper.usage.total_tokens
                if not result.is_complete:
                    result.cancel()
            yield DraftReady(_as_text(result.final_output))
        except AgentsException as error:
            if not streaming and error.run_data is not None:
                self.tokens_used += error.run_data.context_wrapper.usage.total_tokens
            raise ModelBehaviourError(f"the model broke the contract: {error}") from error

    def _config(self, fence: prompt.Fence) -> RunConfig:
        from agents import RunConfig
        from agents.run import ModelInputData

        def fenced(data: CallModelData[Any]) -> ModelInputData:
            items = [_fence_item(item, fence) for item in data.model_data.input]
            return ModelInputData(input=items, instructions=data.model_data.instructions)

        return RunConfig(
            tracing_disabled=True,
            trace_include_sensitive_data=False,
            workflow_name="quire",
            call_model_input_filter=None if self.own_code else fenced,
        )


def _fence_item(item: TResponseInputItem, fence: prompt.Fence) -> TResponseInputItem:
    entry = cast("dict[str, Any]", item)
    if entry.get("type") != "function_call_output" or not isinstance(entry.get("output"), str):
        return item
    fenced = prompt.fence_tool_output(entry["output"], fence)
    return cast("TResponseInputItem", {**entry, "output": fenced})


def _as_text(output: object) -> str:
    return output if isinstance(output, str) else ""
