"""Finding the passages of a book that may answer a question."""

from __future__ import annotations

from quire.retrieval.filters import FILTER_NAMES, parse_filters
from quire.retrieval.searcher import Searcher

__all__ = ["FILTER_NAMES", "Searcher", "parse_filters"]
