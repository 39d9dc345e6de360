#!/usr/bin/env bash
# Draws the scenes of tests/it/screens as pictures in target/shots, and copies those of README.md to doc/shots.
# Usage: shots.sh [scene]. Needs npm for the PNG files: without it, there are only SVG files.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
SHOTS=${1:-} cargo test --locked --test it -- --ignored screens::draws_all_scenes
mkdir -p doc/shots
for shot in review-120 calls-120 markdown-80; do
  for ground in light dark; do
    [ -n "${1:-}" ] || cp "target/shots/$shot-$ground.svg" doc/shots/
  done
done
if bash scripts/tools.sh shots; then
  node scripts/png.mjs target/shots "${1:-}"
else
  echo "Drawn as SVG only: PNG needs node, npm and npm's registry."
fi
echo "The pictures are in target/shots."
