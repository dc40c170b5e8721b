"""What routes ask for: the library the application was built around."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from quire.wiring import LOCAL_OWNER, Library


def library_of(request: Request) -> Library:
    """The library opened by the application's lifespan."""
    library = request.app.state.library
    assert isinstance(library, Library)
    return library


LibraryDependency = Annotated[Library, Depends(library_of)]


def owner_of() -> str:
    """Whose conversations these are: the local user's while authentication is off."""
    return LOCAL_OWNER


OwnerDependency = Annotated[str, Depends(owner_of)]
