"""`/docs`: the OpenAPI document as a plain page; no script, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color-scheme: light dark; }
h2 { margin-top: 2.5rem; text-transform: capitalize; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; }
code { font: .9em ui-monospace, monospace; }
table { border-collapse: collapse; margin: .5rem 0; }
td, th { text-align: left; vertical-align: top; padding: .15rem .75rem .15rem 0; }
details { margin: .25rem 0; }
"""
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; frame-ancestors 'none'; base-uri 'none'"


def install(app: FastAPI) -> None:
    """Serve the page."""

    @app.get("/docs", include_in_schema=False)
    async def reference() -> HTMLResponse:
        headers = {"Content-Security-Policy": POLICY}
        return HTMLResponse("".join(page(app.openapi())), headers=headers)


def page(document: dict[str, Any]) -> Iterator[str]:
    """The document, group by group."""
    info = document["info"]
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(info['title'])} API"
    yield f"</title><meta name=viewport content='width=device-width'><style>{STYLE}</style>"
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"
    yield f"<p>{escape(info['description'])}</p>"
    yield "<p>For programs: <a href='openapi.json'>openapi.json</a>. Keys are sent as "
    yield "<code>Authorization: Bearer …</code> or <code>X-API-Key</code>.</p>"
    group = ""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if operation["tags"][0] != group:
                group = operation["tags"][0]
                yield f"<h2>{escape(group)}</h2>"
            yield from _operation(document, path, method, operation)


def _operation(
    document: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> Iterator[str]:
    yield f"<h3><code>{method.upper()} {escape(path)}</code></h3>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    rows = [
        (parameter["name"], parameter["schema"], parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    fields = document["components"]["schemas"].get(name, {}).get("properties", {})
    rows += [(field, schema, schema.get("description", "")) for field, schema in fields.items()]
    if rows:
        yield "<table>"
        for field, schema, text in rows:
            yield f"<tr><td><code>{escape(field)}</code><td>{escape(_kind(schema))}"
            yield f"<td>{escape(text)}"
        yield "</table>"
    answers = ", ".join(
        f"{status} {escape(answer['description'].partition('.')[0])}"
        for status, answer in operation["responses"].items()
    )
    yield f"<details><summary>Answers</summary>{answers}</details>"


def _kind(schema: dict[str, Any]) -> str:
    """A field's type and limits in a few words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(option) for option in schema["anyOf"]))
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    words = [str(schema.get("const", schema.get("type", "any")))]
    low = schema.get("minLength", schema.get("minimum"))
    high = schema.get("maxLength", schema.get("maximum"))
    if low is not None or high is not None:
        words.append(f"{'' if low is None else low}–{'' if high is None else high}")
    return " ".join(words)
