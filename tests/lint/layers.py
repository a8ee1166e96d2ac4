#!/usr/bin/env python3
"""Fails when a file includes a room that layers.txt does not allow, or another room's private header."""
import re
import sys

from lint import LIBRARY, finish, shown

TABLE = LIBRARY / 'layers.txt'
OPEN = ('base', 'format')  # rooms whose every header other rooms may include


def load():
    allowed = {}
    for line in TABLE.read_text().splitlines():
        room, *uses = line.split('#')[0].split() or [None]
        if room is None:
            continue
        above = [use for use in uses if use not in allowed]
        if above:
            sys.exit(f'{shown(TABLE)}: {room} uses {above}, which stand above it or do not exist')
        allowed[room] = {room, *uses}
    return allowed


def check_include(allowed, room, target, header):
    if target not in allowed:
        return None  # a system folder
    if target not in allowed[room]:
        return f'{room} may not use {target}'
    if target not in (room, *OPEN) and header != target + '.h':
        return f'{target}/{header} is not the face of {target}'
    return None


def main():
    allowed = load()
    errors = [f'{shown(path)}: rooms are one level deep' for path in sorted(LIBRARY.glob('*/*/*.[ch]'))]
    for path in sorted(LIBRARY.glob('*/*.[ch]')):
        room = path.parent.name
        if room not in allowed:
            errors.append(f'{shown(path)}: room {room} is not in {shown(TABLE)}')
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s+["<](\w+)/([\w.]+)[">]', line)
            error = include and check_include(allowed, room, include[1], include[2])
            if error:
                errors.append(f'{shown(path)}:{number}: {error}')
    finish('layers', errors)


main()
