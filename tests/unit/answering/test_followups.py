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
        ("How do I write one?", "How do I write URDF?"),
        ("Can I have more than one?", "Can I have more than one (URDF)?"),
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
        "Who is this book for?",
    ],
)
def test_a_question_of_its_own_carries_nothing_over(question: str) -> None:
    assert standalone_question(question, URDF) == question


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("whats a node", "what's a node?"),
        ("how do I call `spin()`", "how do I call `spin()`?"),
        ("so is ROS 2 free", "so is ROS 2 free?"),
        ("How is whats sent?", "How is whats sent?"),
        ("What is a node? Be brief", "What is a node? Be brief"),
        ("node composition", "node composition"),
        ("List the nodes", "List the nodes"),
        ("is", "is"),
        ("what is this:", "what is this:"),
    ],
)
def test_what_a_hurried_reader_leaves_out_is_put_back(typed: str, meant: str) -> None:
    assert standalone_question(typed, []) == meant


def test_plural_pronouns_take_the_plural_topic_and_chains_keep_theirs() -> None:
    history = thread(
        "What are quaternions?",
        "Quaternions are four numbers. Quaternions describe rotations.",
        "How are they used in simulation?",
        "Quaternions store poses.",
    )
    assert standalone_question("Are they stable?", history) == "Are quaternions stable?"


def test_what_a_follow_up_took_over_is_what_the_next_one_takes() -> None:
    history = thread(
        "Why was the Eastern Roman Empire called Byzantine?",
        "Historians named the Eastern Roman Empire after its capital.",
        "When was it reorganized?",
        "It was reorganized in the seventh century.",
        "Who can visit it outside of Europe?",
        "Nothing is said about visits.",
    )
    resolved = "Why did Eastern Roman Empire fall?"
    assert standalone_question("Why did it fall?", history) == resolved


DRIFT = thread(
    "What is visual odometry?",
    "Visual odometry adds steps up.",
    "And why does it drift?",
    "Every step has a small error, so visual odometry drifts.",
)


def test_that_at_the_end_of_a_question_is_what_was_said() -> None:
    assert standalone_question("What repairs that?", DRIFT) == (
        "What repairs visual odometry (drift)?"
    )
    assert "odometry" in standalone_question("Is that faster?", DRIFT)
    assert "odometry" in standalone_question("Does that work here too?", DRIFT)
    unchanged = "Which node says that the map is old?"
    assert standalone_question(unchanged, DRIFT) == unchanged


def test_what_somebody_does_and_how_something_is_are_no_topics() -> None:
    history = thread("Which is the most popular?", "None.", "What is a gripper?", "A hand.")
    assert standalone_question("How heavy is it?", history) == "How heavy is gripper?"
    forgetful = thread("What is a gripper?", "A hand.", "What if I forget?", "Nothing happens.")
    assert standalone_question("How do I set it?", forgetful) == "How do I set gripper?"


def test_things_that_were_compared_are_meant_together() -> None:
    history = thread(
        "What is the difference between map and odom?",
        "The pose in odom drifts, the pose in map may jump.",
        "Which one should I use for local control?",
        "Use odom for local control.",
    )
    assert standalone_question("Who publishes the link between them?", history) == (
        "Who publishes the link between map and odom?"
    )


def test_a_vague_word_after_an_article_is_part_of_a_name() -> None:
    history = thread("What is the support polygon?", "The support polygon is an area.")
    assert standalone_question("How large is it?", history) == "How large is support polygon?"


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


def test_greetings_and_the_book_itself_are_no_topic() -> None:
    said = ("Hello!", "What is this book about?", "thanks")
    history = [Message(role="user", content=text) for text in said]
    assert standalone_question("Who should read this?", history) == "Who should read this?"
    after = [Message(role="user", content="What is URDF?"), *history]
    assert standalone_question("Who made it?", after) == "Who made URDF?"
