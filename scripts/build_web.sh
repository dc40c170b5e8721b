#!/usr/bin/env bash
# Builds the page, the author's view and the widget into src/quire/web/static.
# Packages are installed only when the lock file changed; a failed build leaves the old one in place.
set -euo pipefail
cd "$(dirname "$0")/../web"
command -v npm >/dev/null 2>&1 || { echo "The web page is built with Node.js 20.19 or newer (npm); install it first." >&2; exit 1; }
node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' \
  || { echo "The web page needs Node.js 20.19 or newer; this is $(node --version)." >&2; exit 1; }

lock=$(cat package.json package-lock.json | cksum)
if [ ! -f node_modules/.quire-lock ] || [ "$(cat node_modules/.quire-lock)" != "$lock" ]; then
  echo "setup: web packages"
  npm ci --no-audit --no-fund --loglevel error >/dev/null
  printf '%s' "$lock" > node_modules/.quire-lock
fi
echo "setup: web page and widget"
export QUIRE_STATIC=dist/static
node_modules/.bin/vite build --logLevel warn
node_modules/.bin/vite build --logLevel warn --config vite.widget.config.ts
target=../src/quire/web/static
rm -rf dist/old
[ ! -d "$target" ] || mv "$target" dist/old
mv dist/static "$target"
rm -rf dist/old
