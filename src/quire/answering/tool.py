"""The agent's only tool, `retrieve_documentation`, bound to the turn it runs in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from quire.answering.turn import Turn, error_json, result_json
from quire.errors import QuireError

if TYPE_CHECKING:
    from agents import FunctionTool, FunctionToolResult, RunContextWrapper, ToolsToFinalOutputResult
    from agents.tool_context import ToolContext

TOOL_NAME: Final = "retrieve_documentation"
DESCRIPTION: Final = (
    "Search the book documentation for relevant information based on a question or topic. "
    "Returns chunks of text from the book with metadata about their source."
)
PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "The question or topic to search for in the documentation",
        },
        "top_k": {
            "type": "integer",
            "description": "Number of most relevant chunks to retrieve (default: 5)",
            "default": 5,
        },
        "similarity_threshold": {
            "type": "number",
            "description": "Minimum similarity score for results (0.0-1.0, default: 0.0)",
            "default": 0.0,
        },
    },
    "required": ["query"],
}
_MAX_QUERY: Final = 2000


async def retrieve_documentation(turn: Turn, arguments: str) -> str:
    """Run one call of the model: result or error JSON. Failures of ours are kept on the turn."""
    try:
        query, top_k, threshold = _read(arguments)
    except ValueError as error:
        return error_json(str(error), turn.standalone)
    try:
        found = await turn.search(query, top_k, threshold)
        return result_json(found, turn.asked if turn.is_question(query) else query)
    except QuireError as error:
        turn.failure = error
        return error_json(error.message, query)


def _read(arguments: str) -> tuple[str, int | None, float | None]:
    try:
        parsed: object = json.loads(arguments or "{}")
    except ValueError:
        raise ValueError("the arguments are not JSON") from None
    if not isinstance(parsed, dict):
        raise ValueError("the arguments are not an object")
    values = cast("dict[str, object]", parsed)
    query = values.get("query")
    if not isinstance(query, str) or not query.strip():
        raise ValueError("query must not be empty")
    top_k, threshold = values.get("top_k"), values.get("similarity_threshold")
    if top_k is not None and not (isinstance(top_k, int) and 1 <= top_k <= 20):
        raise ValueError("top_k must be between 1 and 20")
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold <= 1):
        raise ValueError("similarity_threshold must be between 0.0 and 1.0")
    return query.strip()[:_MAX_QUERY], top_k, float(threshold) if threshold is not None else None


def build_tool() -> FunctionTool:
    """The tool as the SDK wants it; it finds its turn in the run context."""
    from agents import FunctionTool

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await retrieve_documentation(cast("Turn", context.context), arguments)

    return FunctionTool(
        name=TOOL_NAME,
        description=DESCRIPTION,
        params_json_schema=PARAMETERS,
        on_invoke_tool=invoke,
        strict_json_schema=False,
    )


def stop_when_decided(
    context: RunContextWrapper[Turn], _results: list[FunctionToolResult]
) -> ToolsToFinalOutputResult:
    """End the run at the tool when the refusal or a failure is already certain."""
    from agents import ToolsToFinalOutputResult

    return ToolsToFinalOutputResult(is_final_output=context.context.must_stop, final_output="")
