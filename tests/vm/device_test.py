#!/usr/bin/env python3
"""e4 on devices that only the guest has: NVMe with blocks of 512 and 4096 bytes, a file on fsdax, device DAX.

usage: device_test.py E4 GEOMETRY [nvme|dax|byte...]        GEOMETRY is the program of geometry.c

The NVMe volumes are made and filled by the guest's kernel; the DAX ones hold a volume filled here, and so does the one whose blocks
are smaller than the sectors of its device, which no kernel mounts. Each is read through every backend that fits, and the list compared
with the kernel's; a block device must not have seen a single write. What the library found the device to be is compared too.
"""
import os
import sys
import time

import guest
import lab
import populate
from e4tool import E4
from ground import Site
from lists import first_difference
from tap import Failure, Plan, Skip

SOURCES = ('ioctls.py', 'ground.py', 'populate.py', 'tree_names.py', 'tree_files.py', 'tree_meta.py', 'kmanifest.py')
READY, SMALL = 3, 4                                           # the name spaces with the volumes filled here
MAPPED = '/fragmented/shuffled-0'                             # a file whose every block is written, in many pieces
LIMIT = 1100                                                  # seconds for a boot, on a machine that has much else to do

# Emulation is a dozen times slower, Python most of all: what is left out is many objects of one kind.
WITHOUT = ('bulk', 'indexed', 'churned', 'subdirectories', 'sparse')

# Each reading leaves NAME.seen, NAME.said, NAME.status, NAME.geometry, and for block devices NAME.writes: how many the device saw.
COMMON = '''
at() {{ echo "AT $(cut -d' ' -f1 /proc/uptime) $*"; }}
writes() {{ tr -s ' ' </sys/block/${{1##*/}}/stat | sed 's/^ //' | cut -d' ' -f5; }}
look() {{                               # NAME BACKEND PATH [OPTIONS of geometry]
	before=$(writes $3 2>/dev/null)
	/sbin/{e4} manifest $2$3 >/tmp/$1.seen 2>/tmp/$1.said; echo $? >/tmp/$1.status
	after=$(writes $3 2>/dev/null)
	echo $((${{after:-0}} - ${{before:-0}})) >/tmp/$1.writes
	geometry $4 $2$3 >/tmp/$1.geometry 2>&1
	at $1
}}
'''

NVME = '''
for n in 1 2; do
	d=$(space $n)
	mkfs.ext4 -q -F -b 4096 -i 8192 $d && mount -t ext4 $d /mnt && python3 /populate.py /mnt quick {without} >/dev/null &&
		umount /mnt || exit 1
	at filled $n
	mount -t ext4 -o ro $d /mnt && python3 /kmanifest.py /mnt >/tmp/nvme$n.want && umount /mnt || exit 1
	sync; echo 3 >/proc/sys/vm/drop_caches
	at listed $n
	look nvme$n-direct direct: $d
	look nvme$n-uring uring: $d
	look nvme$n-file file: $d
	look nvme$n-bare '' $d
done
d=$(space 2)
dd if=$(space {small}) of=$d bs=1M 2>/dev/null; sync; echo 3 >/proc/sys/vm/drop_caches
mount -t ext4 -o ro $d /mnt 2>/dev/null && umount /mnt && touch /tmp/kernel-mounts-small
look small-direct direct: $d
look small-uring uring: $d
look small-file file: $d
'''

