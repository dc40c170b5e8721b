"""Everything that can go wrong, grouped by who must act.

    QuireError
    ├── InputError                 the caller: change the request
    │   ├── InvalidRequest         a field is missing, malformed or out of range
    │   ├── NotFound               no such book, page, chunk, job or session
    │   ├── Conflict               the request contradicts what is already going on
    │   ├── PageRejected           one source file can't be read; the others go on
    │   ├── Unauthorized           no key, or a wrong one
    │   ├── Forbidden              the key may not do this
    │   ├── PayloadTooLarge        the body or the file is over the limit
    │   └── RateLimited            too many requests; says when to come back
    ├── ConfigurationError         the operator: change the settings or the installation
    │   ├── InvalidSetting         an environment variable or flag has a bad value
    │   ├── InvalidBook            quire.toml is wrong
    │   ├── MissingExtra           an optional dependency is not installed
    │   ├── ModelFilesError        model weights are missing, damaged or can't be fetched
    │   ├── EmbedderMismatch       the index was built with another embedder
    │   └── StoreLocked            another process holds the embedded store
    ├── DependencyError            nobody: retry later
    │   ├── IndexUnavailable       the vector store doesn't answer
    │   ├── EmbedderUnavailable    the embedding service doesn't answer
    │   ├── ModelUnavailable       the language model doesn't answer
    │   ├── StorageUnavailable     the database or the disk doesn't answer
    │   ├── Overloaded             we are full; says when to come back
    │   └── ShuttingDown           this process ends; another one will answer
    └── ModelBehaviourError        the model: it broke the contract of a turn

"The book doesn't say" is an answer, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class QuireError(Exception):
    """Base of all errors; `str(error)` is one clear line that says what to do."""

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        """Keep the message for people and the details for programs."""
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = dict(details or {})


class InputError(QuireError):
    """The caller must change the request."""


class InvalidRequest(InputError):
    """A field is missing, malformed or out of range."""

    def __init__(self, message: str, *, field: str | None = None, **details: Any) -> None:
        """Name the field, so that a client can point at it."""
        super().__init__(message, details={**({"field": field} if field else {}), **details})
        self.field = field


class NotFound(InputError):
    """No such book, page, chunk, job or session (or it belongs to someone else)."""


class Conflict(InputError):
    """The request contradicts what is already going on."""


class PageRejected(InputError):
    """One source file can't be read; the other files of the book go on."""

    def __init__(self, message: str, *, source_file: str, line: int | None = None) -> None:
        """Name the file and, where known, the 1-based line."""
        super().__init__(message, details={"source_file": source_file, "line": line})
        self.source_file = source_file
        self.line = line


class Unauthorized(InputError):
    """No key, or a wrong one."""


class Forbidden(InputError):
    """The key may not do this."""


class PayloadTooLarge(InputError):
    """The body or the file is over the limit."""


class RateLimited(InputError):
    """Too many requests in the window."""

    def __init__(self, message: str, *, retry_after: float, **details: Any) -> None:
        """`retry_after` is in seconds."""
        super().__init__(message, details=details)
        self.retry_after = retry_after


class ConfigurationError(QuireError):
    """The operator must change the settings or the installation."""


class InvalidSetting(ConfigurationError):
    """An environment variable or flag has a bad value; the message names it."""


class InvalidBook(ConfigurationError):
    """The book's quire.toml is wrong; the message names the key."""


class MissingExtra(ConfigurationError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        """Name the feature that was asked for and the extra that brings it."""
        super().__init__(
            f"{feature} needs an optional part: pip install 'quire[{extra}]'",
            details={"extra": extra},
        )
        self.extra = extra


class ModelFilesError(ConfigurationError):
    """Model weights are missing, damaged or can't be fetched."""


class EmbedderMismatch(ConfigurationError):
    """The index was built with another embedder than the one configured."""

    def __init__(self, *, stored: str, configured: str) -> None:
        """Say both names and the way out."""
        super().__init__(
            f"the index was built with embedder '{stored}', but '{configured}' is configured; "
            "set QUIRE_EMBEDDER back, or rebuild with: quire ingest PATH --mode recreate",
            details={"stored": stored, "configured": configured},
        )


class StoreLocked(ConfigurationError):
    """Another process holds the embedded store."""


class DependencyError(QuireError):
    """Something outside doesn't answer; the same request may succeed later."""


class IndexUnavailable(DependencyError):
    """The vector store doesn't answer."""


class EmbedderUnavailable(DependencyError):
    """The embedding service doesn't answer."""


class ModelUnavailable(DependencyError):
    """The language model doesn't answer."""


class StorageUnavailable(DependencyError):
    """The database or the disk doesn't answer."""


class Overloaded(DependencyError):
    """We are full; come back later."""

    def __init__(self, message: str, *, retry_after: float = 1.0) -> None:
        """`retry_after` is in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


class ShuttingDown(DependencyError):
    """This process ends; the same request will be answered by another one, or later."""


class ModelBehaviourError(QuireError):
    """The model broke the contract of a turn (bad JSON, endless tool calls, …)."""
