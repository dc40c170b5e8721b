"""`quire search`: the passages nearest to a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from quire.cli.terminal import (
    BookOption,
    HomeOption,
    JsonFlag,
    escape,
    out,
    print_json,
    run,
    settings_of,
)

if TYPE_CHECKING:
    from quire.models import Retrieval


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    book_id: BookOption = None,
    limit: Annotated[int, typer.Option(min=1, max=20, help="Most results.")] = 5,
    module: Annotated[str | None, typer.Option(help="Only this module.")] = None,
    hardware_tier: Annotated[int | None, typer.Option(help="This tier or lower.")] = None,
    chapter: Annotated[int | None, typer.Option(help="Only this chapter.")] = None,
    lesson: Annotated[int | None, typer.Option(help="Only this lesson.")] = None,
    level: Annotated[
        list[str] | None, typer.Option(help="Proficiency level; repeat for any of.")
    ] = None,
    layer: Annotated[str | None, typer.Option(help="Only this teaching layer.")] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Find passages, best first."""
    settings = settings_of(as_json=as_json, home=home)
    given: dict[str, Any] = {
        "module": module,
        "hardware_tier": hardware_tier,
        "chapter": chapter,
        "lesson": lesson,
        "proficiency_levels": level or None,
        "layer": layer,
    }
    filters = {name: value for name, value in given.items() if value is not None}

    async def work() -> tuple[Retrieval, str]:
        from quire.wiring import Library

        async with Library.open(settings) as library:
            book = await library.book(book_id)
            found = await library.search(
                query, book_id=book.id, filters=filters, top_k=limit, score_threshold=0.0
            )
            return found, book.id

    retrieval, found_in = run(work(), as_json=as_json)
    if as_json:
        from quire.api.schemas.search import SearchResponse

        print_json(SearchResponse.of(retrieval, found_in))
        return
    if not retrieval.passages:
        out.print("nothing found")
    for passage in retrieval.passages:
        chunk = passage.chunk
        out.print(
            f"[bold]{passage.number}.[/] {escape(chunk.breadcrumb)}  "
            f"[dim]{passage.score:.2f} (cosine {passage.cosine:.2f})[/]",
            soft_wrap=True,
        )
        out.print(f"   [blue]{escape(chunk.source_url)}[/]", soft_wrap=True)
        first = " ".join(chunk.markdown.split())
        out.print(f"   {escape(first[:200])}{'…' if len(first) > 200 else ''}")
