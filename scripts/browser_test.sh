#!/usr/bin/env bash
# Runs the browser tests where a browser is found or can be installed. Without one they are skipped
# with a loud line; with QUIRE_REQUIRE_BROWSER=1 that is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
if browser=$(bash scripts/find_browser.sh --install); then
  cd web
  # QUIRE_HOSTILE_ANSWERS=1000 is the long run: six minutes
  QUIRE_BROWSER="$browser" QUIRE_E2E_SERVER=real QUIRE_HOSTILE_ANSWERS="${QUIRE_HOSTILE_ANSWERS:-100}" \
    npm run e2e --silent
elif [ "${QUIRE_REQUIRE_BROWSER:-0}" = 1 ]; then
  exit 1
fi
