#!/usr/bin/env python3
"""Reports file and function sizes, room by room, and names what is worth a second thought. Never fails."""
import re
from statistics import median, quantiles

from lint import LIBRARY, shown, without_comments

LONG_FUNCTION, LONG_FILE, MANY_PARAMETERS = 80, 800, 6


def functions(text):
    """(name, lines, parameters) of each function: in our layout a body's braces stand in the first column."""
    for match in re.finditer(r'^[\w][^\n;{}=#]*?\b(\w+)\(((?:[^;{}])*)\)[^;{}()]*\n\{\n(.*?)^\}', text, re.M | re.S):
        yield match[1], match[3].count('\n') + 2, match[2].count(',') + 1


def main():
    notes = []
    print(f'{"room":<10}{"files":>6}{"lines":>7}{"median":>8}{"max":>6}{"functions":>11}{"median":>8}{"p90":>6}'
          f'{"comments":>10}{"asserts/fn":>12}')
    for room in sorted(path for path in LIBRARY.glob('*') if path.is_dir()):
        files = {path: path.read_text() for path in sorted(room.glob('*.[ch]'))}
        if not files:
            continue
        lines = [text.count('\n') for text in files.values()]
        found = []
        asserts = comments = 0
        for path, text in files.items():
            code = without_comments(text)
            asserts += len(re.findall(r'\bE4_(?:DEBUG_)?ASSERT\(', code))
            comments += sum(1 for a, b in zip(text.splitlines(), code.splitlines()) if a.strip() and not b.strip())
            if text.count('\n') > LONG_FILE:
                notes.append(f'{shown(path)}: {text.count(chr(10))} lines')
            for name, length, arguments in functions(code):
                found.append(length)
                if length > LONG_FUNCTION or arguments > MANY_PARAMETERS:
                    notes.append(f'{shown(path)}: {name} has {length} lines, {arguments} parameters')
        p90 = quantiles(found, n=10)[-1] if len(found) > 1 else (found or [0])[0]
        print(f'{room.name:<10}{len(files):>6}{sum(lines):>7}{median(lines):>8.0f}{max(lines):>6}{len(found):>11}'
              f'{median(found or [0]):>8.0f}{p90:>6.0f}{comments / max(1, sum(lines)):>10.0%}'
              f'{asserts / max(1, len(found)):>12.2f}')
    print('\n'.join(['', *notes]) if notes else '')


main()
