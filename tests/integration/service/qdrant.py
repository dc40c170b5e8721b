"""A stand-in for a Qdrant server: its REST routes over the client's in-memory mode.

`python -m tests.integration.service.qdrant PORT`. Good enough to share one index between
processes in a test; the engine's own behaviour is tested on the engine.
"""

from __future__ import annotations

import sys
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from pydantic import TypeAdapter
from qdrant_client import AsyncQdrantClient, models

app = FastAPI()
memory = AsyncQdrantClient(":memory:")


def ok(result: Any) -> Response:
    adapter = TypeAdapter(Any)
    body = adapter.dump_json({"result": result, "status": "ok", "time": 0.0}, exclude_none=True)
    return Response(body, media_type="application/json")


@app.exception_handler(ValueError)
async def missing(_: Request, error: Exception) -> Response:
    status = 404 if "not found" in str(error) else 400
    return JSONResponse({"status": {"error": str(error)}, "time": 0.0}, status_code=status)


@app.get("/collections")
async def collections() -> Response:
    return ok(await memory.get_collections())


@app.get("/aliases")
async def aliases() -> Response:
    return ok(await memory.get_aliases())


@app.post("/collections/aliases")
async def change_aliases(body: dict[str, Any]) -> Response:
    actions = models.ChangeAliasesOperation.model_validate(body).actions
    return ok(await memory.update_collection_aliases(actions))


@app.get("/collections/{name}")
async def collection(name: str) -> Response:
    return ok(await memory.get_collection(name))


@app.put("/collections/{name}")
async def create(name: str, body: dict[str, Any]) -> Response:
    wanted = models.CreateCollection.model_validate(body)
    assert wanted.vectors is not None
    return ok(
        await memory.create_collection(
            name,
            vectors_config=wanted.vectors,
            sparse_vectors_config=wanted.sparse_vectors,
            metadata=wanted.metadata,
        )
    )


@app.delete("/collections/{name}")
async def drop(name: str) -> Response:
    return ok(await memory.delete_collection(name))


DONE = models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)


@app.put("/collections/{name}/index")
async def index(name: str) -> Response:
    return ok(DONE)  # in memory everything is scanned


@app.put("/collections/{name}/points")
async def upsert(name: str, body: dict[str, Any]) -> Response:
    points = models.PointsList.model_validate(body).points
    return ok(await memory.upsert(name, points))


@app.post("/collections/{name}/points/batch")
async def batch(name: str, body: dict[str, Any]) -> Response:
    operations = models.UpdateOperations.model_validate(body).operations
    return ok(await memory.batch_update_points(name, operations))


@app.post("/collections/{name}/points/delete")
async def delete(name: str, body: dict[str, Any]) -> Response:
    chosen = models.FilterSelector.model_validate(body)
    return ok(await memory.delete(name, chosen))


@app.post("/collections/{name}/points")
async def retrieve(name: str, body: dict[str, Any]) -> Response:
    wanted = models.PointRequest.model_validate(body)
    return ok(
        await memory.retrieve(
            name, wanted.ids, with_payload=True, with_vectors=bool(wanted.with_vector)
        )
    )


@app.post("/collections/{name}/points/scroll")
async def scroll(name: str, body: dict[str, Any]) -> Response:
    wanted = models.ScrollRequest.model_validate(body)
    records, following = await memory.scroll(
        name, wanted.filter, limit=wanted.limit or 10, offset=wanted.offset, with_payload=True
    )
    return ok({"points": records, "next_page_offset": following})


@app.post("/collections/{name}/points/count")
async def count(name: str, body: dict[str, Any]) -> Response:
    wanted = models.CountRequest.model_validate(body)
    return ok(await memory.count(name, wanted.filter, exact=True))


@app.post("/collections/{name}/points/query/batch")
async def query(name: str, body: dict[str, Any]) -> Response:
    wanted = models.QueryRequestBatch.model_validate(body)
    return ok(await memory.query_batch_points(name, wanted.searches))


@app.post("/collections/{name}/facet")
async def facet(name: str, body: dict[str, Any]) -> Response:
    wanted = models.FacetRequest.model_validate(body)
    return ok(await memory.facet(name, wanted.key, limit=wanted.limit or 10, exact=True))


@app.api_route("/{path:path}", methods=["GET", "PUT", "POST", "PATCH", "DELETE"])
async def unknown(path: str) -> None:
    raise HTTPException(501, f"the stand-in doesn't know {path}")


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
