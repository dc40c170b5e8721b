from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress

import pytest

from quire.errors import PageRejected
from quire.ingestion.frontmatter import read_front_matter


def read(text: str) -> tuple[dict[str, object], str]:
    front = read_front_matter(text, "a.md")
    return dict(front.values), text[front.body_start :]


def test_values_keep_their_types_and_dates_stay_text() -> None:
    text = (
        "---\ntitle: 'A: b'\nn: 3\nf: 1.5\nyes_: yes\nt: true\nd: 2025-11-29\n"
        "l: [a, 2]\nm:\n  k: |\n    x\n    y\nnone:\n---\nBody"
    )
    values, body = read(text)
    assert values == {
        "title": "A: b",
        "n": 3,
        "f": 1.5,
        "yes_": "yes",
        "t": True,
        "d": "2025-11-29",
        "l": ["a", 2],
        "m": {"k": "x\ny\n"},
        "none": None,
    }
    assert body == "\nBody"


def test_a_byte_order_mark_and_crlf_are_allowed() -> None:
    assert read("\ufeff---\r\ntitle: x\r\n---\r\nBody") == ({"title": "x"}, "\nBody")
    assert read("\ufeffBody") == ({}, "Body")


def test_toml_between_plus_signs() -> None:
    assert read('+++\ntitle = "x"\n[a]\nb = 1\n+++\nBody') == (
        {"title": "x", "a": {"b": 1}},
        "\nBody",
    )


@pytest.mark.parametrize(
    "text",
    [
        "Body",
        "---\ntitle: never closed\n\nBody",
        "---\n\nA rule, then prose.\n\n---\n\nMore.",
        "--- x\ntitle: a\n---\n",
        " ---\ntitle: a\n---\n",
    ],
)
def test_what_is_no_front_matter_belongs_to_the_body(text: str) -> None:
    assert read(text) == ({}, text)


def test_empty_front_matter_is_no_body() -> None:
    assert read("---\n---\nBody") == ({}, "\nBody")


@pytest.mark.parametrize(
    ("yaml", "reason", "line"),
    [
        ("a: &x 1\nb: *x", "anchors are not allowed", 2),
        ("a: 1\nb: *x", "aliases are not allowed", 3),
        ("a: !!python/object:os.system x", "tags are not allowed", 2),
        ("a: 1\nb: !!str x", "tags are not allowed", 3),
        ("a: 1\nb: 2\na: 3", "occurs twice", 4),
        ("a: " + "[" * 40 + "]" * 40, "nested deeper", 2),
        ("a: b: c", "mapping values", 2),
        ("a:\n\t- b", "cannot start any token", 3),
        ("? [a]\n: b", "a key must be", 2),
    ],
)
def test_hostile_or_broken_yaml_is_rejected_with_its_line(
    yaml: str, reason: str, line: int
) -> None:
    with pytest.raises(PageRejected, match=reason) as caught:
        read(f"---\n{yaml}\n---\nBody")
    assert caught.value.line == line
    assert caught.value.source_file == "a.md"


def test_broken_toml_is_rejected_with_its_line() -> None:
    with pytest.raises(PageRejected) as caught:
        read("+++\na = 1\nb = \n+++\n")
    assert caught.value.line == 3
    with pytest.raises(PageRejected, match="nested too deeply"):
        read("+++\na = " + "[" * 3000 + "]" * 3000 + "\n+++\n")


BOMBS = {
    "aliases": "a: &a [x, x]\n"
    + "\n".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]" for n in range(9)
    ),
    "brackets": "a: " + "[" * 60_000,
    "braces": "a: " + "{" * 60_000,
    "indentation": "\n".join(" " * n + "a:" for n in range(300)),
    "keys": "\n".join(f"k{n}: 1" for n in range(7_000)),
    "items": "a: [" + "1," * 30_000 + "]",
    "digits": "a: " + "9" * 60_000,
    "quotes": 'a: "' + "\\x41" * 15_000,
    "merge": "a: {<<: {<<: {<<: 1}}}",
    "size": "a: " + "x" * 70_000,
    "comment": "#" * 60_000,
    "question": "? " * 30_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_cost_little_time_and_memory(name: str) -> None:
    text = f"---\n{BOMBS[name]}\n---\nBody"
    tracemalloc.start()
    begin = time.thread_time()
    with suppress(PageRejected):
        read_front_matter(text, "a.md")
    spent = time.thread_time() - begin
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000_000
    assert spent < 0.5  # traced, on a shared machine; untraced it is below 0.1
