#!/usr/bin/env bash
# Fails when a C file is not laid out as .clang-format says. Only clang-format 14 decides: releases differ in detail.
set -euo pipefail
cd "$(dirname "$0")/../.."

tool=$(command -v clang-format-14 || command -v clang-format) || { echo "format: no clang-format"; exit 77; }
"$tool" --version | grep -q 'version 14\.' || { echo "format: $("$tool" --version) is not release 14"; exit 77; }

mapfile -t files < <(git ls-files -co --exclude-standard -- '*.c' '*.h')
[ ${#files[@]} -gt 0 ] || exit 0
printf '%s\0' "${files[@]}" | xargs -0 -n 16 -P "$(nproc)" "$tool" --dry-run -Werror ||
	{ echo "format: mend it with: ./run format"; exit 1; }
echo "format: ok"
