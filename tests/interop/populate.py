"""Fills a mounted volume with a tree of everything. Runs on the machine and, with its neighbours, in the guest.

usage: populate.py ROOT [quick|full] [MODULE.FUNCTION...] [-SECTION...]     -SECTION is left out
"""
import sys

from ground import SECTIONS, Site
import tree_names   # noqa: F401    (the order of these three is the order of the sections)
import tree_files   # noqa: F401
import tree_meta    # noqa: F401    (ends with flags, which must be last)


def fill(site, extra=(), without=()):
    """All sections (but those named in without), with the extra ones before the last."""
    wanted = [function for function in SECTIONS if function.__name__ not in without]
    for function in [*wanted[:-1], *extra, wanted[-1]]:
        try:
            function(site)
        except OSError as error:
            error.add_note('in section ' + function.__name__)
            raise
    return site.remarks


def main():
    root, mode, *names = sys.argv[1:] + ['quick'] * (len(sys.argv) < 3)
    extra = [getattr(__import__(module), name) for module, name in (name.split('.') for name in names if not name.startswith('-'))]
    without = [name[1:] for name in names if name.startswith('-')]
    for remark, count in sorted(fill(Site(root, mode == 'quick'), extra, without).items()):
        print('# %s (%d times)' % (remark, count))


if __name__ == '__main__':
    main()
