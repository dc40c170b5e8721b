import pytest

from quire.answering import standalone_question, topic_summary
from quire.models import Message


def thread(*turns: str) -> list[Message]:
    return [
        Message(role="assistant" if i % 2 else "user", content=text) for i, text in enumerate(turns)
    ]


URDF = thread("What is URDF?", "URDF is an XML format that describes a robot. [1]")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is it used for?", "What is URDF used for?"),
        ("Who made it?", "Who made URDF?"),
        ("Can you give an example?", "Can you give an example (URDF)?"),
        ("Why?", "Why (URDF)?"),
        ("What are its limits?", "What are URDF's limits?"),
    ],
)
def test_what_leans_on_the_thread_is_completed(question: str, expected: str) -> None:
    assert standalone_question(question, URDF) == expected


@pytest.mark.parametrize(
    "question",
    [
        "How do I install Gazebo on Ubuntu?",
        "What is a quaternion?",
        "Is it possible to run Gazebo without a GPU?",
        "By the way, how are cyclones formed?",
        "What is Nav2 and how does it plan?",
        "Which command shows that a topic is published?",
    ],
)
def test_a_question_of_its_own_carries_nothing_over(question: str) -> None:
    assert standalone_question(question, URDF) == question


def test_plural_pronouns_take_the_plural_topic_and_chains_keep_theirs() -> None:
    history = thread(
        "What are quaternions?",
        "Quaternions are four numbers. Quaternions describe rotations.",
        "How are they used in simulation?",
        "Quaternions store poses.",
    )
    assert standalone_question("Are they stable?", history) == "Are quaternions stable?"


def test_without_a_thread_nothing_changes() -> None:
    assert standalone_question(" What about it? ", []) == "What about it?"


def test_a_summary_names_the_topics_and_stays_short() -> None:
    turns = [f"What is the controller number {i} of the very long arm joint?" for i in range(40)]
    messages = [Message(role="user", content=text) for text in (*turns, "What is URDF?")]
    summary = topic_summary(messages)
    assert summary.startswith("Discussion about")
    assert len(summary) <= 200
    assert topic_summary(URDF) == "Discussion about URDF"
    assert topic_summary([]) == ""
    assert topic_summary([Message(role="user", content="Why?")]) == "Why?"
