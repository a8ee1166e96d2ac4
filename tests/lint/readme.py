#!/usr/bin/env python3
"""Fails when a C block of README.md is not, line by line, a part of a file in examples/."""
import re

from lint import ROOT, finish


def main():
    readme = ROOT / 'README.md'
    blocks = re.findall(r'^```c\n(.*?)^```', readme.read_text(), re.M | re.S) if readme.exists() else []
    examples = [path.read_text() for path in sorted((ROOT / 'examples').rglob('*.c'))]
    errors = [f'README.md: no example contains the block that begins {block.strip().splitlines()[0]!r}'
              for block in blocks if not any(block in example for example in examples)]
    if readme.exists() and not blocks:
        errors.append('README.md quotes no example')
    finish('readme', errors)


main()
