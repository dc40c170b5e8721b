from __future__ import annotations

from pathlib import Path

import pytest

from quire.errors import InvalidSetting
from quire.settings import Settings, load_settings, variable_of


@pytest.fixture(autouse=True)
def _no_dotenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(variable_of(name), raising=False)


def test_defaults_need_no_key_and_no_server() -> None:
    settings = load_settings()
    assert settings.embedder == "minilm"
    assert settings.model == "extractive"
    assert settings.qdrant_url is None
    assert settings.database_address.startswith("sqlite:///")


def test_field_names_are_no_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    monkeypatch.setenv("MODEL", "nonsense")
    assert load_settings().home == Path("/somewhere/.quire")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AGENT_TOP_K", "0"),
        ("AGENT_TOP_K", "21"),
        ("AGENT_TOP_K", "many"),
        ("AGENT_SCORE_THRESHOLD", "1.5"),
        ("QUIRE_EMBEDDER", "bert"),
        ("QDRANT_COLLECTION_NAME", "../x"),
    ],
)
def test_a_bad_value_is_one_line_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidSetting) as caught:
        load_settings()
    assert str(caught.value).startswith(f"{variable}: ")
    assert "\n" not in str(caught.value)
    assert value in str(caught.value)


def test_a_bad_secret_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-" + "x" * 20
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    assert secret not in repr(load_settings())


def test_flags_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_TOP_K", "3")
    assert load_settings(top_k=7).top_k == 7
    assert load_settings(top_k=None).top_k == 3


def test_dotenv_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("AGENT_TOP_K=9\nSOMETHING_ELSE=1\n", encoding="utf-8")
    assert load_settings().top_k == 9


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())
