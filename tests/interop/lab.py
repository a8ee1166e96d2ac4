"""What the interop tests need from the machine: programs, loop mounts, sparse copies, digests.

Everything that calls a program or wants root is here, so that the other modules read as plain descriptions of volumes.
"""
import contextlib
import ctypes
import hashlib
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ORACLE = os.path.join(HERE, 'kmanifest.py')

# What never changes from run to run, so that a rebuilt volume differs only where the kernel chooses differently.
UUID = '5eed0e40-c0de-4f54-a5ce-000000000001'
HASH_SEED = '5eed0e40-c0de-4f54-a5ce-000000000002'
MKFS_ENVIRONMENT = {'E2FSPROGS_FAKE_TIME': '1700000000'}

BLKFLSBUF = 0x1261


class Failed(Exception):
    """A program ended with a status that the caller did not expect."""


def run(*command, status=(0,), timeout=600, environment=None, text=True):
    """Run a program; return its result, or raise Failed with its own words."""
    result = subprocess.run(command, capture_output=True, timeout=timeout, text=text, stdin=subprocess.DEVNULL,
                            errors='backslashreplace' if text else None, env={**os.environ, **(environment or {})})
    if status is not None and result.returncode not in status:
        said = (result.stderr or result.stdout)[-2000:]
        raise Failed('%s: status %d: %s' % (' '.join(map(str, command)), result.returncode, said))
    return result


def is_root():
    return os.geteuid() == 0


def shared_memory_or(fallback):
    """Where scratch images go: memory if there is any, as a loop device over a disk file waits for the disk."""
    return '/dev/shm' if os.access('/dev/shm', os.W_OK) else fallback


@contextlib.contextmanager
def scratch(prefix='e4-interop-'):
    """A directory for images that are thrown away."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=os.environ.get('E4_SCRATCH', shared_memory_or('/tmp'))) as path:
        yield path


def make_image(path, size):
    with open(path, 'wb') as file:
        file.truncate(size)
    return path


def mkfs(device, *options, kind='ext4', extended=()):
    """mke2fs without a random number in it. Options that name another hash seed or UUID come later and win."""
    extended = ','.join(('hash_seed=' + HASH_SEED, 'lazy_itable_init=0', *extended))
    run('mke2fs', '-q', '-F', '-t', kind, '-U', UUID, '-E', extended, *options, device, environment=MKFS_ENVIRONMENT)


def check(device, *options, status=(0,)):
    """e2fsck -f; by default read-only and expected to find nothing."""
    return run('e2fsck', '-f', *(options or ('-n',)), device, status=status)


def copy(source, target):
    run('cp', '--sparse=always', '--reflink=auto', source, target)
    return target


def sha256(path):
    digest = hashlib.sha256()
    with open(path, 'rb', buffering=0) as file:
        while chunk := file.read(1 << 22):
            digest.update(chunk)
    return digest.hexdigest()


@contextlib.contextmanager
def loop(image, readonly=False):
    """The image as a block device."""
    device = run('losetup', '-f', '--show', *(('-r',) if readonly else ()), image).stdout.strip()
    try:
        yield device
    finally:
        run('losetup', '-d', device)


_libc = ctypes.CDLL(None, use_errno=True)


def _mount(device, where, flags, options):
    arguments = [os.fsencode(device), os.fsencode(where), b'ext4', ctypes.c_ulong(flags), os.fsencode(options)]
    if _libc.mount(*arguments):
        error = ctypes.get_errno()
        raise OSError(error, 'mount -o %s: %s' % (options, os.strerror(error)), device)


def unmount(where):
    """umount(2), patient with whoever looks at a fresh mount (udev, a dying process)."""
    for _ in range(50):
        if not _libc.umount2(os.fsencode(where), 0):
            return
        if ctypes.get_errno() != 16:                    # EBUSY
            break
        time.sleep(0.1)
    raise OSError(ctypes.get_errno(), 'umount: ' + os.strerror(ctypes.get_errno()), where)


@contextlib.contextmanager
def mounted(image, options='', readonly=False, journal=None):
    """The volume, mounted by the kernel on a new directory, yielded as bytes.

    readonly makes the loop device itself read-only: nothing, not even a journal replay, may reach the image.
    journal is the image of an external journal. The ext4 driver serves ext2 and ext3 volumes too.
    """
    with contextlib.ExitStack() as stack:
        device = stack.enter_context(loop(image, readonly))
        if journal:
            options = ','.join(filter(None, (options, 'journal_path=' + stack.enter_context(loop(journal, readonly)))))
        where = stack.enter_context(tempfile.TemporaryDirectory(prefix='e4-mnt-', dir='/tmp'))
        ms_rdonly, ms_noatime = 1, 1024
        _mount(device, where, ms_noatime | (ms_rdonly if readonly else 0), options)
        stack.callback(unmount, where)
        yield os.fsencode(where)


def kernel_manifest(root):
    """The oracle's list of a mounted tree. A process of its own, so that it shares nothing with the test."""
    return run(sys.executable, ORACLE, os.fsdecode(root)).stdout


def debugfs(image, *requests):
    return run('debugfs', '-R', *requests, image).stdout
