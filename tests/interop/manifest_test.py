#!/usr/bin/env python3
"""e4 against the kernel, volume by volume: the same tree, the same maps and stat fields, and no byte of the image changed.

usage: manifest_test.py E4 [--full] [--guest] [NAME...]

Volumes are built first where the cache lacks them; with --guest those that only the guest can fill, too.
"""
import json
import os
import stat
import sys

import ioctls
import lab
import unlike
import volumes
from e4tool import E4, device
from lists import first_difference, unescape
from recipes import BY_NAME, RECIPES
from tap import Failure, Plan, Skip

# The files whose maps are compared, and a sample of everything else for stat.
MAPPED = ('fragmented/every-other', 'fragmented/shuffled-0', 'fragmented/punched', 'fragmented/shifted', 'unwritten/mosaic',
          'unwritten/plain', 'unwritten/beyond-end', 'sparse/indirect-borders', 'sparse/head', 'sizes/big', 'truncated/3')
SAMPLES = ('sizes', 'times', 'modes', 'special', 'symlinks', 'flags', 'unwritten', 'links')

# What FS_IOC_GETFLAGS shows beyond what chattr sets.
FLAG_LETTERS = {**ioctls.FLAGS, 'E': 0x800, 'I': 0x1000, 'e': 0x80000, 'V': 0x100000, 'N': 0x10000000}


def same_tree(e4, volume):
    """`e4 manifest` is the kernel's list."""
    difference = first_difference(volume.manifest, e4.manifest(device(volume.image)))
    if difference:
        raise Failure(difference)
    return 'volume made with: ' + ', '.join(sorted(volume.remarks)) if volume.remarks else None


def _reading_commands(e4, volume, work):
    """Every command of CONTRACT.md that only reads, with a check of what is easily checked."""
    where, lines = device(volume.image), [line.split('\t') for line in volume.manifest.splitlines()]
    files = [fields for fields in lines if fields[1] == '-' and not fields[9].startswith('!')]
    links = [fields for fields in lines if fields[1] == 'l']
    small = max((fields for fields in files if int(fields[6]) < 10000), key=lambda fields: int(fields[6]))
    path, link = unescape(small[0]), unescape(links[0][0])
    folder = next((unescape(fields[0]) for fields in lines if fields[1] == 'd' and fields[0] != '/'), b'/')
    size = len(e4.run('cat', where, path))
    if size != int(small[6]):
        raise Failure('cat %r: %d bytes, not %s' % (path, size, small[6]))
    yield 'cat'
    target = e4.run('readlink', where, link)
    if target.rstrip(b'\n') != unescape(links[0][9]).rstrip(b'\n'):
        raise Failure('readlink %r: %r' % (link, target))
    yield 'readlink'
    for command in (('info', where), ('info', '--json', where), ('ls', '-laR', where, '/'), ('tree', where), ('stat', where, path),
                    ('map', where, path), ('manifest', where, folder), ('df', where), ('du', where, '/')):
        e4.run(*command)
        yield command[0]
    named = next((fields for fields in files if fields[0].startswith('/xattrs/user.all')), None)
    if named:
        if b'user.' in e4.run('xattr', 'ls', where, unescape(named[0])):
            e4.run('xattr', 'get', where, unescape(named[0]), 'user.a')
        yield 'xattr'
    target = os.path.join(work, 'got')
    e4.run('get', where, path, target)
    if os.path.getsize(target) != size:
        raise Failure('get %r: %d bytes, not %d' % (path, os.path.getsize(target), size))
    os.unlink(target)
    yield 'get'


def reads_only(e4, volume):
    """All of them, then the digest; if it changed, one by one to find who did it."""
    journal_before = volume.journal and lab.sha256(volume.journal)
    with lab.scratch() as work:
        done = list(_reading_commands(e4, volume, work))
    if lab.sha256(volume.image) == volume.sha256:
        if volume.journal and lab.sha256(volume.journal) != journal_before:
            raise Failure('the external journal has changed')
        return '%d commands' % len(done)
    raise Failure('the image has changed after: ' + ' '.join(done))


