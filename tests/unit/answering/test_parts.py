from collections.abc import Sequence

import pytest

from quire.answering import AnswerDone, Answerer, ExtractiveModel, Question, SentenceReady
from quire.answering.parts import two_parts
from quire.models import Answer
from quire.reading import Readable, Reader, Reading
from quire.testing.answering import FakeRetriever, WordEmbedder, make_chunk
from quire.testing.reading import PhraseReader

NODES = make_chunk("A node is a process that performs computation.", source_file="nodes.md")
TOPICS = make_chunk("Messages travel over topics at 50 Hz.", source_file="topics.md")
BOTH = "What is a node and how do messages travel?"


class Doubting(PhraseReader):
    """Believes that nothing says how messages travel, or who rules."""

    async def read(self, question: str, texts: Sequence[Readable]) -> list[Reading]:
        if question.startswith(("how do messages", "who rules")):
            return await PhraseReader().read(question, texts)
        return await super().read(question, texts)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What is Box and when should I use it?",
            ("What is Box?", "when should I use Box?"),
        ),
        (
            "What are QoS policies? What happens when they mismatch?",
            ("What are QoS policies?", "What happens when QoS policies mismatch?"),
        ),
        (
            "What is a trait, and how do I implement one?",
            ("What is a trait?", "how do I implement trait?"),
        ),
        ("What is the difference between nodes and topics?", None),
        ("Talks are given between 5 and how many minutes?", None),
        ("How do I build and run a project?", None),
        ("What is a node? It is slow. " * 20, None),
        ("", None),
        ("and how", None),
    ],
)
def test_two_questions_in_one(question: str, parts: tuple[str, str] | None) -> None:
    found = two_parts(question)
    assert (found and tuple(part.query for part in found)) == parts


def test_a_part_keeps_the_words_of_its_reader() -> None:
    found = two_parts("What is Box and when should I use it?")
    assert found
    assert [part.words for part in found] == ["What is Box?", "when should I use it?"]


def answerer(reader: Reader | None, retriever: FakeRetriever | None = None) -> Answerer:
    embedder = WordEmbedder()
    return Answerer(
        retriever=retriever or FakeRetriever([NODES, TOPICS]),
        model=ExtractiveModel(embedder=embedder, reader=reader),
        model_name="extractive",
        embedder=embedder,
    )


async def ask(question: str, reader: Reader | None = None) -> tuple[Answer, list[str]]:
    retriever = FakeRetriever([NODES, TOPICS])
    answer = await answerer(reader, retriever).answer(Question(text=question, book_id="book"))
    return answer, [call["query"] for call in retriever.calls]


async def test_each_part_is_searched_for_and_answered() -> None:
    reader = PhraseReader("a process that performs computation", "over topics at 50 Hz")
    answer, queries = await ask(BOTH, reader)
    assert queries == [BOTH, "What is a node?", "how do messages travel?"]
    assert answer.text.index("A node is a process") < answer.text.index("Messages travel")


async def test_a_part_that_the_book_doesnt_answer_is_named() -> None:
    answer, _ = await ask(BOTH, Doubting("a process that performs computation"))
    assert answer.text == (
        "A node is a process that performs computation. [1]\n\n"
        "The book doesn't answer this part: how do messages travel?"
    )
    assert [sentence.text for sentence in answer.sentences] == [NODES.text]
    assert answer.should_answer


ALIEN = "What is a node and who rules the emerald kingdom of Zanzibar with seven golden crowns?"


async def test_half_a_question_is_answered_where_the_whole_would_be_refused() -> None:
    answer, queries = await ask(ALIEN, Doubting("a process that performs computation"))
    assert answer.text == (
        "A node is a process that performs computation. [1]\n\nThe book doesn't answer this part: "
        "who rules the emerald kingdom of Zanzibar with seven golden crowns?"
    )
    assert answer.confidence.level == "high"
    assert queries[0] == ALIEN


async def test_a_question_is_refused_if_neither_half_is_surely_answered() -> None:
    answer, _ = await ask("What does a node weigh and who rules the golden kingdom of Zanzibar?")
    assert not answer.should_answer
    alone, _ = await ask("What does a node weigh?")
    assert alone.confidence.level == "low"


async def test_a_stream_ends_with_the_part_that_has_no_answer() -> None:
    reader = Doubting("a process that performs computation")
    events = [event async for event in answerer(reader).stream(Question(text=BOTH, book_id="book"))]
    *pieces, _, done = events
    assert isinstance(done, AnswerDone)
    assert "".join(piece.text for piece in pieces if isinstance(piece, SentenceReady)) == (
        done.answer.text
    )
    assert done.answer.text.endswith("how do messages travel?")


async def test_one_question_is_searched_for_once() -> None:
    _, queries = await ask("What is a node?")
    assert queries == ["What is a node?"]
