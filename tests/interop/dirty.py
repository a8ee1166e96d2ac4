#!/usr/bin/env python3
"""Volumes left dirty by the kernel: work, then the end of the mount by the shutdown ioctl, with files held open and unlinked.

usage: dirty.py [--count N] [--seed S] [--keep DIR] [--variant NAME]

Each volume follows from its variant and seed: what is done, what is synced, how the mount ends. What the kernel writes of it by
itself depends on time, so that a seed repeats the work but not each byte; --keep keeps the images. Alone, this program checks the
oracle: the tree after the kernel's recovery against the tree after e2fsck's, and e2fsck -fn after the kernel's.

Neither is right about fast commits: Linux 6.18 refuses some, loses link counts and stamps directories with the time of the replay,
e2fsck 1.47 gives truncated files their old blocks back. So work on such volumes is made durable by fsync step by step, and the tree as the live
mount shows it last is the truth, but for the times of directories, which are not logged.
"""
import argparse
import contextlib
import dataclasses
import errno
import glob
import os
import random
import re
import sys
import time

import ioctls
import lab
from lists import excused, first_difference, without_directory_times

SIZE = 24 << 20
HELD = 50


@dataclasses.dataclass(frozen=True)
class Variant:
    """A kind of volume: how it is made, and which sort of work is done."""
    name: str
    options: tuple
    kind: str = 'ext4'
    external: bool = False
    fast: bool = False              # fast commits: all is made durable before the crash, the live tree is the truth
    only_fast: bool = False         # ... and nothing is done but what a fast commit can log
    hold_fast: bool = False         # ... half of the held files are made and unlinked in it: Linux and e2fsck mostly refuse such logs
    rounds: int = 1                 # more rounds wrap the log
    mount: str = ''


def _ext4(name, features='', *options, block=4096, **more):
    return Variant(name, ('-b', str(block), '-i', '4096', *(('-O', features) if features else ()), *options), **more)


VARIANTS = {variant.name: variant for variant in (
    _ext4('default'),
    _ext4('fast_commit', 'fast_commit', fast=True, only_fast=True),
    _ext4('fast_commit-mixed', 'fast_commit', fast=True),
    _ext4('fast_commit-held', 'fast_commit', fast=True, only_fast=True, hold_fast=True),
    _ext4('block-1k', block=1024),
    _ext4('orphan_file', 'orphan_file'),
    _ext4('no-metadata_csum', '^metadata_csum'),
    _ext4('no-64bit', '^64bit'),
    Variant('ext3', ('-b', '1024', '-i', '4096'), 'ext3'),
    _ext4('external', external=True),
    _ext4('wrapped', '', '-J', 'size=1', block=1024, rounds=6),
    _ext4('data-journal', mount='data=journal'),
    _ext4('bigalloc-inline', 'bigalloc,inline_data', '-C', '16384'),
)}


@dataclasses.dataclass
class Dirty:
    """A volume after the crash, and what is known of it."""
    variant: Variant
    seed: int
    image: str
    journal: str = None
    live: str = None                # the tree just before the crash, where all of it was durable
    facts: dict = dataclasses.field(default_factory=dict)

    @property
    def name(self):
        return '%s-%d' % (self.variant.name, self.seed)


