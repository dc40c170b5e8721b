#!/usr/bin/env bash
# Writes sbom.json: every package of .venv with version, licence and dependencies (CycloneDX).
# The tool has an environment of its own, so that it doesn't list itself.
set -euo pipefail
cd "$(dirname "$0")/.."
tool=build/sbom
[ -x "$tool/bin/cyclonedx-py" ] || {
  .venv/bin/python -m venv "$tool"
  "$tool/bin/python" -m pip install --quiet --upgrade --constraint constraints.txt pip
  "$tool/bin/python" -m pip install --quiet --group sbom
}
"$tool/bin/cyclonedx-py" environment .venv/bin/python --pyproject pyproject.toml --output-reproducible \
  --output-format JSON --output-file sbom.json
.venv/bin/python - <<'PY'
import json
found = json.load(open("sbom.json"))
print(f"sbom.json: CycloneDX {found['specVersion']}, {len(found['components'])} packages")
PY
