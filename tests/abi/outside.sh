#!/usr/bin/env bash
# outside.sh BUILD PROGRAM.c: builds a program as an embedder would, against an installed prefix and by pkg-config
# alone: linked with the shared library, with the archive, and with the archive beside an internal name of ours.
set -euo pipefail

build=$1 program=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

meson install -C "$build" --no-rebuild --quiet --destdir "$scratch/root"
pc=$(find "$scratch/root" -name ext4core.pc)
prefix=$scratch/root$(sed -n 's/^prefix=//p' "$pc")
libdir=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=${pc%/*}
flags() { pkg-config --define-variable=prefix="$prefix" "$@" ext4core; }
compile() { "${CC:-cc}" -std=c11 -Wall -Werror -o "$scratch/program" "$@"; }

# shellcheck disable=SC2046 # pkg-config prints words for the compiler
compile "$program" $(flags --cflags --libs)
LD_LIBRARY_PATH=$libdir "$scratch/program"
readelf -d "$scratch/program" | grep -q 'NEEDED.*libext4core\.so\.0' || { echo "soname is not libext4core.so.0"; exit 1; }

# The shared library is taken away, so that -lext4core means the archive.
rm "$libdir"/libext4core.so*
# shellcheck disable=SC2046
compile "$program" $(flags --static --cflags --libs)
"$scratch/program"

# An embedder may use any of our internal names: they are local to the archive.
nm -P --defined-only "$libdir/libext4core.a" | awk '$2 == "t" && $1 !~ /\./ && !n++ { print "int " $1 "(void);\nint " $1 "(void) { return 0; }" }' >"$scratch/clash.c"
# shellcheck disable=SC2046
compile "$program" "$scratch/clash.c" $(flags --static --cflags --libs)
"$scratch/program"
echo "outside: shared, static, static with a clash: ok"
