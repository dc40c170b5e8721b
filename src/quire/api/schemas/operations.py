"""Health, and what went wrong."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field


class ServiceStatus(BaseModel):
    """Whether one part works."""

    status: Literal["up", "down", "degraded"]
    latency_ms: float | None = None
    message: str | None = None


class HealthResponse(BaseModel):
    """Whether the service and its parts work."""

    status: Literal["healthy", "degraded", "unhealthy"]
    services: dict[str, ServiceStatus]
    timestamp: datetime


class ErrorResponse(BaseModel):
    """What went wrong, for people and programs (RFC 9457 members beside ours)."""

    error_code: str = Field(examples=["validation_error", "retrieval_unavailable"])
    message: str
    details: dict[str, Any] | None = None
    trace_id: str
    type: str = "about:blank"
    title: str
    status: int
    detail: str
