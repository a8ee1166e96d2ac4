#!/usr/bin/env bash
# headers.sh INCLUDE_DIR: every public header compiles alone, as pedantic C11 and as C++17, with each compiler here.
set -uo pipefail

include=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0 tried=0

compile() { # LANGUAGE STANDARD HEADER COMPILER
	local source=$scratch/alone.$1
	printf '#include <%s>\n#include <%s>\n' "$3" "$3" >"$source" # twice: the guard works
	"$4" "-std=$2" -pedantic-errors -Wall -Wextra -Wundef -Werror -DE4_USE_UNSTABLE "-I$include" \
		-fsyntax-only "$source" || { echo "$3 is not plain $2 ($4)"; failed=1; }
	tried=$((tried + 1))
}

while read -r header; do
	for compiler in gcc clang; do
		if command -v $compiler >/dev/null; then compile c c11 "$header" $compiler; fi
	done
	for compiler in g++ clang++; do
		if command -v $compiler >/dev/null; then compile cc c++17 "$header" $compiler; fi
	done
done < <(cd "$include" && find ext4core -name '*.h' | sort)

echo "headers: $tried compilations"
exit $failed
