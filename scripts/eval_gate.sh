#!/usr/bin/env bash
# Quality gate: the sample book against its baseline, then ../shared/data where it is present.
set -euo pipefail
cd "$(dirname "$0")/.."
quire=${QUIRE:-.venv/bin/quire}
data=${QUIRE_EVAL_DATA:-../shared/data}
mkdir -p test-results
echo "eval-gate: the sample book"
"$quire" eval gate --book examples/physical-ai \
  --junit test-results/eval-gate.xml --markdown test-results/eval-gate.md
if [ -d "$data" ]; then
  echo "eval-gate: small sets of $data"
  "$quire" eval suite bench/gate-thresholds.toml --data "$data"
else
  echo "eval-gate: $data is not here; the sample book alone was checked"
fi
