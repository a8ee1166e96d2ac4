"""Encrypted trees (fscrypt): planted with a key that is gone at the next mount, so that only the no-key view is left."""
import fcntl
import hashlib
import os
import struct

import ioctls
from ground import SECTIONS, Site

AES_256_XTS, AES_256_CTS = 1, 4
PADS = {4: 0, 8: 1, 16: 2, 32: 3}
MASTER_KEY = hashlib.sha512(b'the key of the interop tests').digest()
V1_DESCRIPTOR = hashlib.sha512(hashlib.sha512(MASTER_KEY).digest()).digest()[:8]

# Sections that a directory without its key shows something of.
SHOWN = ('names', 'deep', 'churned', 'subdirectories', 'renamed', 'sparse', 'unwritten', 'links', 'symlinks', 'special',
         'modes', 'times', 'acls', 'xattrs')


def add_key(root, descriptor=None):
    """FS_IOC_ADD_ENCRYPTION_KEY; returns the identifier that version 2 policies name the key by."""
    kind, name = (1, descriptor) if descriptor else (2, b'')
    argument = bytearray(struct.pack('II32sII32x', kind, 0, name, len(MASTER_KEY), 0) + MASTER_KEY)
    with ioctls.opened(root) as fd:
        fcntl.ioctl(fd, ioctls.FS_IOC_ADD_ENCRYPTION_KEY, argument, True)
    return bytes(argument[8:24])


def set_policy(directory, pad, identifier=None, descriptor=None):
    head = AES_256_XTS, AES_256_CTS, PADS[pad]
    if identifier:
        policy = struct.pack('BBBBB3x16s', 2, *head, 0, identifier)
    else:
        policy = struct.pack('BBBB8s', 0, *head, descriptor)
    with ioctls.opened(directory) as fd:
        fcntl.ioctl(fd, ioctls.FS_IOC_SET_ENCRYPTION_POLICY, policy)


def _links_in(site, directory, count, width):
    """A directory of names that all lead to one file."""
    target = site.put(directory + b'/target', b'one for all')
    for number in range(count):
        os.link(target, directory + b'/%06d' % number + b'k' * (width(number) - 6))


def trees(site):
    """Version 2 policies with every padding, version 1 beside them; linear and indexed directories in each."""
    identifier = add_key(site.root)
    add_key(site.root, V1_DESCRIPTOR)
    for number, (pad, policy) in enumerate([(pad, {'identifier': identifier}) for pad in PADS] + [(32, {'descriptor': V1_DESCRIPTOR})]):
        directory = site.directory(b'crypt/v%d-pad%d' % (1 if 'descriptor' in policy else 2, pad))
        set_policy(directory, pad, **policy)
        inner = Site(directory, quick=True, seed=100 + number)
        for function in SECTIONS:
            if function.__name__ in SHOWN + (('sizes',) if number == 0 else ()):
                function(inner)
        # 149 bytes of ciphertext is the longest that a no-key name holds as it is
        _links_in(inner, inner.directory(b'linear'), 8, lambda n: (10, 144, 145, 148, 149, 150, 160, 255)[n])
        _links_in(inner, inner.directory(b'indexed'), site.scale(1200, 3000), lambda n: 8 + n % 248)
        for remark, count in inner.remarks.items():
            site.remarks[remark] = site.remarks.get(remark, 0) + count
