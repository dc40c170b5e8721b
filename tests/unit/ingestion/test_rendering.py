from __future__ import annotations

from quire.ingestion.rendering import plain_text, render


def test_tables_say_their_header_in_every_row() -> None:
    table = "| Tier | Needs |\n|---|---|\n| 1 | a **laptop** |\n| 2 | a \\| b |"
    assert render("table", table) == "Tier: 1; Needs: a laptop\nTier: 2; Needs: a | b"
    assert render("table", "| 3 | Jetson |", header="| Tier | Needs |") == "Tier: 3; Needs: Jetson"
    assert render("table", "| Tier | Needs |\n|---|---|") == "Tier; Needs"


def test_code_keeps_its_lines_and_its_language() -> None:
    fence = '```py title="a.py"\ndef f():\n    return 1\n```'
    assert render("fence", fence, info='py title="a.py"') == "py a.py\ndef f():\n    return 1"
    assert render("fence", "- ```sh\n  ls\n  ```", info="sh") == "sh\nls"
    assert render("code", "    a\n      b") == "a\n  b"


def test_what_only_the_site_generator_reads_is_left_out_of_code() -> None:
    fence = "```js\n// highlight-next-line\nlet a;\n  {/* highlight-start */}\nlet b;\n```"
    assert render("fence", fence, info="js") == "js\nlet a;\nlet b;"
    wrapped = "```mdx-code-block\nimport A from 'a';\n\n<A x={1}>\n\nSome **words**.\n\n</A>\n```"
    assert render("fence", wrapped, info="mdx-code-block") == "Some words."


def test_myst_directives_are_read_as_what_they_hold() -> None:
    def fence(info: str, body: str) -> str:
        return render("fence", f"```{info}\n{body}\n```", info=info)

    assert fence("{literalinclude} a.py", ":language: python\n:start-after: x") == ""
    assert fence("{image} a.png", ":alt: A robot *arm*") == "A robot arm"
    assert fence("{code-block} python", ":linenos:\n\nx = 1") == "python\nx = 1"
    assert fence("{tip}", ":class: wide\n\nUse a **short** name.") == "Tip: Use a short name."
    assert fence("{admonition} Mind this", "It moves.") == "Mind this: It moves."
    assert (
        fence("{eval-rst}", ".. toctree::\n   a\n\nSee :ref:`the guide <g>`.") == "See the guide."
    )
    assert fence("{r} plot", "plot(x)") == "r\nplot(x)"


def test_drawn_lines_are_short() -> None:
    drawing = "```\n┌────────┐\n│ a │\n+--------+ x == y\n├── src\n```"
    assert render("fence", drawing) == "┌─┐\n│ a │\n+---+ x == y\n├─ src"


def test_what_carries_no_words_is_silent() -> None:
    for kind, text in [
        ("comment", "<!-- x -->"),
        ("esm", "import A from 'a'"),
        ("rule", "---"),
        ("definition", "[a]: http://x"),
    ]:
        assert render(kind, text) == ""  # pyright: ignore[reportArgumentType]


def test_admonitions_say_their_kind() -> None:
    assert render("admonition", ":::tip[Ask]", info="Tip: Ask") == "Tip: Ask:"
    assert render("admonition", ":::", info="") == ""
    assert render("quote", "> [!NOTE]\n> Mind this.", info="Note") == "Note: Mind this."


def test_quotes_keep_the_code_inside_them() -> None:
    quote = "> Run it:\n>\n> ```sh\n> ls *.py\n> ```\n> > deep **down**"
    assert render("quote", quote) == "Run it:\nsh\nls *.py\ndeep down"


def test_tabs_say_their_label_and_tags_go() -> None:
    assert render("html", '<TabItem value="u" label="Ubuntu 24.04">') == "Ubuntu 24.04:"
    assert render("html", "<summary>Why?</summary>") == "Why?"
    assert render("html", "<style>\n.a{}\n</style>text") == "text"


def test_plain_text_of_a_page() -> None:
    page = (
        "import A from 'a'\n\n## Use **it** {#use}\n\nRead [this](x).\n\n1. One\n2. Two\n\n"
        ":::note\nMind.\n:::\n\n```py\nx = 1\n```\n"
    )
    assert plain_text(page, mdx=True) == (
        "Use it\nRead this.\n- One\n- Two\nNote:\nMind.\npy\nx = 1"
    )
