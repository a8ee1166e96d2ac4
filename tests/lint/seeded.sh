#!/usr/bin/env bash
# Proves that the rules bite: a small tree that breaks each of them once, where each must fail and name the place.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{tests,include/ext4core,libext4core/{base,buf,format}}
cp -r "$here" "$tree/tests/lint"
cp "$here/../../libext4core/layers.txt" "$tree/libext4core"
cd "$tree"
git init -q

cat >libext4core/base/why.def <<'END'
WHY(TWICE, EIO, "one")
WHY(TWICE, EIO, "two")
END
cat >libext4core/buf/buf.h <<'END'
int buf_get(int n);
END
cat >include/ext4core/bad.h <<'END'
/** Brief. @return 0 @errors none *Threads*: any *Durability*: none *Ownership*: none @since 0 @source none */
E4_API int e4_bad(int n);
END
cat >libext4core/format/bad.c <<'END'
#include "buf/buf.h"
#include <stdlib.h>
/* TODO: later */
static int counter;
int bad_walk(int n);
int bad_step(int n);
__attribute__((noinline)) int bad_step(int n) { return n > 3 ? bad_walk(n - 2) + bad_walk(n - 3) : n; }
__attribute__((noinline)) int bad_walk(int n) { counter += rand(); return bad_step(n - 1) * bad_step(n - 4); }
END
cat >README.md <<'END'
```c
int nobody;
```
END

mkdir objects
gcc -O1 -fcallgraph-info -Ilibext4core -c libext4core/format/bad.c -o objects/format_bad.c.o
ar rcT rooms.a objects/format_bad.c.o

failed=0
bites() { # WHAT_IT_SAYS RULE [ARGUMENT...]
	local says=$1 rule=$2 output
	shift 2
	if output=$("tests/lint/$rule" "$@" 2>&1); then
		echo "$rule lets the seeded fault pass"
	elif ! grep -q -- "$says" <<<"$output"; then
		echo "$rule failed without naming: $says"
		echo "$output"
	else
		return 0
	fi
	failed=1
}
bites 'bad.c:1: format may not use buf' layers.py
bites 'TWICE stands 2 times' why.py
bites 'TWICE is never given' why.py
bites 'bad.c:3:' todo.py
bites 'buf.h:1: buf_get' must_check.py
bites 'format/bad.c: no meson.build' dead_files.py
bites 'bad.h:2: e4_bad lacks @param n, \*Blocking\*' docs.py
bites 'int nobody' readme.py
bites 'format/bad.c: rand' banned.py rooms.a
bites 'format/bad.c: counter' globals.py rooms.a
bites 'bad_walk -> bad_step\|bad_step -> bad_walk' recursion.py objects
if clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
	cp "$here/../../.clang-format" .
	bites 'bad.c:1:1: error: code should be clang-formatted' format.sh
fi
[ $failed = 0 ] && echo "seeded: every rule bites"
exit $failed
