from __future__ import annotations

import pytest

from quire.books import Layout
from quire.ingestion.anchors import (
    anchors,
    docutils_slug,
    github_slug,
    mdbook_slug,
    vitepress_slug,
)
from quire.ingestion.blocks import scan


def of(text: str, layout: Layout = "docusaurus") -> list[str]:
    return [found.anchor for found in anchors(text, scan(text), layout).values()]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Hello, World!", "hello-world"),
        ("What's new?", "whats-new"),
        ("A  B", "a--b"),
        ("C++ & C#", "c--c"),
        ("`docusaurus.config.js`", "docusaurusconfigjs"),
        ("snake_case-and-dash", "snake_case-and-dash"),
        ("Ünïcode 漢字 اردو", "ünïcode-漢字-اردو"),
        ("I ♥ 😀 emoji", "i---emoji"),
        ("№ ½ ² Ⅷ Ⓐ", "---ⅷ-ⓐ"),
        ("İstanbul", "i̇stanbul"),
    ],
)
def test_slugs_are_those_of_github_slugger(text: str, slug: str) -> None:
    assert github_slug(text) == slug


def test_repeats_are_numbered_and_taken_numbers_skipped() -> None:
    assert of("## A\n## A\n## A-1\n## A") == ["a", "a-1", "a-1-1", "a-2"]


def test_an_explicit_id_wins_and_does_not_count() -> None:
    text = "## A {#mine}\n## A\n## B { #theirs }\n## C {/* #ours */}\n## D \\{#escaped}"
    assert of(text) == ["mine", "a", "theirs", "ours", "escaped"]


def test_headings_in_quotes_and_items_count_but_are_no_sections() -> None:
    assert of("> ## A\n\n- ## A\n\n## A") == ["a-2"]
    assert of("> ```\n> # A\n> ```\n\n## A") == ["a"]


def test_the_title_has_no_anchor_in_docusaurus() -> None:
    assert of("# A\n\n## A") == ["", "a-1"]


def test_mkdocs_anchors() -> None:
    text = "# Ünï & co\n## Ünï & co\n## A\n## A\n## A_1\n## 漢字\n## 漢字\n## B { #b-id .x }"
    assert of(text, "mkdocs") == ["uni-co", "uni-co_1", "a", "a_1", "a_2", "_1", "_2", "b-id"]


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Method-call 🐙 expressions \U0001f47c", "method-call--expressions-"),
        ("--passes: add more passes", "--passes-add-more-passes"),
        ("_-_12345", "_-_12345"),
        ("中文標題 CJK title", "中文標題-cjk-title"),
        ("Über", "über"),
        ("हिन्दी", "हिनदी"),
        ("...", ""),
    ],
)
def test_slugs_are_those_of_mdbook(text: str, slug: str) -> None:
    assert mdbook_slug(text) == slug


def test_mdbook_anchors() -> None:
    text = "# A: b!\n## Ärger is `x`\n## A: b!\n## A b 1\n## A: b!\n## C {#mine}\n## Mine"
    assert of(text, "mdbook") == [
        "a-b",
        "ärger-is-x",
        "a-b-1",
        "a-b-1-1",
        "a-b-2",
        "mine",
        "mine-1",
    ]


@pytest.mark.parametrize(
    ("text", "slug"),
    [  # as `slugify` of @mdit-vue/shared gives them
        ("1. Été & more", "_1-ete-more"),
        ("Straße — Übung…", "straße-—-ubung"),
        ("½ ﬁne ١", "_1⁄2-fine-١"),
        ("١ one", "١-one"),
        ("İstanbul Σ 漢字", "istanbul-σ-漢字"),
        ("a\u00a0b\u3000c\x85d\te", "a-b-c\x85de"),
        ("¿Qué?", "¿que"),
        ("__init__ (self)", "init-self"),
    ],
)
def test_slugs_are_those_of_vitepress(text: str, slug: str) -> None:
    assert vitepress_slug(text) == slug


def test_vitepress_anchors() -> None:
    text = "# Top\n## What's up?\n## What's up?\n## [A `b`](c.md) **d** {#e}"
    assert of(text, "vitepress") == ["top", "what-s-up", "what-s-up-1", "e"]


def test_docutils_ids() -> None:
    assert docutils_slug("2. The `Node` API!") == "the-node-api"
