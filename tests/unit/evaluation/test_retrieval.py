from __future__ import annotations

from pathlib import Path

import pytest

from quire.evaluation.questions import Question
from quire.evaluation.retrieval import evaluate_retrieval
from quire.models import Message
from tests.unit.evaluation.library import ScriptedLibrary, book_of, passage

PAGE = (
    "# Guide\n\nIntro words.\n\n## Setup\n\nDo this.\n\n"
    "### Linux\n\nDo that.\n\n## Usage\n\nUse it.\n"
)


async def test_a_page_ranks_by_its_best_passage(tmp_path: Path) -> None:
    library = ScriptedLibrary(
        found={"q": [passage("b.md"), passage("b.md", "more"), passage("a.md")]}
    )
    book = book_of(tmp_path, {"a.md": "# A", "b.md": "# B"}, library)
    result = await evaluate_retrieval(book, [Question(id="1", text="q", relevant=("a.md",))])
    (question,) = result.questions
    assert (question.ranking, question.rank) == (["b", "a"], 2)
    assert result.metrics()["mrr@10"] == 0.5
    assert result.metrics()["n"] == 1


async def test_questions_that_name_nothing_are_left_out_and_counted(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"a.md": "# A"}, ScriptedLibrary())
    result = await evaluate_retrieval(book, [Question(id="1", text="q", answerable=False)])
    assert (len(result.questions), result.skipped) == (0, 1)
    assert result.metrics()["ndcg@10"] is None


async def test_an_id_that_is_no_page_counts_as_not_found(tmp_path: Path) -> None:
    library = ScriptedLibrary(found={"q": [passage("a.md")]})
    book = book_of(tmp_path, {"a.md": "# A"}, library)
    result = await evaluate_retrieval(book, [Question(id="1", text="q", relevant=("gone",))])
    assert result.unresolved == ["gone"]
    assert result.metrics()["recall@10"] == 0


async def test_a_section_is_found_by_a_chunk_that_lies_in_it_or_below_it(tmp_path: Path) -> None:
    below = passage("guide.md", "Do that.", source=PAGE)
    beside = passage("guide.md", "Use it.", source=PAGE)
    library = ScriptedLibrary(found={"q": [below], "r": [beside]})
    book = book_of(tmp_path, {"guide.md": PAGE}, library)
    questions = [
        Question(id="1", text="q", relevant=("guide.md#setup",)),
        Question(id="2", text="r", relevant=("guide.md",), anchors=("setup",)),
    ]
    result = await evaluate_retrieval(book, questions, match="section")
    assert [q.rank for q in result.questions] == [1, None]


async def test_a_passage_is_found_when_it_holds_the_answer_on_the_right_page(
    tmp_path: Path,
) -> None:
    library = ScriptedLibrary(
        found={
            "q": [passage("b.md", "It is 42."), passage("a.md", "no"), passage("a.md", "It is 42.")]
        }
    )
    book = book_of(tmp_path, {"a.md": "# A", "b.md": "# B"}, library)
    question = Question(id="1", text="q", relevant=("a.md",), answers=("42",))
    result = await evaluate_retrieval(book, [question], match="passage")
    assert result.questions[0].rank == 3


@pytest.mark.parametrize(
    ("follow_ups", "searched"), [("last", "And why?"), ("standalone", "Why topics?")]
)
async def test_a_follow_up_is_searched_as_asked_for(
    tmp_path: Path, follow_ups: str, searched: str
) -> None:
    library = ScriptedLibrary()
    book = book_of(tmp_path, {"a.md": "# A"}, library)
    question = Question(
        id="1",
        text="And why?",
        standalone="Why topics?",
        relevant=("a.md",),
        history=(Message(role="user", content="What is a topic?"),),
    )
    await evaluate_retrieval(book, [question], follow_ups=follow_ups)  # pyright: ignore[reportArgumentType]
    assert library.asked == [searched]


async def test_kinds_are_measured_apart(tmp_path: Path) -> None:
    library = ScriptedLibrary(found={"q": [passage("a.md")]})
    book = book_of(tmp_path, {"a.md": "# A"}, library)
    questions = [
        Question(id="1", text="q", relevant=("a.md",), group="easy"),
        Question(id="2", text="r", relevant=("a.md",), group="hard"),
    ]
    groups = (await evaluate_retrieval(book, questions)).groups()
    assert groups["easy"]["recall@1"] == 1
    assert groups["hard"]["recall@1"] == 0
