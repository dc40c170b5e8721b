"""What `quire serve` says when it can't start."""

from __future__ import annotations

import subprocess
from pathlib import Path

from quire.index.edge import EdgeIndex
from tests.integration.service.processes import QUIRE, clean_environment, free_port


def served(home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [QUIRE, "serve", "--port", str(free_port())],
        env=clean_environment(QUIRE_HOME=str(home)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_a_server_that_cannot_start_says_why_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = served(tmp_path / "file" / "home")
    assert folder.returncode == 1
    assert "QUIRE_HOME: can't use" in folder.stderr
    index = await EdgeIndex.open(tmp_path / "home" / "index")
    taken = served(tmp_path / "home")
    await index.close()
    assert taken.returncode == 1
    assert "another process has the index" in taken.stderr
    for ended in (folder, taken):
        assert "Traceback" not in ended.stderr
        assert "Quire on" not in ended.stderr
