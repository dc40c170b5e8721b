"""What all tests share: the model cache, and no settings from the machine they run on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quire.settings import Settings, variable_of

REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def model_cache() -> Path:
    """Where `make setup` put the model; built on first use if it is not there."""
    return Path(os.environ.get("QUIRE_TEST_MODELS", REPOSITORY / ".quire" / "models"))


@pytest.fixture(scope="session")
def sample_book() -> Path:
    return REPOSITORY / "examples" / "physical-ai"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(variable_of(name), raising=False)
