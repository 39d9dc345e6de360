#!/usr/bin/env bash
# Unpacks packages of Debian's unstable suite and their dependencies into DIR/root. Changes nothing in the system and
# runs without root. Usage: debian.sh DIR PACKAGE... Needs apt and dpkg-deb.
set -euo pipefail
dir=$1
shift
apt=$dir/apt
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "apt-get or dpkg-deb is missing: install them to unpack $*." >&2
  exit 1
fi
arch=$(dpkg --print-architecture)
# The address of the Debian archive that this system uses.
uri=$(apt-get indextargets --format '$(SITE) $(TARGET_OF) $(COMPONENT)' 2>/dev/null | sed -n 's/ deb main$//p' | grep '/debian/*$' | head -1 || true)
for file in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do [ ! -f "$file" ] || key=$file; done
[ -n "$uri" ] && [ -n "${key:-}" ] || { echo "No Debian archive is configured here: $* cannot be fetched." >&2; exit 1; }
rm -rf "$dir"
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir/root"
: >"$apt/status"
echo "deb [signed-by=$key] $uri sid main" >"$apt/sources.list"
options=(-o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists"
  -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache" -o Debug::NoLocking=1 -o APT::Install-Recommends=false
  -o "APT::Architecture=$arch" -o "APT::Sandbox::User=$(id -un)" -qq)
apt-get "${options[@]}" update
apt-get "${options[@]}" -y --download-only install "$@" libc6
for file in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$file" "$dir/root"; done
rm -rf "$apt"
