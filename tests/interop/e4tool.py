"""The program under test: how it is called, and what counts as a crash."""
import json
import os
import subprocess
import sys

from tap import Failure, Skip

TIMEOUT = 60

# A sanitizer's report must not look like an answer: its usual exit status is 1.
ENVIRONMENT = {**os.environ, 'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') + ':exitcode=99',
               'UBSAN_OPTIONS': os.environ.get('UBSAN_OPTIONS', '') + ':exitcode=99:halt_on_error=1',
               'TSAN_OPTIONS': os.environ.get('TSAN_OPTIONS', '') + ':exitcode=99'}


def device(image, journal=None, **keys):
    """The image as CONTRACT.md writes a device; a bare path where nothing has to be added."""
    if journal:
        keys['journal'] = journal
    if not keys:
        return image
    plain = image.replace(',', '\\,').replace(':', '\\:')
    return 'file:%s,%s' % (plain, ','.join('%s=%s' % item for item in keys.items()))


class E4:
    """Calls the e4 program. Exit status 0 and 1 are answers; anything else, and silence beyond the timeout, is a defect."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def from_arguments(cls, plan):
        """argv[1], else $E4. Without a program there is nothing to test, which is said."""
        path = sys.argv[1] if len(sys.argv) > 1 and not sys.argv[1].startswith('-') else os.environ.get('E4', '')
        if not path or not os.access(path, os.X_OK):
            plan.skip_all('no e4 program: give its path, or set E4')
        return cls(os.path.abspath(path))

    def try_(self, *arguments, timeout=TIMEOUT):
        """Run a command; returns (status, output bytes, error text)."""
        try:
            done = subprocess.run([self.path, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout,
                                  env=ENVIRONMENT)
        except subprocess.TimeoutExpired:
            raise Failure('e4 %s: no end after %d s' % (arguments[0], timeout)) from None
        said = done.stderr.decode('utf-8', 'backslashreplace').strip()
        if done.returncode not in (0, 1) or 'runtime error:' in said or 'Sanitizer' in said:
            raise Failure('e4 %s: status %d: %s' % (' '.join(map(str, arguments)), done.returncode, said[-3000:]))
        if done.returncode == 1 and not said:
            raise Failure('e4 %s: status 1 without a reason' % (arguments[0],))
        return done.returncode, done.stdout, said

    def run(self, *arguments, timeout=TIMEOUT):
        """Run a command that has to succeed; returns its output."""
        status, output, said = self.try_(*arguments, timeout=timeout)
        if status:
            raise Failure('e4 %s: status 1: %s' % (arguments[0], said[-1000:]))
        return output

    def manifest(self, where, timeout=TIMEOUT):
        return self.run('manifest', where, timeout=timeout).decode('ascii')

    def json(self, command, *arguments):
        return json.loads(self.run(command, '--json', *arguments))

    def has(self, command):
        """Whether this build knows a command at all (status 2 is usage)."""
        done = subprocess.run([self.path, command, '/nonexistent'], capture_output=True, stdin=subprocess.DEVNULL)
        return done.returncode != 2

    def need(self, command):
        if not self.has(command):
            raise Skip('this e4 has no `%s`' % command)
