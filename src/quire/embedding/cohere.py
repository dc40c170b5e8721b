"""Cohere's embeddings; documents and questions are embedded differently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quire.embedding.remote import RemoteEmbedder

DEFAULT_URL = "https://api.cohere.com"
DIMENSIONS = {"embed-english-light-v3.0": 384, "embed-multilingual-light-v3.0": 384}


class CohereEmbedder(RemoteEmbedder):
    """`embed-english-v3.0` (1024) by default; 96 texts per request is the service's limit."""

    def __init__(
        self, *, key: str, base_url: str | None = None, model: str = "embed-english-v3.0"
    ) -> None:
        super().__init__(
            base_url=base_url or DEFAULT_URL,
            key=key,
            name=f"cohere/{model}",
            dimension=DIMENSIONS.get(model, 1024),
            max_tokens=512,
            batch_size=96,
        )
        self._model = model

    def _body(self, texts: Sequence[str], *, query: bool) -> tuple[str, dict[str, Any]]:
        return "/v2/embed", {
            "model": self._model,
            "texts": list(texts),
            "input_type": "search_query" if query else "search_document",
            "embedding_types": ["float"],
            "truncate": "END",
        }

    def _parse(self, answer: Mapping[str, Any]) -> tuple[list[list[float]], int]:
        meta: dict[str, Any] = answer.get("meta") or {}
        billed: dict[str, Any] = meta.get("billed_units") or {}
        return list(answer["embeddings"]["float"]), int(billed.get("input_tokens", 0))
