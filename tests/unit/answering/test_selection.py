import pytest

from quire.answering import Answerer, ExtractiveModel, Question
from quire.models import Answer
from quire.testing.answering import FakeRetriever, WordEmbedder

SELECTION = (
    "Preface.\r\n\r\nThe cafe\u0301 robot 🤖 uses two lidars.\r\nIt maps the hall\r\nat 10 Hz.\r\n"
)


async def ask(text: str, selection: str = SELECTION) -> tuple[Answer, FakeRetriever]:
    embedder = WordEmbedder()
    retriever = FakeRetriever([])
    answerer = Answerer(
        retriever=retriever,
        model=ExtractiveModel(embedder=embedder),
        model_name="extractive",
        embedder=embedder,
    )
    question = Question(text=text, book_id="book", mode="selected_text", selected_text=selection)
    return await answerer.answer(question), retriever


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
async def test_offsets_and_lines_are_those_of_the_selection(newline: str) -> None:
    selection = SELECTION.replace("\r\n", newline)
    answer, retriever = await ask("How many lidars does the robot use?", selection)
    first = answer.citations[0]
    assert first.quote == "The cafe\u0301 robot 🤖 uses two lidars."
    assert selection[first.char_start : first.char_end] == first.quote
    assert (first.line_start, first.line_end) == (3, 3)
    assert first.source_url == "selected_text"
    assert first.page_title == "User Selection"
    assert first.chunk_id is None
    assert retriever.calls == []


async def test_a_quote_over_two_lines_says_so() -> None:
    answer, _ = await ask("At how many Hz does it map the hall?")
    citation = next(c for c in answer.citations if "10 Hz" in c.quote)
    assert (citation.line_start, citation.line_end) == (4, 5)
    assert "\r" not in answer.text


async def test_what_the_selection_does_not_hold_is_said() -> None:
    answer, retriever = await ask("Who painted the Mona Lisa?")
    assert not answer.should_answer
    assert answer.refusal_reason == "low_confidence"
    assert answer.text.startswith("The selected text doesn't answer that.")
    assert "book" in answer.text
    assert answer.mode == "selected_text"
    assert retriever.calls == []


async def test_a_selection_of_one_word_is_no_error() -> None:
    answer, _ = await ask("What is this?", "lidar")
    assert answer.text
