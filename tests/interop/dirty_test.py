#!/usr/bin/env python3
"""e4 on volumes that the kernel left dirty: the read-only view, then recovery for good, then recovery again.

usage: dirty_test.py E4 [--count N] [--seed S] [--variant NAME] [--keep DIR]
"""
import argparse
import os

import dirty
import lab
from e4tool import E4, device
from tap import Failure, Plan, Skip


def digests(volume):
    return [lab.sha256(path) for path in (volume.image, volume.journal) if path]


def view(e4, volume, expected):
    """Read-only: what recovery would show, without a byte written."""
    before = digests(volume)
    difference = expected.difference(e4.manifest(device(volume.image, volume.journal)))
    if digests(volume) != before:
        raise Failure('reading has changed the image')
    if difference:
        raise Failure('\n'.join([difference, str(volume.facts), *expected.remarks]))
    return '\n'.join([str(volume.facts), *expected.remarks])


def replay(e4, volume, expected, work):
    """For good: nothing left for e2fsck, the same tree, and nothing to do the second time."""
    e4.need('replay')
    image = lab.copy(volume.image, os.path.join(work, 'replayed.img'))
    journal = volume.journal and lab.copy(volume.journal, os.path.join(work, 'replayed.jnl'))
    where = device(image, journal)
    e4.run('replay', where)
    left = dirty.check(image, journal, '-n')
    if left.returncode:
        raise Failure('e2fsck -fn after replay: status %d\n%s' % (left.returncode, left.stdout[-1500:]))
    difference = expected.difference(e4.manifest(where))
    if difference:
        raise Failure('after replay: ' + difference)
    with lab.mounted(image, readonly=True, journal=journal) as root:
        difference = expected.difference(lab.kernel_manifest(root))
    if difference:
        raise Failure('the kernel after our replay: ' + difference)
    before = lab.sha256(image)
    e4.run('replay', where)
    if lab.sha256(image) != before:
        raise Failure('a second replay changes the image')
    return None


def unsettled(e4, volume, expected):
    """A log that the kernel and e2fsck both refuse: any answer will do, but it must be one. What it is worth is said."""
    before = digests(volume)
    status, output, said = e4.try_('manifest', device(volume.image, volume.journal))
    if digests(volume) != before:
        raise Failure('reading has changed the image')
    verdict = said if status else expected.difference(output.decode('ascii')) or 'e4 shows the tree as it was before the crash'
    return '\n'.join([verdict, *expected.remarks])


def one(plan, e4, variant, seed, keep):
    with lab.scratch() as work:
        try:
            volume = dirty.make(variant, seed, keep or work)
            expected = dirty.expectation(volume, work)
        except (OSError, lab.Failed) as error:
            plan.test('%s-%d: made' % (variant.name, seed), _raise, Failure('could not be made: %s' % error))
            return
        if not expected.settled:
            plan.test('%s: nobody recovers it' % volume.name, unsettled, e4, volume, expected)
            return
        if not expected.trusted:
            plan.test(volume.name, _raise, Skip('kernel and e2fsck disagree: ' + ' '.join(expected.remarks)[:200]))
            return
        plan.test('%s: read-only view' % volume.name, view, e4, volume, expected)
        plan.test('%s: replay' % volume.name, replay, e4, volume, expected, work)


def _raise(error):
    raise error


def main():
    plan = Plan()
    if not lab.is_root():
        plan.skip_all('only a kernel mount leaves such volumes, which takes root')
    parser = argparse.ArgumentParser()
    parser.add_argument('e4', nargs='?')
    parser.add_argument('--count', type=int, default=len(dirty.VARIANTS))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--variant', action='append', choices=dirty.VARIANTS)
    parser.add_argument('--keep')
    options = parser.parse_args()
    e4 = E4.from_arguments(plan)
    for variant, seed in dirty.campaign(options.count, options.seed, options.variant):
        one(plan, e4, variant, seed, options.keep)
    plan.finish()


if __name__ == '__main__':
    main()
