from __future__ import annotations

import pytest

from quire.ingestion.blocks import scan


def kinds(text: str, *, mdx: bool = False) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in scan(text, mdx=mdx)]


def only(text: str, *, mdx: bool = False) -> list[str]:
    return [block.kind for block in scan(text, mdx=mdx)]


def test_headings_atx_and_setext() -> None:
    text = "# One #\n\nTwo\nlines\n===\n\nThree\n---\n####### no\n#no"
    blocks = scan(text)
    assert [(b.kind, b.level, b.info) for b in blocks] == [
        ("heading", 1, "One"),
        ("heading", 1, "Two\nlines"),
        ("heading", 2, "Three"),
        ("paragraph", 0, ""),
    ]


@pytest.mark.parametrize(
    "fence",
    [
        "```python\n# no heading\n\n<T>\nimport x from 'y'\n```",
        "~~~\n```\n~~~",
        "````md\n```\ninner\n```\n````",
        "  ```\n  indented\n  ```",
        "```\nnever closed\n\n# still code",
    ],
)
def test_a_fence_is_one_block(fence: str) -> None:
    assert kinds(fence) == [("fence", fence)]


def test_the_info_string_is_kept() -> None:
    (block,) = scan('```py title="a.py" {1,3}\nx\n```')
    assert block.info == 'py title="a.py" {1,3}'


def test_inline_backticks_are_no_fence() -> None:
    assert only("``` not a `fence` ```") == ["paragraph"]


def test_lists_and_what_stands_inside_them() -> None:
    text = "Lead:\n- one\n  more\n  - two\n\n    deeper\n\n    ```\n    x\n    ```\n1. three\n"
    assert [(b.kind, b.level) for b in scan(text)] == [
        ("paragraph", 0),
        ("item", 1),
        ("item", 2),
        ("paragraph", 0),
        ("fence", 0),
        ("item", 1),
    ]


def test_an_item_may_begin_with_a_fence() -> None:
    text = "- ```sh\n  ls\n  ```\n- next"
    assert kinds(text) == [("fence", "- ```sh\n  ls\n  ```"), ("item", "- next")]


def test_a_number_in_prose_does_not_start_a_list() -> None:
    assert only("It was in\n1984. A year.") == ["paragraph"]
    assert only("Do this\n1. First") == ["paragraph", "item"]


def test_tables_need_their_rule() -> None:
    assert only("| a | b |\n|---|:-:|\n| 1 | 2 |\n\nText | more") == ["table", "paragraph"]
    assert only("intro\n| a | b |\n|---|---|\n| 1 | 2 |") == ["paragraph", "table"]
    assert only("a | b\n---") == ["heading"]


def test_quotes_and_alerts() -> None:
    text = "> one\nlazy\n> two\n\n> [!WARNING]\n> Careful"
    blocks = scan(text)
    assert [(b.kind, b.info) for b in blocks] == [("quote", ""), ("quote", "Warning")]


@pytest.mark.parametrize(
    ("line", "label"),
    [
        (":::note", "Note"),
        (":::tip[Ask **me**]", "Tip: Ask **me**"),
        (":::warning Mind the gap", "Warning: Mind the gap"),
        ("::::danger{.big}", "Danger"),
        (":::", ""),
        ('!!! note "Title"', "Note: Title"),
        ("??? info", "Info"),
        ('=== "Python"', "Python"),
        ("/// details | More", "Details: More"),
        ("///", ""),
    ],
)
def test_admonitions(line: str, label: str) -> None:
    (block,) = scan(line)
    assert (block.kind, block.info) == ("admonition", label)


def test_the_content_of_an_indented_admonition_is_prose() -> None:
    assert only("!!! note\n    Prose here.\n\n        code here") == [
        "admonition",
        "paragraph",
        "code",
    ]


def test_indented_code_only_outside_lists_and_mdx() -> None:
    assert only("Text\n\n    code\n\n    more\n\nText") == ["paragraph", "code", "paragraph"]
    assert only("- item\n\n    text of the item") == ["item", "paragraph"]
    assert only("Text\n\n    code", mdx=True) == ["paragraph", "paragraph"]


def test_html_and_jsx() -> None:
    text = '<Tabs>\n<TabItem value="a">\n\nProse.\n\n</TabItem>\n</Tabs>'
    assert only(text, mdx=True) == ["html", "paragraph", "html", "html"]
    tag = "<Quiz\n  items={[\n    {q: 'a > b?'},\n\n    {q: '```'},\n  ]}\n/>"
    assert kinds(tag, mdx=True) == [("html", tag)]
    assert only("<div>\n# A heading\n```\ncode\n```\n</div>") == [
        "html",
        "heading",
        "fence",
        "html",
    ]
    assert only("<pre>\n# no heading\n\n</pre>") == ["html"]
    assert only("<https://example.org> is a link") == ["paragraph"]


def test_comments_may_span_blank_lines() -> None:
    assert only("<!-- a\n\n# b\n-->\n\nText") == ["comment", "paragraph"]
    assert only("{/* a\n\nb */}\nText") == ["comment", "paragraph"]
    assert only("<!-- never closed\n\nText") == ["html", "paragraph"]


def test_imports_and_exports() -> None:
    assert only("import A from 'a';\nimport {\n  B,\n} from 'b';\n\nText", mdx=True) == [
        "esm",
        "paragraph",
    ]
    assert only("export const a = [\n  1,\n\n  2,\n];\n\nText", mdx=True) == ["esm", "paragraph"]
    assert only("import the module first.\n\nexport it later.") == ["paragraph", "paragraph"]


def test_small_things() -> None:
    assert only("---\n\n***\n\n_ _ _") == ["rule", "rule", "rule"]
    assert only("[a]: http://x\n[^1]: Note.\n\n$$\na = b\n= c\n$$") == [
        "definition",
        "footnote",
        "math",
    ]


def test_crlf_stays_in_the_ranges() -> None:
    text = "# A\r\n\r\nb\r\nc\r\n\r\n```\r\nx\r\n```\r\n"
    assert kinds(text) == [
        ("heading", "# A"),
        ("paragraph", "b\r\nc"),
        ("fence", "```\r\nx\r\n```"),
    ]


def test_offsets_are_those_of_the_whole_text() -> None:
    text = "skip\n\n# A"
    (block,) = scan(text, 4)
    assert text[block.start : block.end] == "# A"


def test_myst_admonitions_say_what_they_are() -> None:
    blocks = scan(":::{note}\n:class: wide\nMind it.\n:::\n\n:::{tab-item} Linux\nRun it.\n:::\n")
    assert [(block.kind, block.info) for block in blocks] == [
        ("admonition", "Note"),
        ("paragraph", ""),
        ("admonition", ""),
        ("admonition", "Linux"),
        ("paragraph", ""),
        ("admonition", ""),
    ]
