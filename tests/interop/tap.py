"""The Test Anything Protocol, so that meson counts every volume as a test of its own."""
import sys
import time
import traceback


class Skip(Exception):
    """This test cannot run here; the text says why."""


class Failure(Exception):
    """This test saw something wrong; the text says what."""


class Plan:
    """Runs subtests one after another and prints their lines; the plan comes last, when their number is known."""

    def __init__(self):
        self.count = self.failures = self.skips = 0

    def test(self, name, function, *arguments):
        """One subtest. It passes if the function returns; what it returns is said as a remark."""
        self.count += 1
        start = time.monotonic()
        try:
            remark = function(*arguments)
        except Skip as reason:
            self.skips += 1
            self._say('ok %d - %s # SKIP %s' % (self.count, name, reason))
            return
        except Failure as failure:
            self._not_ok(name, str(failure))
            return
        except Exception:
            self._not_ok(name, traceback.format_exc())
            return
        self._say('ok %d - %s (%.2f s)' % (self.count, name, time.monotonic() - start))
        self.remark(remark)

    def _not_ok(self, name, text):
        self.failures += 1
        self._say('not ok %d - %s' % (self.count, name))
        self.remark(text)

    def remark(self, text):
        for line in (text or '').splitlines():
            self._say('# ' + line)

    @staticmethod
    def _say(line):
        print(line.encode('ascii', 'backslashreplace').decode(), flush=True)

    def skip_all(self, reason):
        self._say('1..0 # SKIP ' + reason)
        sys.exit(0)

    def finish(self):
        self._say('1..%d' % self.count)
        sys.exit(1 if self.failures else 0)
