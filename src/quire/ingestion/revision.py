"""What must change in the index so that a page's stored chunks become its new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import SequenceMatcher

from quire.models import Chunk

_HISTORY = frozenset({"version", "created_at", "updated_at"})
_CONTENT = tuple(name for name in Chunk.__slots__ if name not in _HISTORY)


@dataclass(frozen=True, slots=True)
class Revision:
    """The new chunks of a page with their history, sorted by what has to be done for each.

    `embed`, `copy` and `update` hold positions in `chunks`; what is in none of them stands in
    the index already, as it should.
    """

    chunks: tuple[Chunk, ...]
    embed: tuple[int, ...]
    """Need a vector."""
    copy: Mapping[int, str]
    """Can take the vector of another stored chunk, whose id is given."""
    update: tuple[int, ...]
    """Keep their vector, get a new payload."""
    gone: tuple[str, ...]
    """Ids the page had and no longer has."""
    added: int
    """How many chunks were not in the index under their id."""

    @property
    def is_empty(self) -> bool:
        """The index needs no change."""
        return not (self.embed or self.copy or self.update or self.gone)


def revise(
    chunks: Sequence[Chunk],
    *,
    old_ids: Sequence[str],
    stored: Mapping[str, Chunk],
    now: datetime,
    embed_all: bool = False,
) -> Revision:
    """Compare new chunks with what the index holds.

    `old_ids` are the page's recorded ids in page order, `stored` what the index has under
    the old and the new ids. A chunk's history: the same id keeps `version` and `created_at`;
    a chunk that took another one's place continues that one's, with `version` + 1 if the text
    is another; `updated_at` is the last time anything about it changed. Deterministic, so
    that repeating an interrupted run ends in the same state.
    """
    new_ids = [chunk.id for chunk in chunks]
    before = _predecessors(old_ids, new_ids)
    same_vector = {chunk.embedded_hash: chunk.id for chunk in stored.values()}
    result: list[Chunk] = []
    embed: list[int] = []
    copy: dict[int, str] = {}
    update: list[int] = []
    for position, chunk in enumerate(chunks):
        known = stored.get(chunk.id)
        if known is None:
            known_before = stored.get(before.get(chunk.id, ""))
            result.append(_successor(chunk, known_before, now))
        elif _same(known, chunk):
            result.append(known)
        else:
            result.append(replace(_continued(chunk, known), updated_at=now))
        if embed_all:
            embed.append(position)
        elif known is not None and known.embedded_hash == chunk.embedded_hash:
            if result[-1] is not known:
                update.append(position)
        elif chunk.embedded_hash in same_vector:
            copy[position] = same_vector[chunk.embedded_hash]
        else:
            embed.append(position)
    kept = set(new_ids)
    return Revision(
        chunks=tuple(result),
        embed=tuple(embed),
        copy=copy,
        update=tuple(update),
        gone=tuple(old for old in dict.fromkeys(old_ids) if old not in kept),
        added=sum(chunk.id not in stored for chunk in chunks),
    )


def _same(stored: Chunk, chunk: Chunk) -> bool:
    return all(getattr(stored, name) == getattr(chunk, name) for name in _CONTENT)


def _continued(chunk: Chunk, known: Chunk) -> Chunk:
    return replace(chunk, version=known.version, created_at=known.created_at)


def _successor(chunk: Chunk, before: Chunk | None, now: datetime) -> Chunk:
    if before is None:
        return replace(chunk, version=1, created_at=now, updated_at=now)
    edited = before.content_hash != chunk.content_hash
    return replace(
        chunk,
        version=before.version + edited,
        created_at=before.created_at,
        updated_at=now,
    )


def _predecessors(old: Sequence[str], new: Sequence[str]) -> dict[str, str]:
    """For each new id that stands where an old one stood, that old id."""
    pairs: dict[str, str] = {}
    matcher = SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "replace":
            pairs.update(zip(new[b0:b1], old[a0:a1], strict=False))
    return pairs
