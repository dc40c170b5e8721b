"""Whether the process lives and its parts work."""

from __future__ import annotations

from fastapi import APIRouter, Response

from quire.api.dependencies import LibraryDependency
from quire.api.schemas import HealthResponse, ServiceStatus
from quire.models import utc_now
from quire.wiring import PartHealth

router = APIRouter(tags=["operations"])


@router.get("/health")
async def health(library: LibraryDependency) -> HealthResponse:
    """Each part with its latency; `degraded` when some work, `unhealthy` when none does."""
    return summary(await library.health())


@router.get("/livez")
async def livez() -> dict[str, str]:
    """The process answers; nothing else is looked at."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"model": HealthResponse}})
async def readyz(library: LibraryDependency, response: Response) -> HealthResponse:
    """Ready to answer questions: every part is up; otherwise 503."""
    state = summary(await library.health())
    if state.status != "healthy":
        response.status_code = 503
    return state


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
