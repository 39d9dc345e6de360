#!/usr/bin/env bash
# The checks that need no editor session: clippy here, the rest as tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/tools.sh
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
cargo clippy --locked --all-targets -- -D warnings
cargo test --locked --test it -- lints:: tidy::
