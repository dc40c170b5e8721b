"""`quire ask`: one question, one cited answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
    from quire.models import Answer


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    book_id: BookOption = None,
    top_k: Annotated[int | None, typer.Option(min=1, max=20, help="Passages to retrieve.")] = None,
    home: HomeOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Ask the book a question."""
    settings = settings_of(as_json=as_json, home=home, top_k=top_k)

    async def work() -> Answer:
        from quire.wiring import Ask, Library

        async with Library.open(settings) as library:
            return await library.ask(Ask(text=question, book_id=book_id, top_k=settings.top_k))

    answer = run(work(), as_json=as_json)
    if as_json:
        from quire.api.schemas.chat import ChatResponse

        print_json(ChatResponse.of(answer))
    else:
        show(answer)


def show(answer: Answer) -> None:
    """The answer as Markdown, then its sources, or what the book covers instead."""
    from rich.markdown import Markdown

    from quire.answering import refusal

    text = answer.text
    if answer.refusal_reason and answer.suggestions:  # they follow below, with their addresses
        text = refusal.text_for(answer.refusal_reason, ())
    out.print(Markdown(text))
    if answer.citations:
        out.print()
        out.print("[bold]Sources[/]")
        for citation in answer.citations:
            place = f"{citation.source_file}:{citation.line_start}"
            title = f"{citation.page_title} › {citation.section_heading}"
            out.print(
                f"  [cyan]\\[{citation.number}][/] {escape(title)}  [dim]{escape(place)}[/]",
                soft_wrap=True,
            )
            out.print(f"      [blue]{escape(citation.source_url)}[/]", soft_wrap=True)
    elif answer.suggestions:
        out.print()
        out.print("[bold]The book covers[/]")
        for suggestion in answer.suggestions:
            out.print(
                f"  {escape(suggestion.title)}  [blue]{escape(suggestion.source_url)}[/]",
                soft_wrap=True,
            )
    if answer.clarification:
        return
    passages = "1 passage" if len(answer.passages) == 1 else f"{len(answer.passages)} passages"
    out.print(
        f"[dim]{answer.confidence.level} confidence ({answer.confidence.probability:.2f}) · "
        f"{passages} · {answer.elapsed_ms:.0f} ms · {answer.model}[/]"
    )
