#!/usr/bin/env bash
# Fails on what shellcheck finds in our scripts.
set -euo pipefail
cd "$(dirname "$0")/../.."

command -v shellcheck >/dev/null || { echo "shell: no shellcheck"; exit 77; }
mapfile -t scripts < <(git ls-files -co --exclude-standard | xargs -r -d '\n' grep -lIE '^#!.*\b(ba)?sh$' --)
shellcheck -x "${scripts[@]}"
echo "shell: ok"
