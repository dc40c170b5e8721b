"""The OpenAPI document: what FastAPI derives, plus the error object every route refers to."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from quire.api.schemas import ErrorResponse


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
            schemas = schema["components"]["schemas"]
            schemas["ErrorResponse"] = ErrorResponse.model_json_schema()
            for unused in ("HTTPValidationError", "ValidationError"):
                schemas.pop(unused, None)
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document
