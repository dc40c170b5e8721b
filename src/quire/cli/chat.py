"""`quire chat`: a conversation in the terminal, streaming, with its sources."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from quire.cli.terminal import BookOption, HomeOption, err, escape, out, run, settings_of
from quire.errors import QuireError

if TYPE_CHECKING:
    from quire.models import Answer
    from quire.wiring import BookSummary, Library

HELP = """\
/sources  the quotes behind the last answer
/why      its confidence, and the passages that were considered
/select F answer the next question from this file alone
/history  what was said so far
/new      forget the conversation and start another
/quit     leave (Ctrl-D does too; Ctrl-C stops an answer)"""


def chat(book_id: BookOption = None, home: HomeOption = None) -> None:
    """Talk with a book; `/help` lists what else you can type."""
    settings = settings_of(home=home)

    async def work() -> None:
        from quire.wiring import Library

        async with Library.open(settings) as library:
            await Conversation(library, await library.book(book_id)).run()

    run(work())


class Conversation:
    """The loop of one terminal conversation; state lives only as long as it does."""

    def __init__(self, library: Library, book: BookSummary) -> None:
        self._library = library
        self._book = book
        self._session: str | None = None
        self._selection: str | None = None
        self._last: Answer | None = None
        self._said: list[tuple[str, str]] = []

    async def run(self) -> None:
        """Read lines until the end; works the same when input is piped."""
        if sys.stdin.isatty():
            out.print(f"[bold]{escape(self._book.title)}[/]  [dim]/help lists the commands[/]")
        while (line := await asyncio.to_thread(read_line)) is not None:
            line = line.strip()
            if line in ("/quit", "/exit"):
                return
            if line.startswith("/"):
                self._command(*line[1:].split(maxsplit=1))
            elif line:
                await self._ask(line)

    async def _ask(self, text: str) -> None:
        """One turn; Ctrl-C ends it, not the conversation."""
        loop = asyncio.get_running_loop()
        turn = loop.create_task(self._answer(text))
        loop.add_signal_handler(signal.SIGINT, turn.cancel)
        try:
            await asyncio.wait([turn])
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if turn.cancelled():
            err.print("\n[yellow]stopped[/]")
        elif isinstance(error := turn.exception(), QuireError):
            err.print(f"\n[bold red]error:[/] {escape(error.message)}")
        elif error is not None:
            raise error
        elif turn.result() is not None:
            raise SystemExit(turn.result())

    async def _answer(self, text: str) -> int | None:
        """The exit code when nobody reads our output any more (`quire chat | head`)."""
        try:
            await self._stream(text)
        except SystemExit as closed:
            return int(closed.code or 0)
        return None

    async def _stream(self, text: str) -> None:
        from quire.answering import AnswerDone, SentenceReady
        from quire.wiring import Ask

        ask = Ask(
            text=text,
            book_id=self._book.id,
            session_id=self._session,
            remember=True,
            mode="selected_text" if self._selection else "general",
            selected_text=self._selection,
            top_k=self._library.settings.top_k,
        )
        self._selection = None
        async with aclosing(self._library.stream(ask)) as events:
            async for event in events:
                match event:
                    case SentenceReady():
                        out.print(event.text, end="", markup=False, soft_wrap=True)
                    case AnswerDone():
                        self._finish(text, event.answer)
                    case _:
                        pass

    def _finish(self, text: str, answer: Answer) -> None:
        self._last = answer
        self._session = answer.session_id
        self._said.append((text, answer.text))
        out.print()
        if answer.citations:
            out.print("\n---\n[bold]Sources:[/]")
            for citation in answer.citations:
                out.print(
                    f"\\[{citation.number}] {escape(citation.source_url)} "
                    f"(score: {citation.score:.2f})",
                    soft_wrap=True,
                )
        out.print()

    def _command(self, name: str = "", argument: str = "") -> None:
        match name:
            case "sources":
                self._show_sources()
            case "why":
                self._show_reasons()
            case "select":
                self._select(Path(argument).expanduser())
            case "history":
                for question, answer in self._said:
                    out.print(f"[bold]{escape(question)}[/]\n{escape(answer)}\n")
            case "new":
                self._session, self._last = None, None
                self._said.clear()
                out.print("[dim]a new conversation[/]")
            case _:
                out.print(HELP, markup=False)

    def _show_sources(self) -> None:
        if self._last is None or not self._last.citations:
            out.print("[dim]there is no cited answer yet[/]")
            return
        for citation in self._last.citations:
            place = f"{citation.source_file}:{citation.line_start}"
            out.print(f"\\[{citation.number}] [dim]{escape(place)}[/]", soft_wrap=True)
            out.print(f"    “{escape(citation.quote)}”", soft_wrap=True)

    def _show_reasons(self) -> None:
        if self._last is None:
            out.print("[dim]nothing was asked yet[/]")
            return
        answer = self._last
        out.print(
            f"{answer.confidence.level} confidence ({answer.confidence.probability:.2f}), "
            f"searched for “{escape(answer.standalone_question)}”"
            + (f", refused: {answer.refusal_reason}" if answer.refusal_reason else "")
        )
        for passage in answer.passages:
            out.print(
                f"  {passage.score:.2f} (cosine {passage.cosine:.2f}) "
                f"{escape(passage.chunk.breadcrumb)}",
                soft_wrap=True,
            )

    def _select(self, path: Path) -> None:
        try:
            self._selection = path.read_bytes().decode("utf-8")[:10_000]
        except (OSError, UnicodeDecodeError) as error:
            err.print(f"[bold red]error:[/] can't read {escape(str(path))}: {escape(str(error))}")
            return
        out.print("[dim]the next question is answered from this text alone[/]")


def read_line() -> str | None:
    """The next line of input; None at its end."""
    try:
        return input("› " if sys.stdin.isatty() else "")
    except EOFError:
        return None
