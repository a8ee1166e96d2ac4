#!/usr/bin/env python3
"""The e4 command: usage, exit statuses, JSON, names of any bytes, copies out, and that nothing is written.

usage: e4_test.py E4          (volumes are made by mke2fs -d: no root, no mount)
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'interop'))
from tap import Failure, Plan, Skip  # noqa: E402

KMANIFEST = HERE.parent / 'interop' / 'kmanifest.py'
E4 = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get('E4', '')
os.environ['PATH'] += ':/sbin:/usr/sbin'

READING = ('info', 'ls', 'tree', 'cat', 'readlink', 'stat', 'map', 'manifest', 'xattr', 'get', 'replay', 'df', 'du')
LATER = ('put mkdir rm mv ln chmod chown touch truncate fallocate mknod chattr mkfs build check resize tune label uuid trim script '
         'shell').split()
NAMES = [b'plain', b'with space', b'tab\there', b'new\nline', b'quote"s', b"it's", b'back\\slash', b'\xff\xfe\x80', b'caf\xc3\xa9',
         b'\xed\xa0\x80', b'-dash', b'\x01\x7f', b'x' * 255, '\u65e5\u672c'.encode()]
MTIME = 1234567890


def run(*arguments, status=0, **more):
    """Runs e4; returns what it printed and said, as bytes. Another status than expected is a failure."""
    done = subprocess.run([E4, *map(os.fsencode, arguments)], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False, **more)
    if done.returncode != status:
        raise Failure('e4 %s: status %d, not %d: %s' % (arguments, done.returncode, status, done.stderr.decode(errors='replace')))
    if status == 0 and done.stderr:
        raise Failure('e4 %s: said %r' % (arguments, done.stderr))
    return done.stdout, done.stderr


def output(*arguments, **more):
    return run(*arguments, **more)[0]


def document(*arguments, **more):
    return json.loads(output(arguments[0], '--json', *arguments[1:], **more))


def expect(seen, wanted, what):
    if seen != wanted:
        raise Failure('%s: expected %r, seen %r' % (what, wanted, seen))


def expect_keys(seen, wanted, what):
    missing = set(wanted) - set(seen)
    if missing:
        raise Failure('%s lacks %s' % (what, sorted(missing)))


def expect_said(said, pattern):
    """One line on standard error."""
    text = said.decode(errors='backslashreplace')
    if not re.fullmatch(pattern + r'\n', text):
        raise Failure('expected %r, said %r' % (pattern, text))


def sha256(path):
    return hashlib.sha256(pathlib.Path(os.fsdecode(path)).read_bytes()).hexdigest()


class Lab:
    """A folder with a source tree and the volume made from it."""

    def __init__(self, work):
        self.work = os.fsencode(work)
        self.tree, self.image = self.path('tree'), self.path('image')
        self.has_xattrs = False
        self.fill()
        self.mke2fs(self.image, self.tree)
        self.sha256 = sha256(self.image)

    def path(self, name):
        return os.path.join(self.work, os.fsencode(name))

    def mke2fs(self, image, tree, *options, size='64M'):
        subprocess.run(['mke2fs', '-q', '-F', '-t', 'ext4', *options, '-d', tree, image, size], check=True, capture_output=True)

    def write(self, name, content=b''):
        path = os.path.join(self.tree, os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(content)
        return path

    def fill(self):
        for name in NAMES:
            self.write(b'names/' + name, b'I am ' + name)
        self.write('empty')
        self.write('big', bytes(range(256)) * 40000)
        self.write('deep/' + '/'.join('d%d' % i for i in range(40)) + '/bottom', b'down here')
        with open(self.write('sparse'), 'r+b') as file:
            file.truncate(300 << 20)
            file.seek(100 << 20)
            file.write(b'in the middle')
        with open(self.write('huge'), 'r+b') as file:
            file.truncate(3 << 40)
        for i in range(300):
            self.write('many/f%d' % i, b'%d' % i)
        os.chmod(self.write('links/a', b'linked'), 0o640)
        os.link(os.path.join(self.tree, b'links/a'), os.path.join(self.tree, b'links/b'))
        os.symlink('a', os.path.join(self.tree, b'links/short'))
        os.symlink('t' * 200, os.path.join(self.tree, b'links/long'))
        os.symlink('../names', os.path.join(self.tree, b'links/folder'))
        os.mkfifo(os.path.join(self.tree, b'pipe'))
        os.chmod(self.write('suid'), 0o4711)
        self.has_xattrs = self.set_xattrs(self.write('xattrs', b'has some'))
        for folder, _, files in os.walk(self.tree, topdown=False):
            for name in (*(os.path.join(folder, file) for file in files), folder):
                os.utime(name, (MTIME, MTIME), follow_symlinks=False)

    @staticmethod
    def set_xattrs(path):
        try:
            os.setxattr(path, 'user.text', b'a "value"')
            os.setxattr(path, 'user.bytes', bytes(range(200, 256)))
            os.setxattr(path, 'user.empty', b'')
        except OSError:
            return False
        return True

    def scratch(self):
        return tempfile.mkdtemp(dir=os.fsdecode(self.work))


# --- the command line -------------------------------------------------------------------------------------------------

def help_is_shown(lab):
    text = output('--help').decode()
    for command in READING:
        if not re.search(r'^  %s ' % command, text, re.M):
            raise Failure('the help lacks %s' % command)
        if 'usage: e4 ' + command not in output(command, '--help').decode():
            raise Failure('no usage of %s' % command)
    expect(output('help', 'ls'), output('ls', '--help'), 'e4 help ls')
    expect(bool(re.fullmatch(r'e4 \d+\.\d+\.\d+\n', output('--version').decode())), True, 'the version')
    run(status=2)


def mistakes_of_usage(lab):
    for arguments in (['nonsense'], ['ls'], ['ls', '--nonsense', lab.image], ['ls', '-Z', lab.image], ['cat', lab.image],
                      ['info', lab.image, 'extra'], ['map', lab.image, '/a', '/b'], ['tree', '-L', 'x', lab.image],
                      ['tree', lab.image, '-L'], ['info', '--json=yes', lab.image], ['info', lab.image, '--journal'],
                      ['get', lab.image, '/a'], ['get', '--progress=maybe', lab.image, '/a', 'b'], ['xattr', 'make', lab.image, '/'],
                      ['xattr', 'ls', lab.image, '/', 'user.a'], ['xattr', 'get', lab.image], ['info', '--superblock', '-1', lab.image]):
        printed, said = run(*arguments, status=2)
        expect(printed, b'', 'printed by %s' % arguments)
        expect_said(said, r'e4: .*\(EINVAL\)')


def failures_have_reasons(lab):
    expect_said(run('cat', lab.image, '/missing', status=1)[1], r'e4: cat: /missing: .+ \(ENOENT\)')
    expect_said(run('cat', lab.image, '/links', status=1)[1], r'e4: cat: /links: .+ \(EISDIR\)')
    expect_said(run('cat', lab.image, '/big/x', status=1)[1], r'e4: cat: /big/x: .+ \(ENOTDIR\)')
    expect_said(run('readlink', lab.image, '/big', status=1)[1], r'e4: readlink: /big: .+ \(EINVAL\)')
    expect_said(run('ls', '/nonexistent', status=1)[1], r'e4: ls: /nonexistent: .+ \(ENOENT\)')
    expect_said(run('cat', lab.image, '/a\nb', status=1)[1], r'e4: cat: /a\\012b: .+ \(ENOENT\)')
    expect_said(run('xattr', 'get', lab.image, '/big', 'user.none', status=1)[1], r'e4: xattr: /big: .+ \(ENODATA\)')
    zeros = lab.path('zeros')
    with open(zeros, 'wb') as file:
        file.truncate(1 << 20)
    for command in ('info', 'ls', 'manifest', 'df', 'replay'):
        expect_said(run(command, zeros, status=1)[1], r'e4: %s: .*zeros: .+ \(E[A-Z]+\)' % command)


def later_commands_say_so(lab):
    for command in LATER:
        status = 8 if command == 'check' else 1  # as e2fsck: 1 would mean that errors were repaired
        expect_said(run(command, lab.image, status=status)[1], r'e4: %s: .+ \(EOPNOTSUPP\)' % command)
    for action in ('set', 'rm'):
        expect_said(run('xattr', action, lab.image, '/big', 'user.a', status=1)[1], r'e4: xattr: .+ \(EOPNOTSUPP\)')


def output_that_is_lost(lab):
    with open('/dev/full', 'wb') as full:
        for arguments in (['ls', lab.image], ['cat', lab.image, '/big'], ['info', '--json', lab.image]):
            done = subprocess.run([E4, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            expect(done.returncode, 1, 'status of %s to a full device' % arguments[0])
            expect_said(done.stderr, r'e4: \w+: standard output: .+ \(ENOSPC\)')
    with subprocess.Popen([E4, 'cat', lab.image, '/big'], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as cat:
        cat.stdout.read(1)
        cat.stdout.close()
        expect(cat.stderr.read(), b'', 'said about a pipe without reader')
        expect(cat.wait(), 1, 'status after a pipe without reader')


def device_specifications(lab):
    shifted, comma = lab.path('shifted'), lab.path('a,b:c')
    with open(shifted, 'wb') as file:
        file.truncate(1 << 20)
        file.seek(1 << 20)
        file.write(pathlib.Path(os.fsdecode(lab.image)).read_bytes())
    os.link(lab.image, comma)
    wanted = output('ls', lab.image)
    for spec in (b'file:' + lab.image, b'mem:' + lab.image, b'file:' + shifted + b',offset=1M', comma,
                 b'file:' + comma.replace(b',', b'\\,').replace(b':', b'\\:')):
        expect(output('ls', spec), wanted, spec)
    os.unlink(shifted)


def backup_superblock(lab):
    broken = lab.path('broken')
    lab.mke2fs(broken, os.path.join(lab.tree, b'links'), '-b', '1024', size='32M')
    with open(broken, 'r+b') as file:
        file.seek(1024)
        file.write(bytes(1024))
    run('ls', broken, status=1)
    wanted = b'a\nb\nfolder\nlong\nlost+found\nshort\n'
    expect(output('ls', '--superblock', '8193', broken), wanted, 'ls from a backup')
    expect(output('ls', '--superblock=8193', '--blocksize=1024', broken), wanted, 'ls from a backup, block size given')


# --- what is shown ----------------------------------------------------------------------------------------------------

def info_has_its_keys(lab):
    info = document('info', lab.image)
    expect_keys(info, 'uuid label block_size cluster_size blocks free_blocks inodes free_inodes groups features state needs_recovery '
                'journal read_only_reason last_mounted created checked error_count'.split(), 'info')
    expect_keys(info['features'], ('compat', 'incompat', 'ro_compat'), 'features')
    expect_keys(info['journal'], 'inode blocks features sequence start errno fast_commit_blocks external'.split(), 'journal')
    expect(info['state'], 'clean', 'state')
    expect('extent' in info['features']['incompat'] or 'extents' in info['features']['incompat'], True, 'extents')
    expect(info['blocks'] * info['block_size'], 64 << 20, 'size')
    if b'UUID' not in output('info', lab.image):
        raise Failure('the human form has no UUID')


def info_of_what_cannot_be_mounted(lab):
    image = lab.path('unknown-feature')
    lab.mke2fs(image, os.path.join(lab.tree, b'links'), '-O', '^metadata_csum', size='8M')
    with open(image, 'r+b') as file:
        file.seek(1024 + 0x60)
        word = bytearray(file.read(4))
        word[3] |= 0x80
        file.seek(1024 + 0x60)
        file.write(word)
    run('ls', image, status=1)
    info = document('info', image)
    expect(info['mount_error']['errno'], 'EOPNOTSUPP', 'mount error')
    expect('FEATURE_I31' in info['features']['incompat'], True, 'the unknown feature')
    if b'no: ' not in output('info', image):
        raise Failure('the human form does not say that it cannot be read')


def info_of_a_journal_device(lab):
    image = lab.path('journal')
    subprocess.run(['mke2fs', '-q', '-F', '-O', 'journal_dev', '-b', '4096', image, '8M'], check=True, capture_output=True)
    expect_said(run('info', image, status=1)[1], r'e4: info: .*journal.*')


def names_of_any_bytes(lab):
    wanted = sorted(NAMES)
    expect(output('ls', lab.image, '/names'), b''.join(name + b'\n' for name in wanted), 'ls')
    expect([os.fsencode(entry['name']) for entry in document('ls', lab.image, '/names')], wanted, 'ls --json')
    for name in NAMES:
        expect(output('cat', lab.image, b'/names/' + name), b'I am ' + name, 'cat')
        if not document('map', lab.image, b'/names/' + name):
            raise Failure('no map of %r' % name)
    tree = document('tree', lab.image, '/names')
    expect(sorted(os.fsencode(entry['name']) for entry in tree[0]['contents']), wanted, 'tree --json')
    expect(tree[1], {'type': 'report', 'directories': 0, 'files': len(NAMES)}, 'the report')


def ls_forms(lab):
    expect(output('ls', lab.image, '/links'), b'a\nb\nfolder\nlong\nshort\n', 'ls')
    expect(output('ls', '-a', lab.image, '/links'), b'.\n..\na\nb\nfolder\nlong\nshort\n', 'ls -a')
    expect(output('ls', '-d', lab.image, '/links'), b'/links\n', 'ls -d')
    expect(output('ls', lab.image, '/links/folder').count(b'\n'), len(NAMES) + 1, 'ls through a link')
    lines = output('ls', '-li', lab.image, '/links').decode().splitlines()
    expect(bool(re.fullmatch(r'total \d+', lines[0])), True, 'total')
    expect(bool(re.fullmatch(r' *\d+ -rw-r----- +2 +\d+ +\d+ +6 \d{4}-\d\d-\d\d \d\d:\d\d a', lines[1])), True, lines[1])
    expect(lines[5].endswith(' short -> a'), True, lines[5])
    expect(lines[1].split()[0], lines[2].split()[0], 'inode of a hard link')
    everything = output('ls', '-aR1', lab.image)
    for title in (b'\n/deep/d0/d1/d2:\n', b'\n/many:\n', b'/:\n'):
        if title not in everything:
            raise Failure('ls -R lacks %r' % title)
    expect(output('ls', lab.image, '/empty', '/links'), b'/empty\n\n/links:\na\nb\nfolder\nlong\nshort\n', 'a file and a directory')
    printed, said = run('ls', lab.image, '/missing', '/empty', status=1)
    expect(printed, b'/empty\n', 'what is there')
    expect_said(said, r'e4: ls: /missing: .+ \(ENOENT\)')


def stat_has_its_keys(lab):
    keys = 'ino type mode uid gid nlink size blocks blksize atime mtime ctime btime rdev flags generation projid version'.split()
    for path in ('/', '/big', '/links/a', '/links/short', '/pipe', '/suid'):
        source, seen = os.lstat(os.path.join(lab.tree, os.fsencode(path[1:]))), document('stat', lab.image, path)
        expect(sorted(seen), sorted(keys), 'keys of %s' % path)
        if path != '/':
            expect((int(seen['mode'], 8), seen['size'] if not stat.S_ISDIR(source.st_mode) else 0, seen['nlink']),
                   (stat.S_IMODE(source.st_mode), source.st_size, source.st_nlink), path)
            expect(bool(re.fullmatch(r'\d+\.\d{9}', seen['mtime'])), True, seen['mtime'])
    expect(document('stat', lab.image, '/links/short')['type'], 'symbolic link', 'a link')
    expect(document('stat', '-L', lab.image, '/links/short')['type'], 'regular file', 'through a link')
    expect(document('stat', lab.image, '/big')['flags'], ['e'], 'flags')
    expect(len(document('stat', lab.image, '/big', '/suid')), 2, 'two at once')
    if b'Access: (4711/-rws--x--x)' not in output('stat', lab.image, '/suid'):
        raise Failure('the human form lacks the mode')


def maps_cover_the_file(lab):
    for path, size in (('/big', 256 * 40000), ('/sparse', 300 << 20), ('/huge', 3 << 40), ('/empty', 0)):
        following = 0
        for piece in document('map', lab.image, path):
            expect(sorted(piece), ['lblk', 'len', 'pblk', 'type'], 'keys')
            expect(piece['lblk'], following, 'a gap in ' + path)
            expect(piece['pblk'] is None, piece['type'] == 'hole', 'pblk')
            following += piece['len']
        block = document('info', lab.image)['block_size']
        expect(following, -(-size // block), 'blocks of ' + path)
    expect([piece['type'] for piece in document('map', lab.image, '/sparse')], ['hole', 'mapped', 'hole'], 'the sparse file')
    if b'extent' not in output('map', lab.image, '/big'):
        raise Failure('no human form')


def links_are_read(lab):
    expect(output('readlink', lab.image, '/links/short'), b'a\n', 'readlink')
    expect(output('readlink', '-n', lab.image, '/links/long'), b't' * 200, 'readlink -n')
    expect(document('readlink', lab.image, '/links/folder'), '../names', 'readlink --json')


def xattrs_are_read(lab):
    if not lab.has_xattrs:
        raise Skip('no extended attributes here to copy from')
    expect(output('xattr', 'ls', lab.image, '/xattrs'), b'user.bytes\nuser.empty\nuser.text\n', 'names')
    expect(output('xattr', 'get', lab.image, '/xattrs', 'user.bytes'), bytes(range(200, 256)), 'value')
    expect(output('xattr', 'get', lab.image, '/xattrs'),
           b'user.bytes=0x' + bytes(range(200, 256)).hex().encode() + b'\nuser.empty=""\nuser.text="a \\"value\\""\n', 'all')
    expect(document('xattr', 'ls', lab.image, '/xattrs') if False else json.loads(output('xattr', '--json', 'ls', lab.image, '/xattrs')),
           ['user.bytes', 'user.empty', 'user.text'], 'names, JSON')
    expect([bytes.fromhex(entry['hex']) for entry in json.loads(output('xattr', 'get', '--json', lab.image, '/xattrs'))],
           [bytes(range(200, 256)), b'', b'a "value"'], 'values, JSON')
    expect(output('xattr', 'ls', lab.image, '/big'), b'', 'a file without any')


def space_is_counted(lab):
    df = document('df', lab.image)
    expect_keys(df, 'size used free available inodes inodes_used inodes_free'.split(), 'df')
    expect(df['used'] + df['free'], df['size'], 'used and free')
    lines = output('df', lab.image).decode().splitlines()
    expect(lines[0].split(), ['Filesystem', '1K-blocks', 'Used', 'Available', 'Use%'], 'title')
    expect(int(lines[1].split()[1]) * 1024, df['size'], '1K-blocks')
    du = {entry['path']: entry['bytes'] for entry in document('du', '-a', lab.image, '/links')}
    blocks = {name: document('stat', lab.image, '/links/' + name)['blocks'] for name in ('a', 'folder', 'short', 'long')}
    wanted = sum(blocks.values()) * 512 + document('stat', lab.image, '/links')['blocks'] * 512
    expect(du['/links'], wanted, 'du, hard links once')
    expect('/links/b' in du, False, 'the second name')
    expect(output('du', '-s', lab.image, '/links'), b'%d\t/links\n' % (wanted // 1024), 'du -s')
    if not output('du', lab.image).endswith(b'\t/\n'):
        raise Failure('du of the whole volume')


def tree_is_drawn(lab):
    wanted = ['/links', '|-- a', '|-- b', '|-- folder -> ../names', '|-- long -> ' + 't' * 200, '`-- short -> a', '', '0 directories, 5 files']
    expect(output('tree', lab.image, '/links', env={'LC_ALL': 'C'}).decode().splitlines(), wanted, 'tree')
    if '\u2514\u2500\u2500 short' not in output('tree', lab.image, '/links', env={'LC_ALL': 'C.UTF-8'}).decode():
        raise Failure('no lines in UTF-8')
    expect(output('tree', '-d', lab.image, '/deep').decode().splitlines()[-1], '40 directories', 'tree -d')
    expect(output('tree', '-L', '2', lab.image, '/deep', env={'LC_ALL': 'C'}).decode().splitlines()[1:3], ['`-- d0', '    `-- d1'], 'tree -L')


# --- manifest and copies ----------------------------------------------------------------------------------------------

def kmanifest(root):
    return subprocess.run([sys.executable, KMANIFEST, root], check=True, capture_output=True).stdout


def same_lines(seen, wanted, what, drop=()):
    """Compares manifests without the columns in `drop` and without lost+found."""
    def lines(text):
        rows = [line.split(b'\t') for line in text.splitlines() if not line.startswith(b'/lost+found')]
        return [[field for i, field in enumerate(row) if i not in drop] for row in rows]
    for a, b in zip(lines(seen), lines(wanted)):
        expect(a, b, what)
    expect(len(lines(seen)), len(lines(wanted)), what + ': lines')


def manifest_equals_the_source(lab):
    drop = [2, 3, 4, 5, 7] if os.geteuid() else [2, 5, 7]  # the root's own fields come from mke2fs
    same_lines(output('manifest', lab.image), kmanifest(lab.tree), 'manifest', drop)


def manifest_of_a_part(lab):
    everything = output('manifest', lab.image)
    expect(output('manifest', '--threads=1', lab.image), everything, 'one thread')
    expect(output('manifest', '--threads=16', lab.image), everything, 'sixteen threads')
    part = b''.join(line + b'\n' for line in everything.splitlines() if line.split(b'\t')[0] == b'/names' or line.startswith(b'/names/'))
    for path in ('/names', 'names', '/names/', '//names/./', '/links/../names'):
        expect(output('manifest', lab.image, path), part, path)
    zeros = zlib.crc32(bytes(1 << 20))
    expect(everything.count(b'\n/huge\t'), 1, 'the huge file')
    return 'crc of a MiB of zeros: %08x' % zeros


def copy_keeps_everything(lab):
    target = os.path.join(lab.scratch(), 'copy')
    run('get', '-rp', lab.image, '/', target)
    same_lines(kmanifest(target), output('manifest', lab.image), 'copy', [3, 4] if os.geteuid() else [])
    if os.path.lexists(target + '/sparse') and os.stat(target + '/sparse').st_blocks * 512 > 1 << 20:
        raise Failure('the hole was filled: %d blocks' % os.stat(target + '/sparse').st_blocks)
    expect(os.stat(target + '/links/a').st_ino, os.stat(target + '/links/b').st_ino, 'the hard link')
    run('get', '-rp', lab.image, '/', target)  # over what is there
    same_lines(kmanifest(target), output('manifest', lab.image), 'second copy', [3, 4] if os.geteuid() else [])


def copies_by_the_rules_of_cp(lab):
    where = lab.scratch()
    join = functools.partial(os.path.join, where)
    run('get', lab.image, '/big', join('b'))
    expect(os.path.getsize(join('b')), 256 * 40000, 'a file under a new name')
    os.mkdir(join('d'))
    run('get', lab.image, '/big', '/links/short', join('d'))
    expect(sorted(os.listdir(join('d'))), ['big', 'short'], 'into a directory')
    expect(os.path.islink(join('d/short')), False, 'a link was followed')
    run('get', '-r', lab.image, '/links', join('d'))
    expect(os.readlink(join('d/links/short')), 'a', 'with -r it stays a link')
    run('get', '-r', lab.image, '/links', join('new'))
    expect(os.path.lexists(join('new/a')), True, 'a directory under a new name')
    run('get', '-r', lab.image, '/links/.', join('d'))
    expect(os.path.lexists(join('d/long')), True, 'what is in a directory')
    expect_said(run('get', lab.image, '/links', join('x'), status=1)[1], r'e4: get: /links: .+ \(EISDIR\)')
    expect_said(run('get', lab.image, '/big', '/empty', join('x'), status=1)[1], r'e4: get: .+ \(ENOTDIR\)')
    expect_said(run('get', lab.image, '/big', join('no/such/place'), status=1)[1], r'e4: get: .+ \(ENOENT\)')
    expect_said(run('get', lab.image, '/missing', '/empty', join('d'), status=1)[1], r'e4: get: /missing: .+ \(ENOENT\)')
    expect(os.path.exists(join('d/empty')), True, 'the rest is copied')
    os.umask(0o022)
    run('get', lab.image, '/suid', join('s'))
    expect(stat.S_IMODE(os.stat(join('s')).st_mode), 0o711, 'the mode without -p')
    expect(output('get', lab.image, '/links/a', '/dev/stdout'), b'linked', 'to a pipe')
    expect(run('get', '--progress=never', lab.image, '/big', join('p'))[1], b'', 'no progress')


def hostile(lab, change):
    """A volume whose root directory's bytes were changed."""
    tree, image = os.path.join(lab.scratch(), 'tree'), os.path.join(lab.scratch(), 'image')
    os.mkdir(tree)
    os.symlink('OUTSIDE', os.path.join(tree, 'aaaaaaaa'))
    os.mkdir(os.path.join(tree, 'bbbbbbbb'))
    pathlib.Path(tree, 'bbbbbbbb', 'owned').write_text('by a hostile volume')
    pathlib.Path(tree, 'cccccccc').write_text('owned')
    lab.mke2fs(os.fsencode(image), tree, '-O', '^metadata_csum,^dir_index', size='8M')
    data = pathlib.Path(image).read_bytes()
    for old, new in change:
        expect(data.count(old) >= 1, True, 'the volume has %r' % old)
        data = data.replace(old, new)
    pathlib.Path(image).write_bytes(data)
    return os.fsencode(image)


