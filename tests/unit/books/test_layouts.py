from __future__ import annotations

from pathlib import Path

from quire.books import discover, load_book, page_address


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(root: Path) -> list[str]:
    return [file.source_file for file in discover(load_book(root))]


def test_docusaurus_is_known_by_its_configuration(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "docusaurus.config.js": "",
            "docs/01-intro/01-start.md": "x",
            "versioned_docs/version-1.0/intro.md": "x",
            "i18n/ur/docusaurus-plugin-content-docs/current/intro.md": "x",
            "docs/_partial.mdx": "x",
        },
    )
    book = load_book(root)
    assert (book.layout, book.content_dir) == ("docusaurus", "docs")
    assert names(root) == ["docs/01-intro/01-start.md"]
    assert page_address(book, "docs/01-intro/01-start.md", {}) == "/docs/intro/start"
    assert load_book(root / "docs").layout == "docusaurus"


def test_other_versions_and_languages_come_in_by_include(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "docusaurus.config.ts": "",
            "quire.toml": 'include = ["docs/**", "versioned_docs/**", "i18n/ur/**"]',
            "docs/a.md": "x",
            "versioned_docs/version-2.x/a.md": "x",
            "i18n/ur/docusaurus-plugin-content-docs/current/a.md": "x",
            "i18n/de/docusaurus-plugin-content-docs/current/a.md": "x",
        },
    )
    book = load_book(root)
    assert names(root) == [
        "docs/a.md",
        "i18n/ur/docusaurus-plugin-content-docs/current/a.md",
        "versioned_docs/version-2.x/a.md",
    ]
    translated = "i18n/ur/docusaurus-plugin-content-docs/current/a.md"
    assert page_address(book, translated, {}) == "/ur/docs/a"
    assert page_address(book, "versioned_docs/version-2.x/a.md", {}) == "/docs/2.x/a"


def test_mkdocs_gives_titles_and_addresses(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "mkdocs.yml": (
                "site_name: My Docs\nsite_url: https://example.org/d/\n"
                "nav:\n  - Home: index.md\n  - Guide:\n      - First steps: guide/first.md\n"
                "plugins: [!ENV x, &a b, *a]\n"
                "theme: !!python/name:os.system\n"
            ),
            "docs/index.md": "x",
            "docs/guide/first.md": "x",
        },
    )
    book = load_book(root)
    assert (book.layout, book.title) == ("mkdocs", "My Docs")
    assert book.page_titles["docs/guide/first.md"] == "First steps"
    assert page_address(book, "docs/guide/first.md", {}) == "https://example.org/d/guide/first/"
    assert page_address(book, "docs/index.md", {}) == "https://example.org/d/"


def test_mkdocs_without_directory_urls(tmp_path: Path) -> None:
    root = write(tmp_path, {"mkdocs.yml": "use_directory_urls: false", "docs/a/b.md": "x"})
    assert page_address(load_book(root), "docs/a/b.md", {}) == "/a/b.html"


def test_mdbook_follows_its_summary(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "book.toml": '[book]\ntitle = "Crab"\nlanguage = "de"',
            "src/SUMMARY.md": "# Summary\n\n[Foreword](README.md)\n\n- [One `x`](./ch/01.md)\n",
            "src/README.md": "x",
            "src/ch/01.md": "x",
            "src/ch/snippet.md": "x",
        },
    )
    book = load_book(root)
    assert (book.layout, book.title, book.language) == ("mdbook", "Crab", "de")
    assert names(root) == ["src/README.md", "src/ch/01.md"]
    assert book.page_titles["src/ch/01.md"] == "One x"
    assert page_address(book, "src/ch/01.md", {}) == "/ch/01.html"
    assert page_address(book, "src/README.md", {}) == "/index.html"


def test_vitepress_serves_html_and_translations_in_folders(tmp_path: Path) -> None:
    root = write(
        tmp_path, {"docs/.vitepress/config.ts": "", "docs/guide/a.md": "x", "docs/zh/a.md": "x"}
    )
    book = load_book(root)
    assert (book.layout, book.locales) == ("vitepress", ("zh",))
    assert names(root) == ["docs/guide/a.md"]
    assert page_address(book, "docs/guide/a.md", {}) == "/guide/a.html"


def test_translations_side_by_side_give_the_main_language(tmp_path: Path) -> None:
    root = write(tmp_path, {"en/docs/a.md": "x", "de/docs/a.md": "x", "zh/docs/a.md": "x"})
    book = load_book(root)
    assert book.locales == ("de", "en", "zh")
    assert names(root) == ["en/docs/a.md"]
    assert load_book(root / "de").language == "de"


def test_build_output_is_no_part_of_a_book(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        {
            "a.md": "x",
            "build/index.html": "x",
            "build/b.md": "x",
            "guide/build/c.md": "x",
            "node_modules/m/README.md": "x",
            ".hidden/d.md": "x",
            "requirements.txt": "x",
            "notes.txt": "x",
        },
    )
    assert names(root) == ["a.md", "guide/build/c.md", "notes.txt"]
