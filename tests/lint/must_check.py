#!/usr/bin/env python3
"""Fails when a room's face declares an int function without E4_MUST_CHECK: an error must not be dropped by oversight.

An int function that cannot fail should return void, bool or an unsigned type instead.
"""
import re

from lint import LIBRARY, finish, line_of, shown, without_comments


def main():
    errors = []
    for room in sorted(path for path in LIBRARY.glob('*') if path.is_dir()):
        face = room / f'{room.name}.h'
        if not face.exists():
            continue
        text = without_comments(face.read_text())
        for match in re.finditer(r'^([^\n#;{}()]*)\bint\s+(\w+)\s*\(([^;{}]*)\)([^;{}]*);', text, re.M):
            before, name, _, after = match.groups()
            if not re.search(r'typedef|unsigned', before) and 'E4_MUST_CHECK' not in before + after:
                errors.append(f'{shown(face)}:{line_of(text, match.start(2))}: {name} lacks E4_MUST_CHECK')
    finish('must_check', errors)


main()
