import time

import pytest

from quire.answering.definitions import defines
from quire.answering.lexicon import content_stems
from quire.answering.quotable import units


@pytest.mark.parametrize(
    ("subject", "sentence", "expected"),
    [
        ("crate", "A _crate_ is the smallest amount of code.", True),
        ("crate", "The smallest amount of code is called a **crate**.", True),
        ("map", "A __hash map__ keeps pairs.", False),
        ("presets", "Presets are bundles of plugins.", True),
        ("preset", "A preset means a bundle.", True),
        ("ROS", "The Robot Operating System (ROS) runs here.", True),
        ("never type", "The never type is useful with panics.", False),
        ("smart pointers", "Smart pointers are usually implemented with structs.", False),
        ("interface", "An interface is defined as a set of calls.", True),
        ("interface", "An interface is defined in a file.", False),
        ("pattern matching", "Patterns that will match anything are irrefutable.", False),
        ("Gazebo", "REP-2000 says what the default version of Gazebo is for you.", False),
        ("enums", "In this chapter, we'll look at _enums_.", False),
        ("snake", "We keep my_snake_case for later.", False),
        ("unwrap", "The `unwrap` method is a shortcut.", True),
        ("DDS", "Fast DDS is a DDS implementation.", False),
        ("DDS", "In ROS 2, DDS (or RTPS) is the middleware.", True),
        ("CORS", "CORS or cross-origin sharing refers to two sites.", True),
        ("underlay", "We call this environment an **underlay**.", True),
        ("hash map", "The last of our collections is the _hash map_.", True),
        ("trait object", "A _trait object_ points to two things.", True),
        ("dangling references", "It prevents _dangling references_, which name nothing.", True),
        ("path operation", "If you have a *path operation* that waits, go on.", False),
        ("base URL", "The base URL of your site is the path behind it.", True),
        ("launch file", "All of the launch files above are launching a system.", False),
        ("RTF", "An RTF of 1.0 means that all is well.", False),
        ("RTF", "The real-time factor, or RTF, is a share.", True),
        ("path", "The value of the *path* will be a number.", False),
        ("callback group", "Such a *callback group* can be made.", False),
        ("executor", "Due to this, callbacks in the executor are mixed up.", False),
        ("enum", "We attach data to each variant of the enum, so there is no need.", False),
        ("VLA model", "A vision-language-action model, or VLA, is a neural network.", True),
        ("enum", "The `Option<T>` enum is still an enum.", False),
        ("launch file", "The launch file above is written in Python.", False),
        ("path", "Set the *path*, then open the *path* again.", False),
        ("client library", "This (the rclrs client library) runs.", False),
        ("robot operating system", "The Robot Operating System (ROS) runs here.", True),
        ("URDF", "Write a URDF (Unified Robot Description Format).", True),
        ("", "A node is a process.", False),
    ],
)
def test_a_sentence_says_what_a_thing_is_or_does_not(
    subject: str, sentence: str, expected: bool
) -> None:
    (unit,) = units(sentence)
    assert defines(sentence, unit, content_stems(subject)) is expected


def test_long_words_take_no_time() -> None:
    began = time.thread_time()
    for text in ("a " + "b" * 20_000 + " is", "the " * 3_000 + "b", "b(" * 5_000, "*b" * 5_000):
        for unit in units(f"{text} x."):
            defines(f"{text} x.", unit, frozenset({"b"}))
    assert time.thread_time() - began < 1.0


def test_code_defines_nothing() -> None:
    code = "```python\nnode: a process\n```"
    (unit,) = units(code)
    assert not defines(code, unit, content_stems("node"))
