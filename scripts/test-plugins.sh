#!/usr/bin/env bash
# Runs the tests of tests/it/plugins.rs with those of the plugins that are in the folder CALIBAN_PLUGINS: mini.nvim,
# nvim-cmp with cmp-nvim-lsp, blink.cmp. No registry that the other tests use has these plugins.
set -euo pipefail
cd "$(dirname "$0")/.."
plugins=${CALIBAN_PLUGINS:-}
[ -n "$plugins" ] || { echo "Set CALIBAN_PLUGINS to a folder with mini.nvim, nvim-cmp and cmp-nvim-lsp, or blink.cmp." >&2; exit 1; }
CALIBAN_PLUGINS=$(cd "$plugins" && pwd)
export CALIBAN_PLUGINS
tests=()
wants() { # test folder…: runs the test if all folders are there
  local test=$1 folder
  shift
  for folder; do
    [ -d "$CALIBAN_PLUGINS/$folder" ] || { echo "$folder is not in $CALIBAN_PLUGINS: its test is skipped."; return; }
  done
  tests+=("plugins::$test")
}
wants mini_completion mini.nvim
wants nvim_cmp nvim-cmp cmp-nvim-lsp
wants blink_cmp blink.cmp
[ ${#tests[@]} -gt 0 ] || { echo "None of the plugins is in $CALIBAN_PLUGINS." >&2; exit 1; }
bash scripts/nvim.sh >/dev/null
cargo test --locked --test it -- --ignored "${tests[@]}"
