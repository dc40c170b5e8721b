"""A process that writes to an embedded index until it is killed; see `test_edge_index.py`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from quire.index.edge import EdgeIndex
from tests.contract.index_suite import EMBEDDER, make_point


async def write(root: Path, first: int, *, apart: bool) -> None:
    index = await EdgeIndex.open(root, apart=apart)
    await index.prepare(EMBEDDER)
    print("open", flush=True)  # noqa: T201
    for start in range(first, first + 100_000, 5):
        await index.upsert([make_point(number) for number in range(start, start + 5)])
        await index.commit()
        print(start + 5, flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2]), apart=sys.argv[3] == "apart"))
