#!/usr/bin/env bash
# Puts the checkers of Lua under target/tools and makes sure that Rust's own are there; quick when they are.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v cargo >/dev/null || { echo "cargo is needed: install Rust." >&2; exit 1; }

for component in rustfmt clippy; do
  sub=${component/rustfmt/fmt}
  cargo "$sub" --version >/dev/null 2>&1 && continue
  if ! rustup component add "$component" >&2; then
    echo "cargo $sub is needed: install the $component component of your Rust." >&2
    exit 1
  fi
done

# A linked worktree uses the tools of the main checkout.
main=$(cd "$(git rev-parse --git-common-dir 2>/dev/null || echo .git)/.." 2>/dev/null && pwd || echo "$PWD")
if [ ! -e target/tools ] && [ "$main" != "$PWD" ] && [ -d "$main/target/tools/bin" ]; then
  mkdir -p target
  ln -s "$main/target/tools" target/tools
fi

tool() { # name version [arguments of cargo install]
  local name=$1 version=$2
  shift 2
  "target/tools/bin/$name" --version 2>/dev/null | grep -qF "$version" && return
  echo "Building $name $version in target/tools" >&2
  CARGO_TARGET_DIR=target/tools/build cargo install --quiet --locked "$name@$version" "$@" --root target/tools
}
tool stylua 2.6.0 --features luajit
tool emmylua_check 0.25.1
