#!/usr/bin/env python3
"""version.py VERSION: fails when include/ext4core/version.h or CHANGELOG.md tells another version than meson.build."""
import re
import sys

from lint import PUBLIC, ROOT, finish


def main(version):
    errors = []
    header = PUBLIC / 'version.h'
    if header.exists():
        numbers = dict(re.findall(r'#define\s+E4_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)', header.read_text()))
        if numbers and '.'.join(numbers.get(part, '?') for part in ('MAJOR', 'MINOR', 'PATCH')) != version:
            errors.append(f'version.h: {numbers}, meson.build: {version}')
    changelog = ROOT / 'CHANGELOG.md'
    if changelog.exists() and version not in changelog.read_text():
        errors.append(f'CHANGELOG.md does not speak of {version}')
    finish('version', errors)


main(sys.argv[1])
