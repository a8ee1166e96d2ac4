"""Everything about an object that is not its name or its bytes: owners, times, types, attributes, flags."""
import errno
import os
import stat
import struct

import ioctls
from ground import section


@section
def symlinks(site):
    """Fast and slow, at each border, with targets that are no text."""
    here = site.directory(b'symlinks')
    for length in (1, 2, 58, 59, 60, 61, 100, 255, 1000, site.block - 2, site.block - 1, 4094, 4095):
        target = (b'/target' * 700)[:min(length, 4095)]
        site.tolerate('symlink of %d' % length, os.symlink, target, here + b'/%d' % length, errors=(errno.ENAMETOOLONG, errno.EEXIST))
    os.symlink(b'back\\slash and\nline \xff\x01', here + b'/odd')
    os.symlink(b'..', here + b'/up')
    os.symlink(b'loop', here + b'/loop')


@section
def special(site):
    """Devices in the old and the new encoding, pipes, sockets."""
    here = site.directory(b'special')
    numbers = ((0, 0), (1, 3), (8, 255), (255, 255), (255, 256), (256, 0), (256, 1), (300, 70000), (4095, 1048575))
    for major, minor in numbers:
        for letter, kind in ((b'c', stat.S_IFCHR), (b'b', stat.S_IFBLK)):
            os.mknod(here + b'/%c-%d-%d' % (letter, major, minor), 0o640 | kind, os.makedev(major, minor))
    os.mknod(here + b'/fifo', 0o622 | stat.S_IFIFO)
    os.mknod(here + b'/socket', 0o755 | stat.S_IFSOCK)


@section
def modes(site):
    """All permission bits, owners beyond 16 bits."""
    here = site.directory(b'modes')
    for mode in [1 << bit for bit in range(12)] + [0, 0o7777, 0o4755, 0o2711, 0o1777, 0o6000]:
        path = site.put(here + b'/f%04o' % mode, b'x')
        os.chmod(path, mode)
        os.mkdir(here + b'/d%04o' % mode)
        os.chmod(here + b'/d%04o' % mode, mode)
    for owner in (1, 1000, 65534, 65535, 65536, 70000, 2**31, 2**32 - 2):
        path = site.put(here + b'/u%d' % owner, b'')
        os.chown(path, owner, 2**32 - 2 - owner)
        os.symlink(b'x', here + b'/l%d' % owner)
        os.chown(here + b'/l%d' % owner, owner, owner, follow_symlinks=False)


@section
def times(site):
    """Before 1970, after 2038, at each epoch's border, with and without nanoseconds."""
    here, second = site.directory(b'times'), 10**9
    stamps = [0, 1, -1, -second, -3 * second // 2, second - 1, -2**31 * second, -2**31 * second + 1, (2**31 - 1) * second + 999999999]
    for epoch in (2**31, 2**32, 2**33, 2**34 - 2**31 - 1):
        stamps += [(epoch - 1) * second + 5, epoch * second, epoch * second + 999999999]
    for stamp in stamps:
        path = site.put(here + b'/%d' % stamp, b'')
        os.utime(path, ns=(stamp, stamp))
        os.utime(site.directory(b'times/d%d' % stamp), ns=(stamp, stamp))
        os.symlink(b'x', here + b'/l%d' % stamp)
        os.utime(here + b'/l%d' % stamp, ns=(stamp, stamp), follow_symlinks=False)


def _acl(*entries):
    """The system call's form, version 2: (tag, permissions, id)."""
    return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)


_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER, _NONE = 1, 2, 4, 8, 0x10, 0x20, 2**32 - 1


