"""Names and directories: everything that makes a path hard to read."""
import os
import stat

from ground import section


@section
def names(site):
    """One name for each byte a name may hold, the longest names, and plain binary noise."""
    here = site.directory(b'names')
    for byte in set(range(1, 256)) - {ord('/'), ord('.')}:
        site.put(here + b'/' + bytes([byte]), b'%d' % byte)
    awkward = [b' ', b'  two  blanks  ', b'back\\slash', b'new\nline', b'tab\tstop', b'bell\a\x1b[31m', b'...', b'..x', b'-rf', b'*?[]',
               b'\\012', b'quote\'"`$', b'caf\xc3\xa9', b'cafe\xcc\x81', b'caf\xe9', b'\xff\xfe\xfd', b'\xe2\x82', b'\xf0\x9f\x90\xa7']
    for length in (2, 3, 4, 5, 127, 128, 148, 149, 150, 151, 189, 190, 251, 252, 253, 254, 255):
        awkward.append(b'n' * (length - 1) + b'%d' % (length % 10))
        awkward.append(bytes(128 + (length + i) % 128 for i in range(length)))
    for name in awkward:
        site.put(here + b'/a' + name[:254], name)
    allowed = bytes(set(range(1, 256)) - {ord('/')})
    for number in range(site.scale(100, 400)):
        length = site.random.choice((8, 16, 17, 33, 64, 200, 255))
        site.put(here + b'/r' + bytes(site.random.choices(allowed, k=length - 1)), b'%d' % number)


@section
def deep(site):
    """60 levels of short names, and as many of the longest as a path may have."""
    for level, limit, name in ((b'deep', 60, b'level-%02d'), (b'deeplong', 14, b'%02d-' + b'x' * 252)):
        path = site.directory(level)
        for number in range(limit):
            path = path + b'/' + name % number
            if len(path) > 4000:
                break
            os.mkdir(path)
            site.put(path + b'/f', path[-20:])


@section
def indexed(site):
    """Hash-indexed directories. Hard links to one file, so that names cost neither inodes nor time."""
    plain = site.directory(b'indexed')
    target = site.put(plain + b'/target', b'the file that all names share')
    for number in range(site.scale(3000, 5000)):
        os.link(target, plain + b'/entry-%05d' % number)
    long = site.directory(b'indexed-long')                    # two levels in blocks of 1 KiB, 15 names a block at 4 KiB
    target = site.put(long + b'/target', b'another')
    for number in range(site.scale(3000, 8000)):
        name = b'%05d-' % number
        os.link(target, long + b'/' + name + b'y' * (255 - len(name) - number % 7))


@section
def churned(site):
    """Directories with more holes than entries: removed at random, removed as a whole, and filled again."""
    here = site.directory(b'churned')
    numbers = list(range(site.scale(800, 2500)))
    for number in numbers:
        os.mknod(here + b'/gone-%d' % number + b'-' * (number % 90), 0o600 | stat.S_IFREG)
    site.random.shuffle(numbers)
    for number in numbers[:len(numbers) * 9 // 10]:
        os.unlink(here + b'/gone-%d' % number + b'-' * (number % 90))
    for number in range(60):
        site.put(here + b'/back-%d' % number, b'after')
    empty = site.directory(b'emptied')
    for number in range(400):
        os.mknod(empty + b'/e%d' % number, 0o644 | stat.S_IFREG)
    for number in range(400):
        os.unlink(empty + b'/e%d' % number)


@section
def subdirectories(site):
    """Many small directories, the parent's link count with them."""
    here = site.directory(b'subdirectories')
    for number in range(site.scale(150, 500)):
        path = here + b'/d%d' % number
        os.mkdir(path)
        for entry in range(number % 6):
            site.put(path + b'/%d' % entry, b'')


@section
def bulk(site):
    """Ordinary small files in ordinary directories."""
    here = site.directory(b'bulk')
    for number in range(site.scale(600, 2500)):
        if number % 50 == 0:
            directory = here + b'/%02d' % (number // 50)
            os.mkdir(directory)
        size = site.random.choice((0, 1, 40, 100, 150, 700, 3000, 5000))
        site.put(directory + b'/file-%d.txt' % number, site.noise(size))


@section
def renamed(site):
    """Objects that lie elsewhere than where they were made."""
    one, other = site.directory(b'renamed/from'), site.directory(b'renamed/to')
    for number in range(40):
        site.put(one + b'/f%d' % number, b'%d' % number)
        os.mkdir(one + b'/d%d' % number)
    for number in range(0, 40, 2):
        os.rename(one + b'/f%d' % number, other + b'/f%d' % (number // 4))
        os.rename(one + b'/d%d' % number, other + b'/d%d' % number)


def many_subdirectories(site):
    """More subdirectories than a link count can tell: it becomes 1 (dir_nlink)."""
    here = site.directory(b'many')
    for number in range(65100):
        os.mkdir(here + b'/%d' % number)


def three_levels(site):
    """An index of three levels in blocks of 1 KiB, which takes large_dir and some 40,000 of the longest names."""
    here = site.directory(b'three-levels')
    target = site.put(here + b'/target', b'')
    for number in range(45000):
        name = b'%05d-' % number
        os.link(target, here + b'/' + name + b'z' * (255 - len(name)))
