"""The deployment files: well-formed, of one mind with each other and with the settings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from quire.settings import Settings

DEPLOY = Path(__file__).parents[3] / "deploy"
VARIABLES = {str(field.validation_alias) for field in Settings.model_fields.values()}
OTHERS = {"POSTGRES_USER", "POSTGRES_PASSWORD", "QDRANT__SERVICE__API_KEY", "BOOKS"}
SERVERS = {"FORWARDED_ALLOW_IPS"}  # uvicorn reads it itself


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.fixture(scope="module")
def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / "quire.yaml").read_text()))


def test_compose_runs_two_of_each_and_the_stores(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"api", "worker", "nginx", "postgres", "qdrant", "redis"}
    for name, command in (("api", "serve"), ("worker", "worker")):
        assert services[name]["deploy"]["replicas"] == 2
        assert services[name]["command"][0] == command
    allowed = {
        "image", "build", "restart", "stop_grace_period", "environment", "volumes",
        "depends_on", "command", "deploy", "healthcheck", "ports",
    }  # fmt: skip
    for service in services.values():
        assert set(service) <= allowed
        for dependency in service.get("depends_on", ()):
            assert dependency in services
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or source.startswith((".", "$"))
    assert (DEPLOY / services["api"]["build"]["context"] / "deploy" / "Dockerfile").is_file()


def test_every_setting_exists(compose: dict[str, Any], manifests: list[dict[str, Any]]) -> None:
    named = set(compose["services"]["api"]["environment"])
    for manifest in manifests:
        named |= set(manifest.get("data", {})) | set(manifest.get("stringData", {}))
    assert named <= VARIABLES | SERVERS
    asked = set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    assert asked <= VARIABLES | OTHERS
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert set(re.findall(r"(QUIRE_\w+)=", dockerfile)) <= VARIABLES


def test_no_secret_is_written_down(compose: dict[str, Any]) -> None:
    for name, value in compose["services"]["api"]["environment"].items():
        if any(word in name for word in ("KEY", "PEPPER", "PASSWORD")):
            assert str(value).startswith("${")


def test_the_manifests_fit_together(manifests: list[dict[str, Any]]) -> None:
    for manifest in manifests:
        assert {"apiVersion", "kind", "metadata"} <= set(manifest)
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for manifest in manifests:
        by_kind.setdefault(manifest["kind"], []).append(manifest)
    names = {(m["kind"], m["metadata"]["name"]) for m in manifests}
    assert [d["spec"]["replicas"] for d in by_kind["Deployment"]] == [2, 2]
    for deployment in by_kind["Deployment"]:
        template = deployment["spec"]["template"]
        labels = template["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"] == labels
        pod = template["spec"]
        assert pod["securityContext"]["runAsNonRoot"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert container["resources"]["limits"]["memory"]
            for source in container["envFrom"]:
                ((kind, reference),) = source.items()
                wanted = {"configMapRef": "ConfigMap", "secretRef": "Secret"}[kind]
                assert (wanted, reference["name"]) in names
    (service,) = by_kind["Service"]
    api = by_kind["Deployment"][0]
    labels = api["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    container = api["spec"]["template"]["spec"]["containers"][0]
    ports = {port["name"] for port in container["ports"]}
    assert service["spec"]["ports"][0]["targetPort"] in ports
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["path"] in ("/livez", "/readyz")


def test_the_image_copies_what_exists() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    root = DEPLOY.parent
    for line in text.splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (root / source).exists(), source
    extras = re.search(r"\.\[([\w,]+)\]", text)
    assert extras is not None
    declared = (root / "pyproject.toml").read_text()
    for extra in extras[1].split(","):
        assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), extra
    assert text.count("FROM ") == 3
    assert "USER 10001" in text
    assert "--uid 10001" in text


def test_streams_pass_the_proxy_unbuffered() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("{") == text.count("}")
    for line in ("proxy_buffering off;", "gzip off;", "proxy_http_version 1.1;"):
        assert line in text
    seconds = re.search(r"proxy_read_timeout (\d+)s", text)
    assert seconds is not None
    assert int(seconds[1]) > 120