@section
def acls(site):
    """Access and default lists, from minimal to long, and what a new file inherits."""
    here = site.directory(b'acls')
    ends = (_GROUP_OBJ, 5, _NONE), (_MASK, 7, _NONE), (_OTHER, 4, _NONE)
    small = _acl((_USER_OBJ, 7, _NONE), (_USER, 6, 1000), *ends)
    people = [(_USER, user % 8, 1000 + user) for user in range(20)]
    large = _acl((_USER_OBJ, 6, _NONE), *people, ends[0], (_GROUP, 4, 70000), *ends[1:])
    for number, acl in enumerate((small, large)):
        path = site.put(here + b'/f%d' % number, b'')
        site.tolerate('ACL', os.setxattr, path, b'system.posix_acl_access', acl)
        directory = site.directory(b'acls/d%d' % number)
        site.tolerate('ACL', os.setxattr, directory, b'system.posix_acl_access', acl)
        if site.tolerate('default ACL', os.setxattr, directory, b'system.posix_acl_default', acl):
            site.put(directory + b'/heir', b'')
            os.mkdir(directory + b'/heiress')


@section
def xattrs(site):
    """In the inode, in a block, in a shared block, in inodes of their own; every prefix; empty, binary and large values."""
    here = site.directory(b'xattrs')

    def give(path, name, value, follow=True):
        return site.tolerate('xattr of %d bytes' % len(value), os.setxattr, path, name, value, 0, follow_symlinks=follow,
                             errors=(errno.ENOSPC, errno.ERANGE, errno.E2BIG))

    for prefix in (b'user.', b'trusted.', b'security.'):
        path = site.put(here + b'/' + prefix + b'all', b'x')
        for name, value in ((b'empty', b''), (b'a', b'1'), (b'bin', bytes(range(256))), (b'l' * 100, b'long name')):
            give(path, prefix + name, value)
    capability = struct.pack('<IIIII', 0x02000001, 0x400, 0, 0, 0)
    give(site.put(here + b'/capable', b'#!'), b'security.capability', capability)
    for size in (1, 3, 4, 5, 50, 90, 100, 200, site.block // 2, site.block - 200, site.block, 2 * site.block, 10000, 40000, 65536):
        path = site.put(here + b'/size-%d' % size, b'')
        give(path, b'user.value', site.noise(size))
        give(path, b'user.small', b'beside it')
    many = site.put(here + b'/many', b'')
    for number in range(60):
        if not give(many, b'user.n%d' % number, b'%d' % number * (number % 9)):
            break
    shared = site.noise(min(site.block // 2, 3000))
    for number in range(40):
        path = site.put(here + b'/shared-%d' % number, b'')
        give(path, b'user.shared', shared)                    # equal blocks become one, with a count
        if number % 10 == 9:
            give(path, b'user.own', b'%d' % number)           # and part again
    big = site.noise(20000)
    for number in range(5):                                   # ea_inode: equal values share an inode
        give(site.put(here + b'/big-shared-%d' % number, b''), b'user.big', big)
    lost = site.put(here + b'/removed', b'')
    for number in range(12):
        give(lost, b'user.r%d' % number, b'v' * 20)
    for number in range(0, 12, 2):
        site.tolerate('remove xattr', os.removexattr, lost, b'user.r%d' % number, errors=(errno.ENODATA,))
    os.symlink(b'nowhere', here + b'/link')
    os.mknod(here + b'/pipe', 0o600 | stat.S_IFIFO)
    give(here + b'/link', b'trusted.on-link', b'1', follow=False)
    give(here + b'/pipe', b'trusted.on-pipe', b'2')
    give(site.directory(b'xattrs/dir'), b'user.on-directory', site.noise(300))


@section
def flags(site):
    """chattr. The last section of all: an immutable file cannot be touched again."""
    here = site.directory(b'flags')
    for letter in 'suSdAmjtia':
        path = site.put(here + b'/f' + letter.encode(), b'flagged')
        site.tolerate('chattr +' + letter, ioctls.add_flags, path, letter)
    for letter in 'SdADTia':
        path = site.directory(b'flags/d' + letter.encode())
        site.put(path + b'/in', b'')
        site.tolerate('chattr +' + letter, ioctls.add_flags, path, letter)
