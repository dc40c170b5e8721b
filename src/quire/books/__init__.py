"""What a book is: its settings, its taxonomy, its files and its addresses."""

from quire.books.addresses import page_address
from quire.books.book import Book, Layout, Profile
from quire.books.files import (
    MAX_BYTES,
    Discovery,
    SourceFile,
    discover,
    read_bytes,
    survey,
)
from quire.books.loading import load_book
from quire.books.places import Place, place_of
from quire.books.taxonomy import Taxonomy

__all__ = [
    "Book",
    "Layout",
    "Profile",
    "Taxonomy",
    "load_book",
    "Discovery",
    "SourceFile",
    "MAX_BYTES",
    "discover",
    "read_bytes",
    "survey",
    "Place",
    "place_of",
    "page_address",
]
