"""Strategies for Markdown pages: well-formed ones, odd ones and plain noise."""

from __future__ import annotations

from hypothesis import strategies as st

_WORD = st.sampled_from(
    "robot sensor topic node publishes the a of `ros2` **bold** *it* e.g. 3.11 [link](u.md) "
    "![alt](i.png) <b>tag</b> {expr} ros2. Dr. U.S. http://x.y/z. ~~old~~ \\*star\\* [^1] 漢字。 "
    "یہ۔ … naïve | # > - <T> `a|b` && \\ \ufeff \u200b 😀".split(" ")
)
_SENTENCE = st.lists(_WORD, min_size=1, max_size=25).map(lambda words: " ".join(words) + ".")
_PARAGRAPH = st.lists(_SENTENCE, min_size=1, max_size=8).map(" ".join)
_LINES = st.lists(_SENTENCE, min_size=1, max_size=12)


def _fence(lines: list[str], mark: str, info: str, closed: bool, indent: str) -> str:
    body = [f"{mark}{info}", *lines, *([mark] if closed else [])]
    return "\n".join(indent + line for line in body)


_FENCE = st.builds(
    _fence,
    st.lists(
        st.sampled_from(["# comment", "x = 1", "    if y:", "", "import a from 'b'", "<T>", "---"]),
        max_size=30,
    ),
    st.sampled_from(["```", "````", "~~~"]),
    st.sampled_from(["", "python", 'py title="a.py"', "{.rust}"]),
    st.booleans() | st.just(True),
    st.sampled_from(["", "  ", "    "]),
)


def _heading(level: int, text: str, extra: str) -> str:
    return f"{'#' * level} {text}{extra}"


_TABLE = st.lists(_SENTENCE, min_size=1, max_size=15).map(
    lambda cells: "| A | B |\n|---|:-:|\n" + "\n".join(f"| {cell} | 1 |" for cell in cells)
)
_BLOCK = st.one_of(
    _PARAGRAPH,
    st.builds(
        _heading,
        st.integers(1, 6),
        _SENTENCE,
        st.sampled_from(["", " {#an-id}", " ##"]),
    ),
    _SENTENCE.map(lambda text: f"{text}\n----"),
    _FENCE,
    _TABLE,
    _LINES.map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    _LINES.map(lambda lines: "\n".join(f"{n}. {line}" for n, line in enumerate(lines, 1))),
    _LINES.map(lambda lines: "\n".join(f"> {line}" for line in lines)),
    _PARAGRAPH.map(lambda text: f":::note[Mind]\n\n{text}\n\n:::"),
    _PARAGRAPH.map(lambda text: f"!!! tip\n    {text}"),
    _PARAGRAPH.map(lambda text: f"<details>\n<summary>S</summary>\n\n{text}\n\n</details>"),
    st.sampled_from(
        [
            "---",
            "***",
            "<!-- a\n\ncomment -->",
            "<!-- open",
            "{/* mdx */}",
            "import X from '@x';",
            "export const a = [\n\n1];",
            "<Foo\n  a={() => 1}\n/>",
            "[ref]: https://x.y",
            "[^1]: A note.",
            "$$\na = b\n$$",
            "x",
            "##",
            "    indented code",
            "\t- tab item",
        ]
    ),
    st.text(max_size=60),
)
_FRONT_MATTER = st.sampled_from(
    ["", "---\ntitle: A page\n---\n", "---\n---\n", "\ufeff---\ntitle: B\n---\n", "---\nopen\n"]
)


def _page(front: str, blocks: list[str], gap: str, crlf: bool) -> str:
    text = front + gap.join(blocks)
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else text


pages = st.builds(
    _page,
    _FRONT_MATTER,
    st.lists(_BLOCK, max_size=14),
    st.sampled_from(["\n\n", "\n", "\n\n\n"]),
    st.booleans(),
).filter(lambda text: "\0" not in text)
"""Whole pages as text."""
