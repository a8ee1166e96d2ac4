#!/usr/bin/env bash
# fuzz_one.sh TARGET SECONDS: one libFuzzer target, from tests/fuzz/corpus/NAME where there is one. New inputs go to a
# folder beside the target, so that the tree stays clean; a crash leaves its input there. NAME.ok tells that all went well.
set -uo pipefail

target=$1 seconds=$2
name=${target##*/}
build=${target%%/*}
work=$build/fuzz-work/$name
corpus=tests/fuzz/corpus/${name#fuzz[-_]}
mkdir -p "$work"
[ -d "$corpus" ] || corpus=

rm -f "$build/$name.ok"
# shellcheck disable=SC2086 # no corpus, no word
if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="$work/" "$work" $corpus </dev/null >"$build/$name.log" 2>&1; then
	touch "$build/$name.ok"
fi
