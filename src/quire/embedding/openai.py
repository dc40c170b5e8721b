"""OpenAI's embeddings, or any server that speaks the same protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quire.embedding.remote import RemoteEmbedder

DEFAULT_URL = "https://api.openai.com/v1"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}


class OpenAIEmbedder(RemoteEmbedder):
    """`text-embedding-3-small` (1536) by default."""

    def __init__(
        self, *, key: str, base_url: str | None = None, model: str = "text-embedding-3-small"
    ) -> None:
        super().__init__(
            base_url=base_url or DEFAULT_URL,
            key=key,
            name=f"openai/{model}",
            dimension=DIMENSIONS.get(model, 1536),
            max_tokens=8191,
            batch_size=128,
        )
        self._model = model

    def _body(self, texts: Sequence[str], *, query: bool) -> tuple[str, dict[str, Any]]:
        return "/embeddings", {
            "model": self._model,
            "input": list(texts),
            "encoding_format": "float",
        }

    def _parse(self, answer: Mapping[str, Any]) -> tuple[list[list[float]], int]:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        usage: dict[str, Any] = answer.get("usage") or {}
        return [row["embedding"] for row in rows], int(usage.get("total_tokens", 0))
