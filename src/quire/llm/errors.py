"""The one place where failures of a model server become errors of ours.

connection, timeout, 408, 409, 429, 5xx   → ModelUnavailable     (retry later)
401, 403, 404                             → ModelUnavailable     (and what to check)
other 4xx, replies that break the format  → ModelBehaviourError
"""

from __future__ import annotations

from typing import Final

import httpx2
from agents import AgentsException, ModelTimeoutError
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from quire.errors import ModelBehaviourError, ModelUnavailable, QuireError

FOREIGN: Final = (
    OpenAIError,
    AgentsException,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    # What the client libraries trip over when a server's JSON has another shape than agreed.
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
)
_TIMEOUTS: Final = (APITimeoutError, ModelTimeoutError, TimeoutError, httpx2.TimeoutException)
_CHECK: Final = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY and what it may use",
    404: "check OPENAI_MODEL and OPENAI_BASE_URL",
}
_PASSING: Final = frozenset({408, 409, 425, 429})


def translate(error: BaseException) -> QuireError:
    """Our error for a foreign one; the message has no key, no prompt and no server's prose."""
    if isinstance(error, QuireError):
        return error
    if isinstance(
        error, APITimeoutError | ModelTimeoutError | TimeoutError | httpx2.TimeoutException
    ):
        return ModelUnavailable("the language model took too long to answer")
    if isinstance(error, APIConnectionError | httpx2.HTTPError | httpx2.InvalidURL | OSError):
        return ModelUnavailable("the language model can't be reached; check OPENAI_BASE_URL")
    if isinstance(error, APIStatusError):
        status = error.status_code
        if status in _CHECK:
            return ModelUnavailable(
                f"the language model refused the request ({status}); {_CHECK[status]}",
                details={"status": status},
            )
        if status >= 500 or status in _PASSING:
            return ModelUnavailable(
                f"the language model is unavailable ({status}); try again later",
                details={"status": status},
            )
        return ModelBehaviourError(
            f"the language model's server rejected the request ({status})",
            details={"status": status},
        )
    return ModelBehaviourError(
        "the language model's reply could not be read", details={"cause": type(error).__name__}
    )
