from dataclasses import replace

import pytest

from quire.answering import Answerer, ExtractiveModel, Question
from quire.answering.introduction import Front, IntroducedRetriever
from quire.models import Answer, Chunk, Filters, Message
from quire.testing.answering import FakeRetriever, WordEmbedder, make_chunk

OPENING = make_chunk(
    "Note: This book is new.\n\nStirrup is a library for riding. It saddles any horse. "
    "It is free for everyone.",
    section_path=(),
)
AUDIENCE = make_chunk(
    "You have seen a horse before.", section_path=("Who this book is for",), chunk_index=1
)
STARTING = make_chunk("Buy a saddle, then mount.", section_path=("First steps",), chunk_index=2)
TALE = make_chunk(
    "Who is this book for? This book is for Scout, who reads a book about birds.",
    source_file="tales/novel.md",
    section_path=("A book",),
)
FOAL = make_chunk("A foal is a young horse.", source_file="foals.md", section_path=("Foals",))
MISREAD = {"Who wrote this book?": "Who write this book?"}
BOOK = (OPENING, AUDIENCE, STARTING, TALE, FOAL)


async def ask(
    text: str,
    chunks: tuple[Chunk, ...] = BOOK,
    *,
    pages: tuple[str, ...] = ("intro.md",),
    name: str = "Stirrup",
    history: tuple[Message, ...] = (),
    filters: Filters = Filters(),
    probability: float = 0.2,
) -> Answer:
    async def front(book_id: str) -> Front:
        return Front(name, pages)

    answerer = Answerer(
        retriever=IntroducedRetriever(
            FakeRetriever(chunks, probability=probability, meant=MISREAD), front
        ),
        model=ExtractiveModel(embedder=WordEmbedder()),
        model_name="extractive",
        embedder=WordEmbedder(),
    )
    return await answerer.answer(Question(text=text, book_id="book", filters=filters), history)


@pytest.mark.parametrize(
    "question",
    ["What is this book about?", "what is this about", "What is Stirrup?", "Tell me about stirrup"],
)
async def test_what_a_book_is_about_stands_at_its_beginning(question: str) -> None:
    answer = await ask(question)
    assert answer.text.startswith("Stirrup is a library for riding. [1] It saddles any horse.")
    assert {citation.source_file for citation in answer.citations} == {"intro.md"}
    assert answer.confidence.level == "medium"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who is this book for?", "You have seen a horse before. [1]"),
        ("Who should read this?", "You have seen a horse before. [1]"),
        ("What are the prerequisites?", "You have seen a horse before. [1]"),
        ("Where do I start?", "Buy a saddle, then mount. [1]"),
    ],
)
async def test_the_section_that_promises_it_answers(question: str, said: str) -> None:
    assert (await ask(question)).text == said


async def test_a_book_that_does_not_name_its_authors_is_not_asked_elsewhere() -> None:
    answer = await ask("Who wrote this book?", probability=0.9)
    assert answer.confidence.level == "insufficient"
    signed = replace(OPENING, text="*by Ada Lovelace*", char_end=17, section_path=())
    assert (await ask("Who wrote this book?", (signed, TALE))).text == "*by Ada Lovelace* [1]"


async def test_only_the_first_page_and_its_beginning_say_what_a_book_is_about() -> None:
    foreword = make_chunk("Riding is the oldest of arts.", source_file="foreword.md")
    late = make_chunk("A bridle is a harness for a head.", chunk_index=9)
    told = await ask("Summarize this book", (late, foreword), pages=("intro.md", "foreword.md"))
    assert not told.should_answer
    told = await ask("Summarize this book", (late, OPENING, foreword), pages=("intro.md",))
    assert "bridle" not in told.text
    assert "Riding" not in told.text


async def test_the_heading_that_names_the_book_is_answered_from_alone() -> None:
    riders = make_chunk("Horses are for kings.", section_path=("Who horses are for",))
    answer = await ask("Who is this book for?", (riders, AUDIENCE))
    assert [passage.chunk for passage in answer.passages] == [AUDIENCE]