# A line is stored behind the volume, where the file and the device have room.
DAX = '''
size=$(($(cat /sys/block/$(basename $(space {ready}))/size) * 512))
ndctl create-namespace -f -e namespace0.0 -m fsdax -M mem >/dev/null && mkfs.ext4 -q -F -b 4096 -m 0 /dev/pmem0 &&
	mount -t ext4 -o dax=always /dev/pmem0 /mnt && dd if=$(space {ready}) of=/mnt/volume.img bs=1M 2>/dev/null &&
	dd if=/dev/zero of=/mnt/volume.img bs=1M seek=$((size >> 20)) count=2 2>/dev/null && sync && touch /tmp/fsdax.there
at fsdax
look fsdax-pmem pmem: /mnt/volume.img "-f{mapped}"
look fsdax-direct direct: /mnt/volume.img
geometry -r 64 pmem:/mnt/volume.img >/tmp/fsdax-line.geometry
geometry -r 1 pmem:/mnt/volume.img >/tmp/fsdax-byte.geometry
geometry -s $size pmem:/mnt/volume.img >/tmp/fsdax-store.geometry
[ -f /tmp/fsdax.there ] && umount /mnt && mount -t ext4 -o dax=never /dev/pmem0 /mnt
look fsdax-paged pmem: /mnt/volume.img "-f{mapped}"
geometry -r 64 pmem:/mnt/volume.img >/tmp/fsdax-paged-line.geometry
ndctl create-namespace -f -e namespace1.0 -m devdax -M dev >/dev/null
device=$(ls /dev/dax* 2>/dev/null | head -n 1)
python3 /fill_dax.py $(space {ready}) $device && touch /tmp/devdax.there
at device DAX $device
look devdax-pmem pmem: $device "-f{mapped}"
look devdax-window pmem: $device,size=$size "-f{mapped}"
geometry -r 64 pmem:$device >/tmp/devdax-line.geometry
geometry -r 1 pmem:$device >/tmp/devdax-byte.geometry
geometry -s $size pmem:$device >/tmp/devdax-store.geometry
'''

LEAVE = '''
cd /; leave $(ls -d tmp/*.seen tmp/*.said tmp/*.status tmp/*.geometry tmp/*.writes tmp/*.want tmp/*.there tmp/kernel-* 2>/dev/null)
'''

# Device DAX takes no write(2): the volume goes in through a mapping.
FILL_DAX = '''
import mmap, os, sys
source = os.open(sys.argv[1], os.O_RDONLY)
target = os.open(sys.argv[2], os.O_RDWR)
size = os.lseek(source, 0, os.SEEK_END)
os.lseek(source, 0, os.SEEK_SET)
room = -(-size // (2 << 20)) * (2 << 20)
memory = mmap.mmap(target, room, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
for place in range(0, size, 1 << 20):
    memory[place:place + (1 << 20)] = os.read(source, 1 << 20)
'''


def ready_volume(path, block, size):
    """A volume filled here, and its list."""
    lab.make_image(path, size)
    lab.mkfs(path, '-b', str(block), '-i', '8192')
    with lab.mounted(path) as root:
        populate.fill(Site(root), without=(*WITHOUT, 'sizes'))
    with lab.mounted(path, readonly=True) as root:
        return lab.kernel_manifest(root)


class Left:
    """What a boot left behind."""

    def __init__(self, archive):
        self.files = guest.archived(archive)

    def text(self, name):
        return self.files.get('tmp/' + name, b'').decode('utf-8', 'backslashreplace')

    def need(self, there):
        if there and 'tmp/' + there not in self.files:
            raise Skip('the guest could not make the name space')


def same_list(left, name, expected, there=None):
    left.need(there)
    if left.text(name + '.status').strip() != '0':
        raise Failure('status %s: %s' % (left.text(name + '.status').strip(), left.text(name + '.said')[-1500:]))
    difference = first_difference(expected, left.text(name + '.seen'))
    if difference:
        raise Failure(difference)
    if not expected:
        raise Failure('the kernel lists nothing')
    if left.text(name + '.writes').strip() not in ('0', ''):
        raise Failure('the device saw %s writes while it was read' % left.text(name + '.writes').strip())
    return '%d objects' % expected.count('\n')


def same_geometry(left, name, expected, there=None):
    """What must be so of what geometry.c said; the rest is only told."""
    left.need(there)
    said = left.text(name + '.geometry')
    seen = dict(line.split(' ', 1) for line in said.splitlines() if ' ' in line)
    wrong = ['%s is %s, not %s' % (key, seen.get(key), value) for key, value in expected.items() if seen.get(key, '').split()[:1] != [value]]
    if wrong or 'differs' in seen:
        raise Failure('; '.join(wrong) + '\n' + said)
    return said.replace('\n', ', ').rstrip(', ')


def size_of(manifest, path):
    return next(fields[6] for fields in (line.split('\t') for line in manifest.splitlines()) if fields[0] == path)


# What tells a ring at work from one that fell back to plain calls.
RING = {True: {'queue_depth': '128', 'nowait': '1'}, False: {'queue_depth': '1'}}


