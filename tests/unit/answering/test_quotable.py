import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.answering.quotable import units

PAGE = """\
import Tabs from '@theme/Tabs';

# Nodes {#nodes}

A node is a process. See Fig. 3 for the e.g. `a.b. c` case! Is it fast?

:::note
Notes hold prose too.
:::

1. Open a terminal.
2. Run **the** command:
   `ros2 run`.

- [Other page](other.md)
- Bullets are items.

```python
# not a heading
print("hi. there")
```

| a | b |
| --- | --- |
| 1 | 2 |

<Tabs>
<!-- hidden words. -->

The end:
"""


def kinds() -> list[tuple[str, str]]:
    return [(unit.kind, PAGE[unit.start : unit.end]) for unit in units(PAGE)]


def test_units_are_sentences_items_code_and_tables() -> None:
    found = kinds()
    assert ("sentence", "A node is a process.") in found
    assert ("sentence", "See Fig. 3 for the e.g. `a.b. c` case!") in found
    assert ("sentence", "Notes hold prose too.") in found
    assert ("step", "1. Open a terminal.") in found
    assert ("item", "- Bullets are items.") in found
    assert any(kind == "code" and "not a heading" in text for kind, text in found)
    assert any(kind == "table" and text.endswith("| 1 | 2 |") for kind, text in found)
    assert ("lead", "The end:") in found


@pytest.mark.parametrize(
    "never", ["import Tabs", "# Nodes", "Other page", "<Tabs>", "hidden words", ":::"]
)
def test_markup_and_navigation_are_never_units(never: str) -> None:
    assert not any(text.startswith(never) or never in text for _, text in kinds())


def test_a_heading_is_known_to_the_units_below_it() -> None:
    assert {unit.heading for unit in units(PAGE)} == {"Nodes"}


def test_the_heading_of_a_quotation_is_no_part_of_its_first_sentence() -> None:
    text = "> ##### Overflow\n>\n> A number may be too large. Then it wraps.\n"
    assert [text[unit.start : unit.end] for unit in units(text)] == [
        "> A number may be too large.",
        "Then it wraps.",
    ]


def test_a_unit_with_hidden_characters_is_not_quotable() -> None:
    assert units("Nodes\u200b are fine. Topics are\U000e0041 too.") == ()


def test_a_code_block_cut_by_a_chunk_is_not_quotable() -> None:
    assert units("```python\nprint(1)\n") == ()


@pytest.mark.parametrize(
    ("opening", "rest"),
    [
        ("```python", "# Set up a timer. It ticks.\nprint(1)\n```\n\n"),
        ("| a | b |\n|---|---|", "| One. Two. | three |\n\n"),
        ("   ~~~~", "   - not an item\n   ~~~~\n\n"),
    ],
)
def test_the_rest_of_a_block_that_was_opened_before_is_no_unit(opening: str, rest: str) -> None:
    text = f"{rest}A node is a process."
    (unit,) = units(text, opening)
    assert text[unit.start : unit.end] == "A node is a process."


def test_what_a_directive_is_told_is_no_code() -> None:
    told = "::: fastapi.Response\n\n    options:\n      members:\n        - status_code\n"
    assert units(told) == ()
    (code,) = units("Like this.\n\n    options:\n      members: all\n")[1:]
    assert code.kind == "code"


def test_crlf_and_combining_characters_keep_exact_offsets() -> None:
    text = "Cafe\u0301 one.\r\nTwo lines\r\nlong. Three 👩‍🚀 here."
    assert [text[u.start : u.end] for u in units(text)] == [
        "Cafe\u0301 one.",
        "Two lines\r\nlong.",
        "Three 👩‍🚀 here.",
    ]


@given(st.text(alphabet="ab .!?`*_[]()<>|#-:\n\r1", max_size=120))
def test_units_are_ordered_disjoint_slices(text: str) -> None:
    end = 0
    for unit in units(text):
        assert end <= unit.start < unit.end <= len(text)
        assert text[unit.start : unit.end].strip() == text[unit.start : unit.end]
        end = unit.end


def test_importing_answering_does_not_import_the_agents_sdk() -> None:
    import subprocess

    code = (
        "import quire.answering, sys; sys.exit('agents' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_code_inside_a_quotation_is_no_sentence() -> None:
    text = (
        "> Source it first.\n>\n> ``` bash\n> cd ~/ws\n> . setup.sh\n> ```\n>\n> Then it runs.\n\n"
        "> Not closed:\n> ~~~\n> rm -r build. Done.\n"
    )
    quoted = [text[unit.start : unit.end] for unit in units(text)]
    assert quoted == ["> Source it first.", ">\n> Then it runs.", "> Not closed:"]
