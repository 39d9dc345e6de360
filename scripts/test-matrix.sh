#!/usr/bin/env bash
# The integration tests on Neovim 0.11 and on 0.12, which is laid out under target/nvim/0.12 from Debian's
# unstable suite without root. Needs apt, dpkg-deb and python3.
set -euo pipefail
cd "$(dirname "$0")/.."

lay_out() { # directory
  local dir=$1 apt=$1/apt arch uri key file
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "Neovim 0.12 is laid out with apt: set NVIM_0_12 to one instead." >&2; exit 1; }
  arch=$(dpkg --print-architecture)
  # The archive that this system itself uses.
  uri=$(apt-get indextargets --format '$(SITE) $(TARGET_OF) $(COMPONENT)' 2>/dev/null | sed -n 's/ deb main$//p' | grep '/debian/*$' | head -1 || true)
  for file in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do [ ! -f "$file" ] || key=$file; done
  [ -n "$uri" ] && [ -n "${key:-}" ] || { echo "No Debian archive is configured here: set NVIM_0_12 to a Neovim 0.12." >&2; exit 1; }
  rm -rf "$dir"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir/root"
  : >"$apt/status"
  echo "deb [signed-by=$key] $uri sid main" >"$apt/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o Debug::NoLocking=1 -o APT::Install-Recommends=false
    -o "APT::Architecture=$arch" -o "APT::Sandbox::User=$(id -un)" -qq)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" -y --download-only install neovim libc6
  for file in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$file" "$dir/root"; done
  rm -rf "$apt"
  launcher "$dir"
}

launcher() { # directory: an executable that brings its own loader, libraries and runtime
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
[ -x "$nvim12" ] || lay_out "$PWD/target/nvim/0.12"
bash scripts/tools.sh
for nvim in "$nvim11" "$nvim12"; do
  echo "On $("$nvim" --version | head -1)"
  NVIM=$nvim cargo test --locked --test it -- --skip lints:: --skip tidy::
done
