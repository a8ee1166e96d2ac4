"""Volumes that no kernel here mounts read-write (blocks of 64 KiB): a tree on another volume, taken over by `mke2fs -d`.

The expected list is the kernel's list of that other tree, changed by the rules of the copy (mke2fs 1.47): times keep the low 32 bits
of their seconds and lose the rest; the root keeps mke2fs's own owner and mode; lost+found is mke2fs's own. What the copy does to the
root and to lost+found is read back by debugfs.
"""
import os
import re

import lab
import populate
from ground import Site
from lists import in_order


def _time(text):
    """Seconds as a signed 32-bit number, nanoseconds gone."""
    seconds = int(text.split('.')[0])
    return '%d.%09d' % ((seconds + 2**31) % 2**32 - 2**31, 0)


def _own_line(image, path):
    """A directory's line as debugfs tells it, for what mke2fs makes by itself."""
    text = lab.debugfs(image, 'stat ' + path)
    mode = re.search(r'Mode:\s+(\d+)', text).group(1)
    user, group = re.search(r'User:\s+(\d+)\s+Group:\s+(\d+)', text).groups()
    links = re.search(r'Links: (\d+)', text).group(1)
    mtime = int(re.search(r'mtime: 0x([0-9a-f]+)', text).group(1), 16)
    return [path, 'd', '%o' % int(mode, 8), user, group, links, '-', '%d.%09d' % (mtime, 0), '-', '-', '-']


def build(recipe, image, quick):
    """Make the volume; return its manifest and the remarks of the planting."""
    with lab.scratch() as work:
        source = lab.make_image(os.path.join(work, 'source.img'), 256 << 20)
        lab.mkfs(source, '-b', '4096', '-i', '4096')
        with lab.mounted(source) as root:
            os.rmdir(root + b'/lost+found')
            remarks = populate.fill(Site(root, quick), (), recipe.without)
            lab.make_image(image, recipe.size)
            lab.mkfs(image, *recipe.options, '-d', os.fsdecode(root), kind=recipe.kind, extended=recipe.extended)
            seen = lab.kernel_manifest(root)
    lines = [line.split('\t') for line in seen.splitlines()]
    for fields in lines:
        fields[7] = _time(fields[7])
    lines[0] = _own_line(image, '/')
    lines.append(_own_line(image, '/lost+found'))
    return in_order('\t'.join(fields) for fields in lines), remarks
