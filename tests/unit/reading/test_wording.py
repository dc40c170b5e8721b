"""Requests are put to the reader as questions."""

from __future__ import annotations

import time

import pytest

from quire.reading import Readable
from quire.reading.model import ReaderModel
from quire.reading.wording import as_question, asked_of


@pytest.mark.parametrize(
    ("request_", "question"),
    [
        ("List the QoS policies", "What are the QoS policies?"),
        ("list all of the QoS policies.", "What are the QoS policies?"),
        ("Could you please name the parts of a VLA model?", "What are the parts of a VLA model?"),
        ("Show me how to launch two nodes", "How do I launch two nodes?"),
        ("Can you tell me what a bag is?", "What a bag is?"),
        ("Explain why odometry drifts", "Why odometry drifts?"),
        ("I want to know which sensors are used.", "Which sensors are used?"),
        ("Tell me something about quaternions", "What are quaternions?"),
        ("Describe the action head", "What is the action head?"),
        ("Define topic.", "What is topic?"),
        ("I'd like to know how bags work", "How bags work?"),
        ("Explain to me topics", "What are topics?"),
        ("Describe ROS", "What is ROS?"),
        ("Give me the command to list nodes", "What is the command to list nodes?"),
    ],
)
def test_a_request_becomes_the_question_it_means(request_: str, question: str) -> None:
    assert as_question(request_) == question


@pytest.mark.parametrize(
    "text",
    [
        "What is a node?",
        "How do I list the topics?",
        "Name a sensor that sees in the dark.",  # one of many: "What are" would be wrong
        "Name the process",
        "Launch two nodes",
        "Name of the robot's nodes",
        "Explain this",
        "Explained by example",
        "Give me an example of a launch file",
        "The node is listed. Name it",
        "",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert as_question(text) == text


@pytest.mark.parametrize(
    "text", ["please " * 5_000, "list " + "the " * 9_000, "define " + "a-" * 9_000]
)
def test_a_long_request_takes_no_time(text: str) -> None:
    began = time.thread_time()
    as_question(text)
    assert time.thread_time() - began < 0.1


async def test_the_reader_believes_a_request_as_much_as_the_question() -> None:
    passage = Readable("A durability policy says whether late joiners get old messages.")
    reader = ReaderModel()
    try:
        asked, requested = [
            (await reader.read(text, [passage]))[0]
            for text in ("What is a durability policy?", "Please define a durability policy.")
        ]
    finally:
        await reader.close()
    assert requested == asked


CLOSURES = Readable(
    "Closures are functions without a name. A closure may keep what it sees; closures"
)
BATTERY = Readable("Batteries are heavy.", "Power > Batteries")


@pytest.mark.parametrize(
    ("question", "readable", "asked"),
    [
        ("What is a closure?", CLOSURES, "What are closures?"),
        ("what's a nameless closure", CLOSURES, "What are nameless closures?"),
        ("What is a battery?", BATTERY, "What are batteries?"),
        ("What is a switch?", Readable("Switches are cheap."), "What are switches?"),
        ("What is a node?", Readable("A node is a process. Nodes talk."), "What is a node?"),
        ("What is a list of closures?", CLOSURES, "What is a list of closures?"),
        ("What is ownership?", CLOSURES, "What is ownership?"),
        ("How is a closure made?", CLOSURES, "How is a closure made?"),
    ],
)
def test_a_thing_is_asked_for_in_the_number_of_the_text(
    question: str, readable: Readable, asked: str
) -> None:
    assert asked_of(question, readable) == asked


async def test_the_reader_finds_many_where_one_is_asked_for() -> None:
    passage = Readable(
        "Rust's closures are anonymous functions you can save in a variable or pass as arguments "
        "to other functions. Unlike functions, closures can capture values from the scope in which "
        "they're defined.",
        "Closures: Anonymous Functions That Capture Their Environment",
    )
    reader = ReaderModel()
    try:
        (one,), (many,) = [
            await reader.read(text, [passage])
            for text in ("What is a closure?", "What are closures?")
        ]
    finally:
        await reader.close()
    assert one == many
