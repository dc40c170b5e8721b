"""Domain errors → problem+json; the only place that knows HTTP status codes."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quire import errors
from quire.access import Allowance
from quire.api.headers import limit_headers
from quire.api.schemas.operations import ErrorResponse
from quire.api.streaming import UNEXPECTED, ClientGone
from quire.api.tracing import current_trace_id, route_of

log = logging.getLogger(__name__)

Shape = Callable[[int, str, str, Mapping[str, Any] | None, Mapping[str, str] | None], JSONResponse]

# First match wins, so that subclasses stand before their bases.
STATUS: tuple[tuple[type[errors.QuireError], int, str], ...] = (
    (errors.NotFound, 404, "not_found"),
    (errors.Conflict, 409, "conflict"),
    (errors.Unauthorized, 401, "unauthorized"),
    (errors.Forbidden, 403, "forbidden"),
    (errors.PayloadTooLarge, 413, "payload_too_large"),
    (errors.RateLimited, 429, "rate_limited"),
    (errors.InputError, 422, "validation_error"),
    (errors.EmbedderMismatch, 409, "embedder_mismatch"),
    (errors.ConfigurationError, 500, "configuration_error"),
    (errors.IndexUnavailable, 503, "retrieval_unavailable"),
    (errors.EmbedderUnavailable, 503, "retrieval_unavailable"),
    (errors.ModelUnavailable, 503, "model_unavailable"),
    (errors.StorageUnavailable, 503, "storage_unavailable"),
    (errors.Overloaded, 503, "overloaded"),
    (errors.ShuttingDown, 503, "shutting_down"),
    (errors.ModelBehaviourError, 503, "model_unavailable"),
    (errors.QuireError, 500, "internal_error"),
)

CODES_BY_STATUS = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "payload_too_large",
    429: "rate_limited",
    503: "overloaded",
}


def classify(error: errors.QuireError) -> tuple[int, str]:
    """HTTP status and error code of a domain error."""
    return next((status, code) for kind, status, code in STATUS if isinstance(error, kind))


def error_body(
    status: int, code: str, message: str, details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The error object, as the API sends it and `--json` prints it."""
    return ErrorResponse(
        error_code=code,
        message=message,
        details=dict(details) if details else None,
        trace_id=current_trace_id(),
        title=HTTPStatus(status).phrase,
        status=status,
        detail=message,
    ).model_dump(mode="json")


def body_of(error: errors.QuireError) -> dict[str, Any]:
    """The error object of a domain error."""
    status, code = classify(error)
    return error_body(status, code, error.message, error.details)


def problem(
    status: int,
    code: str,
    message: str,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """An error response."""
    return JSONResponse(
        error_body(status, code, message, details),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/problem+json",
    )


def error_headers(error: errors.QuireError) -> dict[str, str]:
    """The headers that go with an error: when to come back, how to authenticate."""
    if isinstance(error, errors.RateLimited):
        return {**_waiting(error.retry_after), **_exhausted(error)}
    if isinstance(error, errors.Overloaded):
        return _waiting(error.retry_after)
    if isinstance(error, errors.DependencyError | errors.ModelBehaviourError):
        return {"Retry-After": "5"}
    if isinstance(error, errors.Unauthorized):
        return {"WWW-Authenticate": 'Bearer realm="quire"'}
    return {}


def _waiting(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, math.ceil(seconds)))}


def _exhausted(error: errors.RateLimited) -> dict[str, str]:
    if "policy" not in error.details:
        return {}
    left = Allowance(
        name=error.details["policy"],
        limit=error.details["limit"],
        window=error.details["window"],
        remaining=0,
        reset=math.ceil(error.retry_after),
    )
    return limit_headers([left])


