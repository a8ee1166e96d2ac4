"""The volumes: for each feature that changes the format, how mke2fs is told and what is planted.

where: 'host' is filled by this machine's kernel, 'guest' by the kernel of LAB's emulated guest, 'tree' by `mke2fs -d`.
"""
import dataclasses

import encrypted
import tree_names
import unlike


@dataclasses.dataclass(frozen=True)
class Recipe:
    name: str
    options: tuple = ()                 # of mke2fs
    kind: str = 'ext4'                  # mke2fs -t
    extended: tuple = ()                # mke2fs -E
    mount: str = ''                     # options of the filling mount
    view: str = ''                      # options of the mount that the expected list is taken from
    extra: tuple = ()                   # sections of its own
    without: tuple = ()                 # sections that cannot be there
    where: str = 'host'
    size: int = 128 << 20
    cluster: int = 0                    # 0: the block
    journal: bool = False               # external, in an image beside
    hash: str = ''                      # of directory indexes, if not half_md4


def _ext4(name, features='', *options, block=4096, **more):
    feature = ('-O', features) if features else ()
    return Recipe(name, ('-b', str(block), '-i', '4096', *feature, *options), **more)


RECIPES = [
    _ext4('default'),
    Recipe('ext2', ('-b', '4096', '-i', '4096'), 'ext2'),
    Recipe('ext3', ('-b', '4096', '-i', '4096'), 'ext3'),
    Recipe('ext2-1k', ('-b', '1024', '-i', '4096'), 'ext2'),
    _ext4('block-1k', block=1024),
    _ext4('block-2k', block=2048),
    Recipe('block-64k', ('-b', '65536', '-i', '16384'), where='tree', size=1 << 30),
    _ext4('inode-128', '^project', '-I', '128'),
    _ext4('inode-1024', '', '-I', '1024'),
    _ext4('bigalloc', 'bigalloc', '-C', '65536', '-N', '24000', cluster=65536, without=('bulk', 'deep'), size=512 << 20),  # each file takes 64 KiB
    _ext4('inline_data', 'inline_data', '-I', '512'),
    _ext4('inline_data-1k', 'inline_data', block=1024),
    _ext4('meta_bg', 'meta_bg,^resize_inode', block=1024),
    _ext4('sparse_super2', 'sparse_super2', block=1024),
    _ext4('no-metadata_csum', '^metadata_csum'),
    _ext4('uninit_bg', '^metadata_csum,uninit_bg', block=1024),
    _ext4('no-64bit', '^64bit'),
    _ext4('metadata_csum_seed', 'metadata_csum_seed', block=1024),
    _ext4('orphan_file', 'orphan_file'),
    _ext4('ea_inode', 'ea_inode'),
    _ext4('large_dir', 'large_dir', block=1024, extra=(tree_names.three_levels,)),
    _ext4('dir_nlink', '', '-N', '72000', '-I', '128', block=1024, extra=(tree_names.many_subdirectories,),
          without=('bulk', 'sizes', 'fragmented', 'indexed')),
    _ext4('encrypt', 'encrypt', extra=(encrypted.trees,), without=('indexed', 'bulk', 'fragmented')),
    _ext4('encrypt-1k', 'encrypt', block=1024, extra=(encrypted.trees,), without=('indexed',)),
    _ext4('casefold', 'casefold', where='guest', extra=(unlike.folded,)),
    _ext4('verity', 'verity', where='guest', extra=(unlike.verity,)),
    _ext4('quota', 'quota,project', where='guest', extra=(unlike.projects,), extended=('quotatype=usrquota:grpquota:prjquota',)),
    _ext4('mmp', 'mmp', extended=('mmp_update_interval=1',)),
    _ext4('fast_commit', 'fast_commit'),
    _ext4('no-journal', '^has_journal'),
    _ext4('stable_inodes', 'stable_inodes'),
    _ext4('external-journal', journal=True),
    _ext4('hash-tea', block=1024, hash='tea'),
    _ext4('hash-legacy', block=1024, hash='legacy'),
]

BY_NAME = {recipe.name: recipe for recipe in RECIPES}
