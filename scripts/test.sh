#!/usr/bin/env bash
# Everything: what the tests need, unit tests, integration tests, and the lints at the end.
# Usage: test.sh [--without-lints]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "cargo is needed: install Rust." >&2; exit 1; }
if [ "${1:-}" = --without-lints ]; then last=3; else last=4; fi
step() { echo "── step $1 of $last: $2"; }

step 1 "a Neovim and a language server to test with"
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
bash scripts/tools.sh server

step 2 "building the program and its tests"
cargo test --locked --no-run

step 3 "the tests"
# The same random cases each time: a red run is by what was changed. Other seeds find more.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20}
cargo test --locked -- --skip lints::

[ "$last" = 4 ] || exit 0
step 4 "the lints"
bash scripts/lint.sh
