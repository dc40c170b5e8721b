"""The answerer: guard, retrieve, draft, verify, cite, or refuse; whole or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from quire.answering import clarification, guard, refusal
from quire.answering import courtesy as courtesies
from quire.answering.draft import DraftStream, Segment
from quire.answering.events import AnswerDone, AnswerEvent
from quire.answering.followups import standalone_question
from quire.answering.parts import two_parts
from quire.answering.ports import Retriever, Support
from quire.answering.question import Limits, Question
from quire.answering.reply import Reply
from quire.answering.runtime import AgentRuntime, DraftReady, ResponseBegins, TextDelta
from quire.answering.selection import SelectionReader
from quire.answering.turn import Turn
from quire.answering.verification import Verifier
from quire.errors import ModelUnavailable
from quire.models import Answer, Message

if TYPE_CHECKING:
    from agents import Model

    from quire.embedding.port import Embedder
    from quire.reading import Reader

Emit = Callable[[AnswerEvent], None]


class Answerer:
    """Answers questions about books; holds no state between turns, safe to share.

    `model` may also be what gives the model: it is asked when the first draft is wanted.
    """

    def __init__(
        self,
        *,
        retriever: Retriever,
        model: Model | Callable[[], Model],
        model_name: str,
        embedder: Embedder | None = None,
        reader: Reader | None = None,
        support: Support | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._retriever = retriever
        self._model = model
        self._model_name = model_name
        self._support = support
        self._limits = limits or Limits()
        self._selection = SelectionReader(embedder=embedder, reader=reader)

    async def _given_model(self) -> Model:
        """Making it may take a second, for the SDK is imported then."""
        return await asyncio.to_thread(self._model) if callable(self._model) else self._model

    async def answer(self, question: Question, history: Sequence[Message] = ()) -> Answer:
        """The verified answer or the refusal; raises `QuireError`s, never a foreign error."""
        done: list[Answer] = []

        def keep(event: AnswerEvent) -> None:
            if isinstance(event, AnswerDone):
                done.append(event.answer)

        await self._within_deadline(question, history, keep, streaming=False)
        return done[0]

    async def stream(
        self, question: Question, history: Sequence[Message] = ()
    ) -> AsyncGenerator[AnswerEvent]:
        """The same answer as events, each sentence sent once it is verified.

        Closing the iterator cancels the run and its calls to the model.
        """
        queue: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
        task = asyncio.create_task(
            self._within_deadline(question, history, queue.put_nowait, streaming=True)
        )
        task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            await task
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _within_deadline(
        self, question: Question, history: Sequence[Message], emit: Emit, *, streaming: bool
    ) -> None:
        try:
            async with asyncio.timeout(self._limits.turn_seconds):
                await self._answer(question, history, emit, streaming=streaming)
        except TimeoutError as error:
            raise ModelUnavailable(
                f"no answer within {self._limits.turn_seconds:g} seconds; try again later"
            ) from error

    async def _answer(
        self, question: Question, history: Sequence[Message], emit: Emit, *, streaming: bool
    ) -> None:
        reply = Reply(question, self._model_name, emit)
        guard.check(question, self._limits)
        courtesy = courtesies.reply_to(question.text, question.book_title)
        if guard.is_unsafe(question.text):
            reply.refuse("unsafe_request")
        elif courtesy:
            reply.ask_back(courtesy, ())
            reply.end()
        elif question.mode == "selected_text":
            await self._answer_from_selection(question, reply)
        else:
            reply.standalone = standalone_question(question.text, history)
            await self._answer_from_book(question, history, reply, streaming=streaming)

    async def _answer_from_selection(self, question: Question, reply: Reply) -> None:
        found = await self._selection.read(question)
        reply.passages, reply.confidence = found.passages, found.confidence
        for proven in found.proven:
            reply.say(proven)
        if reply.spoken:
            reply.end()
        else:
            reply.refuse("low_confidence", refusal.SELECTION)

    async def _answer_from_book(
        self, question: Question, history: Sequence[Message], reply: Reply, *, streaming: bool
    ) -> None:
        turn = Turn(question=question, standalone=reply.standalone, retriever=self._retriever)
        runtime = AgentRuntime(await self._given_model(), self._limits)
        drafting = _Drafting(turn, reply, self._support, self._limits)
        draft = DraftStream()
        async with aclosing(runtime.draft(turn, history, streaming=streaming)) as parts:
            async for part in parts:
                match part:
                    case ResponseBegins():
                        draft = DraftStream()
                    case TextDelta(text=text):
                        await drafting.say(draft.feed(text))
                    case DraftReady(text=text):
                        fed = draft.feed("" if draft.text else text)
                        await drafting.say([*fed, *draft.finish()])
        reply.tokens_used = runtime.tokens_used
        reply.passages, reply.confidence = tuple(turn.passages), turn.confidence
        if turn.must_stop:
            reply.refuse(refusal.reason_for(turn.confidence, turn.passages, self._limits))
        elif reply.spoken or reply.asked_back:
            parts = two_parts(turn.standalone) if runtime.own_code else None
            reply.end(
                [part.words for n, part in enumerate(parts or (), 1) if n in draft.unanswered]
            )
        else:
            reply.refuse("unsupported_draft")


class _Drafting:
    """Says what can be proven of a draft, against the passages known at that moment."""

    def __init__(self, turn: Turn, reply: Reply, support: Support | None, limits: Limits) -> None:
        self._turn = turn
        self._reply = reply
        self._support = support
        self._limits = limits
        self._verifier: Verifier | None = None
        self._known = 0

    async def say(self, segments: Sequence[Segment]) -> None:
        turn, reply = self._turn, self._reply
        if not segments or turn.must_stop or reply.asked_back:
            return
        reply.passages, reply.confidence = tuple(turn.passages), turn.confidence
        choices = () if reply.spoken else clarification.choices(turn.asked, turn.passages)
        if choices:
            reply.ask_back(clarification.text_for(turn.asked, choices), choices)
            return
        if self._verifier is None or self._known != len(turn.passages):
            self._known = len(turn.passages)
            self._verifier = Verifier(
                turn.passages,
                question=turn.asked,
                base_url=turn.question.base_url,
                support=self._support,
                min_support=self._limits.min_support,
            )
        for segment in segments:
            for proven in await self._verifier.verify(segment):
                reply.say(proven)
