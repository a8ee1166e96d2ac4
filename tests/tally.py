#!/usr/bin/env python3
"""tally.py TESTLOG.json: prints `passed failed skipped` of a meson test run, TAP points counted one by one."""
import json
import re
import sys

POINT = re.compile(r'^(not )?ok\b[^#\n]*(#\s*skip)?', re.M | re.I)
BAD = ('FAIL', 'ERROR', 'TIMEOUT', 'INTERRUPT', 'UNEXPECTEDPASS')


def count(test):
    """(passed, failed, skipped) of one program; one that died counts one more failure than its points tell."""
    points = POINT.findall(test.get('stdout') or '') if '\n1..' in '\n' + (test.get('stdout') or '') else []
    skipped = sum(1 for _, skip in points if skip)
    failed = sum(1 for bad, skip in points if bad and not skip)
    passed = len(points) - skipped - failed
    if test['result'] in BAD:
        return passed, max(failed, 1), skipped
    if points:
        return passed, failed, skipped
    return (0, 0, 1) if test['result'] == 'SKIP' else (1, 0, 0)


def main(path):
    with open(path, encoding='utf-8') as log:
        counts = [count(json.loads(line)) for line in log]
    print(*map(sum, zip(*counts)) if counts else (0, 0, 0))


main(sys.argv[1])
