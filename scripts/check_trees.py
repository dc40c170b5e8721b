"""Read and split whole documentation trees, check every invariant, and say how fast it went.

Usage: python scripts/check_trees.py [--tokenizer tokenizer.json] [--show N] PATH…

Prints one line per tree and every failure; exits with 1 when a page failed or an invariant is
broken. Not part of `make test`: the trees are yours.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from quire.books import discover, load_book, read_bytes
from quire.errors import PageRejected
from quire.ingestion.budget import estimate
from quire.ingestion.identity import LessonKeys
from quire.ingestion.invariants import check_chunks, check_ids
from quire.ingestion.pages import Skipped, read_page
from quire.ingestion.splitting import chunk_page
from quire.models import Chunk

WINDOW = 256


def main() -> int:
    """Check every tree named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+", type=Path, metavar="PATH")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json to count tokens with")
    parser.add_argument("--show", type=int, default=0, help="print N random chunks of each tree")
    arguments = parser.parse_args()
    count = _counter(arguments.tokenizer)
    failures = sum(check_tree(tree, count, arguments.show) for tree in arguments.trees)
    return 1 if failures else 0


def check_tree(tree: Path, count_tokens: Callable[[str], int], show: int) -> int:
    """Check one tree and return the number of failures."""
    book = load_book(tree)
    files = discover(book)
    identity = LessonKeys.from_files(book, files)
    chunks: list[tuple[Chunk, str]] = []
    sources: dict[str, str] = {}
    problems: list[str] = []
    skipped = warned = size = 0
    spent = 0.0
    for file in files:
        data = read_bytes(file)
        size += len(data)
        begin = time.thread_time()
        try:
            page = read_page(book, file.source_file, data)
            if isinstance(page, Skipped):
                skipped += 1
                continue
            made = chunk_page(
                book, page, max_tokens=WINDOW, count_tokens=count_tokens, identity=identity
            )
        except PageRejected as error:
            problems.append(f"{file.source_file}:{error.line or ''}: {error.message}")
            continue
        finally:
            spent += time.thread_time() - begin
        sources[file.source_file] = page.source
        warned += bool(page.warnings)
        chunks.extend(zip(made.chunks, made.embedded, strict=True))
        problems.extend(check_ids(identity.scope(book.id, page), made.chunks))
        if not made.chunks and len(page.text.strip()) > 200:
            problems.append(f"{file.source_file}: no chunk")
    problems.extend(check_chunks((chunk for chunk, _ in chunks), sources))
    over = [chunk for chunk, text in chunks if count_tokens(text) > WINDOW - 2]
    print(
        f"{tree}: {book.id} ({book.layout}, {book.profile}) {len(files)} pages, {skipped} skipped, "
        f"{warned} with warnings, {len(chunks)} chunks, {len(over)} over the window, "
        f"{len(problems)} problems, {size / 1e6 / max(spent, 1e-9):.1f} MB/s"
    )
    for problem in problems[:20]:
        print("   ", problem)
    for chunk, text in random.Random(7).sample(chunks, min(show, len(chunks))):
        print(f"=== {chunk.source_url}\n    {chunk.breadcrumb}\n{chunk.text}\n--- embedded\n{text}")
    return len(problems)


def _counter(path: Path | None) -> Callable[[str], int]:
    if path is None:
        return estimate
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


if __name__ == "__main__":
    sys.exit(main())
