#!/usr/bin/env python3
"""symbols.py INCLUDE_DIR MAP SHARED_LIBRARY ARCHIVE

Fails unless version script, public headers, the library's dynamic names and the archive's global names are one list.
"""
import pathlib
import re
import subprocess
import sys


def in_map(path):
    text = re.sub(r'/\*.*?\*/|#[^\n]*', '', pathlib.Path(path).read_text(), flags=re.S)
    return set(re.findall(r'^\s*(e4_\w+);', text, re.M))


def in_headers(include):
    names = set()
    for path in pathlib.Path(include).rglob('*.h'):
        text = re.sub(r'/\*.*?\*/|//[^\n]*', '', path.read_text(), flags=re.S)
        text = re.sub(r'^\s*#(?:[^\n]*\\\n)*[^\n]*', '', text, flags=re.M)
        for match in re.finditer(r'^([\w][^;{}()]*?)\b(e4_\w+)\s*\([^;{}]*;', text, re.M):
            if not re.match(r'typedef|static', match[1]):
                names.add(match[2])
    return names


def defined(*command):
    """Names of code and data that `nm` shows as defined for others."""
    listing = subprocess.run(['nm', '-P', '--defined-only', '--extern-only', *command],
                             capture_output=True, text=True, check=True).stdout
    symbols = (line.split() for line in listing.splitlines() if line.count(' ') >= 2)
    return {re.sub(r'@.*', '', name) for name, kind, *_ in symbols if kind in 'TDBRWVi'}


def main(include, version_script, library, archive):
    names = in_map(version_script)
    sources = {
        'the headers': in_headers(include),
        'the shared library': defined('-D', library),
        'the archive': defined(archive),
    }
    failed = False
    for where, found in sources.items():
        for name in sorted(names - found):
            print(f'{name} stands in the map, but not in {where}')
        for name in sorted(found - names):
            print(f'{name} stands in {where}, but not in the map')
        failed = failed or found != names
    print(f'symbols: {len(names)} names')
    sys.exit(failed)


main(*sys.argv[1:])
