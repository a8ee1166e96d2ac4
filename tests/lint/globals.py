#!/usr/bin/env python3
"""globals.py ROOMS_ARCHIVE: fails on a mutable variable with static storage, local or global, that is not per thread.

Two users in one process must not meet. What has no other home is in ALLOWED with its reason.
"""
import re
import subprocess
import sys

from lint import LIBRARY, finish

MUTABLE = re.compile(r'\.(data|bss)(\.(?!rel\.ro)|$)|^COMMON$')
ALLOWED = {
    ('base/assert.c', 'handler'): 'an assertion has no volume to ask',
    ('base/crc32c.c', 'chosen'): 'what this processor has; every writer stores the same',
    ('base/fork_guard.c', 'fork_generation'): 'the process forks, not a volume',
    ('base/fork_guard.c', 'handler_once'): 'the fork handler is installed once',
    ('base/context.c', 'registry'): 'a leaving thread looks here for the volumes that still live',
    ('base/context.c', 'registry_lock'): 'guards the registry',
    ('base/context.c', 'key_once'): 'the key below is made once',
    ('base/context.c', 'leave_key'): 'the only way to be called when a thread ends',
    ('base/context.c', 'next_set_id'): 'ids are never used twice, so that a cached one cannot be mistaken',
}


def main(archive):
    errors, member = [], None
    listing = subprocess.run(['objdump', '-t', archive], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        if header := re.match(r'(?:.*/)?([\w.-]+)\.o:\s+file format', line):
            member = header[1].replace('_', '/', 1)
        symbol = re.match(r'[0-9a-f]+ .{5}.O (\S+)\s+[0-9a-f]+ (?:\.hidden )?(\S+)', line)
        if symbol and MUTABLE.search(symbol[1]):
            name = re.sub(r'\.\d+$', '', symbol[2])
            if (member, name) not in ALLOWED:
                errors.append(f'{LIBRARY.name}/{member}: {name} is mutable and shared by the process')
    finish('globals', errors)


main(sys.argv[1])