def _kernel_map(path, block):
    """FIEMAP in blocks, neighbours joined, as (lblk, pblk, len, type)."""
    runs = []
    for logical, physical, length, flags in ioctls.fiemap(path):
        if flags & ioctls.FIEMAP_EXTENT_INLINE:
            return None
        kind = 'unwritten' if flags & ioctls.FIEMAP_EXTENT_UNWRITTEN else 'mapped'
        _join(runs, logical // block, physical // block, -(-length // block), kind)
    return runs


def _join(runs, lblk, pblk, length, kind):
    if runs:
        last = runs[-1]
        if last[3] == kind and last[0] + last[2] == lblk and last[1] + last[2] == pblk:
            runs[-1] = (last[0], last[1], last[2] + length, kind)
            return
    runs.append((lblk, pblk, length, kind))


def _our_map(pieces):
    runs = []
    for piece in pieces:
        if piece['type'] in ('mapped', 'unwritten'):
            _join(runs, piece['lblk'], piece['pblk'], piece['len'], piece['type'])
    return runs


def _compare_stat(e4, where, root, path):
    real, ours = os.lstat(root + b'/' + path), e4.json('stat', '--json', where, b'/' + path)
    pairs = [('ino', real.st_ino), ('mode', '%o' % stat.S_IMODE(real.st_mode)), ('uid', real.st_uid), ('gid', real.st_gid),
             ('nlink', real.st_nlink), ('size', real.st_size), ('blocks', real.st_blocks)]
    pairs += [(name, '%d.%09d' % divmod(value, 10**9)) for name, value in
              (('mtime', real.st_mtime_ns), ('ctime', real.st_ctime_ns), ('atime', real.st_atime_ns))]
    if stat.S_ISREG(real.st_mode) or stat.S_ISDIR(real.st_mode):
        shown = ioctls.get_flags(root + b'/' + path)
        pairs.append(('flags', {letter for letter, bit in FLAG_LETTERS.items() if shown & bit}))
    wrong = []
    for name, value in pairs:
        seen = ours[name]
        if name == 'flags':
            seen = set(seen) & set(FLAG_LETTERS)
        elif name == 'mode':
            seen = '%o' % int(str(seen), 8)
        if str(seen) != str(value) and seen != value:
            wrong.append('%r: %s expected %s, seen %s' % (path, name, value, seen))
    return wrong


def same_details(e4, volume):
    """`e4 map` against FIEMAP, `e4 stat` against lstat and FS_IOC_GETFLAGS."""
    recipe = BY_NAME[volume.name]
    if recipe.where != 'host':
        raise Skip('this kernel cannot mount the volume')
    where, wrong, maps, stats = device(volume.image), [], 0, 0
    with lab.mounted(volume.image, recipe.view, readonly=True, journal=volume.journal or None) as root:
        block = os.statvfs(root).f_bsize
        for path in map(os.fsencode, MAPPED):
            expected = _kernel_map(root + b'/' + path, block) if os.path.exists(root + b'/' + path) else None
            if expected is None:
                continue
            maps += 1
            seen = _our_map(e4.json('map', '--json', where, b'/' + path))
            if seen != expected:
                first = next((pair for pair in zip(expected, seen) if pair[0] != pair[1]), (len(expected), len(seen)))
                wrong.append('map %r: %d runs expected, %d seen; first difference %s' % (path, len(expected), len(seen), first))
        for directory in map(os.fsencode, SAMPLES):
            if not os.path.isdir(root + b'/' + directory):
                continue
            for name in sorted(os.listdir(root + b'/' + directory))[:12]:
                stats += 1
                wrong += _compare_stat(e4, where, root, directory + b'/' + name)
    if wrong:
        raise Failure('\n'.join(wrong[:12] + ['%d differences' % len(wrong)]))
    return '%d maps, %d stats' % (maps, stats)


def same_lookups(e4, volume):
    """Each look-up in a folding directory ends as the kernel's did that filled the volume."""
    where, wrong = device(volume.image), []
    answers = [line.split(b'\t') for line in e4.run('cat', where, b'/' + unlike.ANSWERS).splitlines()]
    for inode, path in answers:
        status, output, said = e4.try_('stat', '--json', where, b'/' + path)
        seen = json.loads(output)['ino'] if status == 0 else 0 if 'ENOENT' in said else said
        if seen != int(inode):
            wrong.append('%r: inode %d expected, %s seen' % (path, int(inode), seen))
    if wrong:
        raise Failure('\n'.join(wrong))
    return '%d look-ups, %d of them find something' % (len(answers), sum(inode != b'0' for inode, _ in answers))


def main():
    plan = Plan()
    if not lab.is_root():
        plan.skip_all('volumes are filled through kernel mounts, which takes root')
    e4 = E4.from_arguments(plan)
    full = '--full' in sys.argv
    names = [argument for argument in sys.argv[2:] if argument in BY_NAME] or [recipe.name for recipe in RECIPES]
    if '--guest' in sys.argv:
        names = [name for name in names if BY_NAME[name].where == 'guest']
        volumes.fill_in_guest(names, full)
    for name, error in volumes.ensure(names, full):
        volume = volumes.load(name, full)

        def subject(function, volume=volume, error=error):
            if error:
                raise Failure('the volume could not be built: %s' % error)
            if not volume:
                raise Skip('filled in the guest only: tests/vm/fill_guest.py')
            return function(e4, volume)

        for title, function in (('manifest', same_tree), ('reads only', reads_only), ('map and stat', same_details)):
            plan.test('%s: %s' % (name, title), subject, function)
        if unlike.folded in BY_NAME[name].extra:
            plan.test('%s: look-ups' % name, subject, same_lookups)
    plan.finish()


if __name__ == '__main__':
    main()
