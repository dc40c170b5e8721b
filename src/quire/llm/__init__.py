"""Language models behind any OpenAI-compatible server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agents import Model

__all__ = ["build_model"]


def build_model(
    model: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    api: Literal["auto", "chat", "responses"] = "auto",
    timeout: float = 60.0,
    max_retries: int = 2,
) -> Model:
    """A model for the agent; nothing is sent until it is asked. Close it with `model.close()`.

    `auto` speaks chat completions, and the Responses API if the server knows only that.
    `timeout` is in seconds, for one request; 429, 5xx and broken connections are retried with
    backoff. Every failure is raised as `ModelUnavailable` or `ModelBehaviourError`.
    """
    from quire.llm.openai import OpenAIModel

    return OpenAIModel(
        model,
        api_key=api_key,
        base_url=base_url,
        api=api,
        timeout=timeout,
        max_retries=max_retries,
    )
