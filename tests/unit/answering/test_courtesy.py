import time

import pytest

from quire.answering import Answerer, ExtractiveModel, Question
from quire.answering.courtesy import reply_to
from quire.testing.answering import FakeRetriever, make_chunk


@pytest.mark.parametrize(
    ("said", "opening"),
    [
        ("Hello", "Hello. What would you like to know about Horses?"),
        ("hey there 👋", "Hello."),
        ("Good morning, how are you?", "Hello."),
        ("Thanks!", "You're welcome. What else"),
        ("ok great, thank you so much for the help :)", "You're welcome."),
        ("Got it.", "What else would you like to know?"),
        ("Thanks, bye!", "Goodbye."),
        ("Who are you?", "I answer questions about Horses from its pages only"),
        ("hi, what can you do?", "I answer questions"),
        ("help", "I answer questions"),
    ],
)
def test_what_asks_the_book_nothing_is_replied_to(said: str, opening: str) -> None:
    reply = reply_to(said, "Horses")
    assert reply
    assert reply.startswith(opening)
    assert reply.endswith("?")


@pytest.mark.parametrize(
    "question",
    [
        "Hello world program",
        "How do I say hello?",
        "Hello, what is a foal?",
        "thanks to what do horses sleep standing",
        "ok but why?",
        "help me saddle a horse",
        "What are you supposed to feed a foal?",
        "What is good?",
        "",
    ],
)
def test_a_question_stays_one(question: str) -> None:
    assert reply_to(question, "Horses") is None


def test_a_nameless_book_is_called_the_book() -> None:
    assert reply_to("hi", " ") == "Hello. What would you like to know about the book?"


def test_a_title_is_said_without_its_markup() -> None:
    reply = reply_to("hi", "Hor<b>ses</b> [here](https://evil.example)\u200b")
    assert reply == "Hello. What would you like to know about Horses here?"


@pytest.mark.parametrize(
    "part", ["ok", "okay ", "good ", "thank you ", "bye bye ", "hi how are you "]
)
def test_a_long_row_of_them_takes_no_time(part: str) -> None:
    started = time.process_time()
    for length in range(80):
        reply_to((part * 40)[:length] + "x", "Horses")
    assert time.process_time() - started < 0.5


async def test_the_reply_is_a_question_back_without_a_search() -> None:
    retriever = FakeRetriever([make_chunk("Hello is what a rider says.")])
    answerer = Answerer(retriever=retriever, model=ExtractiveModel(), model_name="extractive")
    for mode, selected in (("general", None), ("selected_text", "Hello, said the horse.")):
        question = Question(
            text="Hello!",
            book_id="book",
            book_title="Horses",
            mode=mode,  # type: ignore[arg-type]
            selected_text=selected,
        )
        answer = await answerer.answer(question)
        assert answer.text == "Hello. What would you like to know about Horses?"
        assert answer.clarification
        assert not answer.should_answer
        assert answer.refusal_reason is None
        assert answer.citations == answer.suggestions == ()
    assert retriever.calls == []
