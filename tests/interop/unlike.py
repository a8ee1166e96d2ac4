"""Sections that only one kind of volume has: casefold, verity, project quota. Planted in the guest."""
import os

import ioctls


def folded(site):
    """Case-insensitive directories: names that fold onto others stay as they were given; linear and indexed."""
    for name, count in ((b'folded', 0), (b'folded-indexed', site.scale(1500, 4000))):
        here = site.directory(name)
        ioctls.add_flags(here, 'F')
        for word in ('Grüße', 'MASSE', 'Ångström', 'I\u0307stanbul', 'ΣΊΣΥΦΟΣ', 'ﬁligree', '\u1e9e', 'e\u0301', '日本', '🐧'):
            site.put(here + b'/' + word.encode(), word.encode())
        site.put(here + b'/not-\xff-utf8', b'')
        site.put(here + b'/' + b'Long' * 63 + b'Abc', b'')
        inside = here + b'/Inherits'
        os.mkdir(inside)
        site.put(inside + b'/Child', b'')
        for number in range(count):
            os.link(inside + b'/Child', here + b'/Entry-%05d' % number)
    try:
        os.stat(site.root + b'/folded/mASSe')
    except FileNotFoundError:
        site.remarks['casefold does not fold'] = 1


def verity(site):
    """fs-verity files of many sizes, with and without salt, both hashes; their metadata lies beyond the end."""
    here = site.directory(b'verity')
    for size in (0, 1, 4095, 4096, 4097, 65535, 65536, 300000, 3 << 20):
        for algorithm, salt in ((1, b''), (1, b'salt' * 8), (2, b'pepper')):
            path = site.put(here + b'/%d-%d-%d' % (size, algorithm, len(salt)), site.noise(size))
            site.tolerate('verity', ioctls.enable_verity, path, min(4096, site.block), salt, algorithm)
    path = here + b'/sparse'
    fd = os.open(path, os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 1 << 20)
    os.pwrite(fd, b'in the middle', 1 << 19)
    os.close(fd)
    site.tolerate('verity', ioctls.enable_verity, path, min(4096, site.block))


def projects(site):
    """Project ids, inherited ones among them, under accounting of all three kinds."""
    here = site.directory(b'projects')
    for project in (1, 1000, 65536, 2**31):
        directory = here + b'/p%d' % project
        os.mkdir(directory)
        ioctls.set_project(directory, project)
        ioctls.add_flags(directory, 'P')
        for number in range(20):
            path = site.put(directory + b'/%d' % number, site.noise(number * 300))
            os.chown(path, number * 5000, project % 70000)
