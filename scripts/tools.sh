#!/usr/bin/env bash
# Puts the checkers of Lua, and a language server to test with, under target/tools and makes sure that Rust's own
# checkers are there; quick when they are. Needs python3.
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

# Its programs name the folder that they were laid out in: it must be the real one.
server=$(cd target/tools && pwd -P)/jedi
if ! "$server/bin/jedi-language-server" --version >/dev/null 2>&1 || ! ls -d "$server"/lib/*/site-packages/jedi_language_server-0.45.1.dist-info >/dev/null 2>&1; then
  echo "Laying out a language server in $server" >&2
  rm -rf "$server"
  if ! python3 -m venv "$server" >&2 || ! "$server/bin/python3" -m pip install --quiet --disable-pip-version-check \
    jedi-language-server==0.45.1 jedi==0.19.2 docstring-to-markdown==0.17 pygls==1.3.1 >&2; then
    echo "A language server could not be laid out: python3 with venv and pip is needed." >&2
    rm -rf "$server"
    exit 1
  fi
fi
