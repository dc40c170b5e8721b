#!/usr/bin/env bash
# Prints the path of a Chromium for the browser tests. `--install` may fetch one: Debian's where this
# user may install packages, else Playwright's own where the network allows. Without any: one loud
# line on stderr and exit status 3.
set -euo pipefail
cd "$(dirname "$0")/.."

found() {
  local name
  for name in "${QUIRE_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && command -v "$name" >/dev/null 2>&1; then command -v "$name"; return 0; fi
  done
  local own
  own=$(find "${PLAYWRIGHT_BROWSERS_PATH:-$HOME/.cache/ms-playwright}" -type f \
    \( -name chrome -o -name chrome-headless-shell -o -name headless_shell -o -name Chromium \) 2>/dev/null | sort | tail -n 1)
  [ -n "$own" ] && printf '%s\n' "$own"
}

install() {
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "setup: browser (apt-get install chromium)" >&2
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 && return 0
  fi
  [ -x web/node_modules/.bin/playwright-core ] || return 1
  echo "setup: browser (playwright install chromium)" >&2
  (cd web && timeout 300 node_modules/.bin/playwright-core install chromium-headless-shell) >/dev/null 2>&1
}

found && exit 0
if [ "${1:-}" = --install ] && install; then found && exit 0; fi
echo "!!! NO BROWSER FOUND: the browser tests are SKIPPED. Install chromium, or set QUIRE_BROWSER to one. !!!" >&2
exit 3
