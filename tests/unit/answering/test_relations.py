import pytest

from quire.answering.relations import unproven

BOOK = (
    "A topic is a named channel over which nodes send messages of one type. "
    "Choose an action instead of a service when the work takes long. "
    "An action is built from two services and two topics. "
    "ROS 2 has three ways to communicate: topics, services and actions. "
    "URDF, the Unified Robot Description Format, is an XML format that describes one robot. "
    "Physical AI means artificial intelligence that acts through a body. "
    "A service call is synchronous. The default middleware is Fast DDS."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The difference between a service and an action is that actions are services.",
        "Actions are services, while services are actions.",
        "Actions can be either actions or tasks.",
        "Actions are the only actions in ROS 2.",
        "A topic is a service.",
        "A topic is a message.",
        "URDF is a robot.",
        "Services are important.",
    ],
)
def test_what_something_is_must_be_said_by_the_book(sentence: str) -> None:
    assert unproven(sentence, BOOK)


@pytest.mark.parametrize(
    "sentence",
    [
        "A topic is a channel for messages.",
        "Topics are named channels.",
        "URDF is an XML format.",
        "URDF is the Unified Robot Description Format.",
        "Physical AI is artificial intelligence with a body.",
        "Services are synchronous.",
        "Fast DDS is the default middleware.",
        "The middleware is Fast DDS by default.",
        "Topics are ways to communicate.",
        "An action is built from services and topics.",
        "It is an XML format.",
        "Nodes send messages over topics.",
    ],
)
def test_what_the_book_says_in_other_words_is_proven(sentence: str) -> None:
    assert not unproven(sentence, BOOK)
