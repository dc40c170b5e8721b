from __future__ import annotations

import pytest

from quire.ingestion.inline import heading_text, slug_text, words


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("**bold *it* more** and ***both***", "bold it more and both"),
        ("_a_ __b__ snake_case_name", "a b snake_case_name"),
        ("2 * 3 * 4 and f(*args, **kw)", "2 * 3 * 4 and f(*args, **kw)"),
        ('[text](url "t") and [ref][1]', "text and ref"),
        ("[![alt](a.png)](b)", "alt"),
        ("![A robot arm](a.png)", "A robot arm"),
        ("[a (b)](http://x/y_(z)) c", "a (b) c"),
        ("<https://a.b/c?d=e>", "https://a.b/c?d=e"),
        ("use `Vec<T>` and ``a`b``", "use Vec<T> and a`b"),
        ("`*kept*` and `__init__`", "*kept* and __init__"),
        ("a <b class='x'>bold</b> word<br/>", "a bold word"),
        ("x <!-- hidden --> y {/* too */} z", "x y z"),
        ("Note[^1] and more[^long].", "Note and more."),
        ("\\*literal\\* &amp; &lt;T&gt;", "*literal* & <T>"),
        ("~~old~~ new", "old new"),
        ("2<sup>7</sup> − 1 and H<sub>2</sub>O", "2⁷ − 1 and H₂O"),
        ("2<sup>n − 1</sup>, e<sup>x</sup>, x<sub>max</sub>", "2^(n − 1), e^x, x_max"),
        ("the 4<sup>th</sup> of `a<sup>2</sup>`", "the 4th of a<sup>2</sup>"),
        ("a  \n  b\r\nc", "a b c"),
        ("3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
        ("{* ../docs_src/a.py hl[1] *} {{#include x.rs}}", ""),
    ],
)
def test_markup_is_undone(markdown: str, plain: str) -> None:
    assert words(markdown) == plain


def test_expressions_go_in_mdx_only() -> None:
    assert words("Hello {name}!") == "Hello {name}!"
    assert words("Hello {user.name ?? {a: 1}}!", mdx=True) == "Hello !"
    assert words("`{kept}` <Foo a={() => {x}}>in</Foo>", mdx=True) == "{kept} in"


def test_headings_keep_expressions_and_slugs_keep_blanks() -> None:
    assert heading_text("The **`useX`** hook {v}") == "The useX hook {v}"
    assert slug_text('Set up <a name="x"></a>') == "Set up "


def test_private_characters_in_a_page_are_harmless() -> None:
    assert words("a \ue0007\ue001 `b` *c*") == "a b c"
