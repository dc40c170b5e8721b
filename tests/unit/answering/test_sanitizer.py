import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from quire.answering.markup import has_invisible
from quire.answering.sanitizer import leads_into, safe_markdown

BASE = "https://book.example/docs"
BARE = re.compile(r"https?://\w|www\.\w|\w@\w+\.\w")


def live_parts(markdown: str) -> list[str]:
    """What a renderer makes live: images, HTML, links out of the book, bare addresses."""
    found: list[str] = []
    for block in MarkdownIt("commonmark", {"html": True}).enable("table").parse(markdown):
        for token in (block, *(block.children or ())):
            if token.type in ("image", "html_inline", "html_block"):
                found.append(token.type)
            elif token.type == "link_open" and not leads_into(str(token.attrs["href"]), BASE):
                found.append(str(token.attrs["href"]))
            elif token.type == "text" and BARE.search(token.content):
                found.append(token.content)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Plain words.", "Plain words."),
        ("10<sup>2</sup> cm, not `10<sup>2</sup>`", "10² cm, not `10<sup>2</sup>`"),
        ("An ![image](https://bad.com/x.png) here.", "An  here."),
        ("A [link](https://evil.example) out.", "A link out."),
        (
            "A [page](https://book.example/docs/a#b) in.",
            "A [page](https://book.example/docs/a#b) in.",
        ),
        ("A [twin](https://book.example.evil/docs/a) out.", "A twin out."),
        ("A [user](https://book.example@evil.example/docs/a) out.", "A user out."),
        ("A [up](https://book.example/docs/../x) out.", "A up out."),
        ("A [js](javascript:alert(1)) out.", "A js out."),
        ("A [ref][1] out.\n\n[1]: https://evil.example", "A ref out."),
        ("A [`Vec<T>`](https://evil.example/v) out.", "A `Vec<T>` out."),
        ("The [trait `Fn`][fn] and [`a[0]`](x.md).", "The trait `Fn` and `a[0]`."),
        (
            "A [`page` here](https://book.example/docs/a) in.",
            "A [`page` here](https://book.example/docs/a) in.",
        ),
        ("Not `[`x`](y)` code.", "Not `[`x`](y)` code."),
        ("See <https://evil.example>.", "See `https://evil.example`."),
        ("See www.evil.example now.", "See `www.evil.example` now."),
        ("Mail a@b.example now.", "Mail `a@b.example` now."),
        ("<b>Bold</b> <script>alert(1)</script>text.", "Bold text."),
        ("A Vec<T> value.", "A Vec&lt;T> value."),
        ("if a < b then.", "if a < b then."),
        ("Claim [1][2] here [99].", "Claim here."),
        ("# Title", "Title"),
        ("Keep `a[1] <b> https://x` code.", "Keep `a[1] <b> https://x` code."),
        ("Run `cargo\n  build` first.", "Run `cargo build` first."),
        ("Run `cargo\n\nbuild` first.", "Run cargo\n\nbuild first."),
        ("```js onclick=x\n<img src=x>\n```", "```js\n<img src=x>\n```"),
        ("```py\nunclosed", "```py\nunclosed\n```"),
        ("Zero\u200bwidth\x1b[31m red\x07\u202e.", "Zerowidth red."),
    ],
)
def test_what_is_live_or_hidden_is_taken_out(text: str, expected: str) -> None:
    assert safe_markdown(text, BASE) == expected


def test_without_a_base_url_no_link_stays() -> None:
    assert safe_markdown("A [page](https://book.example/docs/a).") == "A page."


def test_arabic_joiners_are_spelling_and_stay() -> None:
    assert safe_markdown("می\u200cخواهم") == "می\u200cخواهم"


@pytest.mark.parametrize(
    "url",
    [
        "//evil.example",
        "https:/\\evil.example",
        "https://book.example:8443/docs",
        "http://book.example/docs",
        "https://book.example/docsevil",
        "https://book.example/docs/%2e%2e/x",
        "/docs/a",
        "",
    ],
)
def test_an_address_outside_the_book_is_refused(url: str) -> None:
    assert not leads_into(url, BASE)


PIECES = [
    "![x](https://evil.example/?q=", "[a](", "](https://evil.example)", "](javascript:alert(1))",
    "[r][x]", "\n\n[x]: https://evil.example\n\n", "<img src=x onerror=y>", "<a href='//evil'>",
    "<https://evil.example>", "https://evil.example/a", "www.evil.example", "<!-- ", " -->", "`",
    "``", "```\n", "\n```\n", "[1]", "[^1]", "!", "[", "]", "(", ")", "<", ">", "&lt;", "\\", "*",
    "\u200b", "\u202e", "\x1b[0m", "\U000e0041", "words here", " ", "\n", "data:text/html,x",
    "[ok](https://book.example/docs/x)", "<script>", "</script>", "<svg/onload=x>", "a@b.example",
    "[`c`](https://evil.example)", "[`c`", "`](https://book.example/docs/y)", "[`c`][x]",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_generated_hostile_markdown_has_nothing_live(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        text = "".join(chance.choices(PIECES, k=chance.randint(2, 14)))
        safe = safe_markdown(text, BASE)
        assert not live_parts(safe), (text, safe)
        assert not has_invisible(safe)


@settings(max_examples=300)
@given(st.text(alphabet="ab![]()<>`:/.\\\n #x@", max_size=60))
def test_any_text_has_nothing_live(text: str) -> None:
    safe = safe_markdown(text, BASE)
    assert not live_parts(safe), (text, safe)


@pytest.mark.parametrize(
    ("language", "shown"),
    [
        ("rust,ignore", "#[test]\nlet a = 1;"),
        ("python", "# use it\n#[test]\n  # so\n#\nlet a = 1;"),
    ],
)
def test_lines_that_rustdoc_hides_are_not_shown(language: str, shown: str) -> None:
    text = f"```{language}\n# use it\n#[test]\n  # so\n#\nlet a = 1;\n```"
    assert safe_markdown(text) == f"```{language.partition(',')[0]}\n{shown}\n```"
