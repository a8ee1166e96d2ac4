#!/usr/bin/env python3
"""The e4bench command: JSON with all its fields, counters that cannot vary, refusals by name, nothing left behind.

usage: e4bench_test.py E4BENCH          (what needs the kernel is skipped where not root)
"""
import functools
import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'interop'))
from tap import Failure, Plan, Skip  # noqa: E402

E4BENCH = os.path.abspath(sys.argv[1])
os.environ['PATH'] += ':/sbin:/usr/sbin'

ORIGIN = {'build', 'machine', 'kernel', 'device', 'backend', 'options', 'seed'}
RUN_KEYS = ORIGIN | {'operations', 'seconds', 'iops', 'bandwidth', 'cpu_ns_per_op', 'latency_ns', 'counters'}
COUNTERS = {'device_reads', 'device_writes', 'device_flushes', 'handles_started', 'extent_records', 'rmw_shared'}
COMPARE_KEYS = ORIGIN | {'case', 'peer', 'metric', 'unit', 'ours', 'theirs', 'ratio', 'ratio_low', 'ratio_high', 'runs', 'cpu_ratio'}
LATER = ('direct-overwrite-qd1 direct-overwrite-qd128 cached-read-16m cached-read-1g cached-overwrite append seq-write '
         'dax-overwrite create unlink rename fsync-1 fsync-16').split()
SHORT = ('--quick', '--slices=3', '--slice-ms=5', '--size=8m', '--files=1500')
FILE_BYTES = 4 << 20


