#!/bin/sh
# run_example.sh PROGRAM WHAT [PATH]: makes a small volume, runs an example on it and judges what it says. 77: no mke2fs.
set -eu

program=$1 what=$2
PATH=$PATH:/sbin:/usr/sbin
command -v mke2fs >/dev/null || { echo "no mke2fs"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree/folder/below"
echo 'hello from ext4core' >"$work/tree/greeting"
seq 1 20000 >"$work/tree/folder/numbers"
: >"$work/tree/folder/below/empty"
mke2fs -q -F -t ext4 -d "$work/tree" "$work/image" 8M

expect() { # TEXT: a part of what the program printed
	printf '%s\n' "$output" | grep -qF -- "$1" || { printf 'expected: %s\nseen:\n%s\n' "$1" "$output"; exit 1; }
}

case $what in
file)
	output=$("$program" "$work/image" "$3")
	expect 'hello from ext4core'
	if "$program" "$work/image" /missing 2>"$work/said"; then echo "a missing file was read"; exit 1; fi
	output=$(cat "$work/said")
	expect ENOENT
	;;
tree)
	output=$("$program" "$work/image")
	expect /folder/below/empty
	expect /lost+found
	[ "$(printf '%s\n' "$output" | wc -l)" = 6 ] || { echo "$output"; exit 1; }
	;;
totals)
	output=$("$program" "$work/image")
	expect 'blocks free'
	;;
same)
	output=$("$program" "$work/image" "$work/tree" 8)
	expect '8 threads read 3 files'
	expect ': 0 differ'
	echo changed >"$work/tree/greeting"
	if "$program" "$work/image" "$work/tree" 8; then echo "a difference was not seen"; exit 1; fi
	;;
esac
echo "$what: ok"
