"""What operators can watch: Prometheus metrics and OpenTelemetry spans, each only if wanted."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quire.errors import MissingExtra
from quire.models import Filters, Retrieval

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from quire.retrieval import Searcher

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """Counters and histograms of one process; no label ever names a session or a question."""

    def __init__(self) -> None:
        """Raises `MissingExtra` without the `metrics` extra."""
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ModuleNotFoundError as error:
            raise MissingExtra("/metrics", "metrics") from error

        self._registry = CollectorRegistry()
        self.requests = Histogram(
            "quire_http_request_duration_seconds",
            "Time to the last byte of a response.",
            ("method", "route", "status"),
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self.in_progress = Gauge(
            "quire_http_requests_in_progress",
            "Requests that are being served.",
            registry=self._registry,
        )
        self.retrieval = Histogram(
            "quire_retrieval_duration_seconds",
            "Time of one retrieval.",
            registry=self._registry,
            buckets=_BUCKETS,
        )
        self.answers = Counter(
            "quire_answers_total", "Answers.", ("outcome",), registry=self._registry
        )
        self.tokens = Counter(
            "quire_model_tokens_total",
            "Tokens of the language model.",
            registry=self._registry,
        )
        self.chunks = Counter(
            "quire_ingest_chunks_total", "Chunks written.", ("action",), registry=self._registry
        )
        for outcome in ("answered", "refused", "error"):
            self.answers.labels(outcome)
        for action in ("created", "deleted", "embedded"):
            self.chunks.labels(action)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self._registry)


class Telemetry:
    """Reports what happens to whoever listens; costs next to nothing when nobody does."""

    def __init__(self, *, spans: bool = False) -> None:
        self.metrics: Metrics | None = None
        self._tracer = _tracer() if spans else None

    def measure(self) -> Metrics:
        """Start counting, once."""
        self.metrics = self.metrics or Metrics()
        return self.metrics

    @contextmanager
    def span(self, name: str, **attributes: Any) -> Generator[None]:
        """A span with GenAI attributes (`operation_name` → `gen_ai.operation.name`)."""
        if self._tracer is None:
            yield
            return
        values = {f"gen_ai.{k.replace('_', '.', 1)}": v for k, v in attributes.items() if v}
        with self._tracer.start_as_current_span(name, attributes=values):
            yield


class ObservedRetriever:
    """A searcher whose retrievals are timed and traced."""

    def __init__(self, searcher: Searcher, telemetry: Telemetry, *, source: str) -> None:
        self._searcher = searcher
        self._telemetry = telemetry
        self._source = source

    async def retrieve(
        self,
        book_id: str,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float = 0.0,
        filters: Filters = Filters(),
        literal: bool = False,
    ) -> Retrieval:
        """See `Searcher.retrieve`; passages that are to be answered from are also read."""
        started = time.perf_counter()
        with self._telemetry.span(f"retrieval {self._source}", operation_name="retrieval"):
            found = await self._searcher.retrieve(
                book_id,
                query,
                top_k=top_k,
                score_threshold=score_threshold,
                filters=filters,
                literal=literal,
                read=True,
            )
        if self._telemetry.metrics:
            self._telemetry.metrics.retrieval.observe(time.perf_counter() - started)
        return found


def _tracer() -> Tracer:
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtra("QUIRE_TELEMETRY", "telemetry") from error

    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        except ModuleNotFoundError as error:
            raise MissingExtra("QUIRE_TELEMETRY", "telemetry") from error
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("quire")
