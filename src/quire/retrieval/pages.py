"""What a page says for its chunks: that several of them fit, and that together they say it all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quire.index.finds import Finds


@dataclass(frozen=True, slots=True)
class PageWeights:
    """What a page's evidence counts, chosen with the other weights."""

    agreement: float = 0.6
    """For other chunks of the page that score nearly as well as its best one."""
    temperature: float = 0.05
    """How near that is."""
    coverage: float = 0.2
    """For the share of the query, by worth, that the page's candidates hold together."""
    outline: float = 0.1
    """For the share that their headings name together."""
    path: float = 0.25
    """For the share of the query that the page's folders and file name hold."""
    others: float = 0.5
    """How much of all this goes to the page's chunks behind its best one. Less than 1 leaves
    room for other pages among the first few passages."""


def page_bonuses(
    finds: Finds, scores: NDArray[np.float64], path: NDArray[np.float64], weights: PageWeights
) -> NDArray[np.float64]:
    """The bonus of each find; `scores` are their own, `path` what their pages are called."""
    numbers, page = np.unique(finds.page, return_inverse=True)
    pages = len(numbers)
    lead = _leads(scores, page, pages)
    near = np.exp((scores - scores[lead][page]) / weights.temperature)
    crowd = np.bincount(page, near, minlength=pages)
    total = float(finds.idf.sum())
    worth = finds.idf / total if total > 0 else finds.idf
    bonus = (
        weights.agreement * weights.temperature * np.log(crowd)
        + weights.coverage * (_together(finds.weights > 0, page, pages) @ worth)
        + weights.outline * (_together(finds.section, page, pages) @ worth)
    )
    share = np.full(len(scores), weights.others)
    share[lead] = 1.0
    return (bonus[page] + weights.path * path) * share


def _together(flags: NDArray[np.bool_], page: NDArray[np.int64], pages: int) -> NDArray[np.bool_]:
    """For each page, what any of its finds has."""
    found = np.zeros((pages, flags.shape[1]), dtype=np.bool_)
    rows, columns = np.nonzero(flags)
    found[page[rows], columns] = True
    return found


def _leads(scores: NDArray[np.float64], page: NDArray[np.int64], pages: int) -> NDArray[np.int64]:
    """The best find of each page; of equals the first."""
    worst_first = np.argsort(-scores, kind="stable")[::-1]
    leads = np.zeros(pages, dtype=np.int64)
    leads[page[worst_first]] = worst_first  # what is written last stays
    return leads
