"""Finding the passages of a book that may answer a question."""

from __future__ import annotations

from quire.retrieval.filters import FILTER_NAMES, parse_filters
from quire.retrieval.searcher import Order, Searcher

__all__ = ["FILTER_NAMES", "Order", "Searcher", "parse_filters"]