def nothing_is_written_outside(lab):
    outside = lab.scratch()
    base = os.path.join(lab.scratch(), 'base')
    for name in (b'../owned', b'/../ownd', b'xx/ownxx'):
        image = hostile(lab, [(b'cccccccc', name)])
        shutil.rmtree(base, ignore_errors=True)
        os.mkdir(base)
        done = subprocess.run([E4, 'get', '-r', image, '/', os.path.join(base, 'target')], capture_output=True, check=False)
        expect(done.returncode in (0, 1), True, 'status %d' % done.returncode)
        expect(os.listdir(base), ['target'], 'beside the target')
        expect(b'owned' in b''.join(map(os.fsencode, os.listdir(os.path.join(base, 'target')))), False, 'the name')
    # one name twice, a link that leads outside and a directory, as the names stand in the directory
    os.rename(outside, lab.path('OUTSIDE'))
    image = hostile(lab, [(b'bbbbbbbb', b'aaaaaaaa')])
    for _ in range(2):
        done = subprocess.run([E4, 'get', '-r', image, '/', lab.path('hostile-target')], capture_output=True, check=False, cwd=lab.work)
        expect(done.returncode in (0, 1), True, 'status %d' % done.returncode)
    expect(os.listdir(lab.path('OUTSIDE')), [], 'through a link')
    # a link that stands in the way already
    target = lab.path('linked-target')
    os.mkdir(target)
    os.symlink(lab.path('OUTSIDE'), os.path.join(target, b'bbbbbbbb'))
    os.symlink(lab.path('OUTSIDE') + b'/made', os.path.join(target, b'cccccccc'))
    run('get', '-r', hostile(lab, []), '/', target, status=1)
    expect(os.listdir(lab.path('OUTSIDE')), [], 'through a link that was there')
    expect(os.path.islink(os.path.join(target, b'cccccccc')), False, 'the file replaced the link')


