"""Reading `quire.toml`: every mistake is one line that names the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from quire.books.globs import compile_glob
from quire.books.taxonomy import Taxonomy
from quire.errors import InvalidBook

FILE_NAME = "quire.toml"
MAX_BYTES = 1024 * 1024
MAX_EXAMPLES = 20

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_KEYS = frozenset(
    "id title base_url profile layout language include exclude content_dir examples "
    "taxonomy".split()
)
_TAXONOMY_KEYS = frozenset(
    "modules aliases tiers proficiency_levels layers chapters lessons".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What `quire.toml` says; None where it is silent."""

    id: str | None = None
    title: str | None = None
    base_url: str | None = None
    profile: Literal["lessons", "docs"] | None = None
    layout: Literal["docusaurus", "mkdocs", "mdbook", "vitepress", "plain"] | None = None
    language: str | None = None
    content_dir: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    """Questions a reader may start with."""
    taxonomy: Taxonomy = field(default_factory=Taxonomy)


def read_configuration(root: Path) -> Configuration:
    """The book's `quire.toml`, or an empty configuration when there is none."""
    path = root / FILE_NAME
    if not path.exists():
        return Configuration()
    try:
        if not path.is_file() or not path.resolve().is_relative_to(root):
            raise InvalidBook(f"{path}: must be a file inside the book's folder")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise InvalidBook(f"{path}: is larger than {MAX_BYTES:,} bytes")
        values = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidBook(f"{path}: is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidBook(f"{path}: {error}") from error
    except RecursionError as error:
        raise InvalidBook(f"{path}: is nested too deeply") from error
    except OSError as error:
        raise InvalidBook(f"{path}: can't be read: {error.strerror}") from error
    return _Reader(path).configuration(values)


def check_id(value: str, where: str) -> str:
    """A usable book id, or `InvalidBook`."""
    if not _ID.match(value):
        raise InvalidBook(
            f"{where}: 'id' must be letters, digits, '.', '_' or '-' (at most 100), not {value!r}"
        )
    return value


class _Reader:
    """Checks values one by one and knows the file for the messages."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def configuration(self, values: Mapping[str, Any]) -> Configuration:
        self._known(values, _KEYS, "")
        taxonomy: Any = values.get("taxonomy", {})
        if not isinstance(taxonomy, dict):
            self._fail("taxonomy", "must be a table")
        identifier = self._text(values, "id")
        return Configuration(
            id=None if identifier is None else check_id(identifier, str(self._path)),
            title=self._text(values, "title"),
            base_url=self._url(values),
            profile=self._choice(values, "profile", ("lessons", "docs")),
            layout=self._choice(
                values, "layout", ("docusaurus", "mkdocs", "mdbook", "vitepress", "plain")
            ),
            language=self._text(values, "language"),
            content_dir=self._folder(values),
            include=self._globs(values, "include"),
            exclude=self._globs(values, "exclude"),
            examples=self._questions(values),
            taxonomy=self._taxonomy(cast("dict[str, Any]", taxonomy)),
        )

    def _taxonomy(self, values: Mapping[str, Any]) -> Taxonomy:
        self._known(values, _TAXONOMY_KEYS, "taxonomy.")
        modules, aliases = self._modules(values)
        return Taxonomy(
            modules=modules,
            aliases=aliases,
            tiers=self._integers(values, "tiers"),
            proficiency_levels=self._texts(values, "proficiency_levels", "taxonomy."),
            layers=self._texts(values, "layers", "taxonomy."),
            chapters=self._range(values, "chapters"),
            lessons=self._range(values, "lessons"),
        )

    def _modules(self, values: Mapping[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
        """`modules` is a list of names, or a table name → aliases; `aliases` is alias → name."""
        declared: Any = values.get("modules", [])
        aliases: dict[str, str] = {}
        if isinstance(declared, dict):
            table = cast("dict[str, Any]", declared)
            modules = tuple(table)
            for module, names in table.items():
                listed: Any = [names] if isinstance(names, str) else names
                key = f"taxonomy.modules.{module}"
                aliases.update(dict.fromkeys(self._strings(listed, key), module))
        else:
            modules = self._texts(values, "modules", "taxonomy.")
        extra: Any = values.get("aliases", {})
        if not isinstance(extra, dict):
            self._fail("taxonomy.aliases", "must be a table of alias = module")
        for alias, module in cast("dict[str, Any]", extra).items():
            if not isinstance(module, str) or (modules and module not in modules):
                self._fail(f"taxonomy.aliases.{alias}", "must name one of taxonomy.modules")
            aliases[alias] = module
        return modules, aliases

    def _known(self, values: Mapping[str, Any], known: frozenset[str], prefix: str) -> None:
        for key in values:
            if key not in known:
                self._fail(prefix + key, f"is unknown; known keys are {', '.join(sorted(known))}")

    def _text(self, values: Mapping[str, Any], key: str) -> str | None:
        value: Any = values.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip() or len(value) > 500:
            self._fail(key, "must be a non-empty string")
        return value.strip()

    def _choice(self, values: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> Any:
        value = self._text(values, key)
        if value is not None and value not in allowed:
            names = ", ".join(f"'{name}'" for name in allowed)
            self._fail(key, f"must be one of {names}, not {value!r}")
        return value

    def _url(self, values: Mapping[str, Any]) -> str | None:
        value = self._text(values, "base_url")
        if value is None:
            return None
        if not re.match(r"https?://[^\s/?#]+[^\s?#]*\Z", value):
            self._fail("base_url", f"must be an http(s) address without query, not {value!r}")
        return value.rstrip("/")

    def _folder(self, values: Mapping[str, Any]) -> str | None:
        value = self._text(values, "content_dir")
        if value is None:
            return None
        parts = [part for part in value.strip("/").split("/") if part != "."]
        if ".." in parts or value.startswith("/"):
            self._fail("content_dir", "must be a folder below the book's folder")
        return "/".join(parts)

    def _globs(self, values: Mapping[str, Any], key: str) -> tuple[str, ...]:
        patterns = self._texts(values, key, "")
        for pattern in patterns:
            try:
                compile_glob(pattern)
            except (ValueError, re.error) as error:
                self._fail(key, f"has a bad pattern {pattern!r}: {error}")
        return patterns

    def _questions(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        questions = tuple(" ".join(text.split()) for text in self._texts(values, "examples", ""))
        if len(questions) > MAX_EXAMPLES or any(len(text) > 200 for text in questions):
            self._fail("examples", f"must be at most {MAX_EXAMPLES} questions of 200 characters")
        return questions

    def _texts(self, values: Mapping[str, Any], key: str, prefix: str) -> tuple[str, ...]:
        return self._strings(values.get(key, []), prefix + key)

    def _strings(self, value: Any, key: str) -> tuple[str, ...]:
        items = cast("list[Any]", value) if isinstance(value, list) else None
        if items is None or not all(isinstance(item, str) and item.strip() for item in items):
            self._fail(key, "must be a list of strings")
        return tuple(dict.fromkeys(cast("list[str]", items)))

    def _integers(self, values: Mapping[str, Any], key: str) -> tuple[int, ...]:
        value: Any = values.get(key, [])
        items = cast("list[Any]", value) if isinstance(value, list) else None
        if items is None or not all(type(item) is int for item in items):
            self._fail(f"taxonomy.{key}", "must be a list of whole numbers")
        return tuple(dict.fromkeys(cast("list[int]", items)))

    def _range(self, values: Mapping[str, Any], key: str) -> tuple[int, int] | None:
        if key not in values:
            return None
        numbers = self._integers({key: values[key]}, key)
        listed = cast("list[int]", values[key])
        if len(listed) != 2 or listed[0] > listed[1] or listed[0] < 0:
            self._fail(f"taxonomy.{key}", "must be [lowest, highest]")
        return (numbers[0], numbers[-1])

    def _fail(self, key: str, problem: str) -> NoReturn:
        raise InvalidBook(f"{self._path}: '{key}' {problem}", details={"key": key})
