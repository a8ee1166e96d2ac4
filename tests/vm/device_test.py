#!/usr/bin/env python3
"""e4 on devices that only the guest has: NVMe with blocks of 512 and 4096 bytes, a file on fsdax, device DAX.

usage: device_test.py E4

The NVMe volumes are made and filled by the guest's kernel; the DAX ones hold a volume filled here. Each is read through every backend
that fits, and the list compared with the kernel's; a block device must not have seen a single write.
"""
import os

import guest
import lab
import populate
from e4tool import E4
from ground import Site
from lists import first_difference
from tap import Failure, Plan, Skip

SOURCES = ('ioctls.py', 'ground.py', 'populate.py', 'tree_names.py', 'tree_files.py', 'tree_meta.py', 'kmanifest.py')
READY = 3                                                     # the name space with the volume filled here

# Each reading leaves NAME.seen, NAME.said, NAME.status, and for block devices NAME.writes: how many the device saw.
SCRIPT = '''
writes() {{ cut -c1-200 /sys/block/${{1##*/}}/stat | tr -s ' ' | sed 's/^ //' | cut -d' ' -f5; }}
look() {{                               # NAME BACKEND PATH
	before=$(writes $3 2>/dev/null)
	/sbin/{e4} manifest $2$3 >/tmp/$1.seen 2>/tmp/$1.said; echo $? >/tmp/$1.status
	/sbin/{e4} info --json $2$3 >/tmp/$1.info 2>&1
	after=$(writes $3 2>/dev/null)
	echo $((${{after:-0}} - ${{before:-0}})) >/tmp/$1.writes
}}
for n in 1 2; do
	d=$(space $n)
	mkfs.ext4 -q -F -b 4096 -i 4096 $d && mount -t ext4 $d /mnt && python3 /populate.py /mnt quick >/dev/null && umount /mnt || exit 1
	mount -t ext4 -o ro $d /mnt && python3 /kmanifest.py /mnt >/tmp/nvme$n.want && umount /mnt || exit 1
	sync; echo 3 >/proc/sys/vm/drop_caches
	look nvme$n-direct direct: $d
	look nvme$n-uring uring: $d
	look nvme$n-file file: $d
	look nvme$n-bare '' $d
done
size=$(cat /sys/block/$(basename $(space {ready}))/size)
ndctl create-namespace -f -e namespace0.0 -m fsdax -M mem >/dev/null && mkfs.ext4 -q -F -b 4096 -m 0 /dev/pmem0 &&
	mount -t ext4 -o dax /dev/pmem0 /mnt && dd if=$(space {ready}) of=/mnt/volume.img bs=1M 2>/dev/null && sync && echo yes >/tmp/fsdax.there
look fsdax-pmem pmem: /mnt/volume.img
look fsdax-direct direct: /mnt/volume.img
ndctl create-namespace -f -e namespace1.0 -m devdax -M dev >/dev/null
device=$(ls /dev/dax* 2>/dev/null | head -n 1)
python3 /fill_dax.py $(space {ready}) $device && echo yes >/tmp/devdax.there
look devdax-pmem pmem: $device,size=$((size * 512))
cd /; leave $(ls -d tmp/*.seen tmp/*.said tmp/*.status tmp/*.info tmp/*.writes tmp/*.want tmp/*.there 2>/dev/null)
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

CASES = [('nvme%d-%s' % (number, backend), 'nvme%d.want' % number, None)
         for number in (1, 2) for backend in ('direct', 'uring', 'file', 'bare')]
CASES += [('fsdax-pmem', None, 'fsdax.there'), ('fsdax-direct', None, 'fsdax.there'), ('devdax-pmem', None, 'devdax.there')]


def ready_volume(path):
    """A volume small enough for the NVDIMMs, and its list."""
    lab.make_image(path, 64 << 20)
    lab.mkfs(path, '-b', '4096', '-i', '8192')
    with lab.mounted(path) as root:
        populate.fill(Site(root), without=('bulk', 'sizes', 'indexed'))
    with lab.mounted(path, readonly=True) as root:
        return lab.kernel_manifest(root)


def judge(left, name, expected, there):
    def text(suffix):
        return left.get('tmp/%s.%s' % (name, suffix), b'').decode('utf-8', 'backslashreplace')

    if there and 'tmp/' + there not in left:
        raise Skip('the guest could not make the name space')
    if text('status').strip() != '0':
        raise Failure('status %s: %s' % (text('status').strip(), text('said')[-1500:]))
    difference = first_difference(expected, text('seen'))
    if difference:
        raise Failure(difference)
    if text('writes').strip() not in ('0', ''):
        raise Failure('the device saw %s writes while it was read' % text('writes').strip())
    return '%d objects' % expected.count('\n')


def main():
    plan = Plan()
    if not lab.is_root():
        plan.skip_all('a volume is filled through a kernel mount, which takes root')
    e4 = E4.from_arguments(plan)
    try:
        guest.kernel()
    except guest.Unavailable as reason:
        plan.skip_all(str(reason))
    with lab.scratch() as work:
        volume, dax = os.path.join(work, 'ready.img'), os.path.join(work, 'fill_dax.py')
        ready = ready_volume(volume)
        with open(dax, 'w') as file:
            file.write(FILL_DAX)
        status, console, archive = guest.boot(SCRIPT.format(ready=READY, e4=os.path.basename(e4.path)), work, [volume],
                                              [dax, *(os.path.join(guest.INTEROP, name) for name in SOURCES)], [e4.path])
        left = guest.archived(archive)
        if status or not left:
            plan.test('guest', _raise, Failure('it ended with %d:\n%s' % (status, console[-3000:])))
        for name, want, there in CASES:
            expected = left.get('tmp/' + want, b'').decode() if want else ready
            plan.test(name, judge, left, name, expected, there)
    plan.finish()


def _raise(error):
    raise error


if __name__ == '__main__':
    main()
