"""The analyzer: what counts as the same term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.index.lexical import LONGEST_TERM, Bm25, asked, term_id, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The robots are running", {"robot", "run"}),
        ("don't it's what's", set[str]()),
        ("café Übung naïve", {"cafe", "ubung", "naiv"}),
        ("cafe\u0301", {"cafe"}),
        ("the robot’s arm", {"robot", "arm"}),
        ("WebAssembly's heap", {"web", "assembl", "webassembly", "heap"}),
        ("create_publisher", {"creat", "publish", "createpublisher"}),
        ("createPublisher", {"creat", "publish", "createpublisher"}),
        ("XMLHttpRequest", {"xml", "http", "request", "xmlhttprequest"}),
        ("--symlink-install", {"symlink", "instal", "symlinkinstall"}),
        ("GPUs gpus CPUs SDKs APIs", {"gpu", "cpu", "sdk", "api"}),
        ("userIDs LLMs-based", {"user", "id", "userids", "llm", "base", "llmsbased"}),
        ("DNS CSS GPS status", {"dns", "css", "gps", "status"}),
        ("real-time", {"real", "time", "realtime"}),
        ("ros2", {"ros", "2", "ros2"}),
        ("3.11", {"3.11"}),
        ("v1.20.0", {"1.20.0", "1.20"}),
        ("1,000", {"1000"}),
        ("C++", {"c", "c++"}),
        ("std::vector<int>", {"std", "vector", "stdvector", "int"}),
        ("__init__", {"init"}),
        ("اُردو زبان", {"اردو", "زبان"}),
        ("हिन्दी भाषा", {"हिन्दी", "भाषा"}),
        ("机器人", {"机器", "器人"}),
        ("人", {"人"}),
        ("ROS的机器", {"ros", "的机", "机器"}),
        ("?!… -- ... ---", set[str]()),
        ("What does ..= mean?", {"..=", "mean"}),
        ("a match arm => and `->`, 1..5", {"match", "arm", "=>", "->", "1", "..", "5"}),
        ("x && y || !z", {"x", "&&", "y", "||", "z"}),
        ("| a == b | `!=` |", {"==", "b", "!="}),
        ("**bold** ../up https://a.b <!-- x --> -->", {"bold", "up", "http", "ab", "b", "x"}),
        ("|---|:--|==========", set[str]()),
    ],
)
def test_terms(text: str, expected: set[str]) -> None:
    assert set(terms(text)) == expected


def test_operators_count_in_short_questions_alone() -> None:
    assert asked("What does ..= mean?") == ("..=", "mean")
    code = "What is printed by `let f = |x| -> i32 { match x { 1..=5 => 10, other => other } }`?"
    assert "=>" in terms(code)
    assert not {"=>", "->", "..="} & set(asked(code))
    assert asked("robot robots") == ("robot",)


def test_a_dotted_name_is_found_by_part_by_segment_and_whole() -> None:
    found = set(terms("rclpy.node.create_publisher"))
    for question in ("rclpy", "node", "publisher", "create_publisher", "createPublisher"):
        assert set(terms(question)) <= found


def test_a_path_is_found_by_its_file_name_and_folders() -> None:
    found = set(terms("see src/demo_pkg/package.xml there"))
    for question in ("demo_pkg", "package", "xml", "src/demo_pkg/package.xml"):
        assert set(terms(question)) <= found


def test_a_hash_is_one_term() -> None:
    assert len(terms("a3f9c2d4e5f6a7b8c9d0e1f2a3b4")) == 1


def test_term_ids_never_change() -> None:
    """They are stored: another function would need a new schema version."""
    assert term_id("robot") == 3626729188


def test_a_repeated_term_saturates_and_a_long_text_weighs_less() -> None:
    bm25 = Bm25()
    once, thrice = (bm25.document("robot " * n).values[0] for n in (1, 3))
    assert once < thrice < 3 * once
    assert thrice < bm25.k1 + 1
    long = bm25.document("robot " + " ".join(f"w{n}x" for n in range(400)))
    assert long.values[long.indices.index(term_id("robot"))] < once


def test_the_formula_is_bm25() -> None:
    bm25 = Bm25(k1=1.2, b=0.75, average_length=4)
    vector = bm25.document("robot robot arm hand")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert weights[term_id("robot")] == pytest.approx(2 * 2.2 / (2 + 1.2))
    assert weights[term_id("arm")] == pytest.approx(2.2 / (1 + 1.2))


def test_a_query_takes_each_of_its_terms_once() -> None:
    vector = Bm25().query("robot arm robot")
    assert dict(zip(vector.indices, vector.values, strict=True)) == {
        term_id("robot"): 1.0,
        term_id("arm"): 1.0,
    }


@given(st.text(max_size=200))
def test_any_text_gives_a_valid_vector_and_always_the_same(text: str) -> None:
    vector = Bm25().document(text)
    assert len(set(vector.indices)) == len(vector.indices) == len(vector.values)
    assert all(0 <= index < 2**32 for index in vector.indices)
    assert all(value > 0 for value in vector.values)
    assert Bm25().document(text) == vector
    assert all(0 < len(term) <= LONGEST_TERM + 2 for term in terms(text))


@given(st.text(alphabet="ab_.-/:'#@A1 ", max_size=60))
def test_a_text_finds_itself(text: str) -> None:
    document = set(Bm25().document(text).indices)
    assert set(Bm25().query(text.swapcase().swapcase()).indices) == document
