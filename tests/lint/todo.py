#!/usr/bin/env python3
"""Fails on a TODO, FIXME or XXX that carries no issue number, as in `TODO #17`."""
import re
import subprocess

from lint import ROOT, finish

TEXT = ('.c', '.h', '.py', '.sh', '.def', '.map', '.txt', '.build', '.ini', '.md')


def main():
    files = subprocess.run(['git', '-C', ROOT, 'ls-files', '-co', '--exclude-standard'], capture_output=True, text=True, check=False).stdout
    errors = []
    for name in files.splitlines():
        path = ROOT / name
        if not name.endswith(TEXT) or path.parent.name == 'lint' or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
            if re.search(r'\b(TODO|FIXME|XXX)\b(?!\W{0,3}#\d)', line):
                errors.append(f'{name}:{number}: {line.strip()}')
    finish('todo', errors)


main()
