#!/usr/bin/env bash
# Runs the integration tests on Neovim 0.11 and on 0.12, which is unpacked under target/nvim/0.12 from Debian's unstable
# suite. Needs apt, dpkg-deb and python3, but not root.
set -euo pipefail
cd "$(dirname "$0")/.."

launcher() { # directory: writes a launcher that uses the unpacked loader, libraries and runtime
  local dir=$1 root=$1/root loader lib
  loader=$(find "$root" -name 'ld-linux-*.so.*' | head -1)
  lib=$(dirname "$(find "$root/usr/lib" -name 'libc.so.6' | head -1)")
  mkdir -p "$dir/bin"
  cat >"$dir/bin/nvim" <<EOF
#!/bin/sh
export VIM=$root/usr/share/nvim VIMRUNTIME=$root/usr/share/nvim/runtime
exec $loader --argv0 "\$0" --library-path $lib:$lib/lua/5.1 $root/usr/bin/nvim \\
  --cmd 'set packpath-=/usr/share/nvim/site rtp^=$root/usr/lib/nvim' "\$@"
EOF
  chmod +x "$dir/bin/nvim"
}

nvim11=$(bash scripts/nvim.sh)
nvim12=${NVIM_0_12:-$PWD/target/nvim/0.12/bin/nvim}
if [ ! -x "$nvim12" ]; then
  bash scripts/debian.sh "$PWD/target/nvim/0.12" neovim || { echo "Set NVIM_0_12 to a Neovim 0.12." >&2; exit 1; }
  launcher "$PWD/target/nvim/0.12"
fi
bash scripts/tools.sh server
for nvim in "$nvim11" "$nvim12"; do
  echo "On $("$nvim" --version | head -1)"
  NVIM=$nvim cargo test --locked --test it -- --skip lints:: --skip tidy::
done
