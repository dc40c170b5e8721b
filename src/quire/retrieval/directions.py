"""Likeness by what tells pages apart.

Chunks of one page differ from each other along some directions of meaning: code and prose, a
step and its result. Along these a question's nearness says little of which page it means. So
among the best candidates the cosine is taken again with such directions counting less: the
vectors are whitened by how the chunks of each page scatter about its middle (docs/why.md).

Only the candidates' cosines with each other are needed, no vector and nothing of the rest of the
book: any store can give them, and they are the same however the candidates were found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_FLOOR = 0.013
"""How much every direction counts at least, as a share of the whole scatter."""
_NO_SCATTER = 1e-3
_LEAST = 1e-9


def whitened(
    alike: NDArray[np.float64], cosine: NDArray[np.float64], page: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The cosines with the question where what pages scatter along counts less.

    Args:
        alike: The cosines of the candidates with each other.
        cosine: Their cosines with the question.
        page: The same number for candidates of one page.
    """
    mean = _middles(page)
    off = np.column_stack((alike, cosine))
    off -= mean @ off
    scatter = off[:, :-1] - off[:, :-1] @ mean.T
    whole = float(scatter.trace())
    if whole < _NO_SCATTER:
        return cosine
    scatter.flat[:: len(scatter) + 1] += _FLOOR * whole
    solved = np.linalg.solve(scatter, off)
    taken = np.einsum("ij,ij->j", off, solved)
    lengths = (1.0 - taken[-1]) * (1.0 - taken[:-1])
    return (cosine - off[:, -1] @ solved[:, :-1]) / np.sqrt(np.maximum(lengths, _LEAST))


def _middles(page: NDArray[np.int64]) -> NDArray[np.float64]:
    """What takes the mean over each one's page."""
    same = np.equal.outer(page, page)
    return same / same.sum(axis=1)
