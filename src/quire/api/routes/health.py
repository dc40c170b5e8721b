"""Whether the process lives, whether its parts work, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel

from quire.api.dependencies import LibraryDependency
from quire.api.errors import responses
from quire.api.schemas.operations import HealthResponse, ServiceStatus
from quire.errors import NotFound
from quire.models import utc_now
from quire.wiring import PartHealth

router = APIRouter(tags=["operations"])


class Alive(BaseModel):
    """The process answers."""

    status: str = "ok"


@router.get("/health", responses=responses(500))
async def health(library: LibraryDependency) -> HealthResponse:
    """Each part with its latency; `degraded` when some work, `unhealthy` when none does."""
    return summary(await library.health())


@router.get("/livez")
async def livez() -> Alive:
    """The process answers; nothing else is looked at."""
    return Alive()


@router.get("/readyz", responses={503: {"model": HealthResponse}})
async def readyz(
    library: LibraryDependency, request: Request, response: Response
) -> HealthResponse:
    """Ready to answer questions: every part is up, and we are not about to stop; else 503."""
    state = summary(await library.health())
    if state.status != "healthy" or request.app.state.stopping.is_set():
        response.status_code = 503
    return state


@router.get("/metrics", response_class=PlainTextResponse, responses=responses(404))
async def metrics(library: LibraryDependency) -> Response:
    """Prometheus metrics of this process."""
    counted = library.telemetry.metrics
    if counted is None:
        raise NotFound("metrics need an optional part: pip install 'quire[metrics]'")
    return Response(counted.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


def summary(parts: dict[str, PartHealth]) -> HealthResponse:
    """One word over all parts."""
    down = sum(not part.up for part in parts.values())
    status = "healthy" if not down else "unhealthy" if down == len(parts) else "degraded"
    return HealthResponse(
        status=status,
        services={
            name: ServiceStatus(
                status="up" if part.up else "down",
                latency_ms=round(part.latency_ms, 3),
                message=part.message,
            )
            for name, part in parts.items()
        },
        timestamp=utc_now(),
    )
