#!/usr/bin/env bash
# Opens the plugin on a copy of the sample project, which later runs use again. `make try FRESH=1` makes a new copy and
# begins a new conversation.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
command -v cargo >/dev/null || { echo "cargo is missing: install Rust." >&2; exit 1; }
step() { echo "── step $1 of 4: $2"; }

recent() { "$1" --headless --clean +'lua io.write(vim.fn.has("nvim-0.11"))' +qa! 2>/dev/null | grep -q 1; }
nvim=${NVIM:-nvim}
[ -f "$nvim" ] || nvim=$(command -v nvim || true)
if [ -n "$nvim" ] && recent "$nvim"; then
  step 1 "your Neovim, $nvim"
else
  if [ -n "$nvim" ]; then why="yours is older than 0.11"; else why="no Neovim was found"; fi
  step 1 "Neovim 0.11.4 in target/nvim, fetched once: $why"
  nvim=$(bash scripts/nvim.sh)
fi

if [ -x target/release/caliban ]; then how="what has changed"; else how="the first time takes about ten minutes"; fi
step 2 "building the program: $how"
cargo build --release --locked

sample=$root/target/try/sample
[ "${FRESH:-}" != 1 ] || rm -rf "$sample"
if [ -d "$sample" ]; then
  step 3 "the sample project as you left it, target/try/sample"
else
  step 3 "a new copy of the sample project, target/try/sample"
  mkdir -p "$(dirname "$sample")"
  cp -R examples/sample "$sample.new"
  # Makes the copy a project of its own. Otherwise this repository would be the project's root.
  git -C "$sample.new" init --quiet 2>/dev/null || mkdir -p "$sample.new/.git"
  mv "$sample.new" "$sample"
fi
step 4 "opening it"
cd "$sample"
CALIBAN_ROOT=$root NVIM_APPNAME=caliban-try exec "$nvim" -u "$root/scripts/try_init.lua"
