#!/usr/bin/env bash
# tidy.sh BUILD JOBS: clang-tidy over the library and the tools, as .clang-tidy says. Slow, so not part of suite lint.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=$1 jobs=$2
tool=$(command -v clang-tidy-14 || command -v clang-tidy)
git ls-files -- 'libext4core/*.c' 'tools/*.c' 'bench/*.c' |
	while read -r file; do # what this configuration leaves out (blockdev/uring_none.c) has no compile command
		if grep -qF "\"file\": \"../$file\"" "$build/compile_commands.json"; then echo "$file"; fi
	done | xargs -P "$jobs" -n 1 "$tool" -p "$build" --quiet
echo "tidy: ok"
