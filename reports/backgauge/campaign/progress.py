# SPDX-License-Identifier: Apache-2.0
"""Progress on stderr, as that of verify: on a terminal one line, redrawn in place; elsewhere a line every ten seconds."""

import shutil
import sys
import time

_REDRAW, _HEARTBEAT = 0.5, 10  # seconds
_FIRST_ESTIMATE = 10  # seconds after which the time left is shown: the first results take longest


class Progress:
    def __init__(self, total):
        self.total, self.done, self.failed, self.workers, self.phase = total, 0, 0, 0, ""
        self._terminal = sys.stderr.isatty()
        self._start = self._last = time.monotonic()
        self._kept = 0

    def keep(self, cases):
        """Cases that an earlier run has judged."""
        self._kept += cases
        self.done += cases

    def show(self):
        now = time.monotonic()
        if now - self._last < (_REDRAW if self._terminal else _HEARTBEAT):
            return
        self._last = now
        total = max(self.total, self.done)
        text = f"[{self.done}/{total}] {self.failed} failed, {self.workers} at once{self._time_left(now, total)}{self.phase and ', ' + self.phase}"
        if self._terminal:
            self._print(f"\r\033[K{text[:shutil.get_terminal_size().columns - 1]}")
        else:
            self._print(f"backgauge: {text}\n")

    def clear(self):
        """Before something else is printed."""
        if self._terminal:
            self._print("\r\033[K")

    def _time_left(self, now, total):
        fresh = self.done - self._kept
        if now - self._start < _FIRST_ESTIMATE or fresh == 0:
            return ""
        return f", about {(now - self._start) * (total - self.done) / fresh:.0f} s left"

    def _print(self, text):
        print(text, end="", file=sys.stderr, flush=True)
