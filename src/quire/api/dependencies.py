"""What routes ask for: the library the application was built around."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from quire.wiring import Library


def library_of(request: Request) -> Library:
    """The library opened by the application's lifespan."""
    library = request.app.state.library
    assert isinstance(library, Library)
    return library


LibraryDependency = Annotated[Library, Depends(library_of)]
