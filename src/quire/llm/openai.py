"""An agents `Model` over an OpenAI-compatible server, with our errors and no surprises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal, cast

from agents import (
    Model,
    ModelResponse,
    ModelSettings,
    ModelTracing,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Tool,
    TResponseInputItem,
)
from agents.agent_output import AgentOutputSchemaBase
from agents.handoffs import Handoff
from agents.items import TResponseStreamEvent
from openai import APIStatusError, AsyncOpenAI
from openai.types.responses.response_prompt_param import ResponsePromptParam

from quire.llm.errors import FOREIGN, translate


class OpenAIModel(Model):
    """Speaks chat completions or responses, and adapts once to what the server can do.

    A server that knows only the other API, or refuses `temperature`, is asked again in the way
    it understands, and is remembered to be so.
    """

    def __init__(
        self,
        model: str,
        *,
        api_key: str | None,
        base_url: str | None,
        api: Literal["auto", "chat", "responses"],
        timeout: float,
        max_retries: int,
    ) -> None:
        self._client = AsyncOpenAI(
            api_key=api_key or "none",
            base_url=base_url,
            timeout=timeout,
            max_retries=max_retries,
        )
        chat = OpenAIChatCompletionsModel(model, self._client)
        responses = OpenAIResponsesModel(model, self._client)
        ways: dict[str, list[Model]] = {
            "auto": [chat, responses],
            "chat": [chat],
            "responses": [responses],
        }
        self._ways = ways[api]
        self._temperature = True

    async def close(self) -> None:
        """Close the connections to the server."""
        await self._client.close()

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
        """The model's reply; raises `ModelUnavailable` or `ModelBehaviourError`."""
        while True:
            try:
                return await self._ways[0].get_response(
                    system_instructions,
                    input,
                    self._fitting(model_settings),
                    tools,
                    output_schema,
                    handoffs,
                    tracing,
                    previous_response_id=previous_response_id,
                    conversation_id=conversation_id,
                    prompt=prompt,
                )
            except FOREIGN as error:
                if not self._adapts(error):
                    raise translate(error) from error

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
        """The reply as it arrives; raises like `get_response`, also in the middle."""
        begun = False
        while True:
            events = self._ways[0].stream_response(
                system_instructions,
                input,
                self._fitting(model_settings),
                tools,
                output_schema,
                handoffs,
                tracing,
                previous_response_id=previous_response_id,
                conversation_id=conversation_id,
                prompt=prompt,
            )
            try:
                async with aclosing(cast("Any", events)):
                    async for event in events:
                        begun = True
                        yield event
                return
            except FOREIGN as error:
                if begun or not self._adapts(error):
                    raise translate(error) from error

    def _fitting(self, settings: ModelSettings) -> ModelSettings:
        return settings if self._temperature else replace(settings, temperature=None)

    def _adapts(self, error: BaseException) -> bool:
        """Whether there is another way to ask, and we take it from now on."""
        if not isinstance(error, APIStatusError):
            return False
        if error.status_code in (404, 405) and len(self._ways) > 1:
            self._ways = self._ways[1:]
            return True
        if error.status_code == 400 and self._temperature and "temperature" in str(error):
            self._temperature = False
            return True
        return False