class Worker:
    """Changes a mounted tree at random. All chance comes from the seed."""

    def __init__(self, root, seed):
        self.root, self.random = root, random.Random(seed)
        self.files, self.directories, self.held, self.number = [], [root], [], 0
        self.durable = False                # fsync whatever was written, at once

    def name(self):
        self.number += 1
        directory = self.random.choice(self.directories)
        return directory + b'/%d-' % self.number + b'n' * self.random.choice((1, 5, 30, 200))

    def some_file(self):
        return self.random.choice(self.files) if self.files else self.create()

    def take_file(self):
        """Some file that will not be found again."""
        path = self.some_file()
        self.files.remove(path)
        return path

    def create(self):
        path = self.name()
        with ioctls.opened(path, os.O_CREAT | os.O_WRONLY) as fd:
            os.write(fd, self.random.randbytes(self.random.choice((0, 10, 3000, 20000, 90000))))
            self.wrote(fd)
        self.files.append(path)
        return path

    def write(self):
        with ioctls.opened(self.some_file(), os.O_WRONLY) as fd:
            os.pwrite(fd, self.random.randbytes(self.random.randrange(1, 40000)), self.random.randrange(0, 300000))
            self.wrote(fd)

    def wrote(self, fd):
        if self.durable:
            os.fsync(fd)

    def truncate(self):
        with ioctls.opened(self.some_file(), os.O_WRONLY) as fd:
            os.ftruncate(fd, self.random.choice((0, 1, 5000, 250000)))
            self.wrote(fd)

    def unlink(self):
        os.unlink(self.take_file())

    def rename(self):
        path, new = self.take_file(), self.name()
        if self.files and self.random.random() < 0.3:
            new = self.random.choice(self.files)              # over a file that exists
            self.files.remove(new)
        os.rename(path, new)
        self.files.append(new)

    def link(self):
        new = self.name()
        os.link(self.some_file(), new)
        self.files.append(new)

    def symlink(self):
        os.symlink(b'target' * self.random.choice((1, 9, 11, 100)), self.name())

    def mkdir(self):
        path = self.name()
        os.mkdir(path)
        self.directories.append(path)

    def rmdir(self):
        with contextlib.suppress(OSError):
            path = self.random.choice(self.directories[1:] or [self.root + b'/none'])
            os.rmdir(path)
            self.directories.remove(path)

    def xattr(self):
        path = self.random.choice((self.some_file(), self.random.choice(self.directories)))
        with contextlib.suppress(OSError):
            os.setxattr(path, b'user.%d' % self.random.randrange(5), self.random.randbytes(self.random.choice((0, 20, 300, 900))))

    def crowd(self):
        """Enough long names at once to split an index."""
        directory = self.random.choice(self.directories)
        target = self.some_file()
        for _ in range(60):
            self.number += 1
            os.link(target, directory + b'/%d-' % self.number + b'c' * 180)

    def revoke(self):
        """Blocks of a directory, logged, freed, and given to data."""
        path = self.name()
        os.mkdir(path)
        for number in range(100):
            os.mknod(path + b'/%d' % number + b'r' * 200, 0o100644)
        if self.random.random() < 0.7:
            os.sync()
        for number in range(100):
            os.unlink(path + b'/%d' % number + b'r' * 200)
        os.rmdir(path)
        if self.random.random() < 0.5:
            os.sync()                                         # freed blocks come back with the commit
        self.create()
        with ioctls.opened(self.create(), os.O_WRONLY) as fd:
            os.pwrite(fd, self.random.randbytes(120000), 0)
            os.fsync(fd)

    def hold(self):
        """Opened, written, unlinked: an orphan as long as it is held."""
        path = self.create()
        fd = os.open(path, os.O_RDWR)
        self.held.append(fd)
        os.unlink(path)
        self.files.remove(path)
        if self.random.random() < 0.5:
            os.pwrite(fd, self.random.randbytes(5000), self.random.randrange(100000))
        if self.random.random() < 0.3:
            os.ftruncate(fd, 100)

    def fsync(self):
        """Of a file that has changed: else there may be nothing to commit, and what others changed stays in memory."""
        with ioctls.opened(self.some_file(), os.O_RDWR) as fd:
            os.pwrite(fd, b'%d' % self.number, 0)
            os.fsync(fd)

    def fill_up(self, share):
        """Take the free space until only a share is left, so that what is freed is soon used again."""
        space = os.statvfs(self.root)
        left = int(space.f_bavail - space.f_blocks * share) * space.f_frsize
        with ioctls.opened(self.root + b'/filler', os.O_CREAT | os.O_WRONLY) as fd:
            with contextlib.suppress(OSError):
                os.posix_fallocate(fd, 0, max(left, 1))

    USUAL = ((create, 14), (write, 8), (truncate, 5), (unlink, 7), (rename, 6), (link, 4), (symlink, 4), (mkdir, 5), (rmdir, 3),
             (xattr, 5), (crowd, 1), (revoke, 2), (fsync, 4))
    FAST = ((create, 14), (write, 10), (truncate, 4), (unlink, 7), (rename, 5), (link, 4), (mkdir, 1), (fsync, 20))

    def work(self, steps, operations):
        functions, weights = zip(*operations)
        for function in self.random.choices(functions, weights, k=steps):
            try:
                function(self)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.ENOENT, errno.EMLINK):
                    raise

    def hold_many(self, count):
        for _ in range(count):
            with contextlib.suppress(OSError):
                self.hold()


