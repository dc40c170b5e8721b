"""A local server that speaks the wire format of the embedding services."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route


@dataclass
class Service:
    """What the server saw, and the failures it still has to show."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    failures: deque[Response] = field(default_factory=deque)
    refuse: str = ""
    """A text that makes the server answer 400 for the batch it is in."""
    concurrent: int = 0
    most_concurrent: int = 0
    drop: int = 0
    """How many vectors to leave out of the next answer."""


def vector(text: str, dimension: int) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).normal(size=dimension).tolist()


@asynccontextmanager
async def embedding_service() -> AsyncGenerator[Service]:
    service = Service()

    async def prelude(request: Request) -> tuple[dict[str, Any], Response | None]:
        body = json.loads(await request.body())
        service.requests.append({**body, "authorization": request.headers["authorization"]})
        service.concurrent += 1
        service.most_concurrent = max(service.most_concurrent, service.concurrent)
        await asyncio.sleep(0.01)
        service.concurrent -= 1
        if service.failures:
            return body, service.failures.popleft()
        texts = body.get("input") or body.get("texts")
        if service.refuse and service.refuse in texts:
            return body, JSONResponse({"error": "bad input"}, status_code=400)
        return body, None

    async def openai(request: Request) -> Response:
        body, failure = await prelude(request)
        if failure:
            return failure
        rows = [{"index": i, "embedding": vector(t, 1536)} for i, t in enumerate(body["input"])][
            service.drop :
        ]
        # the protocol doesn't promise an order
        return JSONResponse({"data": rows[::-1], "usage": {"total_tokens": len(rows)}})

    async def cohere(request: Request) -> Response:
        body, failure = await prelude(request)
        if failure:
            return failure
        assert len(body["texts"]) <= 96
        rows = [vector(body["input_type"] + t, 1024) for t in body["texts"]][service.drop :]
        billed = {"billed_units": {"input_tokens": len(rows)}}
        return JSONResponse({"embeddings": {"float": rows}, "meta": billed})

    app = Starlette(
        routes=[
            Route("/v1/embeddings", openai, methods=["POST"]),
            Route("/v2/embed", cohere, methods=["POST"]),
        ]
    )
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
    )
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn offers no event to wait for
        await asyncio.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    service.url = f"http://127.0.0.1:{port}"
    try:
        yield service
    finally:
        server.should_exit = True
        await task
