"""Which adapter stands behind each port, chosen from the settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from quire.answering.runtime import build_types
from quire.embedding.port import Embedder
from quire.errors import InvalidSetting
from quire.index.port import Index
from quire.reading import Reader
from quire.settings import Settings

if TYPE_CHECKING:
    from agents import Model


def open_embedder(settings: Settings) -> Embedder:
    """The embedder of `QUIRE_EMBEDDER`; a remote one needs its key."""
    match settings.embedder:
        case "minilm":
            from quire.embedding.minilm import MinilmEmbedder

            return MinilmEmbedder(
                settings.models_path,
                precision=settings.embedder_precision,
                threads=settings.threads or None,
                source=settings.model_source,
            )
        case "openai":
            from quire.embedding.openai import OpenAIEmbedder

            if settings.openai_api_key is None:
                raise InvalidSetting("OPENAI_API_KEY: needed by QUIRE_EMBEDDER=openai")
            return OpenAIEmbedder(
                key=settings.openai_api_key.get_secret_value(), base_url=settings.openai_base_url
            )
        case "cohere":
            from quire.embedding.cohere import CohereEmbedder

            if settings.cohere_api_key is None:
                raise InvalidSetting("COHERE_API_KEY: needed by QUIRE_EMBEDDER=cohere")
            return CohereEmbedder(
                key=settings.cohere_api_key.get_secret_value(), model=settings.cohere_model
            )


def open_reader(settings: Settings) -> Reader | None:
    """The shipped reader model, unless `QUIRE_READER` is off; nothing is loaded yet."""
    if settings.reader == "off":
        return None
    from quire.reading.model import ReaderModel

    return ReaderModel(threads=settings.threads or None)


async def open_index(settings: Settings, *, serving: bool = False) -> Index:
    """Qdrant Edge in the data folder, or the server of `QDRANT_URL`.

    Who serves meanwhile has the embedded engine in a process of its own.
    """
    if settings.qdrant_url is None:
        return await open_embedded_index(settings, serving=serving)
    return open_server_index(settings)


async def open_embedded_index(settings: Settings, *, serving: bool = False) -> Index:
    """Qdrant Edge in the data folder, whether or not there is a server."""
    from quire.index.edge import EdgeIndex

    return await EdgeIndex.open(
        settings.index_path, collection=settings.qdrant_collection_name, apart=serving
    )


def open_server_index(settings: Settings) -> Index:
    """The server of `QDRANT_URL`; nothing is sent yet."""
    if settings.qdrant_url is None:
        raise InvalidSetting("QDRANT_URL: names the server; it is not set")
    from quire.index.server import ServerIndex

    key = settings.qdrant_api_key
    return ServerIndex.open(
        settings.qdrant_url,
        api_key=key.get_secret_value() if key else None,
        collection=settings.qdrant_collection_name,
        grpc_port=settings.qdrant_grpc_port,
        timeout=settings.qdrant_timeout,
        shard_number=settings.qdrant_shards,
        replication_factor=settings.qdrant_replicas,
    )


class ModelSource:
    """Gives the model that drafts answers, made when it is first asked for.

    The agents SDK takes longer to import than everything else a server needs to be ready.
    """

    def __init__(self, name: str, make: Callable[[], Model]) -> None:
        self.name = name
        """What the model goes by in responses."""
        self._make = make
        self._made: Model | None = None
        self._making = threading.Lock()

    def __call__(self) -> Model:
        """The model; blocks while the SDK is imported for the first time."""
        with self._making:
            if self._made is None:
                self._made = self._make()
                build_types()
            return self._made

    async def close(self) -> None:
        """Close the model, if it was ever made."""
        if self._made is not None:
            await self._made.close()


def open_model(settings: Settings, embedder: Embedder, reader: Reader | None) -> ModelSource:
    """Who drafts answers: the book's own sentences, or a language model."""
    if settings.model == "extractive":
        return ModelSource("extractive", lambda: _extractive(embedder, reader))
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise InvalidSetting("OPENAI_API_KEY: needed by QUIRE_MODEL=openai")
    return ModelSource(settings.openai_model, lambda: _language_model(settings))


def _extractive(embedder: Embedder, reader: Reader | None) -> Model:
    from quire.answering.extractive import ExtractiveModel

    return ExtractiveModel(embedder=embedder, reader=reader)


def _language_model(settings: Settings) -> Model:
    from quire.llm import build_model

    key = settings.openai_api_key
    return build_model(
        settings.openai_model,
        api_key=key.get_secret_value() if key else None,
        base_url=settings.openai_base_url,
        api=settings.openai_api,
        timeout=settings.model_timeout,
    )