def judge_nvme(plan, left, volumes):
    for number, sector in (1, '512'), (2, '4096'):
        for backend in ('direct', 'uring', 'file', 'bare'):
            name = 'nvme%d-%s' % (number, backend)
            plan.test(name, same_list, left, name, left.text('nvme%d.want' % number))
            if backend != 'file':
                plan.test(name + ': geometry', same_geometry, left, name, {'logical_block': sector, 'can_map': '0', **RING[backend != 'direct']})
    for backend in ('direct', 'uring', 'file'):
        plan.test('blocks of 1024 on sectors of 4096: ' + backend, same_list, left, 'small-' + backend, volumes['small'])
    plan.remark('the kernel %s it' % ('mounts' if 'tmp/kernel-mounts-small' in left.files else 'does not mount'))


def judge_dax(plan, left, volumes, unit):
    """unit: the bytes of a store that the machine makes durable at once, 64 or 1."""
    refused, size = {'refused': 'EOPNOTSUPP'}, size_of(volumes['ready'], MAPPED)
    for name, there, granularity in (('fsdax-pmem', 'fsdax.there', unit), ('fsdax-direct', 'fsdax.there', None),
                                     ('fsdax-paged', 'fsdax.there', 4096), ('devdax-pmem', 'devdax.there', unit),
                                     ('devdax-window', 'devdax.there', unit)):
        plan.test(name, same_list, left, name, volumes['ready'], there)
        if granularity:
            plan.test(name + ': geometry', same_geometry, left, name,
                      {'persist_granularity': str(granularity), 'can_map': '1', 'mapped': size}, there)
    for kind in ('fsdax', 'devdax'):
        there, fine = kind + '.there', {'persist_granularity': str(unit)}
        plan.test(kind + ': a promise of 64 bytes', same_geometry, left, kind + '-line', fine, there)
        plan.test(kind + ': a promise of one byte', same_geometry, left, kind + '-byte', fine if unit == 1 else refused, there)
        plan.test(kind + ': stores', same_geometry, left, kind + '-store', {'stored': '1'}, there)
    plan.test('pages: a promise of 64 bytes', same_geometry, left, 'fsdax-paged-line', refused, 'fsdax.there')


def boot(plan, title, script, work, programs, environment=None):
    """One boot; its moments are told as remarks."""
    start = time.monotonic()
    sources = [os.path.join(work, 'fill_dax.py'), *(os.path.join(guest.INTEROP, name) for name in SOURCES)]
    names = {'e4': os.path.basename(programs[0]), 'ready': READY, 'small': SMALL, 'mapped': MAPPED, 'without': ' '.join('-' + name for name in WITHOUT)}
    status, console, archive = guest.boot((COMMON + script + LEAVE).format(**names), work,
                                          [os.path.join(work, 'ready.img'), os.path.join(work, 'small.img')], sources, programs,
                                          environment, LIMIT)
    moments = [line[3:] for line in console.splitlines() if line.startswith('AT ')]
    plan.remark('%s: %.0f s; %s' % (title, time.monotonic() - start, ', '.join(moments)))
    left = Left(archive)
    if status or not left.files:
        raise Failure('the guest ended with %d:\n%s' % (status, console[-3000:]))
    return left


def main():
    plan = Plan()
    if not lab.is_root():
        plan.skip_all('a volume is filled through a kernel mount, which takes root')
    e4 = E4.from_arguments(plan)
    if len(sys.argv) < 3 or not os.access(sys.argv[2], os.X_OK):
        plan.skip_all('no geometry program: build with -Dvm=enabled, give its path')
    try:
        guest.kernel()
    except guest.Unavailable as reason:
        plan.skip_all(str(reason))
    boots = {'nvme': (NVME, None, judge_nvme, ()), 'dax': (DAX, None, judge_dax, (64,)),
             'byte': (DAX, {'PERSISTENCE': 'cpu'}, judge_dax, (1,))}
    with lab.scratch() as work:
        volumes = {'ready': ready_volume(os.path.join(work, 'ready.img'), 4096, 64 << 20),
                   'small': ready_volume(os.path.join(work, 'small.img'), 1024, 32 << 20)}
        with open(os.path.join(work, 'fill_dax.py'), 'w') as file:
            file.write(FILL_DAX)
        for title in [name for name in boots if name in sys.argv[3:]] or boots:
            script, environment, judge, more = boots[title]
            try:
                left = boot(plan, title, script, work, [e4.path, sys.argv[2]], environment)
            except Failure as failure:
                plan.test(title, _raise, failure)
                continue
            judge(plan, left, volumes, *more)
    plan.finish()


def _raise(error):
    raise error


if __name__ == '__main__':
    main()