async def test_where_nothing_lists_the_contents_the_nearest_is_said_with_a_warning() -> None:
    answer = await ask("What topics does this book cover?")
    assert answer.confidence.level == "low"
    assert "Stirrup is a library for riding." in answer.text


async def test_a_front_page_without_sentences_answers_nothing_and_suggests_nothing() -> None:
    answer = await ask("What is this book about?", (replace(OPENING, text="![](logo.png)"), TALE))
    assert answer.text == "The book doesn't answer that."
    assert answer.suggestions == ()


async def test_without_a_front_page_all_pages_are_searched() -> None:
    answer = await ask("Who is this book for?", pages=(), probability=0.9)
    assert "Scout" in answer.text


async def test_a_caller_who_names_files_is_answered_from_these() -> None:
    only = Filters(source_file=("tales/novel.md",))
    answer = await ask("Who is this book for?", filters=only, probability=0.9)
    assert "Scout" in answer.text


async def test_the_callers_threshold_holds_for_the_introduction() -> None:
    async def front(book_id: str) -> Front:
        return Front("Stirrup", ("intro.md",))

    retriever = IntroducedRetriever(FakeRetriever([STARTING]), front)
    found = await retriever.retrieve("book", "Where do I start?")
    assert [passage.chunk for passage in found.passages] == [STARTING]
    found = await retriever.retrieve("book", "Where do I start?", score_threshold=1.0)
    assert found.passages == ()


async def test_the_thread_does_not_change_what_the_book_is() -> None:
    history = (
        Message(role="user", content="What is a foal?"),
        Message(role="assistant", content="A foal is a young horse."),
    )
    answer = await ask("Who is this book for?", history=history)
    assert answer.text == "You have seen a horse before. [1]"


async def test_other_things_are_not_looked_up_in_the_introduction() -> None:
    answer = await ask("What is a foal?", probability=0.9)
    assert answer.text == "A foal is a young horse. [1]"
    another = await ask("What is Stirrup?", name="Horses", probability=0.1)
    assert not another.should_answer
    nameless = replace(OPENING, text="Riding is a sport for horses and people.")
    part = {"name": "Stirrup and Spur", "probability": 0.1}
    assert not (await ask("What is Stirrup?", (nameless, FOAL), **part)).should_answer  # type: ignore[arg-type]


async def test_the_books_own_name_is_introduced_by_whatever_its_introduction_says() -> None:
    nameless = replace(OPENING, text="Riding is a sport for horses and people.")
    answer = await ask("What is Stirrup?", (nameless, FOAL), name="Stirrup docs", probability=0.1)
    assert answer.text.startswith("Riding is a sport")


async def test_a_sentence_that_defines_the_subject_needs_no_introduction() -> None:
    told = make_chunk("Stirrup is a loop for a foot.", source_file="words.md")
    opening = replace(OPENING, text="Welcome to the book of riding, with Stirrup in hand.")
    answer = await ask("What is Stirrup?", (told, opening), probability=0.9)
    assert answer.text.startswith("Stirrup is a loop for a foot.")
    assert answer.confidence.probability == 0.9


async def test_what_speaks_for_the_subject_may_stand_in_its_introduction() -> None:
    class Surer(FakeRetriever):
        async def retrieve(self, book_id: str, query: str, **bounds: object) -> object:  # type: ignore[override]
            filters = bounds["filters"]
            assert isinstance(filters, Filters)
            self.probability = 0.9 if filters.source_file else 0.3
            return await super().retrieve(book_id, query, **bounds)  # type: ignore[arg-type]

    async def front(book_id: str) -> Front:
        return Front("Stirrup", ("intro.md",))

    retriever = IntroducedRetriever(Surer(BOOK), front)  # type: ignore[arg-type]
    found = await retriever.retrieve("book", "Why should I use Stirrup?")
    assert found.confidence.level == "high"
    assert [p.chunk.source_file for p in found.passages[:2]] == ["intro.md", "intro.md"]
    assert len({passage.chunk.id for passage in found.passages}) == 5