def _fast_commits(device):
    """How many fast commits this mount has made, by the kernel's own count."""
    for path in glob.glob('/proc/fs/ext4/%s/fc_info' % os.path.basename(device)):
        with open(path) as file:
            found = re.search(r'(\d+) commits', file.read())
            return int(found.group(1)) if found else 0
    return 0


def _format(variant, directory, seed):
    dirty = Dirty(variant, seed, os.path.join(directory, '%s-%d.img' % (variant.name, seed)))
    lab.make_image(dirty.image, SIZE)
    options = variant.options
    with contextlib.ExitStack() as stack:
        if variant.external:
            dirty.journal = lab.make_image(dirty.image[:-3] + 'jnl', 8 << 20)
            lab.run('mke2fs', '-q', '-F', '-b', '4096', '-O', 'journal_dev', dirty.journal)
            options += ('-J', 'device=' + stack.enter_context(lab.loop(dirty.journal)))
        lab.mkfs(dirty.image, *options, kind=variant.kind)
    return dirty


def make(variant, seed, directory):
    """A dirty volume in a directory."""
    dirty, chance = _format(variant, directory, seed), random.Random('%s %d' % (variant.name, seed))
    how = chance.choice((ioctls.SHUTDOWN_DEFAULT, ioctls.SHUTDOWN_LOGFLUSH, ioctls.SHUTDOWN_LOGFLUSH,
                         ioctls.SHUTDOWN_NOLOGFLUSH, ioctls.SHUTDOWN_NOLOGFLUSH))
    if variant.fast:
        how = ioctls.SHUTDOWN_NOLOGFLUSH                      # a full commit would empty the fast-commit area
    with lab.mounted(dirty.image, variant.mount, journal=dirty.journal) as root:
        device = next(line.split()[0] for line in open('/proc/mounts') if line.split()[1] == os.fsdecode(root))
        worker = Worker(root, seed)
        for _ in range(variant.rounds):
            worker.work(120, Worker.USUAL)
            os.sync()
        worker.fill_up(0.12)
        worker.work(100, Worker.USUAL)
        worker.hold_many(HELD if variant.fast and not variant.hold_fast else HELD // 2)
        if chance.random() < 0.7 or variant.fast:
            os.sync()
        worker.durable = variant.fast
        worker.work(chance.randrange(20, 90), Worker.FAST if variant.only_fast else Worker.USUAL)
        worker.hold_many(HELD - len(worker.held))
        if variant.fast:
            worker.fsync()
            dirty.live = lab.kernel_manifest(root)
        dirty.facts = {'end': how, 'held': len(worker.held), 'fast commits': _fast_commits(device)}
        ioctls.shutdown(root, how)
        for fd in worker.held:
            os.close(fd)
    dirty.facts.update(_state(dirty.image))
    return dirty


def _state(image):
    text = lab.run('dumpe2fs', '-h', image, status=None).stdout
    orphan = re.search(r'First orphan inode:\s+(\d+)', text)
    return {'recover': 'needs_recovery' in text, 'orphans': bool(orphan) or 'orphan_present' in text}


@dataclasses.dataclass
class Expectation:
    """What a reader has to show of a dirty volume, and what is to be said about the oracle."""
    manifest: str
    remarks: list
    others: dict = dataclasses.field(default_factory=dict)      # recoveries that part from it
    trusted: bool = True                    # False: kernel and e2fsck disagree without an excuse
    masked: bool = False                    # times of directories do not count
    settled: bool = True                    # False: neither the kernel nor e2fsck recovers this volume at all

    def difference(self, manifest):
        """What is wrong with a reader's list; None if nothing is. Where a recovery parts from the truth, an object may be as there."""
        view = without_directory_times if self.masked else str
        wanted, seen = view(self.manifest), view(manifest)
        for other in self.others.values():
            wanted = excused(wanted, view(other), seen)
        return first_difference(wanted, seen)


def _recovered(dirty, directory, who, recover):
    """The tree of a copy after somebody's recovery; or None, with what he says instead."""
    base = os.path.join(directory, '%s-%s' % (dirty.name, who))
    image = lab.copy(dirty.image, base + '.img')
    journal = dirty.journal and lab.copy(dirty.journal, base + '.jnl')
    try:
        return recover(image, journal)
    except (OSError, lab.Failed) as error:
        return None, '%s: %s' % (who, error)
    finally:
        for path in filter(None, (image, journal)):
            os.unlink(path)


def check(image, journal, *options, status=None):
    """e2fsck -f with the journal that belongs to the image."""
    return lab.check(image, *options, *(['-j', journal] if journal else []), status=status)


def _by_kernel(image, journal):
    with lab.mounted(image, journal=journal) as root:
        seen = lab.kernel_manifest(root)
    left = check(image, journal, '-n')
    return seen, 'e2fsck -fn after kernel recovery: ' + '; '.join(left.stdout.splitlines()[1:4]) if left.returncode else None


def _by_fsck(image, journal):
    check(image, journal, '-y', status=(0, 1))
    with lab.mounted(image, readonly=True, journal=journal) as root:
        return lab.kernel_manifest(root), None


def expectation(dirty, directory):
    """The tree that a reader must see: two recoveries held against each other, or both against the tree before the crash."""
    by_kernel, kernel_remark = _recovered(dirty, directory, 'kernel', _by_kernel)
    by_fsck, fsck_remark = _recovered(dirty, directory, 'e2fsck', _by_fsck)
    remarks = [remark for remark in (kernel_remark, fsck_remark) if remark]
    if dirty.live is None:
        if by_kernel != by_fsck:
            remarks.append('kernel and e2fsck differ: %s' % first_difference(by_fsck or '', by_kernel or ''))
        return Expectation(by_kernel or by_fsck, remarks, trusted=by_kernel == by_fsck)
    truth = Expectation(dirty.live, remarks, masked=True, settled=bool(by_kernel or by_fsck))
    for who, seen in (('kernel', by_kernel), ('e2fsck', by_fsck)):
        parts = Expectation(dirty.live, [], masked=True).difference(seen) if seen else None
        if parts:
            truth.others[who] = seen
            remarks.append('fast commits, %s is wrong about the tree before the crash: %s' % (who, parts))
    return truth


def campaign(count, seed=1, variants=None):
    """(variant, seed) pairs: every variant in turn, seeds counting up."""
    names = variants or list(VARIANTS)
    return [(VARIANTS[names[number % len(names)]], seed + number // len(names)) for number in range(count)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--count', type=int, default=len(VARIANTS))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep', metavar='DIR')
    parser.add_argument('--variant', action='append', choices=VARIANTS)
    options = parser.parse_args()
    bad = 0
    with lab.scratch() as work:
        for variant, seed in campaign(options.count, options.seed, options.variant):
            start = time.monotonic()
            dirty = make(variant, seed, options.keep or work)
            expected = expectation(dirty, work)
            bad += not expected.trusted
            print('%-20s %5.2f s %s %d objects%s' % (dirty.name, time.monotonic() - start, dirty.facts, expected.manifest.count('\n'),
                                                     ''.join('\n  ' + remark.replace('\n', '\n    ') for remark in expected.remarks)), flush=True)
            if not options.keep:
                os.unlink(dirty.image)
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
