from __future__ import annotations

import inspect

from quire import errors
from quire.api.errors import STATUS, classify


def all_errors() -> list[type[errors.QuireError]]:
    return [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.QuireError)
    ]


def test_the_tree_in_the_docstring_names_every_error() -> None:
    assert errors.__doc__ is not None
    for kind in all_errors():
        assert kind.__name__ in errors.__doc__


def test_every_error_says_who_must_act() -> None:
    groups = (
        errors.InputError,
        errors.ConfigurationError,
        errors.DependencyError,
        errors.ModelBehaviourError,
    )
    for kind in all_errors():
        if kind is not errors.QuireError:
            assert issubclass(kind, groups), kind


def test_every_error_has_a_status_and_no_entry_is_shadowed() -> None:
    for position, (kind, _, _) in enumerate(STATUS):
        earlier = [k for k, _, _ in STATUS[:position]]
        assert not any(issubclass(kind, k) for k in earlier), f"{kind} is shadowed"
    assert classify(errors.EmbedderMismatch(stored="a", configured="b")) == (
        409,
        "embedder_mismatch",
    )
    assert classify(errors.IndexUnavailable("x")) == (503, "retrieval_unavailable")
    assert classify(errors.QuireError("x")) == (500, "internal_error")
