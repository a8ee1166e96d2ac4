"""Sections that only one kind of volume has: casefold, verity, project quota. Planted in the guest."""
import os

import ioctls

ANSWERS = b'folded-answers'

WORDS = ('Grüße', 'MASSE', 'Ångström', 'I\u0307stanbul', 'ΣΊΣΥΦΟΣ', 'ﬁligree', '\u1e9e', 'e\u0301', '日本', '🐧', '한글',
         'a\u0323\u0307', 'Dz\u01c5', 'new\ua7c7', 'tag\U000e0080', 'far\U0010ffff', 'mark\u0301\u1abf', 'fvs\u180f')

# Look-ups whose answers the kernel gives: other cases, other compositions, what is left out, what only looks alike; and code points
# newer than the format's Unicode 12.1, whatever became of them since.
LOOKUPS = ('GRÜSSE', 'gru\u0308sse', 'grüse', 'mASSe', 'ma\u017f\u017fe', 'MA\u00adSSE', 'MAS\u200bSE', 'MA\u1e9eE', 'MASSE ', '\u212bNGSTRÖM',
           'A\u030angstro\u0308m', 'Angstrom', '\u0130STANBUL', 'istanbul', 'i\u0307STANBUL', '\u0131stanbul', 'σίσυφος', 'σίσυφοσ',
           'σισυφος', 'FILIGREE', 'ss', '\u00df', '\u00c9', '\u00e9', 'e', '日本', '🐧', '\u1112\u1161\u11ab\u1100\u1173\u11af', 'A\u0307\u0323',
           '\u1ea1\u0307', 'dz\u01c4', 'DZd\u017e', 'DZDZ', 'new\ua7c8', 'NEW\ua7c7', 'entry-00007', 'ENTRY-01499', 'entry-99999', 'INHERITS/cHILD',
           'iNHERITS/cHILDREN', 'TAG', 'Tag\u2065\ufff3', 'FAR\U0010ffff', 'FAR', 'MARK\u0301\u1abf', 'mark\u1abf\u0301', 'fvs', 'FVS\u180f')
RAW_LOOKUPS = (b'NOT-\xff-UTF8', b'not-\xff-utf8', b'lONG' * 63 + b'aBC', b'LONG' * 63 + b'ABD', b'masse\xc3')


def folded(site):
    """Case-insensitive directories: names that fold onto others stay as they were given; linear and indexed."""
    for name, count in ((b'folded', 0), (b'folded-indexed', site.scale(1500, 4000))):
        here = site.directory(name)
        ioctls.add_flags(here, 'F')
        for word in WORDS:
            site.put(here + b'/' + word.encode(), word.encode())
        site.put(here + b'/not-\xff-utf8', b'')
        site.put(here + b'/' + b'Long' * 63 + b'Abc', b'')
        inside = here + b'/Inherits'
        os.mkdir(inside)
        site.put(inside + b'/Child', b'')
        for number in range(count):
            os.link(inside + b'/Child', here + b'/Entry-%05d' % number)
    answer_lookups(site)


def answer_lookups(site):
    """The kernel's own answers, inode or 0, in a file of the volume, as whoever reads the volume later may not have such a kernel."""
    answers = []
    for here in (b'folded/', b'folded-indexed/'):
        for name in [*(word.encode() for word in LOOKUPS), *RAW_LOOKUPS]:
            try:
                answers.append(b'%d\t%s\n' % (os.stat(site.root + b'/' + here + name).st_ino, here + name))
            except FileNotFoundError:
                answers.append(b'0\t%s\n' % (here + name))
    site.put(site.root + b'/' + ANSWERS, b''.join(answers))


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