def replay_of_a_clean_volume(lab):
    image = lab.path('clean')
    shutil.copyfile(lab.image, image)
    before = sha256(image)
    expect(document('replay', image)['was_needed'], False, 'replay')
    expect(sha256(image), before, 'SHA-256 of a clean volume after replay')


def nothing_has_changed_the_image(lab):
    for option in ('--ignore-checksums', '--norecovery', '--memory=16M'):
        output('manifest', option, lab.image)
    expect(sha256(lab.image), lab.sha256, 'SHA-256 of the image after every command')


TESTS = (help_is_shown, mistakes_of_usage, failures_have_reasons, later_commands_say_so, output_that_is_lost, device_specifications,
         backup_superblock, info_has_its_keys, info_of_what_cannot_be_mounted, info_of_a_journal_device, names_of_any_bytes, ls_forms,
         stat_has_its_keys, maps_cover_the_file, links_are_read, xattrs_are_read, space_is_counted, tree_is_drawn,
         manifest_equals_the_source, manifest_of_a_part, copy_keeps_everything, copies_by_the_rules_of_cp, nothing_is_written_outside,
         replay_of_a_clean_volume, nothing_has_changed_the_image)


def main():
    plan = Plan()
    if not E4 or not os.access(E4, os.X_OK):
        plan.skip_all('no e4 program: give its path, or set E4')
    if not shutil.which('mke2fs'):
        plan.skip_all('no mke2fs')
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix='e4-tools-') as work:
        lab = Lab(work)
        for test in TESTS:
            if not only or test.__name__ in only:
                plan.test(test.__name__.replace('_', ' '), test, lab)
    plan.finish()


main()
