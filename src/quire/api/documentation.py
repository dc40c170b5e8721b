"""The OpenAPI document: what FastAPI derives, plus the shapes of errors and events."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from quire.api.schemas.chat import StreamChunk, StreamDone, StreamError, StreamSources
from quire.api.schemas.operations import ErrorResponse

REFERENCE = "#/components/schemas/{model}"
EVENTS: tuple[type[BaseModel], ...] = (StreamChunk, StreamSources, StreamDone, StreamError)


def events(description: str) -> dict[int | str, dict[str, Any]]:
    """The entry of a route that can answer with a stream of events."""
    shapes = [{"$ref": REFERENCE.format(model=event.__name__)} for event in EVENTS]
    own = {
        "type": "object",
        "required": ["event", "data"],
        "properties": {
            "event": {"type": "string", "enum": ["chunk", "sources", "done", "error"]},
            "id": {"type": "string"},
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {"oneOf": shapes},
            },
        },
    }
    foreign = {
        "type": "object",
        "description": "With `format=ai-sdk`: a part of the AI SDK's UI message stream, or [DONE].",
        "required": ["data"],
        "properties": {"data": {"type": "string"}},
    }
    schema = {"anyOf": [own, foreign]}
    content = {"text/event-stream": {"schema": schema}}
    return {200: {"description": description, "content": content}}


def install(app: FastAPI) -> None:
    """Make `/openapi.json` complete."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
            )
            _, added = models_json_schema(
                [(model, "serialization") for model in (ErrorResponse, *EVENTS)],
                ref_template=REFERENCE,
            )
            schemas = schema["components"]["schemas"]
            schemas |= {k: v for k, v in added["$defs"].items() if k not in schemas}
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document
