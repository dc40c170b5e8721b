from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from quire.retrieval.directions import whitened

Vectors = NDArray[np.float64]


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _by_definition(vectors: Vectors, question: Vectors, page: NDArray[np.int64]) -> Vectors:
    """Cosines after every vector went through the root of the inverse scatter."""
    off = np.array(
        [v - vectors[page == p].mean(axis=0) for v, p in zip(vectors, page, strict=True)]
    )
    scatter = off.T @ off
    values, axes = np.linalg.eigh(scatter + 0.013 * scatter.trace() * np.eye(len(scatter)))
    lens = (axes / np.sqrt(values)) @ axes.T
    return _unit(vectors @ lens) @ _unit(question @ lens)


def test_it_is_the_cosine_after_whitening_by_the_scatter_within_pages() -> None:
    random = np.random.default_rng(7)
    vectors, question = _unit(random.normal(size=(9, 5))), _unit(random.normal(size=5))
    page = np.array([0, 0, 0, 1, 1, 2, 3, 3, 3])
    found = whitened(vectors @ vectors.T, vectors @ question, page)
    assert found == pytest.approx(_by_definition(vectors, question, page))


def test_what_every_page_varies_in_no_longer_decides() -> None:
    code, robots, radios = np.eye(3)
    vectors = _unit(
        np.array([robots + code, robots - code, radios + 0.4 * code, radios - code, radios - code])
    )
    question = _unit(code + 0.8 * radios)  # asks about radios, and is worded like code
    page = np.array([0, 0, 1, 1, 1])
    plain = vectors @ question
    found = whitened(vectors @ vectors.T, plain, page)
    assert plain[0] > plain[3], "like code, but of robots"
    assert found[0] < found[3]


def test_pages_of_one_chunk_each_scatter_in_nothing() -> None:
    vectors = np.eye(3)
    cosine = np.array([0.1, 0.2, 0.3])
    assert whitened(vectors @ vectors.T, cosine, np.arange(3)) == pytest.approx(cosine)


def test_a_page_that_says_the_same_twice_is_no_division_by_zero() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = whitened(vectors @ vectors.T, vectors @ vectors[0], np.array([0, 0, 1]))
    assert np.isfinite(found).all()


def test_a_question_that_is_a_chunk_stays_nearest_to_it() -> None:
    random = np.random.default_rng(3)
    vectors = _unit(random.normal(size=(12, 4)))
    page = np.repeat(np.arange(4), 3)
    for number, question in enumerate(vectors):
        found = whitened(vectors @ vectors.T, vectors @ question, page)
        assert found.argmax() == number
        assert found[number] == pytest.approx(1.0)
