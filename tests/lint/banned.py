#!/usr/bin/env python3
"""banned.py ROOMS_ARCHIVE: fails when an object of the library calls what banned.txt keeps for one place."""
import pathlib
import re
import subprocess
import sys

from lint import LIBRARY, finish

TABLE = pathlib.Path(__file__).with_name('banned.txt')


def load():
    """name -> (places, replacement)"""
    rules = {}
    for line in TABLE.read_text().splitlines():
        if line.strip() and not line.startswith('#'):
            names, places, instead = (part.strip() for part in line.split('|'))
            rules.update({name: (places.split(), instead) for name in names.split()})
    return rules


def plain(symbol):
    symbol = re.sub(r'@.*', '', symbol)
    symbol = re.sub(r'^__(\w+?)_chk$', r'\1', symbol)
    return re.sub(r'(?<=[a-z])64(v2)?$', r'\1', symbol)


def source_of(member):
    """Meson names an object after its path: base_mem.c.o is base/mem.c."""
    room, _, name = member.removesuffix('.o').partition('_')
    return room, f'{room}/{name}'


def main(archive):
    rules, errors = load(), []
    listing = subprocess.run(['nm', '-uAP', archive], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        member = re.match(r'.*?\[?([\w.-]+\.o)\]?: (\S+)', line)
        if not member:
            continue
        room, source = source_of(member[1])
        places, instead = rules.get(plain(member[2]), (None, None))
        if places is not None and room not in places and source not in places:
            errors.append(f'{LIBRARY.name}/{source}: {plain(member[2])} is kept for {places or "nobody"}; use {instead}')
    finish('banned', errors)


main(sys.argv[1])
