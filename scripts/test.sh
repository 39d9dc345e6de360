#!/usr/bin/env bash
# Everything: tools, lints, unit tests, integration tests.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/tools.sh
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
cargo clippy --locked --all-targets -- -D warnings
cargo test --locked
