#!/usr/bin/env bash
# demo.sh BUILD: the main job, shown. `./run demo` builds and calls it. All that it makes lies in a folder of its own.
set -euo pipefail

build=$(cd "${1:?usage: demo.sh BUILD}" && pwd)
PATH=$build/tools:$build/bench:$PATH:/sbin:/usr/sbin
work=$(mktemp -d "${TMPDIR:-/tmp}/e4-demo.XXXXXX")
mounted=''
root=no
[ "$(id -u)" = 0 ] && root=yes

clean_up() {
	if [ -n "$mounted" ]; then umount "$mounted" || true; fi
	rm -rf "$work"
}
trap clean_up EXIT
cd "$work"

step=0
say() {
	step=$((step + 1))
	printf '\n\033[1m%d. %s\033[0m\n' "$step" "$1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@"
}
show() { # runs a command, shown as one would type it
	printf '   $ %s\n' "$*"
	"$@" 2>&1 | sed 's/^/   /'
}
sum() { sha256sum "$1" | cut -c1-64; }
fail() {
	printf '\nThe demo FAILED: %s\n' "$1"
	exit 1
}
try_mount() { # IMAGE: mounts it where the machine lets us
	[ $root = yes ] || return 1
	mkdir -p mnt
	mount -o loop "$1" mnt 2>mount-said || return 1
	mounted=$work/mnt
}
end_mount() {
	umount mnt
	mounted=''
}

# --- a tree to put into volumes --------------------------------------------------------------------------------------

make_tree() {
	mkdir -p tree/docs/letters tree/data tree/many
	printf 'Hello from inside an ext4 volume.\n' >tree/docs/hello
	ln -s hello tree/docs/greeting
	ln tree/docs/hello tree/docs/letters/same-as-hello
	head -c 24M /dev/urandom >tree/data/random
	seq 1 400000 >tree/data/numbers
	truncate -s 200M tree/data/sparse
	printf 'far out\n' | dd of=tree/data/sparse bs=1M seek=150 conv=notrunc status=none
	local i
	for i in $(seq 1 1500); do echo "file number $i" >"tree/many/f$i"; done
}

say 'A volume, made by mke2fs from a folder' \
	'   24 MiB of noise, a sparse file, links, 1,500 small files. No root, no mount.'
make_tree
show mke2fs -q -F -t ext4 -d tree volume.img 128M
show e4 info volume.img
show e4 tree -L 2 volume.img /docs

say 'Eight threads read all of it through the library' \
	'   and compare every byte with the files that it was made from.'
before=$(sum volume.img)
show "$build/examples/example-parallel-read" volume.img tree 8
[ "$(sum volume.img)" = "$before" ] || fail 'reading has changed the volume'
echo '   The image has the same SHA-256 as before.'

say 'Where the bytes lie' '   as an application sees it that does its own I/O:'
show e4 map volume.img /data/sparse
show e4 get -rp volume.img /docs copy
diff -r --no-dereference tree/docs copy || fail 'the copy differs'
echo '   The copy equals the original; links are still links.'

# --- a dirty volume --------------------------------------------------------------------------------------------------

# The kernel fills a volume. What the device holds at that moment is what a power loss leaves: all that was fsynced is in
# the log, nothing of it is home yet.
dirty_by_kernel() {
	local i
	mke2fs -q -F -t ext4 live.img 64M
	try_mount live.img || return 1
	mkdir mnt/survivors
	for i in $(seq 1 200); do echo "written before the power went: $i" >"mnt/survivors/$i"; done
	sync mnt/survivors/*
	cp --sparse=always live.img dirty.img # before anything is written home
	end_mount
}

# Without root: debugfs takes a name out of a directory, and a transaction into the log that brings it back.
dirty_by_debugfs() {
	local block
	mkdir -p dirty-tree/survivors
	echo 'written before the power went: 1' >dirty-tree/survivors/1
	mke2fs -q -F -t ext4 -b 4096 -d dirty-tree dirty.img 64M
	block=$(debugfs -R 'bmap /survivors 0' dirty.img 2>/dev/null)
	dd if=dirty.img of=block bs=4096 skip="$block" count=1 status=none
	printf 'unlink /survivors/1\njournal_open\njournal_write -b %s block\njournal_close\n' "$block" |
		debugfs -w dirty.img >debugfs-said 2>&1
}

say 'The power goes' '   A volume is cut off in the middle: its newest changes are in the log only.'
if dirty_by_kernel; then
	echo '   The kernel wrote and fsynced 200 files; this is what the device held at that moment.'
elif dirty_by_debugfs; then
	echo '   (No root or no loop mounts here: debugfs wrote the log.)'
else
	fail 'no dirty volume can be made on this machine'
fi
e4 info --json dirty.img | grep -q '"needs_recovery": true' || fail 'the volume is not dirty'
show e4 info dirty.img
before=$(sum dirty.img)

say 'A read-only open shows the recovered state and leaves the device alone'
show e4 cat dirty.img /survivors/1
e4 manifest dirty.img >seen
e4 manifest --norecovery dirty.img >without 2>without-said || true
printf '   e4 manifest lists %s objects; without the log (--norecovery) it would be %s.\n' "$(wc -l <seen)" "$(wc -l <without)"
[ "$(sum dirty.img)" = "$before" ] || fail 'a read-only open has changed the device'
echo '   The image has the same SHA-256 as before.'

say 'Recovery for good' '   e4 replay writes the log home; e2fsck then has nothing to say.'
show e4 replay dirty.img
show e2fsck -fn dirty.img
e2fsck -fn dirty.img >/dev/null 2>&1 || fail 'e2fsck found errors'
e4 manifest dirty.img | diff seen - >/dev/null || fail 'recovery for good shows something else'
echo '   The manifest is the one that the read-only open showed.'
show e4 replay dirty.img
if try_mount dirty.img; then
	printf '   The kernel mounts it and finds %s survivors.\n' "$(find mnt/survivors -type f | wc -l)"
	end_mount
fi

# --- speed -----------------------------------------------------------------------------------------------------------

say 'Speed, beside the kernel'
if [ -x "$build/bench/e4bench" ]; then
	peer=raw
	[ $root = yes ] && peer=kernel
	timeout 60 "$build/bench/e4bench" compare --quick --peer $peer 2>&1 | sed '/^ *SKIP.*not available/d; s/^/   /' ||
		echo '   (the bench did not end in a minute, or cannot run here)'
else
	echo '   (this build has no e4bench)'
fi

printf '\nAll of it worked. Next: README.md, man e4, and examples/ for programs of your own.\n'
