"""The emulated guest: a stock kernel in qemu, without hardware support, that runs one shell script as root.

It has what this machine's kernel may lack: casefold, fs-verity, quota files, NVMe, NVDIMMs. Volumes go in as further NVMe name
spaces; what comes out is a tar archive that the script writes to the last of them.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
INTEROP = os.path.join(HERE, '..', 'interop')
sys.path.insert(0, INTEROP)

import lab  # noqa: E402

CACHE = os.environ.get('E4_CACHE', '/var/cache/ext4core')
NEEDED = ('qemu-system-x86_64', 'cpio', 'xz', 'dpkg', 'apt-get')
FIRST_OWN_NAMESPACE = 3                     # 1 and 2 belong to rundev.sh

# Found by name space, as names are a race.
PRELUDE = r'''
space() { for n in /sys/block/nvme*; do [ "$(cat $n/nsid)" = "$1" ] && echo /dev/${n##*/}; done; }
'''


class Unavailable(Exception):
    """There can be no guest here; the text says why."""


def kernel():
    """The unpacked package of a 6.12 cloud kernel; downloaded once."""
    missing = [program for program in NEEDED if not shutil.which(program)]
    if missing or not os.path.exists('/bin/busybox'):
        raise Unavailable('programs are missing: ' + ' '.join(missing or ['busybox-static']))
    folder = os.path.join(CACHE, 'kernel')
    if glob.glob(os.path.join(folder, 'boot', 'vmlinuz-*')):
        return folder
    os.makedirs(CACHE, exist_ok=True)
    found = subprocess.run(['apt-cache', 'search', '--names-only', r'^linux-image-6\.12\..*-cloud-amd64$'], capture_output=True, text=True)
    names = [line.split()[0] for line in found.stdout.splitlines()]
    if not names:
        raise Unavailable('no package linux-image-6.12.*-cloud-amd64 is known to apt')
    newest = max(names, key=lambda name: [int(number) for number in re.findall(r'\d+', name)])
    if subprocess.run(['apt-get', 'download', '-qq', newest], cwd=CACHE, capture_output=True).returncode:
        raise Unavailable('apt-get download %s failed' % newest)
    package = max(glob.glob(os.path.join(CACHE, newest + '_*.deb')), key=os.path.getmtime)
    lab.run('dpkg', '-x', package, folder)
    return folder


def boot(script, work, drives=(), files=(), programs=(), environment=None, limit=600):
    """Run a script in the guest. Returns (exit status, console text, path of the archive that it wrote with `leave`).

    drives are images, name spaces 3, 4, ...; in the script `space N` is the device of one, and `leave FILE...` sends files home.
    """
    folder = kernel()
    output = lab.make_image(os.path.join(work, 'output.tar'), 64 << 20)
    spaces, options = [*drives, output], []
    for number, drive in enumerate(spaces, FIRST_OWN_NAMESPACE):
        options += ['-drive', 'file=%s,if=none,id=own%d,format=raw,cache=unsafe,discard=unmap' % (drive, number),
                    '-device', 'nvme-ns,drive=own%d,bus=nvme0,nsid=%d,logical_block_size=512,physical_block_size=512' % (number, number)]
    leave = 'leave() { tar cf $(space %d) -C / "$@"; sync; }\n' % (FIRST_OWN_NAMESPACE + len(drives))
    test = os.path.join(work, 'test.sh')
    with open(test, 'w') as file:
        file.write(PRELUDE + leave + script)
    initrd = os.path.join(work, 'initrd.gz')
    lab.run('bash', os.path.join(HERE, 'mkinitrd.sh'), folder, initrd, test, *programs, environment={'FILES': ' '.join(files)})
    done = lab.run('bash', os.path.join(HERE, 'rundev.sh'), folder, initrd, os.path.join(work, 'machine'), *options, status=None,
                   timeout=limit + 60, environment={'LIMIT': str(limit), **(environment or {})})
    return done.returncode, done.stdout.replace('\r', ''), output


def archived(archive):
    """The files of an archive that the guest left, as {name: bytes}; none if it left nothing."""
    try:
        with tarfile.open(archive) as tar:
            return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
    except tarfile.ReadError:
        return {}
