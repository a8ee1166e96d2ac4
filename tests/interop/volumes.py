#!/usr/bin/env python3
"""Builds the volumes of recipes.py with what the kernel says is in them, and keeps them until a source here changes.

usage: volumes.py [--full] [--guest] [--list] [NAME...]

For each volume the cache holds NAME.img (cleanly unmounted), NAME.manifest (what kmanifest.py says of a read-only kernel mount),
NAME.jnl if its journal is external, and NAME.json (SHA-256 of the image afterwards, remarks, seconds). Guest recipes are built
by tests/vm/fill_guest.py, which --guest calls. The cache is $E4_VOLUMES, else a directory in /var/tmp.
"""
import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import platform
import shutil
import sys
import time

import lab
import populate
import treefill
from ground import Site
from recipes import BY_NAME, RECIPES

JOURNAL_UUID = '5eed0e40-c0de-4f54-a5ce-000000000003'

_SOURCES = ('lab.py', 'ioctls.py', 'ground.py', 'populate.py', 'tree_names.py', 'tree_files.py', 'tree_meta.py', 'encrypted.py',
            'unlike.py', 'recipes.py', 'treefill.py', 'lists.py', 'kmanifest.py', 'volumes.py')


@dataclasses.dataclass(frozen=True)
class Volume:
    """A built volume: where it is and what is known of it."""
    name: str
    image: str
    manifest: str               # the text
    sha256: str
    remarks: dict
    journal: str = ''
    journal_sha256: str = ''


def cache_directory(full=False):
    """One directory for each state of the sources, the kernel and the mode."""
    digest = hashlib.sha256(platform.release().encode())
    for source in _SOURCES:
        with open(os.path.join(lab.HERE, source), 'rb') as file:
            digest.update(file.read())
    base = os.environ.get('E4_VOLUMES', '/var/tmp/ext4core-volumes')
    path = os.path.join(base, ('full-' if full else 'quick-') + digest.hexdigest()[:12])
    if not os.path.isdir(path):
        os.makedirs(path, exist_ok=True)
        _prune(base)
    return path


def _prune(base):
    """Remove what sources of long ago left: nothing has been built there for a day."""
    for entry in os.scandir(base):
        if entry.is_dir() and time.time() - entry.stat().st_mtime > 86400:
            shutil.rmtree(entry.path, ignore_errors=True)


def format_volume(recipe, image, journal=None):
    """mke2fs as the recipe says; returns the image."""
    lab.make_image(image, recipe.size)
    if not journal:
        lab.mkfs(image, *recipe.options, kind=recipe.kind, extended=recipe.extended)
        if recipe.hash:
            lab.run('debugfs', '-w', '-R', 'set_super_value def_hash_version ' + recipe.hash, image)
        return image
    block = recipe.options[recipe.options.index('-b') + 1]
    lab.make_image(journal, 16 << 20)
    lab.run('mke2fs', '-q', '-F', '-b', block, '-O', 'journal_dev', '-U', JOURNAL_UUID, journal)
    with lab.loop(journal) as device:
        lab.mkfs(image, *recipe.options, '-J', 'device=' + device, kind=recipe.kind, extended=recipe.extended)
    return image


def _fill_by_kernel(recipe, image, journal, quick):
    with lab.mounted(image, recipe.mount, journal=journal) as root:
        site = Site(root, quick, cluster=recipe.cluster)
        remarks = populate.fill(site, recipe.extra, recipe.without)
    with lab.mounted(image, recipe.view, readonly=True, journal=journal) as root:
        return lab.kernel_manifest(root), remarks


def _build(recipe, directory, quick):
    """Build in memory, then move into the cache; the JSON comes last and makes the volume valid."""
    start = time.monotonic()
    with lab.scratch() as work:
        image = os.path.join(work, 'volume.img')
        journal = os.path.join(work, 'journal.img') if recipe.journal else None
        if recipe.where == 'tree':
            manifest, remarks = treefill.build(recipe, image, quick)
        else:
            format_volume(recipe, image, journal)
            manifest, remarks = _fill_by_kernel(recipe, image, journal, quick)
        lab.check(image, *(['-n', '-j', journal] if journal else ['-n']))
        store(recipe.name, directory, image, journal, manifest, remarks, time.monotonic() - start)


def store(name, directory, image, journal, manifest, remarks, seconds):
    """Put a finished volume into the cache."""
    base = os.path.join(directory, name)
    lab.copy(image, base + '.img')
    facts = {'sha256': lab.sha256(base + '.img'), 'remarks': remarks, 'seconds': round(seconds, 2), 'objects': manifest.count('\n')}
    if journal:
        lab.copy(journal, base + '.jnl')
        facts['journal_sha256'] = lab.sha256(base + '.jnl')
    with open(base + '.manifest', 'w') as file:
        file.write(manifest)
    with open(base + '.json.new', 'w') as file:
        json.dump(facts, file, indent=1)
    os.rename(base + '.json.new', base + '.json')


def facts_of(name, full=False):
    """What the cache knows of a volume; None if it has to be built."""
    try:
        with open(os.path.join(cache_directory(full), name + '.json')) as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def ensure(names, full=False, jobs=None):
    """Build what is missing, on all cores. Yields (name, error or None) as they get ready; guest recipes are left alone."""
    missing = []
    for name in names:
        if facts_of(name, full) or BY_NAME[name].where == 'guest':
            yield name, None
        else:
            missing.append(name)
    with concurrent.futures.ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        directory = cache_directory(full)
        running = {pool.submit(_build, BY_NAME[name], directory, not full): name for name in missing}
        for future in concurrent.futures.as_completed(running):
            yield running[future], future.exception()


def load(name, full=False):
    """A volume from the cache, or None."""
    facts = facts_of(name, full)
    if not facts:
        return None
    base = os.path.join(cache_directory(full), name)
    with open(base + '.manifest') as file:
        manifest = file.read()
    journal = base + '.jnl' if 'journal_sha256' in facts else ''
    return Volume(name, base + '.img', manifest, facts['sha256'], facts['remarks'], journal, facts.get('journal_sha256', ''))


def fill_in_guest(names, full=False):
    """Build those of the named volumes that only the guest can fill and that the cache lacks; returns what it said."""
    missing = [name for name in names if BY_NAME[name].where == 'guest' and not facts_of(name, full)]
    if not missing:
        return ''
    script = os.path.join(lab.HERE, '..', 'vm', 'fill_guest.py')
    return lab.run(sys.executable, script, *(['--full'] if full else []), *missing, timeout=1800, status=(0, 77)).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--full', action='store_true', help='larger trees')
    parser.add_argument('--guest', action='store_true', help='the volumes that only the guest can fill, too')
    parser.add_argument('--list', action='store_true', help='the names of the recipes')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    names = options.names or [recipe.name for recipe in RECIPES]
    if options.list:
        print('\n'.join(names))
        return 0
    failed, start = 0, time.monotonic()
    for name, error in ensure(names, options.full):
        facts = facts_of(name, options.full)
        if error:
            failed += 1
            print('%-20s FAILED %s %s' % (name, error, ' '.join(getattr(error, '__notes__', ()))))
        elif facts:
            print('%-20s %6.2f s %6d objects  %s' % (name, facts['seconds'], facts['objects'], ', '.join(facts['remarks'])[:100]))
        elif not options.guest:
            print('%-20s is filled in the guest: --guest' % name)
    if options.guest:
        print(fill_in_guest(names, options.full) or 'guest volumes are there')
    print('%s, %.1f s' % (cache_directory(options.full), time.monotonic() - start))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
