"""Checks what a page says of where a selection came from, against the stored source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from quire.answering import places
from quire.errors import InvalidRequest
from quire.models import SelectionSource
from quire.wiring.values import BookSummary, PageSummary, SelectionClaim

if TYPE_CHECKING:
    from quire.retrieval import Searcher
    from quire.wiring.shelf import Shelf


class Selections:
    """Finds the page that is named, and the selection in it; a claim that fails is refused."""

    def __init__(self, shelf: Shelf, searcher: Searcher) -> None:
        self._shelf = shelf
        self._searcher = searcher

    async def verify(
        self, book: BookSummary, selected: str, claim: SelectionClaim
    ) -> SelectionSource:
        """Where the selection stands; `InvalidRequest` if it doesn't stand where it should."""
        if claim.char_end - claim.char_start != len(selected):
            raise InvalidRequest(
                "selection: the offsets span another length than selected_text",
                field="selection.char_end",
            )
        page = await self._page(book, claim)
        stored = await self._searcher.document(book.id, page.parent_doc_id)
        chunks = [chunk for chunk in stored if chunk.source_file == page.source_file]
        if claim.source_file is not None:
            found = places.at_offsets(chunks, selected, claim.char_start, claim.char_end)
        else:
            found = places.by_words(chunks, selected)
        if found is None:
            raise InvalidRequest(
                "selection: the page doesn't hold the selected text", field="selection"
            )
        return found

    async def _page(self, book: BookSummary, claim: SelectionClaim) -> PageSummary:
        pages = await self._shelf.pages(book)
        if claim.source_file is not None:
            found = [page for page in pages if page.source_file == claim.source_file]
            field = "selection.source_file"
        else:
            wanted = address(claim.page_url or "", whole=book.base_url is not None)
            found = [
                page
                for page in pages
                if address(page.source_url, whole=book.base_url is not None) == wanted
            ]
            field = "selection.page_url"
        if not found:
            raise InvalidRequest("selection: the book has no such page", field=field)
        return found[0]


def address(url: str, *, whole: bool) -> str:
    """A page's address without what may differ: query, anchor, `index.html`, `.html`, slashes."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    path = re.sub(r"(?:/index)?\.html?$|/index$", "", unquote(parts.path)).strip("/")
    return f"{parts.netloc.lower()}/{path}" if whole else path
