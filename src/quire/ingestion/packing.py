"""Packing the pieces of a section into chunks of even size."""

from __future__ import annotations

from collections.abc import Sequence

from quire.ingestion.pieces import Piece

Unit = list[Piece]


def pack(pieces: Sequence[Piece], room: int) -> list[Unit]:
    """Groups of neighbouring pieces, each within `room` tokens unless one piece alone is not.

    A list stays with the sentence that leads to it, and whole, when that fits. The groups
    are about equally large, so that no small rest is left at the end.
    """
    total = sum(piece.size for piece in pieces)
    if total <= room:
        return [list(pieces)] if pieces else []
    units = [smaller for unit in units_of(pieces) for smaller in _broken(unit, room)]
    count = -(-total // room)
    target = total / count
    packed: list[Unit] = []
    current: Unit = []
    size = 0
    for unit in units:
        weight = sum(piece.size for piece in unit)
        over = size + weight > room
        enough = size >= 0.6 * target and size + weight > 1.15 * target
        if current and (over or enough):
            packed.append(current)
            current, size = [], 0
        current.extend(unit)
        size += weight
    if current:
        packed.append(current)
    return packed


def units_of(pieces: Sequence[Piece]) -> list[Unit]:
    """Pieces that belong together: what opens with what follows, the items of a list."""
    units: list[Unit] = []
    for piece in pieces:
        last = units[-1][-1] if units else None
        if last is not None and (
            last.opens or piece.closes or (piece.listed and last.listed) or not piece.words
        ):
            units[-1].append(piece)
        else:
            units.append([piece])
    return units


def _broken(unit: Unit, room: int) -> list[Unit]:
    """A unit in parts that fit; what opens stays with what follows as long as both fit."""
    if sum(piece.size for piece in unit) <= room:
        return [unit]
    parts: list[Unit] = []
    sizes: list[int] = []
    for piece in unit:
        joined = parts and (parts[-1][-1].opens or piece.closes or not piece.words)
        if joined and sizes[-1] + piece.size <= room:
            parts[-1].append(piece)
            sizes[-1] += piece.size
        else:
            parts.append([piece])
            sizes.append(piece.size)
    return parts
