"""Contents: sizes around every border, and all the shapes that a map from logical to physical blocks takes."""
import ctypes
import errno
import os

import ioctls
from ground import section

KEEP, PUNCH, COLLAPSE, ZERO, INSERT = 0x1, 0x2, 0x8, 0x10, 0x20

_libc = ctypes.CDLL(None, use_errno=True)


def fallocate(fd, mode, offset, length):
    if _libc.fallocate(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


def _file(path):
    return ioctls.opened(path, os.O_RDWR | os.O_CREAT)


@section
def sizes(site):
    """Around the inode's own room (inline_data), the block, the indirect borders, and one big file."""
    here, block = site.directory(b'sizes'), site.block
    borders = [60, 96, 128, 156, 160, 200, block, 2 * block, 12 * block, (12 + block // 4) * block if block <= 4096 else 13 * block]
    for border in borders:
        for size in (border - 1, border, border + 1):
            site.put(here + b'/%d' % size, site.noise(size))
    for size in (0, 1, 2, 3, 7, 59):
        site.put(here + b'/%d' % size, site.noise(size))
    site.put(here + b'/big', site.noise(site.scale(2 << 20, 6 << 20) + 12345))


@section
def fragmented(site):
    """One block mapped, one not, often enough for an extent tree of depth two; and blocks written in random order."""
    here, block = site.directory(b'fragmented'), site.block
    per_node = (block - 12) // 12
    count = min(4 * per_node + 60, (12 << 20) // block)       # beyond four full leaves a third level is due
    data = site.noise(block)
    with _file(here + b'/every-other') as fd:
        for number in range(count):
            os.pwrite(fd, data[number % 97:] + b'%d' % number, 2 * number * block)
    numbers = list(range(64))
    site.random.shuffle(numbers)
    with _file(here + b'/shuffled-0') as one, _file(here + b'/shuffled-1') as other:
        for step, number in enumerate(numbers):
            for fd in (one, other):
                os.pwrite(fd, b'%d' % number + data[8:], number * block)
                if step % 8 == 0:
                    os.fdatasync(fd)                          # forces a place on the disk, in this order
    with _file(here + b'/punched') as fd:
        os.write(fd, data * 64)
        os.fsync(fd)
        for number in range(1, 64, 3):
            site.tolerate('punch hole', fallocate, fd, PUNCH | KEEP, number * block - 100, block + 200)
    unit = site.cluster
    with _file(here + b'/shifted') as fd:                     # insert and collapse part logical from physical order
        os.write(fd, site.noise(8 * unit))
        os.fsync(fd)
        for step in range(3):
            site.tolerate('insert range', fallocate, fd, INSERT, (2 * step + 1) * unit, unit)
        site.tolerate('collapse range', fallocate, fd, COLLAPSE, 4 * unit, 2 * unit)
        os.pwrite(fd, b'last words', 9 * unit)


@section
def sparse(site):
    """Holes: at the start, at the end, everywhere; data behind each indirect border; sizes up to the limit."""
    here, block = site.directory(b'sparse'), site.block
    for name, size, places in ((b'all-hole', 10 << 20, ()), (b'head', 10 << 20, (0,)), (b'tail', (10 << 20) + 5, (10 << 20,)),
                               (b'middle', 1 << 30, (1 << 29,)), (b'over-4g', (1 << 32) + 77, ((1 << 31) - 3, 1 << 32))):
        with _file(here + b'/' + name) as fd:
            if 0 in places:
                os.pwrite(fd, bytes(block), 0)                # out of the inode: SEEK_DATA of Linux 6.18 fails on what follows
            os.ftruncate(fd, size)
            for place in places:
                os.pwrite(fd, b'data!', place)
    per = block // 4
    with _file(here + b'/indirect-borders') as fd:
        for border in (12, 12 + per, 12 + per + per * per):   # first block behind direct, single and double indirect
            for number in (border - 1, border, border + 1):
                site.tolerate('write behind an indirect border', os.pwrite, fd, b'block %d' % number, number * block,
                              errors=(errno.EFBIG,))
    limits = (block << 32) - block, (1 << 44) - (1 << 16), (1 << 42) - block, (1 << 41) + 5, (1 << 34), 1 << 33
    for number, limit in enumerate(sorted({limit for limit in limits if limit > 0}, reverse=True)):
        with _file(here + b'/huge-%d' % number) as fd:
            os.pwrite(fd, bytes(block), 0)                    # Linux 6.18 spoils an inline file that truncate makes huge
            if site.tolerate('size of %d' % limit, os.ftruncate, fd, limit, errors=(errno.EFBIG,)):
                for place in (0, limit // 3, limit - 3 * block, limit - 4):
                    site.tolerate('write near the limit', os.pwrite, fd, b'here', place, errors=(errno.EFBIG,))


@section
def unwritten(site):
    """Allocated and never written, written in part, and allocated beyond the end."""
    here, block = site.directory(b'unwritten'), site.block
    plans = {b'plain': [(0, 0, 40 * block)], b'beyond-end': [(KEEP, 0, 64 * block)], b'mid-hole': [(0, 100 * block, 20 * block)],
             b'zeroed': [], b'tail-only': [(KEEP, 8 * block, 8 * block)]}
    for name, steps in plans.items():
        with _file(here + b'/' + name) as fd:
            for mode, offset, length in steps:
                site.tolerate('fallocate', fallocate, fd, mode, offset, length)
            if name in (b'beyond-end', b'zeroed', b'tail-only'):
                os.pwrite(fd, site.noise(6 * block + 99), 0)
            if name == b'zeroed':
                os.fsync(fd)
                site.tolerate('zero range', fallocate, fd, ZERO, block + 10, 3 * block)
            if name == b'plain':
                for number in (0, 3, 4, 17, 39):
                    os.pwrite(fd, b'written', number * block + 5)
    with _file(here + b'/mosaic') as fd:                      # written, unwritten and hole in turn
        if site.tolerate('fallocate', fallocate, fd, 0, 0, 90 * block):
            os.fsync(fd)
            for number in range(0, 90, 3):
                os.pwrite(fd, site.noise(block), number * block)
                site.tolerate('punch hole', fallocate, fd, PUNCH | KEEP, (number + 1) * block, block)


@section
def links(site):
    """Files with many names in many directories."""
    here = site.directory(b'links')
    first = site.put(here + b'/first', site.noise(3000))
    for number in range(300):
        if number % 30 == 0:
            os.mkdir(here + b'/%d' % number)
        os.link(first, here + b'/%d/%d' % (number // 30 * 30, number))


@section
def truncated(site):
    """Files that were larger once: cut within a block, to nothing and written again, cut and extended."""
    here, block = site.directory(b'truncated'), site.block
    for number, (cut, extend) in enumerate(((5 * block + 7, 0), (0, 0), (block // 2, 9 * block), (13 * block, 200 * block))):
        path = site.put(here + b'/%d' % number, site.noise(20 * block))
        os.truncate(path, cut)
        if extend:
            os.truncate(path, extend)
