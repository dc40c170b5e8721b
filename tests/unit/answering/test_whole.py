import pytest

from quire.answering.overview import is_introducing
from quire.answering.quotable import units
from quire.answering.whole import AUTHORED, names_the_book, subject_asked, whole_book
from tests.chunks import make_chunk


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is this book about?", "about"),
        ("what is this", "about"),
        ("What’s this site?", "about"),
        ("Please summarize these docs", "about"),
        ("Give me a short overview", "about"),
        ("Who is this book for?", "audience"),
        ("Who should read this?", "audience"),
        ("Is this course for beginners?", "audience"),
        ("What topics does this book cover?", "contents"),
        ("What will I learn?", "contents"),
        ("What is in the handbook?", "contents"),
        ("How is the book organised?", "structure"),
        ("How many chapters does this book have?", "structure"),
        ("What are the prerequisites?", "needs"),
        ("What should I know before I start?", "needs"),
        ("Do I need any programming experience?", "needs"),
        ("where do i start", "start"),
        ("How do I get started with this book?", "start"),
        ("Who wrote this book?", "author"),
        ("Who are the authors?", "author"),
    ],
)
def test_questions_about_the_whole_book_are_known_by_their_words(question: str, kind: str) -> None:
    whole = whole_book(question)
    assert whole
    assert whole.kind == kind
    assert whole_book(whole.asked) is whole


@pytest.mark.parametrize(
    "question",
    [
        "What is ownership?",
        "What is the migration guide about?",
        "What is this error about?",
        "Who is the operator for?",
        "What are the prerequisites for Nav2?",
        "How do I start a node?",
        "Where does the guide robot start?",
        "What will I learn about topics in chapter 3?",
        "Who wrote Hamlet?",
        "How is a package organised?",
        "What is this book about? " + "And more. " * 30,
        "",
    ],
)
def test_other_questions_are_none(question: str) -> None:
    assert whole_book(question) is None


def test_only_the_book_itself_is_meant_whatever_was_spoken_of() -> None:
    assert names_the_book("Who is this book for?")
    assert not names_the_book("What is this about?")
    assert not names_the_book("What is in the book on robots?")


def test_the_heading_that_names_the_book_is_read_first() -> None:
    audience = whole_book("Who is this book for?")
    assert audience
    itself = make_chunk("a", section_path=("Who This Book Is For",))
    other = make_chunk("b", section_path=("Who Rust Is For",))
    worded = make_chunk("This course is designed for engineers.")
    silent = make_chunk("This course is long.", section_path=("Length",))
    places = [audience.place(chunk) for chunk in (itself, other, worded, silent)]
    assert places == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "introduces"),
    [
        ("This textbook teaches you to build robots.", True),
        ("Welcome to The Cook's Year, a book about food.", True),
        ("Welcome to the kitchen!", False),
        ("The Robot Operating System (ROS) is a set of libraries for robots.", True),
        ("⚡️ Stirrup will help you ride your first horse.", True),
        ("In this course, we cook.", True),
        ("Note: This edition of the book is the same as the printed one.", False),
        ("It is a good day for riding horses.", False),
        ("Is this the book for you or a friend?", False),
        ("Stirrup Documentation Home", False),
        ("Horses eat grass and drink water.", False),
    ],
)
def test_a_sentence_introduces_the_book_or_what_it_is_about(text: str, introduces: bool) -> None:
    (unit,) = units(text)
    assert is_introducing(unit) is introduces


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("*by Ada Lovelace and Bob Green*", True),
        ("This guide was written by Ada Lovelace.", True),
        ("Author: Ada Lovelace", True),
        ("Step by Step Guide", False),
        ("Nodes are created by launch files.", False),
    ],
)
def test_authors_are_told_by_how_they_are_named(text: str, named: bool) -> None:
    assert bool(AUTHORED.search(text)) is named


@pytest.mark.parametrize(
    ("question", "book", "what"),
    [
        ("What is Rust?", "The Rust Programming Language rust-book", True),
        ("whats docusaurus", "Docusaurus docs", True),
        ("Tell me about ROS 2", "Ros2 docs ros2", True),
        ("What can FastAPI do?", "FastAPI fastapi", True),
        ("What is Rust good for?", "Rust", True),
        ("Why should I use Rust?", "Rust", False),
        ("What are the main features of Rust?", "Rust", False),
        ("What is ownership?", "Rust", None),
        ("What is unsafe Rust?", "Rust", None),
        ("What is a programming language?", "The Rust Programming Language", None),
        ("How do I install Rust?", "Rust", None),
    ],
)
def test_the_books_own_subject_is_told_by_its_name(
    question: str, book: str, what: bool | None
) -> None:
    subject = subject_asked(question, book)
    assert (subject.what if subject else None) is what
