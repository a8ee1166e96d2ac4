"""The ground on which trees are planted: a mounted volume, and what its features allow there.

A *section* is a function that fills one directory. What a volume's features do not allow is not an error, but it is noted, so that
a section which silently does nothing shows up in the list of remarks.
"""
import errno
import os
import random

import ioctls

SECTIONS = []

UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EPERM)


def section(function):
    """Marks a function as part of every tree, in the order of definition."""
    SECTIONS.append(function)
    return function


class Site:
    """A directory to fill: how large its blocks are, how much of everything is wanted, and the only source of chance."""

    def __init__(self, root, quick=True, seed=1, cluster=None):
        self.root, self.quick = os.fsencode(root), quick
        self.block = os.statvfs(root).f_bsize
        self.cluster = cluster or self.block
        self.random = random.Random(seed)
        self.remarks = {}

    def scale(self, quick, full):
        return quick if self.quick else full

    def noise(self, size):
        return self.random.randbytes(size)

    def directory(self, path):
        path = self.root + b'/' + path
        os.makedirs(path, exist_ok=True)
        return path

    @staticmethod
    def put(path, data):
        with ioctls.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as fd:
            if data:
                os.write(fd, data)
        return path

    def tolerate(self, what, function, *arguments, errors=(), **named):
        """Call a function that this volume may refuse. True if it did not."""
        try:
            function(*arguments, **named)
            return True
        except OSError as error:
            if error.errno not in (*UNSUPPORTED, *errors):
                raise
            key = '%s: %s' % (what, errno.errorcode[error.errno])
            self.remarks[key] = self.remarks.get(key, 0) + 1
            return False
