#!/usr/bin/env python3
"""e4 on images that others made, good and bad: it ends, it says why, and what the index says is inside comes out.

usage: images_test.py E4 [--images DIR] [NAME-PART...]      (DIR: $E4_IMAGES, else ../shared/images beside the repository)
"""
import argparse
import gzip
import hashlib
import os
import re
import shutil
import tarfile
import zlib

import lab
from e4tool import E4, device
from lists import by_path, unescape
from tap import Failure, Plan, Skip

# Images whose damage excuses a failing command although a list of their (recovered) tree exists.
DAMAGED = {'f_holedir3_variant': 'a directory with holes and size zero'}


def images_directory():
    beside = os.path.join(lab.HERE, '..', '..', '..', 'shared', 'images')
    return os.environ.get('E4_IMAGES', beside if os.path.isdir(beside) else '/work/shared/images')


def unpack(packed, target):
    """One image file from its compressed form, holes kept."""
    if packed.endswith('.tar.gz'):
        with tarfile.open(packed) as archive:
            member = next(member for member in archive if member.isfile())
            archive.extract(member, os.path.dirname(target), set_attrs=False)
            os.rename(os.path.join(os.path.dirname(target), member.name), target)
        return target
    with gzip.open(packed) as source, open(target, 'wb') as file:
        while chunk := source.read(1 << 16):
            if chunk.strip(b'\0'):
                file.write(chunk)
            else:
                file.seek(len(chunk), os.SEEK_CUR)
        file.truncate()
    return target


def undamaged(directory):
    """Names that INDEX.md calls clean or valid."""
    names = set()
    with open(os.path.join(directory, 'INDEX.md')) as file:
        for line in file:
            fields = [field.strip() for field in line.split('|')]
            if len(fields) > 3 and re.match(r'(clean|valid)\b', fields[2]):
                names.add(fields[1])
    return names


def where_in(image):
    """The image as a device: a partition at 1 MiB if no superblock is at its own start."""
    with open(image, 'rb') as file:
        file.seek(1024 + 56)
        if file.read(2) != b'\x53\xef':
            file.seek((1 << 20) + 1024 + 56)
            if file.read(2) == b'\x53\xef':
                return device(image, offset=1 << 20)
    return device(image)


def listed(path):
    """A .list file as {path: fields}."""
    with open(path) as file:
        rows = (line.rstrip('\n').split('|') for line in file if not line.startswith('#'))
        return {row[0]: row[1:] for row in rows}


def _as_manifest(row):
    """Type, mode, owners, links, size, mtime, rdev or target, and the attributes' CRC of a .list row, as a manifest shows them."""
    kind, mode, uid, gid, links, size, mtime, content, attributes = row
    crc = 0
    for pair in sorted((name.encode(), bytes.fromhex(value)) for name, _, value in (item.partition('=') for item in attributes.split(';'))
                       ) if attributes else ():
        crc = zlib.crc32(b'='.join(pair) + b'\0', crc)
    special = content if kind in 'bcl' else ''
    return ('-' if kind == 'f' else kind, int(mode, 8), uid, gid, links, '-' if kind == 'd' else size, int(mtime), special,
            '%08x' % crc if attributes else '-')


def _as_listed(line):
    """The same of a manifest line."""
    _, kind, mode, uid, gid, links, size, mtime, rdev, content, attributes = line.split('\t')
    special = rdev if kind in 'bc' else unescape(content).decode('utf-8', 'replace') if kind == 'l' else ''
    seconds = int(int(mtime[:-10]) + int(mtime[-9:]) / 1e9)               # the lists were made so, by way of a double
    return kind, int(mode, 8), uid, gid, links, size, seconds, special, attributes


def compare(e4, where, expected, work):
    """The tree field by field, then every file's SHA-256, by one recursive copy."""
    manifest, wrong = by_path(e4.manifest(where)), []
    manifest = {unescape(path).decode('utf-8', 'replace'): line for path, line in manifest.items()}
    for path in sorted(expected.keys() - manifest.keys())[:3]:
        wrong.append('missing: ' + path)
    for path in sorted(manifest.keys() - expected.keys() - {'/'})[:3]:
        wrong.append('not expected: ' + path)
    for path in expected.keys() & manifest.keys():
        want, have = _as_manifest(expected[path]), _as_listed(manifest[path])
        if want != have:
            wrong.append('%s: expected %s, seen %s' % (path, want, have))
    wrong += _compare_content(e4, where, expected, os.path.join(work, 'tree'))
    if wrong:
        raise Failure('\n'.join(wrong[:10] + ['%d differences' % len(wrong)]))
    return '%d objects' % len(expected)


def _compare_content(e4, where, expected, target):
    files = {path: row for path, row in expected.items() if row[0] == 'f'}
    if not files:
        return []
    os.mkdir(target)
    e4.try_('get', '-r', where, '/', target)
    wrong = []
    for path, row in files.items():
        try:
            with open(target + path, 'rb') as file:
                digest = hashlib.file_digest(file, 'sha256').hexdigest()
        except FileNotFoundError:
            digest = 'not copied out'
        if digest != row[7]:
            wrong.append('%s: SHA-256 expected %s, seen %s' % (path, row[7], digest))
    shutil.rmtree(target)
    return wrong


def one(e4, packed, must_succeed):
    """One image: manifest and info end well or with a reason; the list, if there is one, comes out."""
    base = re.sub(r'\.(img|jnl)\b.*', '', packed)
    with lab.scratch() as work:
        image = unpack(packed, os.path.join(work, 'image'))
        where, digest = where_in(image), None if os.path.getsize(image) > 1 << 30 else lab.sha256(image)
        remarks = []
        for command in ('info', 'manifest'):
            status, _, said = e4.try_(command, where)
            if status and must_succeed:
                raise Failure('%s: %s' % (command, said[-500:]))
            remarks += ['%s: %s' % (command, said.splitlines()[-1])] if status else []
        if os.path.exists(base + '.list'):
            try:
                remarks.append(compare(e4, where, listed(base + '.list'), work))
            except Failure:
                if os.path.basename(base) not in DAMAGED:
                    raise
                remarks.append('differs from its list, which is allowed: ' + DAMAGED[os.path.basename(base)])
        if digest and lab.sha256(image) != digest:
            raise Failure('reading has changed the image')
        return '\n'.join(remarks)


def main():
    plan = Plan()
    parser = argparse.ArgumentParser()
    parser.add_argument('e4', nargs='?')
    parser.add_argument('--images', default=images_directory())
    parser.add_argument('parts', nargs='*')
    options = parser.parse_args()
    if not os.path.exists(os.path.join(options.images, 'INDEX.md')):
        plan.skip_all('the sample images are not here: %s' % options.images)
    e4, clean = E4.from_arguments(plan), undamaged(options.images)
    for folder in sorted(entry.path for entry in os.scandir(options.images) if entry.is_dir()):
        for name in sorted(os.listdir(folder)):
            title = '%s/%s' % (os.path.basename(folder), re.sub(r'\.(img|sparse).*', '', name))
            if not name.endswith('.gz') or options.parts and not any(part in title for part in options.parts):
                continue
            plan.test(title, one, e4, os.path.join(folder, name), re.sub(r'\..*', '', name) in clean)
    plan.finish()


if __name__ == '__main__':
    main()
