#!/usr/bin/env python3
"""Logs of the checker's own tests: our recovery, then e2fsck, must leave the tree that e2fsck alone leaves.

usage: jlogs_test.py E4 [--images DIR] [NAME...]
"""
import argparse
import os

import dirty
import lab
from e4tool import E4, device
from images_test import images_directory, unpack
from lists import first_difference, without_directory_times
from tap import Failure, Plan

# Where the two may part, and why. Each name is said aloud, with what was seen.
EXCUSED = {
    'j_corrupt_journal_block': 'a logged block fails its checksum: Linux refuses the mount, e2fsck replays the rest (journal.md, '
                               '"Observed failure behaviour")',
    'j_corrupt_descr_csum': 'a descriptor fails its checksum: Linux refuses the mount, e2fsck resets the log (same table)',
}


def tree_after_fsck(image, journal):
    """What is left when e2fsck -fy is through with a volume: the kernel's list, or the reason why there is none."""
    done = dirty.check(image, journal, '-y')
    if done.returncode not in (0, 1):
        return 'e2fsck: status %d' % done.returncode
    try:
        with lab.mounted(image, readonly=True, journal=journal) as root:
            return lab.kernel_manifest(root)
    except OSError as error:
        return 'mount: ' + os.strerror(error.errno)


def one(e4, folder, name):
    with lab.scratch() as work:
        def fresh(who):
            pair = [os.path.join(folder, name + '.img.gz'), os.path.join(folder, name + '.jnl.gz')]
            return [unpack(path, os.path.join(work, who + path[-7:-3])) if os.path.exists(path) else None for path in pair]

        reference = tree_after_fsck(*fresh('reference'))
        image, journal = fresh('ours')
        status, _, said = e4.try_('replay', device(image, journal))
        ours = tree_after_fsck(image, journal)
        if 'fast_commit' in name:                             # their replay stamps the directories that it changes, or does not
            reference, ours = without_directory_times(reference), without_directory_times(ours)
        difference = first_difference(reference, ours)
        remarks = ['replay: ' + (said or 'done')]
        if difference and name not in EXCUSED:
            raise Failure('\n'.join([difference, *remarks]))
        if difference:
            remarks += ['differs as it may: ' + EXCUSED[name], difference]
        return '\n'.join(remarks)


def main():
    plan = Plan()
    parser = argparse.ArgumentParser()
    parser.add_argument('e4', nargs='?')
    parser.add_argument('--images', default=images_directory())
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    folder = os.path.join(options.images, 'e2fsprogs')
    if not os.path.isdir(folder):
        plan.skip_all('the sample images are not here: %s' % options.images)
    if not lab.is_root():
        plan.skip_all('trees are compared through kernel mounts, which takes root')
    e4 = E4.from_arguments(plan)
    if not e4.has('replay'):
        plan.skip_all('this e4 has no `replay`')
    names = sorted(name[:-7] for name in os.listdir(folder) if name.startswith('j_') and name.endswith('.img.gz'))
    for name in options.names or names:
        plan.test(name, one, e4, folder, name)
    plan.finish()


if __name__ == '__main__':
    main()