MEANINGS = {
    "conflict": "The request contradicts what is already going on.",
    "configuration_error": "The operator must change the settings or the installation.",
    "embedder_mismatch": "The index was built with another embedder.",
    "forbidden": "The key lacks the scope, or doesn't work from this site.",
    "internal_error": "Something went wrong on our side; the trace id finds it in the log.",
    "model_unavailable": "The language model doesn't answer, or not as it should.",
    "not_found": "There is no such thing, or it belongs to someone else.",
    "overloaded": "Too many requests are in progress.",
    "payload_too_large": "The body is over the limit.",
    "rate_limited": "Over one of the key's limits; `Retry-After` says when to come back.",
    "retrieval_unavailable": "The vector store or the embedding service doesn't answer.",
    "shutting_down": "This process ends; another one will answer.",
    "storage_unavailable": "The database or the store of the limits doesn't answer.",
    "unauthorized": "No key, or a wrong one.",
    "validation_error": "A field is missing, malformed or out of range; `details` names it.",
}


def codes_of(status: int) -> list[str]:
    """The error codes that go with a status."""
    return list(dict.fromkeys(code for _, known, code in STATUS if known == status))


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI entries for the error statuses a route may answer with, code by code."""
    schema = {"$ref": "#/components/schemas/ErrorResponse"}
    return {
        status: {
            "description": f"{HTTPStatus(status).phrase}: {', '.join(codes_of(status))}",
            "headers": _documented_headers(status),
            "content": {
                "application/problem+json": {
                    "schema": schema,
                    "examples": {code: _example(status, code) for code in codes_of(status)},
                }
            },
        }
        for status in sorted(statuses)
    }


def _example(status: int, code: str) -> dict[str, Any]:
    body = {**error_body(status, code, MEANINGS[code]), "trace_id": "0" * 32}
    return {"summary": MEANINGS[code], "value": body}


def _documented_headers(status: int) -> dict[str, Any]:
    named = {"X-Trace-Id": "Finds the request in the log."}
    if status in (429, 503):
        named["Retry-After"] = "Seconds to wait."
    if status == 401:
        named["WWW-Authenticate"] = "How to authenticate."
    return {
        name: {"description": text, "schema": {"type": "string"}} for name, text in named.items()
    }


GUARDED = (401, 403, 429, 500, 503)
"""What any route that asks for a key may answer with."""


def install(app: FastAPI) -> None:
    """Register the handlers; every error leaves through one of them."""
    app.add_exception_handler(errors.QuireError, _domain)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(ClientGone, _gone)
    app.add_exception_handler(Exception, _unexpected)


async def _domain(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.QuireError)
    status, code = classify(error)
    if status >= 500:
        log.warning("%s %s: %s", request.method, route_of(request.scope), error.message)
    shape = shape_of(request)
    return shape(status, code, error.message, error.details, error_headers(error))


async def _validation(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    fields: list[dict[str, Any]] = [
        {
            "field": ".".join(str(part) for part in item["loc"][1:]) or str(item["loc"][0]),
            "message": str(item["msg"]).removeprefix("Value error, "),
            "limit": _limit(item.get("ctx")),
        }
        for item in error.errors()
    ]
    message = "; ".join(f"{f['field']}: {f['message']}" for f in fields)
    return shape_of(request)(422, "validation_error", message, {"fields": fields}, None)


def _limit(context: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the value may be, as far as it can be said in JSON."""
    plain = (str, int, float, bool, list)
    values = (context or {}).items()
    return {k: v for k, v in values if k != "error" and isinstance(v, plain)} or None


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:  # the framework's word for JSON it can't read, such as too deep
        shape = shape_of(request)
        return shape(422, "validation_error", "the body can't be read as JSON", None, None)
    code = CODES_BY_STATUS.get(error.status_code, "validation_error")
    return problem(error.status_code, code, str(error.detail), headers=error.headers)


async def _gone(_: Request, error: Exception) -> Response:
    """Nobody reads this; the status is for the log."""
    return Response(status_code=499)


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, route_of(request.scope), exc_info=error)
    return shape_of(request)(500, "internal_error", UNEXPECTED, None, None)


class UnexpectedErrorMiddleware:
    """Words what nobody foresaw while the request still has its trace id and its headers.

    The framework's own place for that is outside of all middleware.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 500, unless an answer has begun: that one is cut."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            if begun:
                raise
            response = await _unexpected(Request(scope), error)
            await response(scope, receive, send)


def shape_of(request: Request) -> Shape:
    """How the matched route words its errors: as problem+json, unless it speaks otherwise."""
    return getattr(request.scope.get("route"), "error_shape", problem)
