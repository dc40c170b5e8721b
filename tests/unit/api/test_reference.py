"""The reference page and the document behind it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from quire.api import errors
from quire.api.app import create_app
from quire.api.schemas.operations import ErrorResponse
from quire.settings import load_settings
from tests.service import Service


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(load_settings()).openapi()


async def test_the_page_needs_nothing_from_elsewhere(service: Service) -> None:
    response = await service.client.get("/docs")
    assert response.status_code == 200
    assert "POST /chat/stream" in response.text
    assert "<script" not in response.text
    assert not re.search(r"(src|href)=.?https?:", response.text)
    assert "style-src 'sha256-" in response.headers["content-security-policy"]


def test_every_reference_in_the_document_resolves(document: dict[str, Any]) -> None:
    known = set(document["components"]["schemas"])
    used = set(re.findall(r"#/components/schemas/(\w+)", str(document)))
    assert used <= known
    assert "HTTPValidationError" not in known


def test_every_guarded_operation_documents_its_errors(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            statuses = set(operation["responses"])
            if operation.get("security"):
                assert {"401", "403", "429", "500", "503"} <= statuses, path
            if operation.get("parameters") or "requestBody" in operation:
                guarded = bool(operation.get("security"))
                assert not guarded or "422" in statuses, path
            if "requestBody" in operation and not path.startswith("/v1"):
                assert "413" in statuses, (method, path)
            for status, answer in operation["responses"].items():
                if int(status) >= 400 and not path.startswith("/v1") and path != "/readyz":
                    assert set(answer["content"]) == {"application/problem+json"}, path


def test_every_error_code_and_every_body_is_shown_by_example(document: dict[str, Any]) -> None:
    shown: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                kinds = answer.get("content", {}).get("application/problem+json", {})
                for code, example in kinds.get("examples", {}).items():
                    ErrorResponse.model_validate(example["value"])
                    assert (example["value"]["status"], example["value"]["error_code"]) == (
                        int(status),
                        code,
                    )
                    shown.add(code)
            body = operation.get("requestBody")
            if body:
                name = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                assert document["components"]["schemas"][name].get("examples"), (method, path)
    assert shown == {code for _, _, code in errors.STATUS} == set(errors.MEANINGS)
