#!/usr/bin/env python3
"""Fails on a C file that no meson.build names: code that nobody compiles is code that nobody checks."""
from lint import LIBRARY, ROOT, finish, shown

FOLDERS = ('libext4core', 'tools', 'bench', 'examples', 'tests')


def main():
    errors = []
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob('*.c')):
        builds = [parent / 'meson.build' for parent in path.parents if parent.is_relative_to(ROOT)]
        named = (f"'{path.relative_to(build.parent)}'" in build.read_text() for build in builds if build.exists())
        if not any(named) and not stem_named(path):
            errors.append(f'{shown(path)}: no meson.build names it')
    finish('dead_files', errors)


def stem_named(path):
    """Lists of names without the ending, as a loop over small programs has them."""
    build = path.parent / 'meson.build'
    return path.is_relative_to(ROOT) and not path.is_relative_to(LIBRARY) and build.exists() \
        and f"'{path.stem}'" in build.read_text()


main()
