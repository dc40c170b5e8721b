"""What every embedder promises, run on all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from starlette.responses import JSONResponse, Response

from quire.embedding.cohere import CohereEmbedder
from quire.embedding.minilm import MinilmEmbedder
from quire.embedding.openai import OpenAIEmbedder
from quire.embedding.port import Embedder
from quire.embedding.remote import RemoteEmbedder
from quire.errors import ConfigurationError, EmbedderUnavailable
from quire.testing.embedding import HashEmbedder
from tests.contract.embedding_service import Service, embedding_service

TEXTS = ["A topic is a named bus.", "Nodes exchange messages.", "x", "", "né ünïcode 机器人 🤖"]


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with embedding_service() as running:
        yield running


def remote(kind: str, service: Service, **changes: object) -> RemoteEmbedder:
    if kind == "openai":
        made: RemoteEmbedder = OpenAIEmbedder(key="k", base_url=f"{service.url}/v1")
    else:
        made = CohereEmbedder(key="k", base_url=service.url)
    for name, value in changes.items():
        setattr(made, f"_{name}", value)
    return made


@pytest.fixture(params=["hash", "minilm", "openai", "cohere"])
async def embedder(
    request: pytest.FixtureRequest, service: Service, model_cache: Path
) -> AsyncIterator[Embedder]:
    made: Embedder
    match request.param:
        case "hash":
            made = HashEmbedder()
        case "minilm":
            made = MinilmEmbedder(model_cache)
        case kind:
            made = remote(kind, service)
    yield made
    await made.close()


async def test_one_unit_vector_per_text_in_input_order(embedder: Embedder) -> None:
    together = await embedder.embed_documents(TEXTS)
    assert together.shape == (len(TEXTS), embedder.dimension)
    assert together.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-4)
    for row, text in zip(together, TEXTS, strict=True):
        alone = (await embedder.embed_documents([text]))[0]
        assert float(alone @ row) > 0.99


async def test_no_texts_is_an_empty_matrix(embedder: Embedder) -> None:
    assert (await embedder.embed_documents([])).shape == (0, embedder.dimension)


async def test_a_query_is_one_unit_vector(embedder: Embedder) -> None:
    query = await embedder.embed_query("How do nodes talk?")
    assert query.shape == (embedder.dimension,)
    assert abs(float(np.linalg.norm(query)) - 1.0) < 1e-4


async def test_a_text_far_over_the_window_is_embedded(embedder: Embedder) -> None:
    vectors = await embedder.embed_documents(["robot " * 5000])
    assert np.isfinite(vectors).all()


async def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    first, second = [await embedder.embed_documents(["again"]) for _ in range(2)]
    np.testing.assert_allclose(first, second, atol=1e-5)


async def test_it_names_its_space_and_counts_tokens(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.max_tokens >= 128
    assert embedder.count_tokens("one two three four") >= 4
    assert embedder.count_tokens("word " * 100) > embedder.count_tokens("word " * 10)


@pytest.mark.parametrize("kind", ["openai", "cohere"])
class TestRemote:
    async def test_large_inputs_go_out_in_bounded_batches(
        self, kind: str, service: Service
    ) -> None:
        embedder = remote(kind, service)
        texts = [f"text {i}" for i in range(1000)]
        vectors = await embedder.embed_documents(texts)
        assert vectors.shape == (1000, embedder.dimension)
        assert service.most_concurrent <= 4
        sizes = [len(r.get("input") or r["texts"]) for r in service.requests]
        assert sum(sizes) == 1000
        assert max(sizes) <= 128
        assert embedder.tokens_used == 1000
        assert service.requests[0]["authorization"] == "Bearer k"
        await embedder.close()

    async def test_it_waits_as_long_as_the_service_asks(self, kind: str, service: Service) -> None:
        service.failures.append(
            Response(status_code=429, headers={"Retry-After": "0.2"}),
        )
        service.failures.append(Response(status_code=503))
        embedder = remote(kind, service)
        assert (await embedder.embed_query("q")).shape == (embedder.dimension,)
        assert len(service.requests) == 3
        await embedder.close()

    async def test_a_service_that_stays_down_is_a_typed_error(
        self, kind: str, service: Service
    ) -> None:
        for _ in range(2):
            service.failures.append(Response(status_code=500, headers={"Retry-After": "0"}))
        embedder = remote(kind, service, attempts=2)
        with pytest.raises(EmbedderUnavailable, match="500"):
            await embedder.embed_query("q")
        await embedder.close()

    async def test_nobody_listening_is_a_typed_error(self, kind: str, service: Service) -> None:
        embedder = remote(kind, service, attempts=1, base_url="http://127.0.0.1:9")
        with pytest.raises(EmbedderUnavailable, match="doesn't answer"):
            await embedder.embed_query("q")
        await embedder.close()

    async def test_a_refused_key_is_the_operators_business(
        self, kind: str, service: Service
    ) -> None:
        service.failures.append(JSONResponse({}, status_code=401))
        embedder = remote(kind, service)
        with pytest.raises(ConfigurationError, match="key"):
            await embedder.embed_query("q")
        await embedder.close()

    async def test_one_bad_text_does_not_hide_which_texts_are_good(
        self, kind: str, service: Service
    ) -> None:
        service.refuse = "bad"
        embedder = remote(kind, service)
        with pytest.raises(EmbedderUnavailable, match="400"):
            await embedder.embed_documents(["a", "b", "bad", "c"])
        assert any((r.get("input") or r["texts"]) == ["a", "b"] for r in service.requests)
        await embedder.close()

    async def test_too_few_vectors_are_refused(self, kind: str, service: Service) -> None:
        service.drop = 1
        embedder = remote(kind, service)
        with pytest.raises(EmbedderUnavailable, match="expected 1 vectors"):
            await embedder.embed_query("q")
        await embedder.close()


async def test_cohere_embeds_questions_and_documents_differently(service: Service) -> None:
    embedder = remote("cohere", service)
    await embedder.embed_query("q")
    await embedder.embed_documents(["q"])
    assert [r["input_type"] for r in service.requests] == ["search_query", "search_document"]
    await embedder.close()
