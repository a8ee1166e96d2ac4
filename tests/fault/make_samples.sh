#!/usr/bin/env bash
# make_samples.sh DIR: small volumes of several shapes, for walks under faults and from threads. Exit 77 without mke2fs.
set -euo pipefail
if ! command -v mke2fs debugfs >/dev/null; then
	echo "SKIP: mke2fs or debugfs is not installed"
	exit 77
fi
out=$1
tree=$out/tree
rm -rf "$out"
mkdir -p "$tree/deep/er/still" "$tree/many"
for i in $(seq 400); do echo "file $i" >"$tree/many/a-name-long-enough-to-fill-blocks-$i"; done
for i in $(seq 40); do head -c $((i * 997)) /dev/urandom >"$tree/deep/er/data-$i"; done
head -c 3000000 /dev/urandom >"$tree/big"
truncate -s 64M "$tree/sparse"
for i in $(seq 60); do printf 'piece %d' "$i" | dd of="$tree/sparse" bs=1 seek=$((i * 1000000)) conv=notrunc status=none; done
ln -s deep/er "$tree/fast"
ln -s "$(printf 'long/%.0s' {1..30})" "$tree/slow"
ln "$tree/big" "$tree/deep/hard"

image() { # NAME MKE2FS_OPTIONS...
	local img=$out/$1.img
	shift
	truncate -s 24M "$img"
	mke2fs -q -F -d "$tree" "$@" "$img"
	printf 'ea_set /big user.small value\nea_set /big user.large %s\nea_set /deep user.on-a-directory x\n' "$(printf 'v%.0s' {1..300})" |
		debugfs -w -f - "$img" >/dev/null 2>&1
}
image ext4-1k -t ext4 -b 1024
image ext4-4k -t ext4 -b 4096 -O inline_data
image ext2-1k -t ext2 -b 1024 -I 128
image bigalloc -t ext4 -b 1024 -O bigalloc -C 8192
image nocsum -t ext4 -b 2048 -O ^metadata_csum,uninit_bg,^has_journal
e2fsck -fyD "$out/ext4-1k.img" >/dev/null 2>&1 || true # builds the index of /many
