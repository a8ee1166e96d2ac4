#!/usr/bin/env python3
"""Fails when two rows of base/why.def share an id or a text, or when no fail...() call gives a row's reason.

A reason that is given in several places is listed without failing: the report then needs the line to tell which.
"""
import re
from collections import Counter

from lint import LIBRARY, finish, shown, without_comments

WHY = LIBRARY / 'base' / 'why.def'
PREFIX = 'E4_WHY_'


def calls(text):
    """The argument text of each fail...() call."""
    for match in re.finditer(r'\b(?:\w+_)?fail\w*\s*\(', text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {'(': 1, ')': -1}.get(text[end], 0)
            end += 1
        yield text[match.end():end]


def main():
    rows = re.findall(r'^\s*\w+\(\s*(\w+)\s*,[^"]*"([^"]*)"', WHY.read_text(), re.M)
    ids = [row[0].removeprefix(PREFIX) for row in rows]
    errors = [f'{shown(WHY)}: {what} stands {n} times'
              for counter in (Counter(ids), Counter(row[1] for row in rows))
              for what, n in counter.items() if n > 1]

    anywhere, thrown = set(), Counter()
    for path in sorted(LIBRARY.glob('*/*.[ch]')):
        text = without_comments(path.read_text())
        anywhere.update(re.findall(PREFIX + r'(\w+)', text))
        for arguments in calls(text):
            thrown.update(re.findall(PREFIX + r'(\w+)', arguments))

    for name in ids:
        if name not in anywhere:
            errors.append(f'{shown(WHY)}: {name} is never given')
        elif thrown[name] > 1:
            print(f'note: {name} is given in {thrown[name]} places')
    finish('why', errors)


if WHY.exists():
    main()
