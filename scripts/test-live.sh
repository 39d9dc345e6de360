#!/usr/bin/env bash
# Runs the tests of tests/it/live.rs against a real server, llama.cpp's.
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/nvim.sh >/dev/null
read -r CALIBAN_LIVE_SERVER CALIBAN_LIVE_MODEL < <(bash scripts/llama.sh)
export CALIBAN_LIVE_SERVER CALIBAN_LIVE_MODEL
cargo test --locked --test it -- --ignored --test-threads 1 live::
