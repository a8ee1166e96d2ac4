#!/usr/bin/env bash
# Prepares a build for another architecture, and prints the meson cross file to use.
#
#   tests/cross/prepare.sh i386|s390x|arm64 DIR
#
# Debian's cross compilers come with a C library, but not with Check, zlib and utf8proc. Their packages for the other
# architecture are only unpacked, into DIR/sysroot: installing them would clash with security updates. apt runs on
# lists of its own inside DIR, so that neither root is needed nor the machine's list of architectures touched.
# Exit status 77: not to be had here, with the reason on standard error.
set -euo pipefail

arch=$1 dir=$2
here=$(cd "$(dirname "$0")" && pwd)
case $arch in
i386) preset=32-bit compiler=i686-linux-gnu-gcc emulator= ;;
s390x) preset=big-endian compiler=s390x-linux-gnu-gcc emulator=qemu-s390x-static ;;
arm64) preset=arm64 compiler=aarch64-linux-gnu-gcc emulator=qemu-aarch64-static ;;
*) echo "prepare.sh: unknown architecture $arch" >&2; exit 2 ;;
esac

skip() { echo "prepare.sh: $arch: $*" >&2; exit 77; }

command -v "$compiler" >/dev/null || skip "no $compiler"
if [ -n "$emulator" ]; then
	command -v "$emulator" >/dev/null || skip "no $emulator"
elif [ ! -e /lib/ld-linux.so.2 ]; then
	skip "no 32-bit C library (libc6-i386)"
fi

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
cross=$dir/$preset.ini

if [ ! -e "$dir/sysroot/.complete" ]; then
	command -v apt-get >/dev/null || skip "no apt to fetch Check from"
	rm -rf "$dir/sysroot" "$dir/apt"
	mkdir -p "$dir/sysroot" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial"
	: >"$dir/apt/status"
	apt=(apt-get -qq
		-o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o "APT::Sandbox::User="
		-o "Dir::State=$dir/apt" -o "Dir::State::status=$dir/apt/status" -o "Dir::Cache=$dir/apt/cache")
	packages=(check libsubunit0 libsubunit-dev zlib1g zlib1g-dev libutf8proc2 libutf8proc-dev)
	"${apt[@]}" update >&2 || true # one mirror out of step (security, often) need not matter
	(cd "$dir/apt" && "${apt[@]}" download "${packages[@]}") >&2 || skip "packages not to be had"
	for package in "$dir"/apt/*.deb; do
		dpkg -x "$package" "$dir/sysroot"
	done
	rm -rf "$dir/apt"
	touch "$dir/sysroot/.complete"
fi

sed "s|@SYSROOT@|$dir/sysroot|" "$here/../presets/$preset.ini" >"$cross.new"
if cmp -s "$cross.new" "$cross"; then
	rm "$cross.new" # an unchanged date spares meson a new set-up
else
	mv "$cross.new" "$cross"
fi
echo "$cross"
