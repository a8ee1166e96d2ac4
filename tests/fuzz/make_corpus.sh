#!/usr/bin/env bash
# make_corpus.sh: makes the seeds of tests/fuzz/corpus anew with mke2fs and debugfs (they are committed; run it when a format feature is added).
set -euo pipefail
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
mkdir -p "$tree/dir/sub" corpus/{walk,mount,journal,xattr,htree}
echo hello >"$tree/hello"
head -c 5000 /dev/urandom >"$tree/dir/data"
truncate -s 1M "$tree/dir/sparse"
printf x | dd of="$tree/dir/sparse" bs=1 seek=500000 conv=notrunc status=none
ln -s hello "$tree/fast"
ln -s "$(printf 'l%.0s' {1..70})" "$tree/slow"
ln "$tree/hello" "$tree/dir/hard"
for i in $(seq 60); do : >"$tree/dir/sub/some-name-$i"; done

image() { # NAME KIB MKE2FS_OPTIONS...
	local name=$1 kib=$2
	shift 2
	truncate -s "${kib}K" "$scratch/$name"
	mke2fs -q -F -b 1024 -N 128 -d "$tree" -U 00010203-0405-0607-0809-0a0b0c0d0e0f "$@" "$scratch/$name"
	cp --sparse=always "$scratch/$name" "corpus/walk/$name"
	dd if="$scratch/$name" of="corpus/mount/$name" bs=1024 skip=1 count=4 status=none
}
image ext2 192 -t ext2
image indirect 256 -t ext2 -O ^dir_index -I 128
image ext4 192 -t ext4 -O ^has_journal,^resize_inode
image inline 192 -I 256 -t ext4 -O ^has_journal,^resize_inode,inline_data
image nocsum 192 -t ext4 -O ^has_journal,^resize_inode,^metadata_csum,uninit_bg
image bigalloc 256 -t ext4 -O ^has_journal,^resize_inode,bigalloc -C 4096
image metabg 192 -t ext4 -O ^has_journal,^resize_inode,meta_bg,sparse_super2,ea_inode,large_dir

# Logs: written by debugfs into a volume with a journal of 1,024 blocks, then cut out.
journal() { # NAME FEATURES CHECKSUM
	truncate -s 4M "$scratch/j"
	mke2fs -q -F -b 1024 -t ext4 -O "$2" -J size=1 -U 00010203-0405-0607-0809-0a0b0c0d0e0f "$scratch/j"
	head -c 1024 /dev/urandom >"$scratch/block"
	head -c 3072 /dev/urandom >"$scratch/block3"
	printf 'jo -f %s\njw -b 1500,1501,1502 %s\njw -r 1500\njw -b 1500 %s\njc\n' "$3" "$scratch/block3" "$scratch/block" >"$scratch/cmd"
	debugfs -w -f "$scratch/cmd" "$scratch/j" >/dev/null 2>&1
	debugfs -R "dump <8> $scratch/log" "$scratch/j" >/dev/null 2>&1
	head -c 20480 "$scratch/log" >"corpus/journal/$1"
}
journal v3 64bit '-c -v 3'
journal v2 64bit '-c -v 2'
journal plain '^metadata_csum,^64bit' ''

# Attribute areas: in-inode bytes from 160 on, then a block.
debugfs -w -R 'ea_set hello user.one "value of one"' "$scratch/ext4" >/dev/null 2>&1
debugfs -w -R 'ea_set hello user.two "a longer value that does not fit the inode any more, so that it goes to a block of its own"' "$scratch/ext4" >/dev/null 2>&1
python3 - "$scratch/ext4" corpus/xattr/two <<'PY'
import struct, sys
b = open(sys.argv[1], 'rb').read()
table = struct.unpack_from('<I', b, 2048 + 8)[0] * 1024
for ino in range(11, 200):
    at = table + (ino - 1) * 256
    acl = struct.unpack_from('<I', b, at + 0x68)[0]
    if b[at + 160:at + 164] == bytes.fromhex('000002ea') and acl:
        open(sys.argv[2], 'wb').write(b[at + 160:at + 256] + b[acl * 1024:acl * 1024 + 1024])
        break
else:
    sys.exit('no inode with attributes')
PY

# Directory blocks: an index of 300 names.
mkdir "$scratch/many"
for i in $(seq 300); do : >"$scratch/many/a-name-to-fill-the-index-$i"; done
truncate -s 512K "$scratch/h"
mke2fs -q -F -b 1024 -N 400 -t ext4 -O ^has_journal,^resize_inode,^metadata_csum,uninit_bg -d "$scratch/many" "$scratch/h"
e2fsck -fyD "$scratch/h" >/dev/null 2>&1 || true
debugfs -R "cat <2>" "$scratch/h" 2>/dev/null >"$scratch/root"
{ printf '\x02\x0f'; head -c 16384 "$scratch/root"; } >corpus/htree/root
{ printf '\x00\x02'; dd if="$scratch/root" bs=1024 skip=1 count=3 status=none; } >corpus/htree/linear