def run(*arguments, status=0):
    done = subprocess.run([E4BENCH, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, check=False, text=True)
    if done.returncode != status:
        raise Failure('e4bench %s: status %d, not %d: %s' % (arguments, done.returncode, status, done.stderr))
    return done.stdout, done.stderr


def expect(truth, what):
    if not truth:
        raise Failure(what)


def expect_keys(seen, wanted):
    expect(wanted <= set(seen), 'missing: %s' % sorted(wanted - set(seen)))


class Lab:
    """A volume with the file /data, which mke2fs makes."""

    def __init__(self, work):
        tree = pathlib.Path(work, 'tree')
        tree.mkdir()
        (tree / 'data').write_bytes(os.urandom(FILE_BYTES))
        self.image = str(pathlib.Path(work, 'img'))
        subprocess.run(['mke2fs', '-q', '-t', 'ext4', '-b', '4096', '-d', tree, self.image, '16M'], check=True, stdin=subprocess.DEVNULL,
                       capture_output=True)

    def run(self, *options, backend='file'):
        report = json.loads(run('run', '--file=/data', *options, '%s:%s' % (backend, self.image))[0])
        expect_keys(report, RUN_KEYS)
        expect_keys(report['counters'], COUNTERS)
        expect(report['operations'] > 0 and report['iops'] > 0 and report['cpu_ns_per_op'] > 0, 'figures of 0: %s' % report)
        return report


def sync_reads(lab):
    for rw in ('read', 'randread'):
        report = lab.run('--rw=' + rw, '--bs=4k', '--size=4m')
        expect(report['operations'] == 1024, 'operations: %d' % report['operations'])
        expect(report['counters']['device_reads'] >= 1024, 'one request each: %s' % report['counters'])
        expect(report['counters']['device_writes'] == 0, 'a reader wrote')
        expect(report['latency_ns']['samples'] == 1024, 'each operation is timed')
        expect(report['latency_ns']['p50'] <= report['latency_ns']['p99'] <= report['latency_ns']['max'], 'percentiles rise')


def queued_reads(lab):
    report = lab.run('--engine=queue', '--iodepth=8', '--bs=4k', '--size=4m')
    counters = report['counters']
    expect(report['operations'] == counters['device_reads'] >= 1024, 'one request each: %s' % report)
    expect(counters['map_lookups'] == report['operations'], 'one lookup each: %s' % counters)


def queued_reads_of_many_pieces(lab):
    report = lab.run('--engine=queue', '--iodepth=2', '--bs=64k', '--rw=read', '--numjobs=2')
    expect(report['operations'] == FILE_BYTES >> 16, 'each job its share: %d' % report['operations'])


def mapped_reads(lab):
    said = run('run', '--file=/data', '--direct=dax', 'file:' + lab.image, status=1)[1]
    expect('EOPNOTSUPP' in said, said)
    try:
        report = lab.run('--direct=dax', '--size=4m', backend='pmem')
    except Failure as failure:
        if 'EOPNOTSUPP' in str(failure):
            raise Skip('this build has no pmem') from failure
        raise
    expect(report['counters']['device_reads'] == 0, 'no request: %s' % report['counters'])


def a_device_alone(lab):
    report = json.loads(run('run', '--size=1m', 'file:' + lab.image)[0])
    expect(report['operations'] == 256, 'operations: %d' % report['operations'])


def writing_is_refused(lab):
    for rw in ('write', 'randwrite', 'randrw', 'overwrite'):
        expect('EOPNOTSUPP' in run('run', '--rw=' + rw, lab.image, status=1)[1], rw)


def what_comes_later(_lab):
    for command in ('meta', 'seeds'):
        expect('EOPNOTSUPP' in run(command, status=1)[1], command)
    for case in LATER:
        said = run('compare', '--case', case, status=1)[1]
        expect('EOPNOTSUPP' in said and case in said, said)
    expect('EOPNOTSUPP' in run('compare', '--peer', 'fuse2fs', status=1)[1], 'fuse2fs')


def mistakes_of_usage(lab):
    for arguments in ([], ['nothing'], ['run'], ['run', '--bs=x', lab.image], ['run', '--what', lab.image], ['run', '--iodepth=2', lab.image],
                      ['run', '--direct=dax', lab.image], ['compare', 'x'], ['compare', '--case=x'], ['compare', '--threads=0']):
        run(*arguments, status=2)
    expect('usage' in run('help')[0] and 'usage' in run('run', '--help')[0] and 'usage' in run('compare', '--help')[0], 'help')


def failures_have_reasons(lab):
    expect('ENOENT' in run('run', '--file=/none', 'file:' + lab.image, status=1)[1], 'no such file')
    expect('ENOENT' in run('run', '/none/such', status=1)[1], 'no such device')


def results(*options):
    report = json.loads(run('compare', '--json', *SHORT, *options)[0])
    for result in report['results']:
        expect_keys(result, COMPARE_KEYS)
        expect(result['ratio_low'] <= result['ratio'] <= result['ratio_high'], 'quartiles: %s' % result)
        expect(result['runs'] == 3, 'runs: %s' % result)
    return {(result['case'], result['peer']): result for result in report['results']}


def left_behind():
    return glob.glob('/dev/shm/e4bench.*')


def comparing_without_root(_lab):
    seen = results('--case=dax-read')
    expect(not left_behind(), 'left: %s' % left_behind())
    if not seen:
        raise Skip('this build has no pmem')
    expect(set(seen) == {('dax-read', 'raw')}, 'results: %s' % list(seen))


def comparing_with_the_kernel(_lab):
    if os.geteuid() != 0 or not os.path.exists('/sys/class/zram-control/hot_add') or not os.path.exists('/dev/loop-control'):
        raise Skip('needs root, zram and loop devices')
    seen = results()
    wanted = {(case, peer) for case in ('direct-randread-qd1', 'seq-read') for peer in ('kernel', 'raw')}
    wanted |= {('stat', 'kernel'), ('open-close', 'kernel'), ('readdir', 'kernel'), ('mount', 'kernel')}
    expect(wanted <= set(seen), 'missing: %s' % (wanted - set(seen)))
    for case, peer in (('direct-randread-qd1', 'raw'), ('dax-read', 'raw')):
        rmw = seen[case, peer]['rmw_shared'] if (case, peer) in seen else 0
        expect(rmw < 0.01, '%s shares lines: %s an operation' % (case, rmw))
    table = run('compare', *SHORT, '--case=stat', '--peer=kernel', '--threads=2')[0]
    expect('stat' in table and 'kernel' in table, table)
    expect(not left_behind(), 'left: %s' % left_behind())


def mounted_device(child):
    """What the child has mounted; None when it has ended."""
    mounts = [line.split()[0] for line in pathlib.Path('/proc/mounts').read_text().splitlines() if '/e4bench.' in line]
    return mounts[0] if mounts and child.poll() is None else None


def killed_it_leaves_nothing(_lab):
    if os.geteuid() != 0 or not os.path.exists('/sys/class/zram-control/hot_add'):
        raise Skip('needs root and zram')
    for kind in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen([E4BENCH, 'compare', '--quick', '--slice-ms=10000', '--case=stat'], stdout=subprocess.DEVNULL) as child:
            device = wait_for(functools.partial(mounted_device, child))
            expect(device, 'it never mounted')
            child.send_signal(kind)
            child.wait()
        gone = wait_for(lambda device=device: not left_behind() and not os.path.exists(device))
        expect(gone, 'left after %s: %s %s' % (kind.name, device, left_behind()))


def wait_for(condition):
    for _ in range(200):
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    return condition()


def main():
    plan = Plan()
    with tempfile.TemporaryDirectory() as work:
        lab = Lab(work)
        for test in (sync_reads, queued_reads, queued_reads_of_many_pieces, mapped_reads, a_device_alone, writing_is_refused, what_comes_later,
                     mistakes_of_usage, failures_have_reasons, comparing_without_root, comparing_with_the_kernel, killed_it_leaves_nothing):
            plan.test(test.__name__.replace('_', ' '), test, lab)
    plan.finish()


main()
