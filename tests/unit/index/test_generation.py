"""Book ids as folder names: reversible, and never two books in one folder."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import InvalidRequest
from quire.index.generation import folder_name


@given(st.text(min_size=1, max_size=20))
def test_a_folder_name_is_safe_and_reversible(book_id: str) -> None:
    try:
        name = folder_name(book_id)
    except InvalidRequest:
        return
    assert unquote(name) == book_id
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-%")


def test_case_counts_on_a_file_system_that_ignores_it() -> None:
    assert folder_name("Book").lower() != folder_name("book").lower()


@pytest.mark.parametrize("book_id", ["", "x" * 201])
def test_what_can_not_be_a_folder_is_refused(book_id: str) -> None:
    with pytest.raises(InvalidRequest):
        folder_name(book_id)
