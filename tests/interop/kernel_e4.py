#!/usr/bin/env python3
"""A stand-in for e4 that asks the kernel: the tests are tested with it, and it shows what a test calls a failure of the kernel's.

Reading commands mount a copy, so that a dirty volume is recovered there; replay mounts the volume itself. E4_STANDIN_FAULT=1 makes
each list wrong in one place, which every comparison must notice.
"""
import contextlib
import json
import os
import shutil
import stat
import sys

import ioctls
import lab


def parse(text):
    """CONTRACT.md's device: image, offset, journal."""
    if os.path.exists(text) or ':' not in text:
        return text, 0, None
    path, *keys = text.partition(':')[2].split(',')
    keys = dict(key.split('=') for key in keys)
    return path, int(keys.get('offset', 0)), keys.get('journal')


@contextlib.contextmanager
def mounted_copy(where):
    image, offset, journal = parse(where)
    with lab.scratch() as work:
        copy = os.path.join(work, 'image')
        lab.run('cp', '--sparse=always', image, copy)
        if offset:
            whole, copy = copy, copy + '.part'
            lab.run('dd', 'if=' + whole, 'of=' + copy, 'bs=1M', 'skip=%d' % (offset >> 20), 'conv=sparse')
        with lab.mounted(copy, journal=journal and lab.copy(journal, copy + '.jnl')) as root:
            yield root


def show_stat(path):
    real = os.lstat(path)
    times = {name: '%d.%09d' % divmod(getattr(real, 'st_%s_ns' % name), 10**9) for name in ('atime', 'mtime', 'ctime')}
    shown = ioctls.get_flags(path) if stat.S_ISREG(real.st_mode) or stat.S_ISDIR(real.st_mode) else 0
    letters = {**ioctls.FLAGS, 'E': 0x800, 'I': 0x1000, 'e': 0x80000, 'V': 0x100000, 'N': 0x10000000}
    return {'ino': real.st_ino, 'mode': '%04o' % stat.S_IMODE(real.st_mode), 'uid': real.st_uid, 'gid': real.st_gid,
            'nlink': real.st_nlink, 'size': real.st_size, 'blocks': real.st_blocks, **times,
            'flags': [letter for letter, bit in letters.items() if shown & bit]}


def show_map(path):
    block = os.statvfs(path).f_bsize
    return [{'lblk': logical // block, 'pblk': physical // block, 'len': -(-length // block),
             'type': 'inline' if flags & ioctls.FIEMAP_EXTENT_INLINE else 'unwritten' if flags & ioctls.FIEMAP_EXTENT_UNWRITTEN
             else 'mapped'} for logical, physical, length, flags in ioctls.fiemap(path)]


def read(command, root, arguments):
    path = root + os.fsencode(arguments[0]) if arguments else root
    if command == 'manifest':
        text = lab.kernel_manifest(root)
        return text.replace('\t755\t', '\t754\t', 1) if os.environ.get('E4_STANDIN_FAULT') else text
    if command == 'cat':
        with open(path, 'rb') as file:
            sys.stdout.buffer.write(file.read())
        return ''
    if command == 'readlink':
        sys.stdout.buffer.write(os.readlink(path))
        return ''
    if command in ('stat', 'map'):
        return json.dumps((show_stat if command == 'stat' else show_map)(path))
    if command == 'get':
        target = os.fsencode(arguments[1])
        if os.path.isdir(path):
            shutil.copytree(path, target, symlinks=True, dirs_exist_ok=True, ignore=lambda d, names: [
                name for name in names if not stat.S_IFMT(os.lstat(os.path.join(d, name)).st_mode) in (stat.S_IFREG, stat.S_IFDIR)])
        else:
            shutil.copyfile(path, target)
    return ''


def main():
    command, *rest = [argument for argument in sys.argv[1:] if argument not in ('--json', '-r', '-laR')]
    if command == 'xattr':
        rest.pop(0)
    try:
        if command == 'replay':
            image, _, journal = parse(rest[0])
            with lab.mounted(image, journal=journal):
                pass
        else:
            with mounted_copy(rest[0]) as root:
                sys.stdout.write(read(command, root, rest[1:]))
                sys.stdout.flush()
    except OSError as error:
        print('e4: %s: %s' % (command, error), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
