"""The ext4 and VFS ioctls that Python has no words for. Runs in the guest too: nothing but os, fcntl and struct."""
import contextlib
import fcntl
import os
import struct

FS_IOC_GETFLAGS = 0x80086601
FS_IOC_SETFLAGS = 0x40086602
FS_IOC_FSGETXATTR = 0x801C581F
FS_IOC_FSSETXATTR = 0x401C5820
FS_IOC_FIEMAP = 0xC020660B
FS_IOC_ENABLE_VERITY = 0x40806685
FS_IOC_SET_ENCRYPTION_POLICY = 0x800C6613
FS_IOC_ADD_ENCRYPTION_KEY = 0xC0506617
EXT4_IOC_SHUTDOWN = 0x8004587D

# chattr letters, as far as a user may set them
FLAGS = {'s': 0x1, 'u': 0x2, 'c': 0x4, 'S': 0x8, 'i': 0x10, 'a': 0x20, 'd': 0x40, 'A': 0x80, 'm': 0x400, 'j': 0x4000,
         't': 0x8000, 'D': 0x10000, 'T': 0x20000, 'x': 0x2000000, 'P': 0x20000000, 'F': 0x40000000}

SHUTDOWN_DEFAULT, SHUTDOWN_LOGFLUSH, SHUTDOWN_NOLOGFLUSH = 0, 1, 2

FIEMAP_EXTENT_LAST, FIEMAP_EXTENT_UNWRITTEN, FIEMAP_EXTENT_INLINE = 0x1, 0x800, 0x200


@contextlib.contextmanager
def opened(path, flags=os.O_RDONLY):
    fd = os.open(path, flags, 0o644)
    try:
        yield fd
    finally:
        os.close(fd)


def get_flags(path):
    with opened(path, os.O_RDONLY | os.O_NONBLOCK) as fd:
        return struct.unpack('i', fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))[0]


def add_flags(path, letters):
    """chattr +LETTERS."""
    with opened(path) as fd:
        flags, = struct.unpack('I', fcntl.ioctl(fd, FS_IOC_GETFLAGS, bytes(4)))
        for letter in letters:
            flags |= FLAGS[letter]
        fcntl.ioctl(fd, FS_IOC_SETFLAGS, struct.pack('I', flags))


def set_project(path, project):
    with opened(path) as fd:
        attributes = bytearray(fcntl.ioctl(fd, FS_IOC_FSGETXATTR, bytes(28)))
        struct.pack_into('I', attributes, 12, project)
        fcntl.ioctl(fd, FS_IOC_FSSETXATTR, bytes(attributes))


def enable_verity(path, block=4096, salt=b'', algorithm=1):
    """fsverity enable: algorithm 1 is SHA-256, 2 SHA-512. No descriptor of the file may be open for writing."""
    place = bytearray(salt or b'\0')
    import ctypes
    buffer = (ctypes.c_char * len(place)).from_buffer(place)
    argument = struct.pack('IIIIQII', 1, algorithm, block, len(salt), ctypes.addressof(buffer), 0, 0) + bytes(128 - 32)
    with opened(path) as fd:
        fcntl.ioctl(fd, FS_IOC_ENABLE_VERITY, argument)


def shutdown(root, how):
    """Ends the mount as a crash would: 0 freezes first, 1 flushes the log, 2 flushes nothing."""
    with opened(root) as fd:
        fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, struct.pack('I', how))


def fiemap(path, most=4096):
    """The kernel's map of a file: a list of (logical, physical, length, flags), in bytes."""
    request = bytearray(struct.pack('QQIIII', 0, 2**64 - 1, 1, 0, most, 0) + bytes(56 * most))
    with opened(path) as fd:
        fcntl.ioctl(fd, FS_IOC_FIEMAP, request, True)
    count, = struct.unpack_from('I', request, 20)
    extents = (struct.unpack_from('QQQQQI', request, 32 + 56 * i) for i in range(count))
    return [(logical, physical, length, flags) for logical, physical, length, _, _, flags in extents]
