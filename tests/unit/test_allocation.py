from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest

from quire.cli.allocation import share_arenas


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of Linux's C library")
def test_a_process_that_serves_shares_its_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[tuple[int, int]] = []
    library = SimpleNamespace(mallopt=lambda what, value: set_to.append((what, value)))
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    share_arenas()
    assert set_to == [(-8, 2)]


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    share_arenas()
