"""How a search bears slips of the finger: page recall@5 with none, one and two in a question.

    python scripts/measure_wording.py PAGES questions.jsonl

A slip leaves out, doubles into, changes or swaps letters inside a word of five letters or more;
the same ones every time. The index is the scratch one of `quire eval`, in QUIRE_HOME.
"""

from __future__ import annotations

import asyncio
import random
import re
import string
import sys
from pathlib import Path

from quire.evaluation.corpus import PageNames
from quire.evaluation.questions import read_questions
from quire.evaluation.scratch import indexed
from quire.index.lexical import STOP_WORDS
from quire.settings import load_settings

FOUND = 5


def with_slips(question: str, count: int, chance: random.Random) -> str:
    """The question with a slip in each of so many words."""
    words = [
        word for word in re.finditer(r"[A-Za-z]{5,}", question) if word[0].lower() not in STOP_WORDS
    ]
    chosen = chance.sample(words, min(count, len(words)))
    for word in sorted(chosen, key=lambda word: -word.start()):
        question = question[: word.start()] + slip(word[0], chance) + question[word.end() :]
    return question


def slip(word: str, chance: random.Random) -> str:
    """The word with one slip, not in its first letter."""
    at = chance.randrange(1, len(word) - 1)
    letter = chance.choice(string.ascii_lowercase)
    before, after = word[:at], word[at:]
    slips = (after[1:], letter + after, letter + after[1:], after[1] + after[0] + after[2:])
    return before + chance.choice(slips)


async def main(corpus: Path, questions: Path) -> None:
    """Print a line for each number of slips."""
    async with indexed(corpus, load_settings()) as book:
        names = PageNames(book.corpus)
        asked = [question for question in read_questions(questions) if question.relevant]
        for count in (0, 1, 2):
            recall = 0.0
            for question in asked:
                text = with_slips(question.text, count, random.Random(f"{question.id}{count}"))
                found = await book.library.search(text, book_id=book.book_id, top_k=50)
                pages = dict.fromkeys(names.page_id(p.chunk.source_file) for p in found.passages)
                wanted = {names.resolve(name)[0] for name in question.relevant}
                recall += len(wanted.intersection(list(pages)[:FOUND])) / len(wanted)
            sys.stdout.write(f"{count} slips: recall@{FOUND} {recall / len(asked):.3f}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
