#!/usr/bin/env python3
"""Fails when a function of a public header lacks a paragraph of its documentation (STYLE 2.9).

Each has a brief, @param for every parameter, @return unless it is void, @errors, *Threads*, *Durability*, *Ownership*,
*Blocking*, @since and @source, in a comment that ends right above it. Declarations without a line between them, such as
read and write, share the comment above the first.
"""
import re

from lint import PUBLIC, finish, line_of, shown, without_comments

PARAGRAPHS = ('@errors', '*Threads*', '*Durability*', '*Ownership*', '*Blocking*', '@since', '@source')
FUNCTION = re.compile(r'^(?!typedef|struct \w+ \{|#)((?:E4_API|extern)\b[^;{}()]*?|[a-z][\w\s\*]*?)'
                      r'\b(e4_\w+)\s*\(([^;{}]*?)\)[^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*;', re.M)


def parameters(text):
    """Names in a parameter list; a callback's is in (*name)."""
    depth, parts = 0, ['']
    for character in text:
        depth += {'(': 1, ')': -1}.get(character, 0)
        if character == ',' and depth == 0:
            parts.append('')
        else:
            parts[-1] += character
    for part in parts:
        if part.strip() not in ('', 'void', '...'):
            callback = re.search(r'\(\s*\*\s*(\w+)\s*\)', part)
            yield callback[1] if callback else re.search(r'(\w+)\s*(?:\[\w*\])*\s*$', part)[1]


def comment_above(text, offset):
    before = text[:offset]
    while (group := re.search(r'(?:^[^\s/*#][^\n]*\n(?:[ \t][^\n]*\n)*)\Z', before, re.M)) and group[0].rstrip().endswith(';'):
        before = before[:group.start()]
    before = before.rstrip()
    return before[before.rfind('/**'):] if before.endswith('*/') and '/**' in before else ''


def lacking(comment, returned, arguments):
    if not comment:
        return ['a comment']
    brief = re.sub(r'^\s*\*+ ?', '', comment.removeprefix('/**'), flags=re.M).split('@')[0].strip(' */\n')
    missing = [] if brief else ['a brief']
    missing += [f'@param {name}' for name in parameters(arguments)
                if not re.search(rf'@param(?:\[\w+\])?\s+(?:\w+,\s*)*{name}\b', comment)]
    if not re.search(r'\bvoid\s*$', returned) and '@return' not in comment:
        missing.append('@return')
    return missing + [paragraph for paragraph in PARAGRAPHS if paragraph not in comment]


def main():
    errors, seen = [], 0
    for path in sorted(PUBLIC.rglob('*.h')):
        text = path.read_text()
        for match in FUNCTION.finditer(without_comments(text)):
            seen += 1
            missing = lacking(comment_above(text, match.start()), match[1], match[3])
            if missing:
                errors.append(f'{shown(path)}:{line_of(text, match.start(2))}: {match[2]} lacks {", ".join(missing)}')
    print(f'{seen} functions')
    finish('docs', errors)


main()
