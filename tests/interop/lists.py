"""Manifests as lists: comparing them, and reading their escapes."""
import re


def unescape(text):
    """The bytes that a manifest's `\\ooo` form stands for."""
    return re.sub(rb'\\(\d{3})', lambda match: bytes([int(match.group(1), 8)]), text.encode())


def by_path(manifest):
    return {line.split('\t', 1)[0]: line for line in manifest.splitlines()}


def in_order(lines):
    """Lines in the order of a manifest: by the bytes of their paths."""
    return ''.join(line + '\n' for line in sorted(lines, key=lambda line: unescape(line.split('\t', 1)[0])))


def first_difference(expected, actual, context=2):
    """Where two lists part, in a form that names the object and the field; None if they are equal."""
    if expected == actual:
        return None
    fields = ('path', 'type', 'mode', 'uid', 'gid', 'nlink', 'size', 'mtime', 'rdev', 'content', 'xattrs')
    want, have = by_path(expected), by_path(actual)
    shown = (lambda text: text if len(text) < 90 else text[:40] + '...' + text[-40:])
    report = ['%d lines expected, %d seen' % (len(want), len(have))]
    for title, some in (('missing', want.keys() - have.keys()), ('not expected', have.keys() - want.keys())):
        if some:
            report.append('%s: %d, first %s' % (title, len(some), shown(sorted(some)[0])))
    differ = [path for path in sorted(want.keys() & have.keys()) if want[path] != have[path]]
    for path in differ[:context]:
        pairs = zip(fields, want[path].split('\t'), have[path].split('\t'))
        report += ['%s: %s expected %s, seen %s' % (shown(path), field, shown(a), shown(b)) for field, a, b in pairs if a != b]
    if differ:
        report.append('%d objects differ' % len(differ))
    elif len(report) == 1:
        report.append('same lines in another order')
    return '\n'.join(report)


def without_directory_times(manifest):
    """A list with `-` for the mtime of each directory."""
    lines = (line.split('\t') for line in manifest.splitlines())
    return ''.join('\t'.join([*fields[:7], '-' if fields[1] == 'd' else fields[7], *fields[8:]]) + '\n' for fields in lines)


def excused(wanted, other, seen):
    """The wanted list, but with another's word for every object that is seen as the other has it: there, changed or missing."""
    want, have, shown = by_path(wanted), by_path(other), by_path(seen)
    lines = (shown.get(path) if shown.get(path) in (want.get(path), have.get(path)) else want.get(path)
             for path in want.keys() | have.keys())
    return in_order(filter(None, lines))
