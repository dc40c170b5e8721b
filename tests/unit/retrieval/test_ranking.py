from __future__ import annotations

import numpy as np
import pytest

from quire.index.finds import Finds, Question, choose_from
from quire.index.port import Candidates, Hit
from quire.retrieval.pages import PageWeights
from quire.retrieval.ranking import Candidate, Weights, diversify, rank
from tests.chunks import make_chunk

QUERY = np.array([1.0, 0.0], dtype=np.float32)


def hit(name: str, angle: float, score: float, **fields: object) -> Hit:
    vector = np.array([np.cos(angle), np.sin(angle)], dtype=np.float32)
    return Hit(make_chunk(name, **fields), score, vector)


def ranked(
    found: Candidates, query: str = "x", weights: Weights | None = None, limit: int | None = None
) -> list[Candidate]:
    question = Question.of(query, QUERY)
    choice, hits = choose_from(
        found, question, lambda finds: rank(finds, weights or Weights(), limit)
    )
    return choice.candidates(hits)


def names(found: Candidates, weights: Weights | None = None) -> list[str]:
    return [candidate.chunk.text for candidate in ranked(found, "robot arm", weights)]


def test_a_lexical_hit_can_overtake_a_slightly_nearer_one() -> None:
    near, exact = hit("near text here", 0.30, 0.955), hit("exact text here", 0.45, 12.0)
    assert names(Candidates((near, exact), (exact,))) == ["exact text here", "near text here"]
    assert names(Candidates((near, exact), (exact,)), Weights(bm25=0.0))[0] == "near text here"


def test_a_hit_of_one_way_alone_is_ranked_by_its_true_cosine() -> None:
    only_lexical = hit("only lexical", 0.2, 3.0)
    best = ranked(Candidates((), (only_lexical,)))[0]
    assert abs(best.cosine - np.cos(0.2)) < 1e-6


def test_headings_that_name_the_question_help() -> None:
    plain = hit("plain words", 0.40, 0.92, section_title="Overview")
    named = hit("named words", 0.45, 0.90, section_title="Robot arm")
    assert names(Candidates((plain, named), ()))[0] == "named words"


def test_a_page_whose_path_names_the_question_comes_before_its_equal() -> None:
    plain = hit("plain words", 0.40, 0.92, source_file="guides/overview.md")
    named = hit("named words", 0.41, 0.91, source_file="robot/arm.md")
    assert names(Candidates((plain, named), ()))[0] == "named words"
    assert (
        names(Candidates((plain, named), ()), Weights(page=PageWeights(path=0.0)))[0]
        == "plain words"
    )


def test_a_heading_that_names_a_rare_word_helps_more_than_a_common_one() -> None:
    idf = np.array([0.4, 3.6, 0.0])
    flags = np.array([[True, False, False], [False, True, False]])
    none = np.zeros_like(flags)
    finds = Finds(
        cosine=np.array([0.51, 0.5]),
        bm25=np.zeros(2),
        weights=np.zeros((2, 3)),
        idf=idf,
        headings=flags,
        section=flags,
        path=none,
        opens=np.zeros(2, np.bool_),
        page=np.arange(2),
        twin=np.arange(2),
        nearest=2,
        vectors=lambda rows: np.zeros((len(rows), 2), np.float32),
    )
    ranking = rank(finds, Weights())
    assert ranking.rows == (1, 0)
    assert ranking.headings == pytest.approx([1 / 7, 3 / 7]), "roots .63, 1.9 and 1.9 of 4.4"


def test_what_a_thing_is_stands_where_its_page_begins() -> None:
    inside = hit("inside words", 0.40, 0.92, page_title="Robot arms", chunk_index=3, id="a")
    begins = hit("first words", 0.55, 0.85, page_title="Robot arms", chunk_index=0, id="b")
    assert names(Candidates((inside, begins), ()))[0] == "first words"
    assert names(Candidates((inside, begins), ()), Weights(opening=0.0))[0] == "inside words"
    other = hit("first words", 0.55, 0.85, page_title="Robots", chunk_index=0, id="c")
    assert names(Candidates((inside, other), ()))[0] == "inside words"


def test_among_the_best_what_pages_vary_in_counts_less() -> None:
    code, robots, radios = np.eye(3)
    vectors = np.array([robots + code, robots - code, radios + 0.4 * code, radios - code])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    question = (code + 0.8 * radios) / np.linalg.norm(code + 0.8 * radios)
    flags = np.zeros((4, 1), dtype=np.bool_)
    finds = Finds(
        cosine=vectors @ question,
        bm25=np.zeros(4),
        weights=np.zeros((4, 1)),
        idf=np.zeros(1),
        headings=flags,
        section=flags,
        path=flags,
        opens=np.zeros(4, np.bool_),
        page=np.array([0, 0, 1, 1]),
        twin=np.arange(4),
        nearest=4,
        vectors=vectors.astype(np.float32).__getitem__,
    )
    plain = rank(finds, Weights(apart=0.0)).score
    told_apart = rank(finds, Weights()).score
    assert told_apart[2] - told_apart[0] > plain[2] - plain[0]


def test_equal_texts_count_once_and_the_best_stays() -> None:
    first = hit("same words", 0.5, 0.8, id="a", content_hash="h")
    second = hit("same words", 0.1, 0.9, id="b", content_hash="h")
    assert [candidate.chunk.id for candidate in ranked(Candidates((first, second), ()))] == ["b"]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert names(Candidates((), ())) == []


def test_a_question_without_terms_is_ranked_by_its_vector_alone() -> None:
    found = Candidates((hit("far text", 0.9, 0.6), hit("near text", 0.1, 0.9)), ())
    best = ranked(found, "of the")[0]
    assert (best.chunk.text, best.headings, best.section, best.bm25) == ("near text", 0, 0, 0)


def test_diversity_skips_a_near_copy() -> None:
    found = Candidates(
        (hit("a text", 0.0, 1.0), hit("b text", 0.02, 0.99), hit("c text", 0.9, 0.6)), ()
    )
    plain = diversify(ranked(found), limit=2, relevance=1.0)
    diverse = diversify(ranked(found), limit=2, relevance=0.4)
    assert [c.chunk.text for c in plain] == ["a text", "b text"]
    assert [c.chunk.text for c in diverse] == ["a text", "c text"]


def test_a_limit_counts_texts_not_hits() -> None:
    hits = [
        hit("same words", 0.1, 0.9, id="a", content_hash="h"),
        hit("same words", 0.2, 0.8, id="b", content_hash="h"),
        hit("other words", 0.3, 0.7, id="c", content_hash="i"),
        hit("third words", 0.4, 0.6, id="d", content_hash="j"),
    ]
    found = Candidates(tuple(hits), ())
    assert [candidate.chunk.id for candidate in ranked(found, limit=2)] == ["a", "c"]
