from __future__ import annotations

from pathlib import Path

import pytest

from quire.errors import InvalidRequest, ModelUnavailable, QuireError
from quire.evaluation.asking import evaluate_answers
from quire.evaluation.questions import Question
from quire.models import Answer
from tests.unit.evaluation.library import ScriptedLibrary, book_of, citation

TEXT = "# Robots\n\nA node does one job.\n"
START = TEXT.index("A node")
QUOTE = "A node does one job."


def known(id: str, text: str) -> Question:
    return Question(id=id, text=text, relevant=("a.md",), answers=("one job",))


async def test_rates_count_what_they_say(tmp_path: Path) -> None:
    library = ScriptedLibrary(
        said={
            "good": (f"{QUOTE} [1]", [citation("a.md", QUOTE, START)]),
            "tempting": ("Something.", [citation("a.md", QUOTE, START)]),
        },
        probabilities={"good": 0.9, "tempting": 0.6, "missed": 0.2, "foreign": 0.1},
    )
    book = book_of(tmp_path, {"a.md": TEXT}, library)
    questions = [
        known("1", "good"),
        known("2", "missed"),
        Question(id="3", text="tempting", answerable=False),
        Question(id="4", text="foreign", answerable=False),
    ]
    metrics = (await evaluate_answers(book, questions)).metrics()
    assert (metrics["n"], metrics["answered"], metrics["refused"]) == (4, 2, 2)
    assert metrics["false_answer_rate"] == 0.5
    assert metrics["false_refusal_rate"] == 0.5
    assert metrics["answer_contained"] == 0.5
    assert metrics["citation_exact"] == 1.0
    assert metrics["citation_relevant"] == 1.0
    assert metrics["auroc"] == 0.75
    assert metrics["tokens"] == 40
    assert metrics["cost"] is None


async def test_a_quote_that_is_not_in_the_file_is_found_out(tmp_path: Path) -> None:
    library = ScriptedLibrary(
        said={
            "off by one": ("x", [citation("a.md", QUOTE, START + 1)]),
            "invented": ("x", [citation("a.md", "A robot does one job.", START)]),
            "no such file": ("x", [citation("gone.md", QUOTE, START)]),
            "empty": ("x", [citation("a.md", "", START)]),
        }
    )
    book = book_of(tmp_path, {"a.md": TEXT}, library)
    questions = [known(text, text) for text in library.said]
    assert (await evaluate_answers(book, questions)).metrics()["citation_exact"] == 0.0


async def test_line_ends_are_not_translated(tmp_path: Path) -> None:
    text = "# R\r\n\r\nOne.\r\nTwo."
    library = ScriptedLibrary(said={"q": ("x", [citation("a.md", "One.\r\nTwo.", 7)])})
    book = book_of(tmp_path, {"a.md": ""}, library)
    (tmp_path / "book" / "a.md").write_bytes(text.encode())
    assert (await evaluate_answers(book, [known("1", "q")])).metrics()["citation_exact"] == 1.0


async def test_the_answers_given_are_the_history_of_a_dialogue(tmp_path: Path) -> None:
    library = ScriptedLibrary(said={"first": ("It is a node.", [])})
    book = book_of(tmp_path, {"a.md": TEXT}, library)
    questions = [
        Question(id="d.1", text="first", dialogue="d"),
        Question(id="d.2", text="second", dialogue="d"),
        Question(id="e", text="other"),
    ]
    await evaluate_answers(book, questions)
    histories = [[message.content for message in ask.history] for ask in library.asked]
    assert histories == [[], ["first", "It is a node."], []]


async def test_documents_a_question_brings_are_the_only_ones_allowed(tmp_path: Path) -> None:
    library = ScriptedLibrary()
    book = book_of(tmp_path, {"a.md": TEXT, "b.md": TEXT}, library)
    closed = [Question(id="1", text="q", docs=("b",))]
    result = await evaluate_answers(book, closed)
    assert result.context == "docs"
    assert library.asked[-1].filters == {"source_file": ["b.md"]}
    await evaluate_answers(book, closed, context="book")
    assert library.asked[-1].filters == {}


async def test_one_question_without_documents_opens_the_book(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"a.md": TEXT}, ScriptedLibrary())
    questions = [Question(id="1", text="q", docs=("a",)), Question(id="2", text="r")]
    assert (await evaluate_answers(book, questions)).context == "book"


async def test_tokens_cost_what_the_price_says(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"a.md": TEXT}, ScriptedLibrary())
    result = await evaluate_answers(book, [known("1", "q")], price_per_million_tokens=2.0)
    assert result.metrics()["cost"] == 10 * 2.0 / 1e6


async def test_a_question_that_can_not_be_asked_counts_as_refused(tmp_path: Path) -> None:
    library = FailingLibrary(InvalidRequest("too long"))
    book = book_of(tmp_path, {"a.md": TEXT}, library)
    result = await evaluate_answers(book, [known(str(n), "q") for n in range(8)])
    metrics = result.metrics()
    assert (metrics["refused"], metrics["failed"]) == (8, 8)
    assert metrics["answer_contained"] == 0.0


async def test_a_model_that_is_down_ends_the_run(tmp_path: Path) -> None:
    library = FailingLibrary(ModelUnavailable("no answer"))
    book = book_of(tmp_path, {"a.md": TEXT}, library)
    with pytest.raises(ModelUnavailable):
        await evaluate_answers(book, [known(str(n), "q") for n in range(8)])
    assert library.tries == 5


class FailingLibrary(ScriptedLibrary):
    def __init__(self, error: QuireError) -> None:
        super().__init__()
        self.error = error
        self.tries = 0

    async def ask(self, ask: object) -> Answer:
        self.tries += 1
        raise self.error
