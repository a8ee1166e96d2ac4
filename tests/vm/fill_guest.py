#!/usr/bin/env python3
"""Fills the volumes that this machine's kernel cannot (casefold, verity, quota) in the guest, and puts them into the cache.

usage: fill_guest.py [--full] [NAME...]         exit status 77 if there can be no guest here
"""
import os
import sys
import time

import guest
import lab
import volumes
from recipes import BY_NAME, RECIPES

SOURCES = ('ioctls.py', 'ground.py', 'populate.py', 'tree_names.py', 'tree_files.py', 'tree_meta.py', 'unlike.py', 'kmanifest.py')
LIMIT = 1100                                # seconds, on a machine that has much else to do

FILL = '''
fill() {{
	echo "$(cut -d' ' -f1 /proc/uptime) $1"
	mount -t ext4 $(space $2) /mnt && python3 /populate.py /mnt {mode} $3 >/tmp/$1.remarks && umount /mnt &&
	mount -t ext4 -o ro $(space $2) /mnt && python3 /kmanifest.py /mnt >/tmp/$1.manifest && umount /mnt
}}
{calls}
leave {names}
'''


def fill(recipes, full):
    start = time.monotonic()
    with lab.scratch() as work:
        images = [volumes.format_volume(recipe, os.path.join(work, recipe.name + '.img')) for recipe in recipes]
        calls = ['fill %s %d %s || exit 1' % (recipe.name, number, ' '.join('%s.%s' % (f.__module__, f.__name__) for f in recipe.extra))
                 for number, recipe in enumerate(recipes, guest.FIRST_OWN_NAMESPACE)]
        names = ['tmp/%s.%s' % (recipe.name, kind) for recipe in recipes for kind in ('manifest', 'remarks')]
        script = FILL.format(mode='full' if full else 'quick', calls='\n'.join(calls), names=' '.join(names))
        status, console, archive = guest.boot(script, work, images, [os.path.join(guest.INTEROP, name) for name in SOURCES],
                                              limit=LIMIT)
        if status:
            raise lab.Failed('the guest ended with %d:\n%s' % (status, console[-4000:]))
        left, seconds = guest.archived(archive), time.monotonic() - start
        for recipe, image in zip(recipes, images):
            lab.check(image)
            remarks = left['tmp/%s.remarks' % recipe.name].decode().splitlines()
            volumes.store(recipe.name, volumes.cache_directory(full), image, None, left['tmp/%s.manifest' % recipe.name].decode(),
                          {remark.lstrip('# '): 1 for remark in remarks}, seconds)
            print('%-12s %d objects, %s' % (recipe.name, left['tmp/%s.manifest' % recipe.name].count(b'\n'), ', '.join(remarks)[:120]))
    print('%.1f s' % seconds)


def main():
    full = '--full' in sys.argv
    names = [name for name in sys.argv[1:] if name in BY_NAME] or [recipe.name for recipe in RECIPES if recipe.where == 'guest']
    try:
        guest.kernel()
    except guest.Unavailable as reason:
        print('SKIP', reason)
        return 77
    fill([BY_NAME[name] for name in names], full)
    return 0


if __name__ == '__main__':
    sys.exit(main())
