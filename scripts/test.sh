#!/usr/bin/env bash
# Installs what the tests need and runs all tests: unit tests, integration tests, lints.
# Usage: test.sh [--without-lints]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "cargo is missing: install Rust." >&2; exit 1; }
if [ "${1:-}" = --without-lints ]; then last=3; else last=4; fi
step() { echo "── step $1 of $last: $2"; }

step 1 "a Neovim and a language server to test with"
[ -f "${NVIM:-}" ] || bash scripts/nvim.sh >/dev/null
bash scripts/tools.sh server

step 2 "building the program and its tests"
cargo test --locked --no-run

step 3 "the tests"
# A fixed seed, so that a new failure comes from the change and not from other random cases. Other seeds find more.
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-20}
# Most tests wait for a Neovim or a program most of the time, so four of them keep one core busy.
threads=$((4 * $(getconf _NPROCESSORS_ONLN)))
RUST_TEST_THREADS=${RUST_TEST_THREADS:-$threads} cargo test --locked --quiet -- --skip lints::

[ "$last" = 4 ] || exit 0
step 4 "the lints"
bash scripts/lint.sh
